"""Groups whose replicas do not agree, may not write Leases, or lose the API server: clear errors, and no two owners."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from typing import Any

import pytest
from tests.controller.sharding.groups import (
    FAST,
    OBJECTS,
    Group,
    create_objects,
    eventually,
    get,
    held_by,
    shards_of,
)

from listwatch.client import ClientSet
from listwatch.clock import SystemClock
from listwatch.controller import Controller, Manager
from listwatch.errors import ForbiddenError, ShardConfigError
from listwatch.meta import ObjectKey
from listwatch.models.coordination_v1 import Lease
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.models.rbac_v1 import PolicyRule, Role, RoleBinding, RoleRef, Subject
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


async def test_a_replica_works_with_the_documented_permissions_and_ends_with_an_error_without_those_on_leases():
    async with APIServer(authorization="rbac") as server, ClientSet(server.config) as client:
        await create_objects(client)
        config = server.config_for_token(server.issue_token("robot"))
        await permit(client, "objects", PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["list", "watch"]))
        async with ClientSet(config) as restricted:
            group = Group(restricted)
            expected = 'needs the verb delete on leases.*User "robot" cannot delete resource "leases".*grant get, list'
            with pytest.raises(ShardConfigError, match=expected):
                await group.manager("a").run(handle_signals=False)
            assert group.owner == {}
            verbs = ["get", "list", "watch", "create", "update", "delete"]
            await permit(
                client, "leases", PolicyRule(api_groups=["coordination.k8s.io"], resources=["leases"], verbs=verbs)
            )
            async with group.manager("a"):
                await group.wait_owners({"a"})


async def permit(client: ClientSet, name: str, rule: PolicyRule) -> None:
    """Give the user robot a role in the namespace default."""
    group, metadata = "rbac.authorization.k8s.io", ObjectMeta(name=name)
    await client.rbac_v1.roles("default").create(Role(metadata=metadata, rules=[rule]))
    binding = RoleBinding(
        metadata=metadata,
        role_ref=RoleRef(api_group=group, kind="Role", name=name),
        subjects=[Subject(api_group=group, kind="User", name="robot")],
    )
    await client.rbac_v1.rolebindings("default").create(binding)


async def test_after_an_outage_of_the_server_each_object_has_one_owner_again(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        async with group.manager("a") as first, group.manager("b") as second:
            await group.wait_owners({"a", "b"})
            server.faults.add(Fault(Refuse()))
            server.faults.add(Fault(CutStream(), verb="watch"))
            await eventually(lambda: all(shards_of(each).sessions_lost == 1 for each in (first, second)))
            assert [shards_of(each).states["owned"] for each in (first, second)] == [0, 0]
            text = "is over: it was not renewed for 1.8 s; all reconciles are stopped"
            await eventually(lambda: caplog.text.count(text) == 2)
            group.owner.clear()
            server.faults.clear()
            await group.wait_owners({"a", "b"})
            await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])
            assert len(group.owner) == OBJECTS


async def test_two_replicas_with_one_identity_have_their_own_shards_and_warn(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        with caplog.at_level(logging.WARNING, "listwatch.sharding"):
            async with group.manager("a") as first, group.manager("a") as second:
                await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])
                await eventually(lambda: caplog.text.count("has the identity a of this one") >= 2)
                # A cache keeps the objects of a shard that has moved for a moment.
                await eventually(lambda: held_by(first).isdisjoint(held_by(second)))


async def test_a_replica_that_starts_again_with_its_identity_does_not_warn(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        with caplog.at_level(logging.WARNING, "listwatch.sharding"):
            async with group.manager("a") as manager:
                await group.wait_owners({"a"})
                assert manager._sharded is not None
                manager._sharded.coordinator.give_up()  # a new session follows
                await eventually(lambda: shards_of(manager).sessions_lost == 1)
                await eventually(lambda: shards_of(manager).states["owned"] == 16)
        assert "has the identity" not in caplog.text


async def test_a_group_with_the_name_of_the_lease_of_another_program_is_refused():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        await client.coordination_v1.leases("default").create(Lease(metadata=ObjectMeta(name="web")))
        group = Group(client)
        expected = "the Lease web in namespace default has no record of the shard group web: another program"
        with pytest.raises(ShardConfigError, match=expected):
            await group.manager("a").run(handle_signals=False)
        assert group.owner == {}


async def test_all_shards_have_owners_beside_a_lease_of_a_shard_that_the_group_does_not_have():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        leases, group = client.coordination_v1.leases("default"), Group(client)
        async with group.manager("a") as first:
            await group.wait_owners({"a"})
            stray = (await leases.get("web-1-s-0000")).copy()
            stray.metadata = ObjectMeta(name="web-1-s-0016", labels=stray.metadata.labels)
            await leases.create(stray)
            async with group.manager("b") as second:
                await group.wait_owners({"a", "b"})
                await eventually(lambda: [shards_of(each).states["owned"] for each in (first, second)] == [8, 8])


async def test_a_damaged_lease_is_reported_and_created_again_after_its_deletion(caplog: pytest.LogCaptureFixture):
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        leases, group = client.coordination_v1.leases("default"), Group(client)
        with caplog.at_level(logging.WARNING, "listwatch.sharding"):
            async with group.manager("a") as manager:
                await group.wait_owners({"a"})
                await leases.patch("web-1-s-0003", {"spec": {"leaseTransitions": 2**31 - 1}})
                await eventually(lambda: "The Lease web-1-s-0003 of the shard group web is damaged" in caplog.text)
                await leases.delete("web-1-s-0003")
                await eventually(lambda: shards_of(manager).states["owned"] == 15)
                await eventually(lambda: shards_of(manager).states["owned"] == 16)
        assert (await leases.get("web-1-s-0003")).spec.lease_transitions == 3  # created with 2, then claimed


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


async def test_each_manager_warns_of_namespaces_that_are_in_one_shard_also_if_another_one_joins_later(
    caplog: pytest.LogCaptureFixture,
):
    async with APIServer() as server, ClientSet(server.config) as client:
        for number in range(20):
            await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=f"team-{number:02}")))
        await create_objects(client)
        group = Group(client)
        with caplog.at_level(logging.WARNING, "listwatch.sharding"):
            async with group.manager("a", by="namespace"):
                await group.wait_owners({"a"})
                await server.wait_for_requests(1, verb="list", resource="namespaces")  # the shares were checked
                async with group.manager("b", by="namespace"):
                    await eventually(lambda: caplog.text.count("names that look alike are in the same shard") == 2)


class RecordingClock(SystemClock):
    """The system's clock, which records for how long tasks sleep."""

    def __init__(self) -> None:
        self.delays: set[float] = set()

    async def sleep(self, delay: float) -> None:
        self.delays.add(delay)
        await super().sleep(delay)


async def test_a_replica_by_namespace_that_moves_shards_at_once_checks_the_shares_with_pauses():
    async with APIServer() as server, ClientSet(server.config) as client:
        options = ShardingOptions(group="web", shards=4, by="namespace", identity="a", timing=replace(FAST, settle=0.0))
        clock = RecordingClock()
        manager = Manager(client, namespace="default", shards=options, clock=clock)
        manager.add(Controller(lambda _: None, for_=ConfigMap))
        async with manager:
            await server.wait_for_requests(1, verb="list", resource="namespaces")  # the shares were checked
        assert min(clock.delays) > 0


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
