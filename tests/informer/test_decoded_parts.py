"""What handlers decode of cached objects is released, unless the program reads it again or has changed it."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from tests.informer.settings import Setting, pod

from listwatch.cache.deltas import UpdatedDelta
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.errors import ListWatchError, UsageError
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.stored_form import StoredForm
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer

COUNT = 5


def config_map(number: int, value: str = "0") -> ConfigMap:
    metadata = ObjectMeta(name=f"c{number}", labels={"n": str(number)})
    return ConfigMap(metadata=metadata, data={"value": value})


class ConfigMaps:
    """The config maps of a server, and an informer of them."""

    def __init__(self, client: ClientSet, **options: Any) -> None:
        self.client = client.core_v1.configmaps("default")
        self.informer = SharedIndexInformer(self.client, ConfigMap, **options)

    async def fill(self) -> None:
        for number in range(COUNT):
            await self.client.create(config_map(number))

    async def update_all(self, value: str) -> None:
        """Update all of them, and wait until they are handled."""
        for number in range(COUNT):
            found = await self.client.get(f"c{number}")
            found.data["value"] = value
            written = await self.client.update(found)
            await self.informer.wait_until(written.resource_version, timeout=30)
            await asyncio.sleep(0)  # the handlers

    def cached(self) -> list[ConfigMap]:
        return self.informer.indexer.list()

    @property
    def decoded(self) -> int:
        """How many cached objects have decoded parts."""
        return sum(each._has_decoded_parts() for each in self.cached())


@asynccontextmanager
async def config_maps(on_object: Callable[[ConfigMap], object], **options: Any) -> AsyncIterator[ConfigMaps]:
    """A synced informer whose handler has read the objects twice."""
    async with APIServer() as server, ClientSet(server.config) as client:
        found = ConfigMaps(client, **options)
        await found.fill()
        found.informer.add_handler(on_add=on_object, on_update=lambda _, new: on_object(new))
        async with found.informer:
            await found.informer.wait_for_sync(timeout=30)
            await found.update_all("1")
            await found.update_all("2")
            yield found


async def test_what_a_handler_reads_does_not_stay_decoded() -> None:
    seen: list[str] = []

    async with config_maps(lambda item: seen.append(item.data["value"] + item.metadata.labels["n"])) as found:
        assert found.decoded == 0

        assert seen[-COUNT:] == ["20", "21", "22", "23", "24"]
        first = min(found.cached(), key=lambda each: each.name)
        assert (first.name, first.labels, first.data) == ("c0", {"n": "0"}, {"value": "2"})
        assert first == await found.client.get("c0")
        assert first.metadata.labels == {"n": "0"}


async def test_what_an_async_handler_reads_does_not_stay_decoded() -> None:
    async def read(item: ConfigMap) -> None:
        before = item.data
        await asyncio.sleep(0)
        assert item.data is before

    async with config_maps(read) as found:
        assert found.decoded == 0


async def test_what_an_index_function_reads_does_not_stay_decoded() -> None:
    indexers = {"value": lambda item: [item.data["value"]]}

    async with config_maps(lambda item: item.name, indexers=indexers) as found:
        assert found.decoded == 0
        assert len(found.informer.indexer.by_index("value", "2")) == COUNT


@pytest.mark.parametrize("indexers", [None, {"n": lambda item: [item.labels["n"], item.data["value"]]}])
async def test_an_object_that_only_the_cache_has_stays_the_same_instance(indexers: Any) -> None:
    seen: dict[str, weakref.ref[ConfigMap]] = {}

    def read(item: ConfigMap) -> None:
        assert item.data
        assert item.metadata.labels
        seen[item.name] = weakref.ref(item)

    async with APIServer() as server, ClientSet(server.config) as client:
        found = ConfigMaps(client, indexers=indexers)
        await found.fill()
        found.informer.add_handler(on_add=read)
        async with found.informer:
            await found.informer.wait_for_sync(timeout=30)
            assert found.decoded == 0
            # Not of all: the informer itself may still have had some of them, on a slow machine.
            assert any(seen[each.name]() is each for each in found.cached())
            assert [each.labels["n"] for each in found.cached()] == [str(number) for number in range(COUNT)]


class Paused:
    """A handler that waits before each call until it may read."""

    def __init__(self) -> None:
        self.may_read = asyncio.Event()
        self.may_read.set()
        self._has_read = asyncio.Event()
        self._values: list[str] = []

    async def __call__(self, item: ConfigMap) -> None:
        await self.may_read.wait()
        self._values.append(item.data["value"])
        self._has_read.set()

    async def read(self, *values: str) -> None:
        """Read on, until the last values are these."""
        self.may_read.set()
        while self._values[-len(values) :] != [*values]:
            self._has_read.clear()
            await asyncio.wait_for(self._has_read.wait(), 30)
        await asyncio.sleep(0)  # the handler has returned


async def test_states_that_had_left_the_cache_before_they_were_handled_keep_no_later_state_decoded() -> None:
    handler = Paused()
    async with config_maps(handler) as found:
        handler.may_read.clear()
        await found.update_all("3")
        await found.update_all("4")
        await handler.read(*["4"] * COUNT)
        assert found.decoded == 0


async def test_a_state_that_has_left_the_cache_is_not_changed_while_the_program_has_it() -> None:
    handler = Paused()
    async with config_maps(handler) as found:
        handler.may_read.clear()
        await found.update_all("3")
        kept = found.cached()
        parts = [each.data for each in kept]
        await found.update_all("4")
        await handler.read(*["4"] * COUNT)
        assert all(each.data is part for each, part in zip(kept, parts, strict=True))
        assert not any(each is other for each, other in zip(kept, found.cached(), strict=True))


async def test_a_resync_keeps_the_instances_of_the_cache() -> None:
    resynced = asyncio.Event()

    def read(old: ConfigMap, new: ConfigMap) -> None:
        assert new.data
        if old is new:
            resynced.set()

    async with config_maps(lambda item: item.name) as found:
        before = [weakref.ref(each) for each in found.cached()]
        found.informer.add_handler(on_update=read, resync=1.0)
        await asyncio.wait_for(resynced.wait(), 30)
        await asyncio.sleep(0.1)
        assert found.decoded == 0
        same = [reference() is each for reference, each in zip(before, found.cached(), strict=True)]
        assert sum(same) >= COUNT - 1  # the informer may have another reference to the last one that it read


async def test_unstructured_objects_do_not_stay_decoded() -> None:
    async with APIServer() as server, ClientSet(server.config) as client, DynamicClient(server.config) as dynamic:
        written = ConfigMaps(client)
        await written.fill()
        resource = dynamic.resource(ConfigMap, namespace="default")
        informer = SharedIndexInformer(resource, Unstructured)
        values: list[str] = []
        informer.add_handler(
            on_add=lambda item: item["data"], on_update=lambda _, new: values.append(new["data"]["value"])
        )
        async with informer:
            await informer.wait_for_sync(timeout=30)
            written.informer = informer  # type: ignore[assignment]  # of the same objects
            await written.update_all("1")
            await written.update_all("2")
            assert values[-1] == "2"
            assert not any(each._has_decoded_parts() for each in informer.indexer.list())
            assert informer.indexer.list()[0]["data"] == {"value": "2"}


async def test_an_object_that_a_handler_has_stored_stays_in_the_cache() -> None:
    stored: dict[str, ConfigMap] = {}

    def keep(item: ConfigMap) -> None:
        item.data["note"] = "changed in place"  # against the rules, but not to be lost while the program has it
        stored[item.name] = item

    async with config_maps(keep) as found:
        assert found.decoded == COUNT
        assert all(each is stored[each.name] for each in found.cached())
        assert all(each.data["note"] for each in stored.values())


async def test_an_object_that_one_of_several_handlers_has_stored_stays_in_the_cache() -> None:
    stored: dict[str, ConfigMap] = {}

    def keep(item: ConfigMap) -> None:
        stored[item.name] = item
        assert item.data

    async with APIServer() as server, ClientSet(server.config) as client:
        found = ConfigMaps(client)
        await found.fill()
        found.informer.add_handler(on_add=keep, on_update=lambda _, new: keep(new))
        found.informer.add_handler(on_add=lambda item: item.data, on_update=lambda _, new: new.data)
        async with found.informer:
            await found.informer.wait_for_sync(timeout=30)
            await found.update_all("1")
            found.informer.add_handler(on_add=lambda item: item.metadata)  # with objects that are stored already
            await asyncio.sleep(0.1)
            assert all(each is stored[each.name] for each in found.cached())


async def test_parts_are_released_whichever_objects_a_handler_reads() -> None:
    count, handled = 1000, 0

    def read_some(item: ConfigMap) -> None:
        nonlocal handled
        if handled // 100 % 2:
            assert item.data
        handled += 1

    async with APIServer() as server, ClientSet(server.config) as client:
        resource = client.core_v1.configmaps("default")
        for number in range(count):
            await resource.create(config_map(number))
        informer = SharedIndexInformer(resource, ConfigMap)
        informer.add_handler(on_add=read_some)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            assert handled == count
            assert not any(each._has_decoded_parts() for each in informer.indexer.list())


async def test_a_relist_keeps_instances_that_were_released_while_it_was_received() -> None:
    may_read = asyncio.Event()
    may_read.set()

    async def read(item: ConfigMap) -> None:
        await may_read.wait()
        assert item.data

    async with config_maps(read) as found:
        may_read.clear()
        await found.update_all("3")
        release = may_read.set
        (pipeline,) = found.informer._cache.pipelines
        known = pipeline.reflector._cached
        assert known is not None

        def known_then_read() -> Any:
            objects = known()
            release()
            return objects

        pipeline.reflector._cached = known_then_read
        pipeline.relist(ListWatchError("a test relists"))
        await asyncio.wait_for(may_read.wait(), 30)
        created = await found.client.create(config_map(COUNT, "3"))
        await found.informer.wait_until(created.resource_version, timeout=30)
        await asyncio.sleep(0.1)

        assert found.decoded == 0
        assert [each.data["value"] for each in found.cached()] == ["3"] * (COUNT + 1)


async def test_an_object_that_the_program_has_keeps_its_parts_and_changes() -> None:
    kept: list[ConfigMap] = []

    async with config_maps(lambda item: item.data) as found:
        kept += found.cached()
        for each in kept:
            each.data["note"] = "changed in place"
        found.informer.add_handler(on_add=lambda item: item.metadata)
        await asyncio.sleep(0.1)
        assert all(each.data["note"] for each in kept)
        assert [each.data for each in found.cached()] == [{"value": "2"}] * COUNT


async def test_readers_in_other_threads_always_find_every_part() -> None:
    wrong: list[object] = []

    async with config_maps(lambda item: (item.metadata, item.data)) as found:
        is_done = threading.Event()

        def read() -> None:
            while not is_done.is_set():
                for each in found.cached():
                    copied = each.copy()
                    copied.metadata.labels = {"n": "changed"}
                    seen = (each.labels["n"], each.metadata.labels["n"], len(each.data), copied.to_dict()["metadata"])
                    if seen[:3] != (each.name[1:], each.name[1:], 1) or seen[3]["labels"] != {"n": "changed"}:
                        wrong.append(seen)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            reading = [asyncio.to_thread(read) for _ in range(2)]
            tasks = [asyncio.ensure_future(each) for each in reading]
            for number in range(20):
                await found.update_all(str(number))
        finally:
            is_done.set()
            sys.setswitchinterval(interval)
        await asyncio.gather(*tasks)

    assert wrong == []


async def test_handlers_that_read_old_states_find_them_decoded() -> None:
    same: list[bool] = []
    last: dict[str, object] = {}

    def compare(old: ConfigMap, new: ConfigMap) -> None:
        same.append(old.data is last.get(old.name))
        last[new.name] = new.data

    async with config_maps(lambda item: item.name) as found:
        found.informer.add_handler(on_update=compare)
        await found.update_all("3")
        await found.update_all("4")
        await found.update_all("5")
        assert same[-COUNT:] == [True] * COUNT


@pytest.mark.parametrize("handlers", [2, 3])
async def test_several_handlers_decode_an_object_once(handlers: int) -> None:
    parts: list[list[object]] = [[] for _ in range(handlers)]

    async with config_maps(lambda item: item.data) as found:
        for each in parts:
            found.informer.add_handler(on_update=lambda _, new, each=each: each.append(new.data))
        await found.update_all("3")
        await found.update_all("4")

        assert all(one is other for row in zip(*parts, strict=True) for one, other in pairwise(row))
        assert len(parts[0]) == 2 * COUNT
        assert found.decoded == 0


@pytest.mark.parametrize("compact", [False, True])
async def test_changes_of_a_transform_are_kept(*, compact: bool) -> None:
    def change(item: ConfigMap) -> ConfigMap:
        item.data["note"] = "transformed"
        item.metadata.annotations = {"note": "transformed"}
        return item

    async with config_maps(lambda item: item.data, transform=change, compact=compact) as found:
        assert {each.data["note"] for each in found.cached()} == {"transformed"}
        assert {each.metadata.annotations["note"] for each in found.cached()} == {"transformed"}


async def test_objects_that_a_program_has_written_to_the_store_keep_their_changes() -> None:
    async with config_maps(lambda item: item.data) as found:
        changed = found.cached()[0].copy()
        changed.data["note"] = "of the program"
        found.informer.indexer.add(changed)
        found.informer.add_handler(on_add=lambda item: item.data)
        found.informer.add_handler(on_add=lambda item: item.data)
        await asyncio.sleep(0.1)

        assert changed.data["note"] == "of the program"


@pytest.mark.parametrize("way", ["apply", "replace", "prepare_replace"])
async def test_objects_that_a_program_has_written_together_keep_their_changes(way: str) -> None:
    async with config_maps(lambda item: item.data) as found:
        indexer, changed = found.informer.indexer, [each.copy() for each in found.cached()]
        for each in changed:
            each.data["note"] = "of the program"
        if way == "apply":
            indexer.apply([UpdatedDelta(each, key=each.cache_key) for each in changed])
        elif way == "replace":
            indexer.replace(changed, indexer.resource_version)
        else:
            for _ in indexer.prepare_replace(changed, indexer.resource_version).commit():
                pass
        del changed, each
        found.informer.add_handler(on_add=lambda item: item.metadata)
        await asyncio.sleep(0.1)

        assert {each.data["note"] for each in found.cached()} == {"of the program"}


async def test_objects_that_a_handler_writes_to_the_store_keep_their_changes() -> None:
    async with config_maps(lambda item: None) as found:

        def change(item: ConfigMap) -> None:
            item.data["note"] = "of the handler"
            found.informer.indexer.add(item)

        found.informer.add_handler(on_add=change)
        await asyncio.sleep(0.1)
        assert {each.data["note"] for each in found.cached()} == {"of the handler"}


class ChangingSource:
    """A program's own source, around that of a client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def list(self, **options: Any) -> Any:
        page = await self._client.list(**options)
        for each in page.items:
            each.data["note"] = "by the source"
        return page


async def test_objects_that_a_source_around_a_client_has_changed_keep_their_changes() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        found = ConfigMaps(client)
        await found.fill()
        informer: SharedIndexInformer[ConfigMap] = SharedIndexInformer(
            ChangingSource(found.client), ConfigMap, streaming=False
        )
        informer.add_handler(on_add=lambda item: item.data)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            assert {each.data["note"] for each in informer.indexer.list()} == {"by the source"}


async def test_objects_that_a_replaced_method_of_a_client_has_changed_keep_their_changes() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        found = ConfigMaps(client)
        await found.fill()
        replaced: Any = found.client
        replaced.list = ChangingSource(client.core_v1.configmaps("default")).list
        informer = SharedIndexInformer(found.client, ConfigMap, streaming=False)
        informer.add_handler(on_add=lambda item: item.data)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            assert {each.data["note"] for each in informer.indexer.list()} == {"by the source"}


@dataclass
class Summary:
    cache_key: str
    resource_version: str


async def test_a_transform_may_return_objects_of_another_class() -> None:
    def summarize(item: Any) -> Any:
        return Summary(item.cache_key, item.resource_version)

    keys: list[str] = []
    async with config_maps(lambda item: keys.append(item.cache_key), transform=summarize) as found:
        assert len(keys) == 3 * COUNT
        assert len(found.cached()) == COUNT


async def test_objects_of_an_own_source_keep_their_changes() -> None:
    changed = pod("a")
    changed.spec.node_name = "set by the source"
    setting = Setting(changed)
    setting.informer.add_handler(on_add=lambda item: item.status)

    async with setting.running():
        setting.watch.add(pod("b", "11")).add(pod("c", "12"))
        await setting.settle()
        found = setting.informer.indexer.get("default/a")
        assert found is not None
        assert found.spec.node_name == "set by the source"


async def test_the_mutation_detector_sees_what_a_handler_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LISTWATCH_MUTATION_DETECTOR", "1")
    problems: list[Problem] = []

    def change(item: ConfigMap) -> None:
        item.data["note"] = "changed in place"

    async with config_maps(change, on_problem=problems.append) as found:
        detector = found.informer._detector
        assert detector is not None
        detector.check()
    assert {type(each.error) for each in problems} == {UsageError}
    assert len(problems) >= COUNT


async def test_an_object_that_was_read_once_does_not_stay_decoded_for_ever() -> None:
    async with config_maps(lambda item: item.data) as found:
        assert {each.data["value"] for each in found.cached()} == {"2"}
        assert found.decoded == COUNT
        for number in range(10):
            await found.update_all(str(number))
        assert found.decoded == 0


def test_parts_of_an_object_that_was_not_received_cannot_be_decoded_again() -> None:
    made = config_map(1)

    assert made._undecoded() is made
    assert not made._forget_parts()
    assert made.data == {"value": "0"}


@pytest.mark.parametrize("kind", [ConfigMap, Unstructured])
def test_an_object_can_be_read_while_its_parts_are_released(kind: type[ConfigMap] | type[Unstructured]) -> None:
    managed = [{"manager": "a", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {}}]
    metadata = {"name": "a", "labels": {"n": "1"}, "managedFields": managed}
    tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"value": "1"}}
    item = kind.from_dict(tree)
    same, is_done = item.copy(), threading.Event()
    errors: list[Exception] = []

    def read() -> None:
        copied = item.copy()
        copied.metadata.labels["n"] = "2"
        assert copied.to_dict()["metadata"]["labels"] == {"n": "2"}
        assert item.metadata.labels == item.labels == {"n": "1"}
        assert item.peek("data") is not None
        assert item == same
        assert item.to_dict() == tree
        assert item.describe() == "ConfigMap a"
        assert not item.without_managed_fields().metadata.managed_fields

    def read_repeatedly() -> None:
        try:
            while not is_done.is_set():
                read()
        except Exception as error:  # noqa: BLE001  # asserted below
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=read_repeatedly) for _ in range(2)]
    try:
        for each in threads:
            each.start()
        is_released = [item._forget_parts() for _ in range(2000)]
    finally:
        is_done.set()
        for each in threads:
            each.join()
        sys.setswitchinterval(interval)
    assert errors == []
    assert all(is_released)
    assert item._forget_parts()
    assert not item._has_decoded_parts()


class Measured(ConfigMap):
    """A class of the program, whose objects have more than their bytes."""

    @classmethod
    def from_wire(cls, raw: bytes) -> Measured:
        made = super().from_wire(raw)
        made._size = len(raw)  # type: ignore[attr-defined]  # of the program
        return made


async def test_objects_to_which_a_program_has_added_attributes_keep_them() -> None:
    async with APIServer() as server, ClientSet(server.config) as client:
        await ConfigMaps(client).fill()
        informer = SharedIndexInformer(client.resource(Measured, namespace="default"), Measured)
        informer.add_handler(on_add=lambda item: item.data)
        async with informer:
            await informer.wait_for_sync(timeout=30)
            assert all(each._size > 100 for each in informer.indexer.list())  # type: ignore[attr-defined]  # of the program


@pytest.mark.parametrize("content_type", ["json", "protobuf"])
async def test_metadata_that_a_handler_has_replaced_does_not_end_the_informer(content_type: Any) -> None:
    def replace_metadata(item: ConfigMap) -> None:
        item.metadata = ObjectMeta(name=item.name, namespace=item.namespace)  # against the rules

    async with APIServer() as server, ClientSet(replace(server.config, content_type=content_type)) as client:
        found = ConfigMaps(client)
        await found.fill()
        found.informer.add_handler(on_add=replace_metadata, on_update=lambda _, new: replace_metadata(new))
        async with found.informer:
            await found.informer.wait_for_sync(timeout=30)
            await found.update_all("1")
            assert {each.data["value"] for each in found.cached()} == {"1"}


def test_a_decorated_transform_does_not_count_as_one_that_only_cuts_bytes() -> None:
    @functools.wraps(strip_managed_fields)
    def change(item: ConfigMap) -> ConfigMap:
        return item

    assert StoredForm(ConfigMap, strip_managed_fields).is_encoded
    assert not StoredForm(ConfigMap, change).is_encoded
