"""Several managers of one shard group on the embedded server: each object is reconciled by one of them."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import pytest
from tests.controller.sharding.groups import FAST, OBJECTS, Group, create_objects, eventually, held_by

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager, ReconcileContext, Watch
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.errors import ShardConfigError, ShardLostError, UsageError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Secret
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions, ShardSpace
from listwatch.testing import APIServerThread, VirtualClock


async def test_replicas_share_the_objects_and_take_over_when_one_leaves():
    async with APIServer() as server, ClientSet(server.config) as client, AsyncExitStack() as stack:
        await create_objects(client)
        group = Group(client)
        await stack.enter_async_context(group.manager("a"))
        await group.wait_owners({"a"})
        second = group.manager("b")
        async with second:
            await group.wait_owners({"a", "b"})
            await eventually(lambda: (shards := second.statistics().shards) and shards.states["owned"] == 8)
            await eventually(lambda: Counter(group.owner.values())["b"] >= 4)
            assert Counter(group.owner.values())["b"] <= 36
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


@pytest.mark.parametrize("has_selectors", [True, False])
async def test_each_replica_caches_only_the_objects_of_its_shards(has_selectors: bool):
    async with APIServer(shard_selectors=has_selectors) as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a") as first:
            await group.wait_owners({"a"})
            assert len(held_by(first)) == OBJECTS
            async with group.manager("b") as second:
                await group.wait_owners({"a", "b"})
                for name, manager in (("a", first), ("b", second)):
                    # b has prefetched what a releases.
                    await eventually(partial(group.has_its_part, name, manager))
                    source = manager.controllers[0].informer(ConfigMap)._pipelines[0].reflector._source
                    assert isinstance(source, ShardedSource)
                    assert source.path == ("selector" if has_selectors else "filter")
            await group.wait_owners({"a"})
            assert len(held_by(first)) == OBJECTS


async def test_a_deleted_object_is_reconciled_by_the_replica_that_had_its_shard():
    async with APIServer() as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        seen: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()

        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            seen.put_nowait((key.name, context.get() is not None))

        options = ShardingOptions(group="web", shards=4, identity="a", timing=FAST)
        manager = Manager(client, namespace="default", shards=options)
        manager.add(Controller(reconcile, for_=ConfigMap))
        await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
        async with manager, asyncio.timeout(30):
            assert await seen.get() == ("one", True)
            await maps.delete("one")
            assert await seen.get() == ("one", False)
            await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
            assert await seen.get() == ("one", True)


async def test_an_event_loop_that_is_blocked_for_a_while_does_not_cost_the_session():
    with APIServerThread() as server:
        async with ClientSet(server.config) as client:
            await create_objects(client)
            blocked: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            options = ShardingOptions(group="web", shards=4, identity="a", timing=FAST)
            manager = Manager(client, namespace="default", shards=options, loop_stall_threshold=60.0)

            async def reconcile(_: ObjectKey) -> None:
                assert manager._sharded is not None
                renewals: set[float] = set()
                ends = time.monotonic() + 30
                while not blocked.done() and len(renewals) < 10 and time.monotonic() < ends:  # blocks the loop
                    renewals.add(manager._sharded.coordinator.state.valid_until)
                if not blocked.done():
                    blocked.set_result(len(renewals))

            manager.add(Controller(reconcile, for_=ConfigMap))
            async with manager, asyncio.timeout(60):
                assert await blocked == 10  # the renew deadline is six retry periods
                found = manager.statistics().shards
                assert found is not None
                assert found.sessions_lost == 0


async def test_an_event_loop_that_stays_blocked_loses_its_shards():
    with APIServerThread() as server:
        async with ClientSet(server.config) as client:
            await create_objects(client)
            timing = replace(FAST, stall_limit=0.5)
            lost: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            options = ShardingOptions(group="web", shards=1, identity="a", timing=timing)
            manager = Manager(client, namespace="default", shards=options, loop_stall_threshold=60.0)

            async def reconcile(_: ObjectKey) -> None:
                assert manager._sharded is not None
                if not lost.done():
                    ends = time.monotonic() + 30
                    while manager._sharded.validity.token_of(0) is not None and time.monotonic() < ends:
                        pass
                    lost.set_result(manager._sharded.validity.token_of(0) is None)

            manager.add(Controller(reconcile, for_=ConfigMap))
            async with manager, asyncio.timeout(60):
                assert await lost
                # It joins again, with another session.
                await eventually(lambda: (shards := manager.statistics().shards) and shards.states["owned"] == 1)
                found = manager.statistics().shards
                assert found is not None
                assert found.sessions_lost == 1


async def test_a_watched_kind_is_cached_by_the_replica_that_its_shard_key_names():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        secrets = client.core_v1.secrets("default")
        for item in await client.core_v1.configmaps("default").list():
            labels = {"for": item.uid, "name": item.name}
            await secrets.create(Secret(metadata=ObjectMeta(name=f"of-{item.name}", labels=labels)))
        await secrets.create(Secret(metadata=ObjectMeta(name="of-none")))
        async with AsyncExitStack() as stack:
            managers = {}
            for name in ("a", "b"):
                manager = managers[name] = group.manager(name)
                watch = Watch(
                    Secret,
                    keys=lambda item: f"default/{item.labels['name']}",
                    shard_key=lambda item: item.labels["for"],
                )
                manager.add(Controller(lambda _: None, for_=ConfigMap, watches=[watch], name=f"secrets of {name}"))
                await stack.enter_async_context(manager)
            await group.wait_owners({"a", "b"})

            def each_has_its_part() -> bool:
                held = {
                    name: {f"default/{item.labels['name']}" for item in manager.controllers[1].indexer(Secret).list()}
                    for name, manager in managers.items()
                }
                return (
                    all(held[name] == held_by(managers[name]) for name in managers)
                    and sum(map(len, held.values())) == 40
                )

            await eventually(each_has_its_part)


async def test_a_shard_key_by_namespace_needs_shards_by_namespace():
    by_uid, by_namespace = (
        ShardedCaches(ShardSpace(4, by=by), list, clock=VirtualClock()) for by in ("uid", "namespace")
    )
    with pytest.raises(UsageError, match="needs shard_by='namespace'"):
        by_uid.part_of("watched", "namespace")
    assert by_namespace.part_of("watched", "namespace") is by_namespace.part_of("main")
    assert by_namespace.part_of("watched", "owner") is by_namespace.part_of("owned")
    assert by_uid.part_of("watched", "owner") is by_uid.part_of("owned") is not by_uid.part_of("main")
    assert by_uid.part_of("watched") is None
    with pytest.raises(UsageError, match="shard_key must be a plain function"):
        Watch(ConfigMap, shard_key="uid")  # type: ignore[arg-type]  # on purpose
