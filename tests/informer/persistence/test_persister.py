"""What is written to a cache file while the store continues to change."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.informer.settings import pod

from listwatch.errors import ConnectionLostError
from listwatch.informer.handlers import ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.packing.worker import InlineWorker
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.informer.persistence.mapped_files import MappedFiles
from listwatch.informer.persistence.persistent_forms import PlainForm
from listwatch.informer.persistence.persister import Persister, RestoredStore
from listwatch.informer.storage_options import PersistenceOptions
from listwatch.models.core_v1 import Pod
from listwatch.testing.clocks import VirtualClock

R = TypeVar("R")


class SlowWorker:
    """Does its work when it is released, like a thread that waits for a disk."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.released.set()

    async def run(self, work: Callable[[], R]) -> R:
        await self.released.wait()
        return work()

    async def close(self) -> None:
        pass


def persister(
    path: Path,
    store: dict[str, Pod],
    worker: SlowWorker | InlineWorker,
    clock: VirtualClock | None = None,
    min_records: int = -1000,  # every write replaces the file
    **options: Any,
) -> Persister[Pod]:
    return Persister(
        lambda: CacheFile(path, {"server": "here"}, MappedFiles()),
        PlainForm(Pod),
        name="pods",
        stored=store.get,
        contents=store.copy,
        count=lambda: len(store),
        worker=worker,
        clock=clock or VirtualClock(),
        options=PersistenceOptions(min_records=min_records),
        **options,
    )


async def loaded(path: Path) -> RestoredStore[Pod] | None:
    reading = persister(path, {}, InlineWorker())
    restored = await reading.load()
    await reading.close()
    return restored


def other_pod(namespace: str, name: str) -> Pod:
    return Pod.from_dict({"metadata": {"name": name, "namespace": namespace, "resourceVersion": "2"}})


async def write_all(path: Path, items: list[Pod], scope: str | None) -> None:
    store = {each.cache_key: each for each in items}
    writing = persister(path, store, InlineWorker(), min_records=1000, scope=scope)
    assert await writing.load() is None
    writing.record([ObjectAdded(each, is_initial=False) for each in items])
    writing.batch_applied("2")
    await writing.close()


@pytest.mark.parametrize("other", [("other", "b"), ("default/x", "y"), ("default-2", "b"), ("", "b")])
@pytest.mark.parametrize("written_by", ["default", None])
async def test_a_state_with_objects_of_another_namespace_is_not_restored(
    tmp_path: Path, other: tuple[str, str], written_by: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    await write_all(tmp_path / "a.cache", [pod("a", "1"), other_pod(*other)], written_by)
    reading = persister(tmp_path / "a.cache", {}, InlineWorker(), scope="default")
    restored = await reading.load()
    await reading.close()
    assert restored is None  # the objects are listed
    assert len(caplog.messages) == 1
    assert ("its cache file is not written any more" in caplog.text) is (written_by is not None)
    assert ("discarded: it contains objects of other namespaces" in caplog.text) is (written_by is None)


async def test_objects_without_a_namespace_are_restored_for_an_empty_namespace(tmp_path: Path) -> None:
    await write_all(tmp_path / "a.cache", [other_pod("", "b")], "")
    reading = persister(tmp_path / "a.cache", {}, InlineWorker(), scope="")
    restored = await reading.load()
    await reading.close()
    assert restored is not None
    assert list(restored.objects) == ["b"]


async def test_a_file_never_has_a_newer_version_than_its_objects(tmp_path: Path) -> None:
    store: dict[str, Pod] = {}
    worker = SlowWorker()
    writing = persister(tmp_path / "a.cache", store, worker)

    def apply(version: int) -> None:
        item, old = pod("a", str(version)), store.get("default/a")
        store["default/a"] = item
        writing.record([ObjectAdded(item, is_initial=False) if old is None else ObjectUpdated(item, old)])
        writing.batch_applied(str(version))

    assert await writing.load() is None
    apply(1)
    worker.released.clear()
    first = asyncio.create_task(writing._write())
    for _ in range(5):
        await asyncio.sleep(0)  # until it waits for the worker
    for version in range(2, 6):
        apply(version)
    worker.released.set()
    await first
    written = writing.statistics().resource_version
    await writing.close()
    restored = await loaded(tmp_path / "a.cache")

    assert written == "1"  # not that of the changes that were made while it was written
    assert restored is not None
    assert restored.resource_version == "5"
    assert restored.objects["default/a"].resource_version == "5"


async def test_a_state_without_a_version_is_written_with_the_next_version(tmp_path: Path) -> None:
    store = {"default/a": pod("a", "1")}
    has_written, may_identify = False, asyncio.Event()

    async def identify() -> str:
        if not has_written:
            raise ConnectionLostError("cut")
        await may_identify.wait()
        return "this server"

    writing = persister(tmp_path / "a.cache", store, InlineWorker(), min_records=1000, server_uid=identify)
    assert await writing.load() is None
    writing.record([ObjectAdded(store["default/a"])])
    writing.batch_applied("1")
    await writing._write()
    has_written = True
    writing.batch_applied("2")
    second = asyncio.create_task(writing._write())
    for _ in range(5):
        await asyncio.sleep(0)  # until it identifies the server
    old, store["default/b"] = store.pop("default/a"), pod("b", "2")
    writing.record([ObjectDeleted(old), ObjectAdded(store["default/b"])])
    writing.batch_applied("")
    may_identify.set()
    await second
    shutil.copy(tmp_path / "a.cache", tmp_path / "killed.cache")
    writing.batch_applied("3")
    await writing.close()

    killed, restored = await loaded(tmp_path / "killed.cache"), await loaded(tmp_path / "a.cache")
    assert killed is not None
    assert (killed.resource_version, [*killed.objects]) == ("1", ["default/a"])
    assert restored is not None
    assert (restored.resource_version, [*restored.objects]) == ("3", ["default/b"])


async def test_a_server_that_does_not_name_the_resource_in_time_is_reported_as_the_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def may_write() -> bool:
        await asyncio.Event().wait()
        return True

    clock = VirtualClock()
    waiting = persister(tmp_path / "a.cache", {}, InlineWorker(), clock, may_write=may_write)
    loading = asyncio.create_task(waiting.load())
    await clock.advance(5.0)

    assert await loading is None
    assert "the server did not return within 5 s whether cache_exclude names this resource" in caplog.text
    await waiting.close()
