"""Groups whose replicas do not agree, may not write Leases, or lose the API server: clear errors, and no two owners."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from tests.controller.sharding.groups import FAST, OBJECTS, Group, create_objects, eventually, get, shards_of

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager
from listwatch.errors import ForbiddenError, ShardConfigError
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer, CutStream, Delay, Fail, Fault, Refuse
from listwatch.sharding import ShardingOptions, ShardSpace
from listwatch.sharding.namespace_shares import uneven_shares


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"shards": 32}, '"shards":32'),
        ({"hash_name": "fnv1a64+fmix64"}, '"hash":"fnv1a64.fmix64"'),
        ({"by": "namespace"}, '"by":"namespace"'),
    ],
)
async def test_a_program_with_another_configuration_is_refused_and_reconciles_nothing(
    options: dict[str, object], expected: str
):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a"):
            await group.wait_owners({"a"})
            with pytest.raises(ShardConfigError, match=rf"written by a at .*asks for .*{expected}.*another group name"):
                await group.manager("b", **options).run(handle_signals=False)
            assert set(group.owner.values()) == {"a"}


async def test_a_program_that_waits_takes_over_with_its_number_of_shards_when_the_others_are_gone():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a"):
            await group.wait_owners({"a"})
            successor = group.manager("b", shards=8, on_config_change="wait")
            successor.start()
            await eventually(lambda: shards_of(successor).phase == "waiting")
            assert set(group.owner.values()) == {"a"}
        await group.wait_owners({"b"})
        assert shards_of(successor).states["owned"] == 8
        await successor.stop()


@pytest.mark.parametrize("verb", ["get", "list", "watch", "create", "update", "delete"])
async def test_a_replica_without_a_permission_ends_with_the_name_of_the_verb(verb: str):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        server.faults.add(Fault(Fail(ForbiddenError("not permitted")), resource="leases", verb=verb))
        group = Group(client)
        async with asyncio.timeout(60):
            with pytest.raises(ShardConfigError, match=rf"needs the verb {verb} on leases.*grant get"):
                await group.manager("a").run(handle_signals=False)
        assert group.owner == {}


async def test_after_an_outage_of_the_server_each_object_has_one_owner_again():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a") as first, group.manager("b") as second:
            await group.wait_owners({"a", "b"})
            server.faults.add(Fault(Refuse()))
            server.faults.add(Fault(CutStream(), verb="watch"))
            await eventually(lambda: all(shards_of(each).sessions_lost == 1 for each in (first, second)))
            assert [shards_of(each).states["owned"] for each in (first, second)] == [0, 0]
            group.owner.clear()
            server.faults.clear()
            await group.wait_owners({"a", "b"})
            await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])
            assert len(group.owner) == OBJECTS


async def test_a_replica_continues_after_a_list_of_the_leases_without_a_response():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        timing = replace(FAST, lease_duration=0.8, renew_deadline=0.5, retry_period=0.1, cleanup=0.1)
        server.faults.add(Fault(Delay(30.0), resource="leases", verb="list", times=1))
        async with group.manager("a", timing=timing):
            await group.wait_owners({"a"})


def test_namespaces_that_look_alike_are_reported_with_advice():
    names = [f"team-{number:02}" for number in range(100)]
    plain, mixed = ShardSpace(64, by="namespace"), ShardSpace(64, by="namespace", hash_name="fnv1a64+fmix64")
    owners = {shard: "abcd"[shard % 4] for shard in range(64)}
    text = uneven_shares(plain, names, owners)
    assert "a has 100 of 100 namespaces, but 16 of 64 shards" in text
    assert "hash_name='fnv1a64+fmix64'" in text
    assert uneven_shares(mixed, names, owners) == ""
    assert uneven_shares(plain, names[:3], owners) == ""
    assert uneven_shares(ShardSpace(64), names, owners) == ""


async def test_a_manager_warns_of_namespaces_that_are_in_one_shard(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        for number in range(20):
            await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=f"team-{number:02}")))
        await create_objects(client)
        group = Group(client)
        with caplog.at_level(logging.WARNING, "listwatch.sharding"):
            async with group.manager("a", by="namespace"), group.manager("b", by="namespace"):
                await eventually(lambda: "names that look alike are in the same shard" in caplog.text)


async def test_a_reconcile_that_outlives_its_shard_by_a_lease_makes_the_replica_unhealthy():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        endless, began = asyncio.Event(), asyncio.Event()

        async def reconcile(_: ObjectKey) -> None:
            began.set()
            while not endless.is_set():
                try:
                    await endless.wait()
                except asyncio.CancelledError:
                    continue

        options = ShardingOptions(group="web", shards=4, identity="a", timing=FAST)
        manager = Manager(client, namespace="default", shards=options, health_port=0)
        manager.add(Controller(reconcile, for_=ConfigMap, timeout=None, concurrency=1))
        async with manager:
            await began.wait()
            assert await get(manager, "/healthz") == (200, "[+] shards\nok\n")
            assert manager._sharded is not None
            async with asyncio.timeout(30):
                waiting: list[Any] = []
                while sum(each["waiting"] for each in waiting) < OBJECTS - 1:  # one is being reconciled
                    waiting = json.loads((await get(manager, "/shards"))[1])["shards"]
            assert all(each["oldestWaiting"]["key"] for each in waiting if each["waiting"])
            manager._sharded.coordinator.give_up()
            async with asyncio.timeout(30):
                while (response := await get(manager, "/healthz"))[0] == 200:
                    pass
            assert "was lost more than 3 s ago; it can write nothing" in response[1]
            endless.set()
            report = json.loads((await get(manager, "/shards"))[1])
            assert {"readPaths", "queues", "replicas", "shards", "moves"} <= {*report}
