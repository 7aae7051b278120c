"""`listwatch shards` prints the replicas, shards and moves of a group."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from tests.cli.conftest import Run
from tests.controller.sharding.groups import OBJECTS, Group, create_objects, eventually, shards_of

from listwatch.client import ClientSet
from listwatch.server import APIServer


async def test_shards_of_a_group_that_does_not_exist_are_a_failure_and_not_a_wrong_usage(server: APIServer, run: Run):
    done = await run("shards", "web", "-n", "default")
    assert (done.code, done.out) == (1, "")
    assert "there is no shard group web in the namespace default; -n selects another namespace" in done.errors


async def test_sizes_and_waiting_keys_and_moves_are_read_from_the_leases(client: ClientSet, run: Run):
    await create_objects(client)
    group = Group(client)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(group.manager("a", shards=4))
        await eventually(lambda: shards_of(first).states["owned"] == 4)
        second = await stack.enter_async_context(group.manager("b", shards=4, weight=3.0))
        await eventually(lambda: shards_of(second).states["owned"] == 3)
        async with asyncio.timeout(30):
            shards: list[list[str]] = []
            # Until the Leases contain loads that were measured after the moves.
            while len(shards) < 4 or sum(int(row[-4]) for row in shards) != OBJECTS:
                done = await run("shards", "web", "-n", "default")
                shards = [row for row in done.rows if len(row) == 9 and row[1].startswith("0x")]
    assert done.code == 0
    replicas = {row[0]: row for row in done.rows if row and row[0] in ("a", "b")}
    assert replicas["a"][1:5] == ["active", "1", "1", "1"]
    assert replicas["b"][1:5] == ["active", "3", "3", "3"]
    assert replicas["b"][6] == f"{int(replicas['b'][5]) / OBJECTS:.1%}"
    assert replicas["b"][8] in ("B", "KB")
    moves = done.rows[done.rows.index(["Last", "moves:"]) + 2 :]
    assert [row[1:4] for row in moves] == [["a", "b", "released"]] * 3
