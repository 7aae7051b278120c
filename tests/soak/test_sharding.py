"""The checks of the sharding soak notice what they are for."""

from __future__ import annotations

import asyncio

import pytest
from soak.sharding import ShardingOptionsOfSoak, ShardingRound

from listwatch.client import ClientSet
from listwatch.errors import NotFoundError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer


@pytest.fixture
def checked() -> ShardingRound:
    return ShardingRound(1, seconds=30, options=ShardingOptionsOfSoak(objects=2))


def test_reconciles_of_one_object_one_after_the_other_are_no_failure(checked: ShardingRound):
    lines = ["c1 1.0 2.0 1 a", "c1 2.0 3.0 2 b", "c2 1.5 2.5 1 a", '#{"name": "a"}', "c1 4.0"]
    assert checked._overlaps(lines) == []


def test_reconciles_of_one_object_by_two_replicas_at_a_time_are_a_failure(checked: ShardingRound):
    lines = ["c1 1.0 9.0 1 a", "c2 1.0 2.0 1 a", "c1 2.0 3.0 2 b"]
    assert checked._overlaps(lines) == ["c1 was reconciled by a and b at the same time"]


def test_a_token_that_falls_is_a_failure(checked: ShardingRound):
    assert checked._overlaps(["c1 1.0 2.0 3 a", "c1 3.0 4.0 2 b"]) == ["c1: token 2 of b after 3 of a"]


def test_a_reconcile_that_a_freeze_has_interrupted_may_end_late(checked: ShardingRound):
    checked._frozen.append(("a", 1.5, 20.0))
    assert checked._overlaps(["c1 1.0 20.1 1 a", "c1 18.0 19.0 2 b"]) == []
    assert checked._overlaps(["c1 1.0 20.1 1 b", "c1 18.0 19.0 2 a"]) == []
    assert len(checked._overlaps(["c1 20.5 21.0 1 a", "c1 20.6 20.7 2 b"])) == 1


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"wants": "5", "has": "5"}, []),
        ({"wants": "5", "has": "0"}, ["1 of 2 objects do not have the wanted value"]),
        ({"wants": "4", "has": "4"}, ["1 of 2 objects do not have the wanted value"]),  # an earlier one
        (None, ["0 of 1 objects do not have the wanted value"]),
    ],
)
async def test_objects_without_their_last_wanted_value_are_a_failure(
    checked: ShardingRound, second: dict[str, str] | None, expected: list[str]
):
    checked._wanted, checked._limit = {"c2": "5"}, 0.0
    async with APIServer() as server, ClientSet(server.config) as client:
        for name, data in (("c1", {"wants": "0", "has": "0"}), ("c2", second)):
            if data is not None:
                item = ConfigMap(metadata=ObjectMeta(name=name, labels={"app": "soak"}), data=data)
                await client.core_v1.configmaps("default").create(item)
        failures = await checked._check_converged(client)
    assert [each.partition(" after ")[0] for each in failures] == expected


async def test_a_write_that_always_fails_ends_the_soak(checked: ShardingRound):
    checked._limit = 0.0
    async with APIServer() as server, ClientSet(server.config) as client, asyncio.timeout(30):
        with pytest.raises(NotFoundError):
            await checked._write_wanted(client, "missing", "1")
    assert checked._wanted == {}
