"""Under random failures a gained shard is reconciled only with what was written to it before, and no object is lost."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.controller.sharding.cache_simulation import CacheSimulation

from listwatch.controller.sharding.shard_contents import Listed, Load, ShardContents, is_after
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.controller.sharding.sharded_source import ShardedSource

RUNS = int(os.environ.get("LISTWATCH_SIMULATIONS", "20"))
FIRST_SEED = int(os.environ.get("LISTWATCH_SEED", "0"))


def test_gained_shards_are_complete_and_fresh_under_all_faults():
    checks = 0
    for seed in range(FIRST_SEED, FIRST_SEED + RUNS):
        simulation = CacheSimulation(seed)
        try:
            simulation.run()
        except BaseException as error:
            error.add_note(f"seed {seed}, {simulation.path}:\n" + "\n".join(simulation.server.history[-60:]))
            raise
        checks += simulation.checks
    assert checks >= RUNS


def test_a_simulation_does_not_depend_on_the_speed_of_the_machine(monkeypatch: pytest.MonkeyPatch):
    before = [history_of(seed) for seed in range(10)]
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda _: 1000 * time.monotonic())
    assert [history_of(seed) for seed in range(10)] == before


def history_of(seed: int) -> list[str]:
    simulation = CacheSimulation(seed)
    simulation.run()
    return simulation.server.history


async def loads_nothing(_: ShardedCaches, source: ShardedSource, __: frozenset[int]) -> str:
    return source._contents.position


async def waits_for_nothing(_: ShardedSource, __: frozenset[int], ___: str) -> None:
    return


async def does_not_wait_until_stored(*_: Any) -> None:
    return


def expects_all_shards(self: ShardedSource, key: str, load: Load, listed: Listed) -> bool:
    is_whole = {*listed.shards.values()} <= load.shards
    return is_whole and is_after(listed.versions[key], self._contents.position)


def sets_shards_silently(self: ShardedSource, shards: frozenset[int]) -> None:
    self._notify_applied, notify = lambda: None, self._notify_applied  # type: ignore[method-assign]  # for this call
    SET_SHARDS(self, shards)
    self._notify_applied = notify  # type: ignore[method-assign]  # as it was


SET_SHARDS = ShardedSource.set_shards

BROKEN: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "gained shards are not listed": (ShardedCaches, "_load", loads_nothing),
    "released versions are not waited for": (ShardedSource, "wait_reached", waits_for_nothing),
    "lists are not waited for until they are stored": (ShardedSource, "_wait_stored", does_not_wait_until_stored),
    "a watch is not opened again for more shards": (ShardedSource, "_wake", lambda _: None),
    "a deleted object is stored again by an old event": (ShardContents, "_is_gone", lambda *_: False),
    "lists do not continue if one of their shards is lost": (ShardedSource, "_is_expected", expects_all_shards),
    "waits are not ended when shards are lost": (ShardedSource, "set_shards", sets_shards_silently),
    "lost shards stay in the store": (ShardedSource, "_evict", lambda *_: None),
}

FIRST_NOTICED = {
    "a deleted object is stored again by an old event": 40,
    "lists do not continue if one of their shards is lost": 15,
    "waits are not ended when shards are lost": 15,
}
"""Seeds from which on a fault is noticed soon, to keep the test short."""


@pytest.mark.parametrize("name", BROKEN)
def test_the_simulation_notices_caches_that_are_broken(name: str, monkeypatch: pytest.MonkeyPatch):
    target, attribute, function = BROKEN[name]
    monkeypatch.setattr(target, attribute, function)
    first = FIRST_NOTICED.get(name, 0)
    assert any(is_noticed(seed) for seed in range(first, first + 60)), f"not noticed: {name}"


def is_noticed(seed: int) -> bool:
    try:
        CacheSimulation(seed).run()
    except AssertionError:
        return True
    return False
