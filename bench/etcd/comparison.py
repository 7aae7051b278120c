"""Listing and watching a prefix of a real etcd: an informer beside bare loops over its two APIs, and Go's client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from bench.etcd.run import BARE, INFORMER, PREFIX, Item
from bench.harness.environments import command_for, reason_missing
from bench.harness.runner import Effort, Figures, compare_commands
from bench.report.report import Report
from bench.report.tables import Target, number, spread
from listwatch.errors import ConfigError
from listwatch.sources.etcd import EtcdClient
from listwatch.sources.etcd.messages import TransactionResult, text
from listwatch.testing import RealEtcd
from listwatch.testing.real.real_etcd import find_etcd
from listwatch.testing.server_thread import ServerThread

GRPC, CLIENTV3 = "bare gRPC loop", "Go clientv3 with a map"
NEWEST = "v3.6.16"

_COMMANDS = {
    INFORMER: [sys.executable, "-m", "bench.etcd.run", INFORMER],
    BARE: [sys.executable, "-m", "bench.etcd.run", BARE],
    GRPC: command_for("aetcd", "bench.etcd.grpc_loop")[:3],
    CLIENTV3: command_for("clientv3", ""),
}
_ENVIRONMENTS = {GRPC: "aetcd", CLIENTV3: "clientv3"}


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    count = min(50_000 if effort.full else 20_000, effort.max_objects)
    with ServerThread(RealEtcd(_program())) as etcd:
        url = etcd.call(lambda server: server.url)
        asyncio.run(_fill(url, count, 1))
        revision = etcd.await_call(lambda server: server.revision())
        asyncio.run(_fill(url, count, 2))
        arguments = [url, PREFIX.decode(), str(count), str(revision)]
        result = compare_commands(
            {name: [*command, *arguments] for name, command in _COMMANDS.items()},
            effort,
            rounds=effort.rounds(3, 5),
            left_out={name: reason for name, of in _ENVIRONMENTS.items() if (reason := reason_missing(of))},
        )
    report = Report("etcd", f"{count:,} keys of etcd with values of 980 bytes", comparisons={"": result})
    columns = [
        spread("keys/s to synced", "keys"),
        spread("events/s to a handler", "events"),
        number("µs of CPU per key", "key_cpu"),
        number("µs of CPU per event", "event_cpu"),
    ]
    report.table("contender", columns, result.rows, result.length)
    report.notes = [
        "etcd runs on the same machine; most of the time of the gateway it prepares JSON",
        "the bare loops and clientv3 decode values into a map, without handlers, indexes, versions or recovery",
        "no contender requests previous values, which an informer has; with them, etcd sends about half as many events",
    ]
    report.targets = _targets(result.rows)
    return report


def _program() -> Path:
    try:
        return find_etcd(NEWEST)
    except ConfigError:
        return find_etcd()


def _targets(rows: Mapping[str, Figures]) -> list[Target]:
    if not {INFORMER, BARE} <= rows.keys():
        return []
    ours, bare = rows[INFORMER], rows[BARE]
    return [
        Target("keys to synced, against a bare loop", ours["keys"] / bare["keys"], 0.8),
        Target("events to a handler, against a bare loop", ours["events"] / bare["events"], 0.8),
        Target("events to a handler, against 25,000 per second", ours["events"] / 25_000, 1.0),
    ]


async def _fill(url: str, count: int, round_: int) -> None:
    value = text(msgspec.json.encode(Item("x" * 950, round_)))
    async with EtcdClient(url) as client:
        for start in range(0, count, 100):
            puts = [
                {"request_put": {"key": text(b"%s%06d" % (PREFIX, each)), "value": value}}
                for each in range(start, min(start + 100, count))
            ]
            await client._gateway.write("/v3/kv/txn", {"success": puts}, TransactionResult)
