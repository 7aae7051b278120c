"""A cache of some shards: it has their objects, whatever changes meanwhile, and no others."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from unittest.mock import ANY

import pytest

from listwatch.api.shard_selector import ShardField
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.deltas import BookmarkDelta, EvictedDelta
from listwatch.cache.indexer import Indexer
from listwatch.client import ClientSet
from listwatch.controller.sharding.cache_part import CachePart, ShardKeyFunction, uid_of_owner
from listwatch.controller.sharding.metadata_reader import MetadataReader
from listwatch.controller.sharding.shard_contents import Listed, Load, ShardContents
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.errors import ForbiddenError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects import Object, ObjectMeta, OwnerReference
from listwatch.server import APIServer
from listwatch.server.faults.faults import CutStream, Delay, Fail, Fault, HoldEvents
from listwatch.sharding import ShardSpace
from listwatch.sharding.options import ReadPathOption

ALL = frozenset(range(8))
PATHS: list[ReadPathOption] = ["selector", "metadata", "filter"]


class Cache:
    """An informer of some shards of the ConfigMaps of a server, and what its handlers were notified of."""

    def __init__(
        self, server: APIServer, client: ClientSet, part: CachePart, informer: SharedIndexInformer[ConfigMap]
    ) -> None:
        self.server = server
        self.client = client
        self.part = part
        self.informer = informer
        self.deleted: list[str] = []
        self.evicted: list[str] = []
        informer.add_handler(
            on_delete=lambda item: self.deleted.append(item.name), on_evict=lambda item: self.evicted.append(item.name)
        )

    @property
    def source(self) -> ShardedSource:
        found = self.informer._pipelines[0].reflector._source
        assert isinstance(found, ShardedSource)
        return found

    @property
    def names(self) -> set[str]:
        return {item.name for item in self.informer.indexer.list()}

    @property
    def versions(self) -> dict[str, str]:
        return {item.name: item.resource_version for item in self.informer.indexer.list()}

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a batch makes the condition true."""
        async with asyncio.timeout(10):
            while not condition():
                await self.source._wait_applied()

    async def until_watched(self, shards: frozenset[int]) -> None:
        """Wait until the server selects these shards in a watch."""
        selector = str(self.part.space.selector(shards))
        async with asyncio.timeout(20):
            for count in itertools.count(1):
                watches = await self.server.wait_for_requests(count, resource="configmaps", verb="watch")
                if any(each.query.text("shardSelector") == selector for each in watches):
                    return

    async def create(self, name: str, **metadata: object) -> ConfigMap:
        return await self.client.core_v1.configmaps("default").create(
            ConfigMap(metadata=ObjectMeta(name=name, **metadata))  # type: ignore[arg-type]  # any field
        )

    async def expected(self, shards: frozenset[int]) -> dict[str, str]:
        listed = await self.client.core_v1.configmaps("default").list()
        return {item.name: item.resource_version for item in listed if self.part.shard_of(item) in shards}

    async def show(self, shards: frozenset[int]) -> None:
        self.part.set_shards(shards)
        async with asyncio.timeout(20):
            await self.source.load(shards)


@asynccontextmanager
async def cache(
    path: ReadPathOption = "selector", *, shard_key: ShardKeyFunction | None = None, by: ShardField = "uid"
) -> AsyncIterator[Cache]:
    async with APIServer(shard_selectors=path == "selector") as server, ClientSet(server.config) as client:
        part = CachePart(ShardSpace(8, by=by), shard_key=shard_key, read_path=path)
        async with SharedInformerFactory(client) as factory:
            informer = factory._informer_of(ConfigMap, namespace="default", part=part).informer
            await informer.wait_for_sync(10)
            yield Cache(server, client, part, informer)


@pytest.mark.parametrize("path", PATHS)
async def test_a_cache_has_the_objects_of_its_shards_only(path: ReadPathOption):
    async with cache(path) as held:
        for number in range(40):
            await held.create(f"c{number}")
        assert held.names == set()
        for shards in (frozenset({0, 1, 2}), frozenset({2, 3}), ALL, frozenset[int]()):
            await held.show(shards)
            expected = await held.expected(shards)
            await held.until(lambda: held.versions == expected)  # noqa: B023  # called at once
        assert held.source.path == path


async def test_objects_that_leave_with_their_shard_are_evicted_and_not_reported_as_deleted():
    async with cache() as held:
        for number in range(20):
            await held.create(f"c{number}")
        await held.show(ALL)
        everything = held.names
        await held.show(frozenset({1}))
        kept, deleted = held.names, await held.create("deleted-later")
        async with asyncio.timeout(10):
            while len(held.evicted) < len(everything - kept):  # noqa: ASYNC110  # of a handler
                await asyncio.sleep(0)
        assert sorted(held.evicted) == sorted(everything - kept)
        await held.show(ALL)
        await held.client.core_v1.configmaps("default").delete(deleted.name)
        await held.until(lambda: deleted.name not in held.names)
        await asyncio.sleep(0)
        assert held.deleted == ["deleted-later"]
        assert kept < held.names


@pytest.mark.parametrize("path", PATHS)
async def test_a_gained_shard_contains_what_was_written_before(path: ReadPathOption):
    async with cache(path) as held:
        maps = held.client.core_v1.configmaps("default")
        written = [await held.create(f"c{number}") for number in range(10)]
        await held.show(ALL)  # prefetched
        for item in written[:5]:
            await maps.patch(item.name, {"data": {"changed": "yes"}})
        for item in written[5:]:
            await maps.delete(item.name)
        async with asyncio.timeout(10):
            await held.source.load(ALL)
        assert [item.data for item in held.informer.indexer.list()] == 5 * [{"changed": "yes"}]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("change", ["delete", "patch", "create"])
async def test_a_shard_is_not_loaded_before_the_cache_has_all_listed_changes(path: ReadPathOption, change: str):
    async with cache(path) as held:
        maps = held.client.core_v1.configmaps("default")
        await held.create("one")
        await held.show(ALL)  # prefetched
        if path == "selector":
            await held.until_watched(ALL)
        held_back = held.server.faults.add(Fault(HoldEvents(), resource="configmaps"))
        match change:
            case "delete":
                await maps.delete("one")
            case "patch":
                await maps.patch("one", {"data": {"changed": "yes"}})
            case "create":
                await held.create("two")
        lists = len(held.server.requests.matching(resource="configmaps", verb="list"))
        loading = asyncio.create_task(held.source.load(ALL))
        async with asyncio.timeout(20):
            await held.server.wait_for_requests(lists + 1, until="finished", resource="configmaps", verb="list")
            for _ in range(50):
                await asyncio.sleep(0)
            assert not loading.done()
            held.server.faults.remove(held_back)
            await loading
        assert held.versions == await held.expected(ALL)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("seed", range(3))
async def test_no_change_is_lost_while_shards_come_and_go(seed: int, path: ReadPathOption):
    dice = Random(seed)
    async with cache(path) as held:
        maps, living, is_over = held.client.core_v1.configmaps("default"), [], False

        async def write() -> None:
            number = 0
            while not is_over:
                match dice.choice(["create", "create", "patch", "delete"]):
                    case "patch" if living:
                        await maps.patch(dice.choice(living), {"data": {"number": str(dice.random())}})
                    case "delete" if len(living) > 5:
                        await maps.delete(living.pop(dice.randrange(len(living))))
                    case _:
                        await held.create(name := f"c{number}")
                        living.append(name)
                        number += 1

        writing = asyncio.create_task(write())
        shards = frozenset[int]()
        for _ in range(12):
            shards = shards ^ frozenset(dice.sample(range(8), dice.randint(1, 4)))
            await held.show(shards)
        is_over = True
        await writing
        await held.show(shards)
        expected = await held.expected(shards)
        await held.until(lambda: held.versions == expected)
        assert held.source.counts().total() == len(expected)


async def test_owned_objects_are_in_the_shard_of_their_owner():
    async with cache("filter", shard_key=uid_of_owner) as held:
        owners = [await held.create(f"owner{number}") for number in range(6)]
        for owner in owners:
            reference = OwnerReference(
                api_version="v1", kind="ConfigMap", name=owner.name, uid=owner.uid, controller=True
            )
            await held.create(f"of-{owner.name}", owner_references=[reference])
        shard = held.part.space.shard_of(owners[0].uid)
        await held.show(frozenset({shard}))
        of_shard = {f"of-{each.name}" for each in owners if held.part.space.shard_of(each.uid) == shard}
        assert held.names == of_shard
        assert held.source.path == "filter"
        # It belongs to another owner now.
        await held.client.core_v1.configmaps("default").patch(
            f"of-{owners[0].name}", {"metadata": {"ownerReferences": None}}
        )
        await held.until(lambda: f"of-{owners[0].name}" not in held.names)


def test_the_events_of_other_shards_are_dropped_also_if_the_server_sends_them():
    part = CachePart(ShardSpace(8))
    contents = ShardContents(part)
    items = [
        ConfigMap(metadata=ObjectMeta(name=f"c{number}", namespace="default", uid=f"u{number}", resource_version="7"))
        for number in range(20)
    ]
    own = {part.shard_of(items[0])}
    contents.shards = frozenset(each for each in own if each is not None)
    events = [AddedEvent(item) for item in items]
    assert [each.object.name for each in contents.select(events)] == [  # type: ignore[union-attr]  # of an object
        item.name for item in items if part.shard_of(item) in own
    ]
    assert contents.position == "7"
    assert len(contents.shard_by_key) + contents.dropped == 20
    contents.select([DeletedEvent(items[0])])
    assert len(contents.shard_by_key) + contents.dropped == 19


# --- the choice of the path -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "expected"), [(10, "filter"), (5000, "metadata")])
async def test_the_metadata_of_large_objects_is_watched_if_the_server_does_not_select(size: int, expected: str):
    async with APIServer(shard_selectors=False) as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        await maps.create(ConfigMap(metadata=ObjectMeta(name="one"), data={"text": size * "x"}))
        part = CachePart(ShardSpace(8))
        part.shards = ALL
        source = part.wrap(maps)
        assert [item.name for item in (await source.list()).items] == ["one"]
        assert source.path == expected
        if expected == "metadata":
            source = part.wrap(_NoMetadata(maps))
            await source.list()
            assert source.path == "filter"


class _NoMetadata:
    """Another source than a resource client; some servers behind it have no shard selectors."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.list, self.watch = source.list, source.watch
        self.has_gate = False

    def selecting(self, *, shard_selector: str) -> Any:
        return self._source.selecting(shard_selector=shard_selector) if self.has_gate else self._source


async def test_a_server_that_stops_confirming_the_selector_is_noticed(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        created = [await maps.create(ConfigMap(metadata=ObjectMeta(name=f"c{number}"))) for number in range(16)]
        part = CachePart(ShardSpace(8))
        part.shards = frozenset({0, 1})
        own = {item.name for item in created if part.selects(item)}
        mixed = _NoMetadata(maps)
        source = part.wrap(mixed)
        for has_gate, path in ((True, "selector"), (False, "filter")):
            mixed.has_gate = has_gate
            assert {item.name for item in (await source.list()).items} == own
            assert source.path == path
        assert "does not confirm the shard selector any more" in caplog.text


async def test_by_namespace_only_the_namespaces_of_the_shards_are_listed():
    async with APIServer(shard_selectors=False) as server, ClientSet(server.config) as client:
        names = ("apple", "default", "pear", "zebra", "quince", "lemon")
        part = CachePart(ShardSpace(8, by="namespace"), read_path="metadata")
        for name in names:
            if name != "default":
                await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=name)))
            await client.core_v1.configmaps(name).create(ConfigMap(metadata=ObjectMeta(name="one")))
        part.shards = frozenset({part.space.shard_of("default")})
        own = {name for name in names if part.space.shard_of(name) in part.shards}
        assert own < set(names)
        source = part.wrap(client.core_v1.configmaps())
        server.requests.clear()
        assert {item.namespace for item in (await source.list(limit=2)).items} == own
        listed = [each.namespace for each in server.requests.matching(resource="configmaps", verb="list")]
        assert {each for each in listed if each} == own
        source.watch()
        assert source.counts().total() == len(own)


async def test_lost_shards_are_not_requested_for_long():
    async with cache() as held:
        await held.show(ALL)
        await held.until_watched(ALL)
        await held.show(frozenset({1}))
        held.source.narrow()
        await held.until_watched(frozenset({1}))
        generation = held.source.generation
        held.source.narrow()  # it has these shards only
        assert held.source.generation == generation


async def test_a_shard_that_is_added_while_the_watch_is_opened_is_watched():
    async with cache() as held:
        items = [await held.create(f"c{number}") for number in range(8)]
        await held.show(frozenset({1}))
        await held.until_watched(frozenset({1}))
        slow = held.server.faults.add(Fault(Delay(0.1), resource="configmaps", verb="watch"))
        held.part.set_shards(frozenset({1, 2}))
        async with asyncio.timeout(20):
            watches = len(held.server.requests.matching(resource="configmaps", verb="watch"))
            await held.server.wait_for_requests(watches + 1, until="started", resource="configmaps", verb="watch")
        await held.show(ALL)
        held.server.faults.remove(slow)
        for item in items:
            await held.client.core_v1.configmaps("default").patch(item.name, {"data": {"changed": "yes"}})
        expected = await held.expected(ALL)
        await held.until(lambda: held.versions == expected)
        await held.until_watched(ALL)


# --- the path `metadata` ----------------------------------------------------------------------------------------------


async def test_a_replica_that_may_not_read_objects_filters_them(caplog: pytest.LogCaptureFixture):
    async with cache("metadata") as held:
        await held.show(ALL)
        held.server.faults.add(Fault(Fail(ForbiddenError("no get")), resource="configmaps", verb="get"))
        await held.create("one")
        await held.until(lambda: held.names == {"one"})
        assert held.source.path == "filter"
        assert "reading an object is forbidden" in caplog.text


async def test_an_object_that_is_read_does_not_hide_changes_of_others():
    async with cache("metadata") as held:
        await held.show(ALL)
        held_back = held.server.faults.add(Fault(HoldEvents(), resource="configmaps"))
        first, second = await held.create("one"), await held.create("two")
        await held.client.core_v1.configmaps("default").patch("one", {"data": {"newer": "yes"}})
        waiting = asyncio.create_task(held.informer.wait_until(second.resource_version, 10))
        cut = held.server.faults.add(Fault(CutStream(after_events=1), resource="configmaps", times=1))
        held.server.faults.remove(held_back)
        await waiting
        # The store did not reach the version of `two` before it had `two`, although `one` is newer.
        assert held.names == {"one", "two"}
        assert int(held.versions["one"]) > int(second.resource_version) > int(first.resource_version)
        held.server.faults.remove(cut)


async def test_a_shard_that_is_added_while_objects_are_read_loses_no_change():
    async with cache("metadata") as held:
        maps = held.client.core_v1.configmaps("default")
        created = [await held.create(f"c{number}") for number in range(12)]
        own = frozenset({shard}) if (shard := held.part.shard_of(created[0])) is not None else ALL
        await held.show(own)
        held_back = held.server.faults.add(Fault(HoldEvents(), resource="configmaps"))
        for item in created:
            await maps.patch(item.name, {"data": {"changed": "yes"}})
        slow = held.server.faults.add(Fault(Delay(0.2), resource="configmaps", verb="get"))
        gets = len(held.server.requests.matching(resource="configmaps", verb="get"))
        held.server.faults.remove(held_back)
        async with asyncio.timeout(10):
            await held.server.wait_for_requests(gets + 1, until="started", resource="configmaps", verb="get")
        await held.show(ALL)
        held.server.faults.remove(slow)
        assert held.versions == await held.expected(ALL)


async def test_a_shard_that_is_lost_and_added_at_once_is_complete():
    async with cache("metadata") as held:
        for number in range(12):
            await held.create(f"c{number}")
        await held.show(ALL)
        held.part.set_shards(frozenset())
        await held.show(ALL)  # the store still has the objects, and evicts them
        assert held.versions == await held.expected(ALL)


def test_objects_are_stored_only_for_their_own_metadata_and_in_order():
    part = CachePart(ShardSpace(1))
    part.shards = frozenset({0})

    def state(name: str, uid: str, version: int) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", uid=uid, resource_version=str(version)))

    def delta(each: Any) -> tuple[str, str, str]:
        return type(each).__name__, each.key, "" if each.object is None else each.object.uid

    contents, fifo = ShardContents(part), DeltaFIFO[Any]()
    events: list[Any] = [
        ModifiedEvent(state("one", "u1", 11)),
        DeletedEvent(state("one", "u1", 12)),
        AddedEvent(state("one", "u2", 13)),
        ModifiedEvent(state("two", "u3", 14)),
        BookmarkEvent(state("", "", 15)),
    ]
    assert {key: item.uid for key, item in contents.changed(events, {}).items()} == {
        "default/one": "u2",
        "default/two": "u3",
    }
    # `one` is newer than its event, and `two` was replaced by another object of that name: a cached state of it is old.
    read: dict[str, Object | None] = {"default/one": state("one", "u2", 20), "default/two": state("two", "u9", 19)}
    [bookmark] = contents.store_read(events, read, fifo)
    assert bookmark.object.resource_version == contents.position == "15"  # type: ignore[union-attr]  # a bookmark
    deltas = [each for batch in iter(fifo.pop_batch, []) for each in batch]
    assert [delta(each) for each in deltas if not isinstance(each, BookmarkDelta)] == [
        ("DeletedDelta", "default/one", ""),
        ("DeletedDelta", "default/one", ""),
        ("ReplacedDelta", "default/one", "u2"),
        ("DeletedDelta", "default/two", ""),
    ]
    # The states up to that one are not read again, unless the object is another one.
    assert not contents.changed([ModifiedEvent(state("one", "u2", 20))], {})
    assert contents.changed([ModifiedEvent(state("one", "u2", 21))], {})
    assert contents.changed([ModifiedEvent(state("one", "u7", 16))], {})
    # A shard was lost while its objects were read.
    contents.shards = frozenset()
    contents.store_read([ModifiedEvent(state("two", "u9", 22))], {"default/two": state("two", "u9", 22)}, fifo)
    assert not fifo.pop_batch()


def test_an_object_that_was_replaced_while_its_namespace_was_listed_is_read_again_after_the_deletion():
    part = CachePart(ShardSpace(1))
    part.shards = frozenset({0})

    def state(uid: str, version: str) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name="one", namespace="default", uid=uid, resource_version=version))

    contents, fifo = ShardContents(part), DeltaFIFO[Any]()
    contents.position = "10"
    contents.ahead = {"default/one": ("new", "13")}  # listed at version 10, and read later
    events: list[Any] = [DeletedEvent(state("old", "12")), AddedEvent(state("new", "13"))]
    wanted = contents.changed(events, {})
    assert {key: item.uid for key, item in wanted.items()} == {"default/one": "new"}
    contents.store_read(events, {"default/one": state("new", "13")}, fifo)
    deltas = [each for batch in iter(fifo.pop_batch, []) for each in batch]
    assert [type(each).__name__ for each in deltas if not isinstance(each, BookmarkDelta)] == [
        "DeletedDelta",
        "ReplacedDelta",
    ]


async def test_a_cache_of_shards_is_requested_every_few_seconds_during_an_outage():
    async with cache() as held, SharedInformerFactory(held.client) as factory:
        whole = factory.informer(ConfigMap).informer
        for informer, is_often in ((held.informer, True), (whole, False)):
            backoff = informer._pipelines[0].reflector._retry_backoff
            assert (max(backoff.next_delay(0.0) for _ in range(10)) <= 8.0) == is_often


# --- shards that change meanwhile -------------------------------------------------------------------------------------


async def test_a_shard_that_is_lost_while_its_list_is_stored_is_evicted():
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
        part = CachePart(ShardSpace(1))
        part.shards = frozenset({0})
        source, fifo = part.wrap(maps), DeltaFIFO[Any]()
        source._attach(fifo, Indexer())
        page = await source.list()
        part.set_shards(frozenset())
        fifo.replace(page.items, page.resource_version)
        source.watch(resource_version=page.resource_version)
        last = [each for batch in iter(fifo.pop_batch, []) for each in batch][-1]
        assert isinstance(last, EvictedDelta)
        assert [*last.keys] == ["default/one"]
        assert source.counts().total() == 0


async def test_an_object_that_the_watch_has_reported_is_not_replaced_by_that_of_a_list():
    part = CachePart(ShardSpace(1))
    part.shards = frozenset({0})
    source, fifo = ShardedSource(None, part), DeltaFIFO[Any]()  # type: ignore[arg-type]  # no request is sent
    source._attach(fifo, Indexer())

    def state(name: str, version: str) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", uid="u", resource_version=version))

    load = Load(part.shards, start="10")
    source._contents.loads.append(load)
    source._contents.select([ModifiedEvent(state("one", "11"))])
    assert await source._store(load, [state("one", "9"), state("two", "8"), state("three", "12")])
    assert [each.key for each in fifo.pop_batch()] == ["default/two"]  # type: ignore[union-attr]  # of an object


async def test_an_object_that_is_about_to_be_evicted_is_read_again():
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        indexer = Indexer[Any]()
        indexer.add(await maps.create(ConfigMap(metadata=ObjectMeta(name="one"))))
        part = CachePart(ShardSpace(1), read_path="metadata")
        part.shards = frozenset({0})
        source = part.wrap(maps)
        source._attach(DeltaFIFO[Any](), indexer)
        reader = MetadataReader.of(maps, "uid")
        assert reader is not None
        items, _ = await source._list_changed(Load(part.shards, ""), reader)
        assert [item.name for item in items] == ["one"]
        source._contents.shard_by_key["default/one"] = 0
        assert await source._list_changed(Load(part.shards, ""), reader) == (
            [],
            Listed({"default/one": ANY}, ANY, {"default/one": 0}),
        )
