"""The writes of an owner that released a shard are in the caches of the next one before it reconciles."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.controller.sharding.groups import FAST, Group, create_objects, eventually, shards_of

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager
from listwatch.controller.sharding.released_versions import ReleasedVersions
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.shared_informer import AnyInformer
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects import ObjectMeta
from listwatch.server import APIServer
from listwatch.server.faults.faults import Fault, HoldEvents
from listwatch.sharding import ShardingOptions, ShardSpace
from listwatch.testing import VirtualClock

ALL = frozenset(range(4))


@pytest.mark.parametrize("role", ["main", "watched"])
@pytest.mark.parametrize("has_selectors", [True, False])
async def test_a_gained_shard_is_not_reconciled_before_the_cache_has_the_released_version(
    role: str, has_selectors: bool
):
    async with APIServer(shard_selectors=has_selectors) as server, ClientSet(server.config) as client:
        maps = client.core_v1.configmaps("default")
        await maps.create(ConfigMap(metadata=ObjectMeta(name="one")))
        async with SharedInformerFactory(client) as factory:
            informers: list[AnyInformer] = []
            caches = ShardedCaches(ShardSpace(4), lambda: informers, clock=VirtualClock())
            part = caches.part_of("main") if role == "main" else None
            informers.append(factory._informer_of(ConfigMap, namespace="default", part=part).informer)
            caches.set_shards(ALL)
            async with asyncio.timeout(20):
                await caches.catch_up(dict.fromkeys(ALL))  # prefetched
                lists = len(server.requests.matching(resource="configmaps", verb="list"))
                held = server.faults.add(Fault(HoldEvents(), resource="configmaps"))
                written = await maps.patch("one", {"data": {"written": "yes"}})
                released = {shard: {"configmaps": written.resource_version} for shard in ALL}
                catching_up = asyncio.create_task(caches.catch_up(released))
                for _ in range(20):
                    await asyncio.sleep(0)
                assert not catching_up.done()
                server.faults.remove(held)
                reached = await catching_up
            assert [item.data for item in informers[0].indexer.list()] == [{"written": "yes"}]
            assert reached == released  # the next owner has to wait for it too
            assert len(server.requests.matching(resource="configmaps", verb="list")) == lists


async def test_a_replica_releases_the_versions_of_its_writes_and_the_next_owner_needs_no_list():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        maps, versions = client.core_v1.configmaps("default"), dict[str, str]()

        async def reconcile(key: ObjectKey) -> None:
            if key.name not in versions:
                written = await maps.patch(key.name, {"data": {"by": "a"}})
                versions[key.name] = written.resource_version

        first = Manager(
            client, namespace="default", shards=ShardingOptions(group="web", shards=2, identity="a", timing=FAST)
        )
        first.add(Controller(reconcile, for_=ConfigMap))
        async with first:
            await eventually(lambda: len(versions) == 40)
            before = len(server.requests.matching(resource="configmaps", verb="list"))
            async with Group(client).manager("b", shards=2) as second:
                await eventually(lambda: shards_of(second).states["owned"] == 1)
                lists = len(server.requests.matching(resource="configmaps", verb="list"))
                released = {
                    each.name: json.loads(each.metadata.annotations["listwatch/released-versions"])
                    for each in await client.coordination_v1.leases("default").list()
                    if "listwatch/released-versions" in each.metadata.annotations
                }
                assert released == {}  # the claim has removed them
        # Both were released in the end, with the versions of what a wrote for their objects.
        written: dict[int, int] = {}
        for item in await maps.list():
            shard = ShardSpace(2).shard_of(item.uid)
            written[shard] = max(written.get(shard, 0), int(versions[item.name]))
        for shard, version in written.items():
            lease = await client.coordination_v1.leases("default").get(f"web-1-s-{shard:04}")
            found = json.loads(lease.metadata.annotations["listwatch/released-versions"])
            assert int(found["configmaps"]) >= version
        assert lists == before + 2  # an empty one and one of the expected shards; none when the shard was gained


def test_versions_are_released_only_if_all_writes_are_known():
    versions = ReleasedVersions()
    versions.gain(1, 7, {"pods": "5"})
    assert versions.take(1) == {"pods": "5"}  # it was not reconciled
    versions.gain(1, 8, {"pods": "5"})
    versions.catch_up(1, 8, {"pods": "9", "secrets": "8", "jobs.batch": "8"})
    versions.catch_up(1, 7, {"pods": "1", "secrets": "1"})  # of the ownership before
    versions.record(1, "pods", "12")
    versions.record(1, "pods", "11")
    versions.record(1, "secrets", "")  # a deletion, or no response
    versions.record(1, "secrets", "13")
    versions.record(1, "events", "14")  # not cached here, so that earlier writes are not known
    versions.record(2, "pods", "15")
    assert versions.take(1) == {"pods": "12", "jobs.batch": "8"}
    assert versions.take(1) == {}
