"""What is written to a cache file while the store continues to change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.informer.settings import pod

from listwatch.informer.handlers import ObjectAdded, ObjectUpdated
from listwatch.informer.packing.worker import InlineWorker
from listwatch.informer.persistence.cache_file import CacheFile
from listwatch.informer.persistence.mapped_files import MappedFiles
from listwatch.informer.persistence.persistent_forms import PlainForm
from listwatch.informer.persistence.persister import Persister
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
        options=PersistenceOptions(min_records=-1000),  # every write replaces the file
        **options,
    )


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
    check = persister(tmp_path / "a.cache", {}, InlineWorker())
    written = writing.statistics().resource_version
    await writing.close()
    restored = await check.load()
    await check.close()

    assert written == "1"  # not that of the changes that were made while it was written
    assert restored is not None
    assert restored.resource_version == "5"
    assert restored.objects["default/a"].resource_version == "5"


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
