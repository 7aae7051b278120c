"""Several managers of one shard group on the embedded server: each object is reconciled by one of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager, ReconcileContext
from listwatch.errors import ShardConfigError, ShardLostError, UsageError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions, ShardTiming

FAST = ShardTiming(lease_duration=3.0, renew_deadline=1.8, retry_period=0.3, grace_period=1.0, cleanup=0.5, settle=0.2)
OBJECTS = 40


class Group:
    """Replicas that record which of them reconciled which object."""

    def __init__(self, client: ClientSet) -> None:
        self.client = client
        self.owner: dict[str, str] = {}
        self.tokens: dict[str, int] = {}
        self.running: Counter[str] = Counter()
        self.changed = asyncio.Event()

    def manager(self, name: str, *, shards: int = 16) -> Manager:
        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            self.running[str(key)] += 1
            assert self.running[str(key)] == 1, f"{key} is reconciled twice at a time"
            await asyncio.sleep(0)
            assert context.fencing_token >= self.tokens.get(str(key), 0)
            self.tokens[str(key)] = context.fencing_token
            self.owner[str(key)] = name
            self.running[str(key)] -= 1
            self.changed.set()

        options = ShardingOptions(group="web", shards=shards, identity=name, timing=FAST)
        manager = Manager(self.client, namespace="default", shards=options)
        manager.add(Controller(reconcile, for_=ConfigMap, name=f"maps of {name}"))
        return manager

    async def wait_owners(self, names: set[str]) -> None:
        async with asyncio.timeout(30):
            while len(self.owner) < OBJECTS or set(self.owner.values()) != names:
                self.changed.clear()
                await self.changed.wait()


async def create_objects(client: ClientSet) -> None:
    for number in range(OBJECTS):
        await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name=f"c{number}")))


async def test_replicas_share_the_objects_and_take_over_when_one_leaves():
    async with APIServer() as server, ClientSet(server.config) as client, AsyncExitStack() as stack:
        await create_objects(client)
        group = Group(client)
        await stack.enter_async_context(group.manager("a"))
        await group.wait_owners({"a"})
        second = group.manager("b")
        async with second:
            await group.wait_owners({"a", "b"})
            assert 4 <= Counter(group.owner.values())["b"] <= 36
            found = second.statistics().shards
            assert found is not None
            assert found.wanted == 8
            assert ("listwatch_shards_wanted", 8) in [(each.name, each.value) for each in found.samples()]
        await group.wait_owners({"a"})


async def test_a_group_with_another_number_of_shards_is_refused():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a"):
            await group.wait_owners({"a"})
            with pytest.raises(ShardConfigError, match=r'has the configuration .*"shards":16.*asks for .*"shards":32'):
                await group.manager("b", shards=32).run(handle_signals=False)


async def test_a_write_for_a_shard_that_was_lost_is_not_sent():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        refused: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        managers: list[Manager] = []

        async def reconcile(key: ObjectKey) -> None:
            assert managers[0]._sharded is not None
            managers[0]._sharded.coordinator.validity.publish(float("-inf"), {})
            try:
                await client.core_v1.configmaps("default").patch(key.name, {"data": {"written": "yes"}})
            except ShardLostError as error:
                if not refused.done():
                    refused.set_result(error)

        options = ShardingOptions(group="web", shards=4, identity="a", timing=FAST)
        manager = Manager(client, namespace="default", shards=options)
        managers.append(manager)
        manager.add(Controller(reconcile, for_=ConfigMap))
        async with manager:
            async with asyncio.timeout(30):
                assert "another replica reconciles the object" in str(await refused)
        assert not [each for each in await client.core_v1.configmaps("default").list() if each.data]


async def test_a_sharded_manager_needs_the_name_of_its_group():
    async with APIServer() as server, ClientSet(server.config) as client:
        with pytest.raises(UsageError, match="shard_group="):
            Manager(client, shards=64)
        with pytest.raises(UsageError, match="not both"):
            Manager(client, shards=64, shard_group="web", leader_election="web")
