"""The sizes and the waiting keys of the shards, which replicas measure and write into their Leases."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.controller.sharding.groups import FAST, OBJECTS, Group, create_objects, eventually, get, held_by, shards_of

from listwatch.client import ClientSet
from listwatch.controller import Controller, Manager
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer
from listwatch.sharding import ShardingOptions
from listwatch.sharding.protocol.replica_load import ReplicaLoad, ShardLoad

COUNTS = st.integers(min_value=0, max_value=2**40)


@given(shards=st.dictionaries(st.integers(0, 1023), st.tuples(COUNTS, COUNTS, COUNTS)), oldest=st.integers(0, 10**6))
def test_a_load_is_read_as_it_was_written(shards: dict[int, tuple[int, int, int]], oldest: int):
    load = ReplicaLoad(
        {shard: ShardLoad(*each) for shard, each in shards.items()}, oldest / 10, datetime(2026, 1, 2, tzinfo=UTC)
    )
    assert ReplicaLoad.parse(load.text) == load


DAMAGED = [
    "",
    "{}",
    '{"at":null,"oldestWaiting":0,"shards":[]}',
    '{"shards":{"0":[1,2,3,4]}}',
    '{"at":null,"oldestWaiting":0,"shards":{"0":[Infinity,0,0]}}',
    '{"at":null,"oldestWaiting":0,"shards":{"0":[-1,0,0]}}',
    '{"at":null,"oldestWaiting":0,"shards":{"0":"123"}}',
    '{"at":null,"oldestWaiting":0,"shards":{"0":[1%s,0,0]}}' % ("0" * 400),
    '{"at":null,"oldestWaiting":1%s,"shards":{}}' % ("0" * 400),
    "[" * 100_000,
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_load_is_ignored(text: str):
    assert ReplicaLoad.parse(text) is None


@given(text=st.text())
def test_any_text_is_a_load_or_ignored(text: str):
    found = ReplicaLoad.parse(text)
    assert found is None or ReplicaLoad.parse(found.text) is not None


def test_the_load_of_64_shards_has_less_than_two_kilobytes():
    load = ReplicaLoad({shard: ShardLoad(100_000, 999_999_999, 9999) for shard in range(64)}, 0.5, datetime.now(UTC))
    assert len(load.text) < 2048


async def test_a_replica_with_three_times_the_weight_has_three_times_the_shards_and_all_replicas_show_all_sizes():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        group = Group(client)
        light, heavy = (group.manager(name, weight=weight, health_port=0) for name, weight in (("a", 1.0), ("b", 3.0)))
        async with light, heavy:
            await eventually(lambda: [shards_of(each).states["owned"] for each in (light, heavy)] == [4, 12])
            await eventually(
                lambda: (
                    [shards_of(each).load.total.objects for each in (light, heavy)]
                    == [len(held_by(each)) for each in (light, heavy)]
                )
            )
            report = await report_with_loads(light)
            replicas = {each["identity"]: each for each in report["replicas"]}
            assert [(replicas[name]["weight"], replicas[name]["quota"]) for name in "ab"] == [(1, 4), (3, 12)]
            for name, manager in (("a", light), ("b", heavy)):
                load = replicas[name]["load"]
                assert load["objects"] == len(held_by(manager))
                whole = sum(len(item.to_json()) for item in manager.controllers[0].indexer(ConfigMap).list())
                assert 0 <= whole - load["bytes"] <= 40 * load["objects"]  # items of lists have no apiVersion and kind
                assert load["share"] == load["objects"] / OBJECTS
                shards = [each for each in report["shards"] if each["holder"] == name]
                assert sum(each["objects"] for each in shards) == load["objects"]
                assert sum(each["bytes"] for each in shards) == load["bytes"]
            samples = {each.name: each.value for each in shards_of(heavy).samples()}
            assert samples["listwatch_shards_bytes"] == replicas["b"]["load"]["bytes"]


async def report_with_loads(manager: Manager) -> dict[str, Any]:
    """The report of a replica, once the loads in it contain all objects."""
    async with asyncio.timeout(30):
        while True:
            report: dict[str, Any] = json.loads((await get(manager, "/shards"))[1])
            loads = [each["load"] for each in report["replicas"]]
            if all(loads) and sum(each["objects"] for each in loads) == OBJECTS:
                return report


async def test_a_replica_reports_how_many_keys_wait_and_how_long_in_its_lease():
    async with APIServer() as server, ClientSet(server.config) as client:
        await create_objects(client)
        may_end = asyncio.Event()

        async def reconcile(_: ObjectKey) -> None:
            await may_end.wait()

        options = ShardingOptions(group="web", shards=4, identity="a", timing=FAST)
        manager = Manager(client, namespace="default", shards=options)
        manager.add(Controller(reconcile, for_=ConfigMap, concurrency=1))
        async with manager:
            load = ReplicaLoad()
            async with asyncio.timeout(30):
                while load.total.waiting != OBJECTS - 1 or load.oldest_waiting == 0:  # one is being reconciled
                    leases = await client.coordination_v1.leases("default").list(label_selector="listwatch/role=member")
                    notes = leases[0].metadata.annotations if leases else {}
                    load = ReplicaLoad.parse(notes.get("listwatch/load", "")) or load
            assert load.total.objects == OBJECTS
            may_end.set()
