"""A cache of some shards: it has their objects, whatever changes meanwhile, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

import pytest

from listwatch.api.shard_selector import ShardField
from listwatch.api.watch_events import AddedEvent, DeletedEvent
from listwatch.client import ClientSet
from listwatch.controller.sharding.cache_part import CachePart, ShardKeyFunction, uid_of_owner
from listwatch.controller.sharding.shard_contents import ShardContents
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta, OwnerReference
from listwatch.server import APIServer
from listwatch.sharding import ShardSpace
from listwatch.sharding.options import ReadPathOption

ALL = frozenset(range(8))
PATHS: list[ReadPathOption] = ["selector", "metadata", "filter"]


class Cache:
    """An informer of some shards of the ConfigMaps of a server, and what its handlers were notified of."""

    def __init__(self, client: ClientSet, part: CachePart, informer: SharedIndexInformer[ConfigMap]) -> None:
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
            yield Cache(client, part, informer)


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
