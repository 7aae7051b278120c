"""The behaviour of informers on any server: own writes, existing objects, selectors, deletions."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import NotFoundError, SyncTimeoutError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.handlers import Change, ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.informer import Informer
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Container, Pod, PodSpec
from listwatch.objects.caching.transforms import strip_managed_fields
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

TIMEOUT = 60.0
FRONT = {"tier": "front"}


def config_map(name: str, **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels=labels))


class QueueingHandler:
    """A handler that queues its calls, so that a test can await the next one."""

    def __init__(self) -> None:
        self._changes: asyncio.Queue[tuple[str, str, bool]] = asyncio.Queue()

    def on_add(self, item: Any, *, is_initial: bool) -> None:
        self._changes.put_nowait(("add", item.name, is_initial))

    def on_update(self, old: Any, new: Any) -> None:
        self._changes.put_nowait(("update", new.name, old.uid == new.uid))

    def on_delete(self, item: Any, *, final_state_known: bool) -> None:
        self._changes.put_nowait(("delete", item.name, final_state_known))

    async def next(self) -> tuple[str, str, bool]:
        return await self._changes.get()


async def test_a_program_reads_its_own_writes(client: ClientSet, namespaces: list[str]):
    config_maps = client.core_v1.configmaps(namespaces[0])
    async with SharedIndexInformer(config_maps, ConfigMap) as informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        written = await config_maps.create(config_map("a"))
        for number in range(20):
            await informer.wait_until(written.resource_version, timeout=TIMEOUT)
            assert informer.lister.namespace(namespaces[0]).get("a").resource_version == written.resource_version
            written = await config_maps.patch("a", {"data": {"number": str(number)}})


async def test_a_handler_added_later_receives_existing_objects_first(client: ClientSet, namespaces: list[str]):
    config_maps = client.core_v1.configmaps(namespaces[0])
    await config_maps.create(config_map("a"))
    async with SharedIndexInformer(config_maps, ConfigMap) as informer:
        written = await config_maps.create(config_map("b"))
        await informer.wait_for_sync(timeout=TIMEOUT)
        await informer.wait_until(written.resource_version, timeout=TIMEOUT)
        calls = QueueingHandler()
        registration = informer.add_handler(calls)
        await registration.wait_for_sync(timeout=TIMEOUT)
        await config_maps.create(config_map("c"))
        assert {await calls.next(), await calls.next()} == {("add", "a", True), ("add", "b", True)}
        assert await calls.next() == ("add", "c", False)


async def test_objects_that_stop_or_start_to_match_a_selector_are_deleted_and_added(
    client: ClientSet, namespaces: list[str]
):
    config_maps = client.core_v1.configmaps(namespaces[0])
    await config_maps.create(config_map("a"))
    calls = QueueingHandler()
    informer = SharedIndexInformer(config_maps.selecting(label_selector=FRONT), ConfigMap)
    informer.add_handler(calls)
    async with informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        for tier in ("front", "back", "front"):
            await config_maps.patch("a", {"metadata": {"labels": {"tier": tier}}})
        await config_maps.patch("a", {"data": {"x": "1"}})
        await config_maps.delete("a")
        assert [await calls.next() for _ in range(5)] == [
            ("add", "a", False),
            ("delete", "a", True),
            ("add", "a", False),
            ("update", "a", True),
            ("delete", "a", True),
        ]
        assert informer.indexer.list() == []


async def test_a_change_of_a_selected_field_adds_and_deletes_objects(client: ClientSet, namespaces: list[str]):
    pods, calls = client.core_v1.pods(namespaces[0]), QueueingHandler()
    informer = SharedIndexInformer(pods.selecting(field_selector="status.phase=Running"), Pod)
    informer.add_handler(calls)
    async with informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        spec = PodSpec(containers=[Container(name="web", image="web:1")])
        await pods.create(Pod(metadata=ObjectMeta(name="a"), spec=spec))
        for phase in ("Running", "Succeeded"):
            await pods.patch("a", {"status": {"phase": phase}}, subresource="status")
        assert [await calls.next() for _ in range(2)] == [("add", "a", False), ("delete", "a", True)]


async def test_an_object_that_is_created_again_is_deleted_and_added(client: ClientSet, namespaces: list[str]):
    config_maps, calls = client.core_v1.configmaps(namespaces[0]), QueueingHandler()
    await config_maps.create(config_map("a", **FRONT))
    informer = SharedIndexInformer(config_maps.selecting(label_selector=FRONT), ConfigMap)
    informer.add_handler(calls)
    async with informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        await config_maps.delete("a")
        again = await config_maps.create(config_map("a", **FRONT))
        assert [await calls.next() for _ in range(3)] == [
            ("add", "a", True),
            ("delete", "a", True),
            ("add", "a", False),
        ]
        [cached] = informer.indexer.list()
        assert cached.uid == again.uid


async def test_changes_are_read_in_a_loop(client: ClientSet, namespaces: list[str]):
    config_maps = client.core_v1.configmaps(namespaces[0]).selecting(label_selector=FRONT)
    await config_maps.create(config_map("a", **FRONT))
    seen: list[type[Change[ConfigMap]]] = []
    async with SharedIndexInformer(config_maps, ConfigMap) as informer, aclosing(informer.changes()) as changes:
        async for change in changes:
            seen.append(type(change))
            if len(seen) == 1:
                await config_maps.patch("a", {"data": {"x": "1"}})
                await config_maps.delete("a")
            if isinstance(change, ObjectDeleted):
                break
    assert seen == [ObjectAdded, ObjectUpdated, ObjectDeleted]


async def test_typed_dynamic_and_metadata_informers_see_the_same_objects(client: ClientSet, namespaces: list[str]):
    made = await client.core_v1.configmaps(namespaces[0]).create(config_map("a"))
    sources: list[tuple[Any, type[Any]]] = [
        (client.core_v1.configmaps(namespaces[0]), ConfigMap),
        (client.dynamic.resource("v1", "ConfigMap").namespace(namespaces[0]), Unstructured),
        (client.metadata.resource(ConfigMap, namespace=namespaces[0]), PartialObjectMetadata),
    ]
    for source, kind in sources:
        async with SharedIndexInformer(source, kind) as informer:
            await informer.wait_for_sync(timeout=TIMEOUT)
            cached = informer.indexer.get(f"{namespaces[0]}/a")
            assert (type(cached), cached.uid) == (kind, made.uid)


async def test_a_plain_informer_calls_its_handler_inline(client: ClientSet, namespaces: list[str]):
    config_maps = client.core_v1.configmaps(namespaces[0]).selecting(label_selector=FRONT)
    await config_maps.create(config_map("a", **FRONT))
    calls = QueueingHandler()
    async with Informer(config_maps, ConfigMap, calls) as informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        await config_maps.delete("a")
        assert [await calls.next(), await calls.next()] == [("add", "a", True), ("delete", "a", True)]
        assert informer.indexer.list() == []


async def test_managed_fields_can_be_left_out(client: ClientSet, namespaces: list[str]):
    config_maps = client.core_v1.configmaps(namespaces[0])
    await config_maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"x": "1"}))
    async with SharedIndexInformer(config_maps, ConfigMap, transform=strip_managed_fields) as informer:
        await informer.wait_for_sync(timeout=TIMEOUT)
        cached = informer.lister.namespace(namespaces[0]).get("a")
        assert (cached.data, cached.metadata.managed_fields) == ({"x": "1"}, [])


async def test_a_sync_timeout_names_a_missing_resource(client: ClientSet, namespaces: list[str]):
    nothing = client.dynamic.resource("example.com/v1", "Nothing").namespace(namespaces[0])
    async with SharedIndexInformer(nothing, Unstructured, name="nothings", on_problem=lambda _: None) as informer:
        with pytest.raises(SyncTimeoutError, match="nothings") as caught:
            await informer.wait_for_sync(timeout=1.0)
    assert isinstance(caught.value.last_error, NotFoundError) or "Nothing" in str(caught.value.last_error)


async def test_a_factory_works_with_typed_dynamic_and_metadata_clients(client: ClientSet, namespaces: list[str]):
    made = await client.core_v1.configmaps(namespaces[0]).create(config_map("a", **FRONT))
    for maker, kind in ((client, ConfigMap), (client.dynamic, Unstructured), (client.metadata, PartialObjectMetadata)):
        async with SharedInformerFactory(maker, namespaces=namespaces[:2]) as factory:
            handle = factory.informer(ConfigMap, label_selector=FRONT)
            assert factory.informer(ConfigMap, label_selector="tier = front").informer is handle.informer
            await factory.wait_for_sync(timeout=TIMEOUT)
            [cached] = handle.lister.namespace(namespaces[0]).list()
            assert (type(cached), cached.uid) == (kind, made.uid)
            with pytest.raises(NotFoundError, match="configmaps"):
                handle.lister.namespace(namespaces[1]).get("a")
