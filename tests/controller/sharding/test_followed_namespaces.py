"""Sharded managers that watch the namespaces whose labels match, which come and go while they run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from tests.controller.sharding.groups import FAST, eventually, shards_of

from listwatch.api.shard_selector import ShardField
from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager, ReconcileContext, Watch
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions
from listwatch.sharding.protocol.shard_space import HashName

HASH: HashName = "fnv1a64+fmix64"
NAMES = ["red", "green", "blue", "yellow", "black", "white"]


class Teams:
    """Replicas that record which of them saw which object last, and whether it was in the cache."""

    def __init__(self, client: ClientSet, by: ShardField) -> None:
        self.client = client
        self.by: ShardField = by
        self.owners: dict[str, str] = {}
        self.seen: list[tuple[str, bool]] = []

    def manager(self, name: str, **watch: str) -> Manager:
        async def reconcile(key: ObjectKey, context: ReconcileContext[ConfigMap]) -> None:
            self.seen.append((str(key), context.get() is not None))
            self.owners[str(key)] = name

        options = ShardingOptions(group="web", shards=16, by=self.by, hash_name=HASH, identity=name, timing=FAST)
        manager = Manager(self.client, namespace_selector="team=a", shards=options)
        manager.add(Controller(reconcile, for_=Watch(ConfigMap, **watch), name=f"maps of {name}"))  # type: ignore[arg-type]  # selectors
        return manager

    async def add(self, namespace: str, *, team: str = "a") -> None:
        metadata = ObjectMeta(name=namespace, labels={"team": team})
        await self.client.core_v1.namespaces().create(Namespace(metadata=metadata))
        for name in ("one", "two"):
            await self.client.core_v1.configmaps(namespace).create(
                ConfigMap(metadata=ObjectMeta(name=name, labels={"app": "web"}))
            )

    async def label(self, namespace: str, team: str) -> None:
        await self.client.core_v1.namespaces().patch(namespace, {"metadata": {"labels": {"team": team}}})


@asynccontextmanager
async def teams(by: ShardField) -> AsyncIterator[tuple[APIServer, Teams]]:
    async with APIServer(bootstrap=False) as server, ClientSet(server.config) as client:
        found = Teams(client, by)
        for name in NAMES[:4]:
            await found.add(name)
        await found.add("other", team="b")
        yield server, found


def keys(*namespaces: str) -> set[str]:
    return {f"{namespace}/{name}" for namespace in namespaces for name in ("one", "two")}


def sources(manager: Manager) -> dict[str | None, ShardedSource]:
    pipelines = manager.controllers[0].informer(ConfigMap)._pipelines
    found = {each.scope: each.reflector._source for each in pipelines}
    return {scope: source for scope, source in found.items() if isinstance(source, ShardedSource)}


@pytest.mark.parametrize("by", ["uid", "namespace"])
async def test_replicas_share_the_objects_of_the_namespaces_that_match(by: ShardField):
    async with teams(by) as (_, group), AsyncExitStack() as stack:
        first = await stack.enter_async_context(group.manager("a"))
        await eventually(lambda: group.owners.keys() == keys(*NAMES[:4]))
        async with group.manager("b") as second:
            await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])
            for name in NAMES[4:]:
                await group.add(name)
            await group.label("red", "none")

            await eventually(lambda: is_divided(group, first, second, keys(*NAMES[1:])))
        await eventually(lambda: {each.cache_key for each in cached(first)} == keys(*NAMES[1:]))
        await eventually(lambda: all(group.owners[key] == "a" for key in keys(*NAMES[1:])))
        assert not any(key.startswith("other/") for key in group.owners)


def cached(manager: Manager) -> list[ConfigMap]:
    return manager.controllers[0].indexer(ConfigMap).list()


def is_divided(group: Teams, first: Manager, second: Manager, expected: set[str]) -> bool:
    """Whether each object is cached by one replica, which reconciled it last."""
    parts = [{each.cache_key for each in cached(manager)} for manager in (first, second)]
    owners = {key: name for name, part in zip("ab", parts, strict=True) for key in part}
    is_reconciled = all(group.owners.get(key) == name for key, name in owners.items())
    return all(parts) and not parts[0] & parts[1] and owners.keys() == expected and is_reconciled


async def test_a_replica_watches_only_the_namespaces_of_its_shards_if_they_are_shared_by_namespace():
    async with teams("namespace") as (server, group), group.manager("a") as first:
        await eventually(lambda: group.owners.keys() == keys(*NAMES[:4]))
        async with group.manager("b") as second:
            await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])
            await eventually(lambda: is_divided(group, first, second, keys(*NAMES[:4])))
            assert first._sharded is not None
            first._sharded.caches.narrow()

            def is_own(manager: Manager) -> bool:
                watched = {scope for scope, source in sources(manager).items() if source._watched}
                return watched == {each.namespace for each in cached(manager)}

            await eventually(lambda: is_own(first) and is_own(second))
            assert {source.path for source in sources(first).values()} == {"namespace"}
        requests = await server.wait_for_requests(1, resource="configmaps")
        assert not any(each.query.text("shardSelector") for each in requests)


@pytest.mark.parametrize("by", ["uid", "namespace"])
async def test_an_object_that_leaves_with_its_namespace_or_its_label_is_reconciled_once_more(by: ShardField):
    async with teams(by) as (_, group), group.manager("a", label_selector="app=web"):
        await eventually(lambda: group.owners.keys() == keys(*NAMES[:4]))
        await group.label("red", "none")
        await eventually(lambda: {("red/one", False), ("red/two", False)} <= {*group.seen})
        maps = group.client.core_v1.configmaps("blue")
        await maps.patch("one", {"metadata": {"labels": {"app": "other"}}})
        await eventually(lambda: ("blue/one", False) in group.seen)
        await asyncio.sleep(0)
        assert ("blue/two", False) not in group.seen
