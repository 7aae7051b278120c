"""Listing and watching a prefix of a real etcd: an informer beside a bare loop over the JSON gateway.

`python -m bench.etcd CONTENDER URL COUNT REVISION` measures one contender and prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
import msgspec

import listwatch as lw
from bench.harness.runner import Effort, Figures, compare_here
from bench.report.report import Report
from bench.report.tables import Target, number, spread
from listwatch.cache import Keyed
from listwatch.errors import ConfigError
from listwatch.informer import Page
from listwatch.sources.etcd import EtcdClient, EtcdListWatch
from listwatch.sources.etcd.messages import ListedRange, TransactionResult, WatchFrame, decode, prefix_end, text
from listwatch.testing import RealEtcd
from listwatch.testing.real.real_etcd import find_etcd
from listwatch.testing.server_thread import ServerThread

INFORMER, BARE = "listwatch informer", "bare gateway loop"
PREFIX = b"/bench/"
PAGE = 5000
NEWEST = "v3.6.16"


class Item(Keyed, msgspec.Struct):
    """A value of about 980 bytes."""

    padding: str
    round: int


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    count = min(50_000 if effort.full else 20_000, effort.max_objects)
    with ServerThread(RealEtcd(_program())) as etcd:
        url = etcd.call(lambda server: server.url)
        asyncio.run(_fill(url, count, 1))
        revision = etcd.await_call(lambda server: server.revision())
        asyncio.run(_fill(url, count, 2))
        result = compare_here(
            "bench.etcd",
            [INFORMER, BARE],
            effort,
            rounds=effort.rounds(3, 5),
            arguments=[url, str(count), str(revision)],
        )
    report = Report("etcd", f"{count:,} keys of etcd with values of 980 bytes", comparisons={"": result})
    columns = [
        spread("keys/s to synced", "keys"),
        spread("events/s to a handler", "events"),
        number("µs of CPU per key", "key_cpu"),
        number("µs of CPU per event", "event_cpu"),
    ]
    report.table("contender", columns, result.rows, result.length)
    report.notes = ["etcd runs on the same machine; most of the time it prepares JSON"]
    report.targets = _targets(result.rows)
    return report


def _program() -> object:
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


# --- Contenders -------------------------------------------------------------------------------------------------------


async def _informer_keys(url: str, count: int) -> None:
    async with EtcdClient(url) as client:
        informer = lw.SharedIndexInformer(EtcdListWatch(client, PREFIX.decode(), Item), Item)
        async with informer:
            await informer.wait_for_sync(120)
            assert len(informer.indexer) == count


async def _informer_events(url: str, count: int, revision: str) -> None:
    async with EtcdClient(url) as client:
        source = EtcdListWatch(client, PREFIX.decode(), Item)
        # An empty list at the revision, so that all changes since arrive as events.
        since = lw.ListWatch(list=lambda: Page([], revision), watch=source.watch)
        since.supports_streaming = False
        informer: lw.SharedIndexInformer[Item] = lw.SharedIndexInformer(since, Item)
        seen, complete = 0, asyncio.Event()

        def on_add(_: Item) -> None:
            nonlocal seen
            seen += 1
            if seen == count:
                complete.set()

        informer.add_handler(on_add=on_add)
        async with informer:
            await complete.wait()


async def _bare_keys(url: str, count: int) -> None:
    values, store = msgspec.json.Decoder(Item), {}
    request = {"key": text(PREFIX), "range_end": text(prefix_end(PREFIX)), "limit": str(PAGE)}
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.post(f"{url}/v3/kv/range", data=msgspec.json.encode(request)) as response:
                page = decode(await response.read(), ListedRange)
            for entry in page.kvs:
                store[entry.key] = values.decode(entry.value)
            if not page.more:
                break
            request = {**request, "key": text(page.kvs[-1].key + b"\0"), "revision": page.header.revision}
    assert len(store) == count


async def _bare_events(url: str, count: int, revision: str) -> None:
    values, store, seen, pieces = msgspec.json.Decoder(Item), {}, 0, []
    create = {"key": text(PREFIX), "range_end": text(prefix_end(PREFIX)), "start_revision": str(int(revision) + 1)}
    body = msgspec.json.encode({"create_request": {**create, "prev_kv": True, "fragment": True}})
    async with (
        aiohttp.ClientSession(read_bufsize=2**19) as session,
        session.post(f"{url}/v3/watch", data=body) as response,
    ):
        while seen < count:
            piece = await response.content.readany()
            *lines, last = piece.split(b"\n")
            if lines:
                lines[0] = b"".join([*pieces, lines[0]])
                pieces = []
            pieces.append(last)
            for line in filter(None, lines):
                frame = decode(line, WatchFrame)
                for event in frame.result.events if frame.result else ():
                    store[event.kv.key] = values.decode(event.kv.value)
                    seen += 1


_KEYS: dict[str, Callable[[str, int], Awaitable[None]]] = {INFORMER: _informer_keys, BARE: _bare_keys}
_EVENTS: dict[str, Callable[[str, int, str], Awaitable[None]]] = {INFORMER: _informer_events, BARE: _bare_events}


async def _measure_one(contender: str, url: str, count: int, revision: str) -> Figures:
    figures: Figures = {}
    for name, cpu, run in (
        ("keys", "key_cpu", lambda: _KEYS[contender](url, count)),
        ("events", "event_cpu", lambda: _EVENTS[contender](url, count, revision)),
    ):
        await run()  # warm-up
        started, used = time.perf_counter(), time.process_time()
        await run()
        figures[name] = count / (time.perf_counter() - started)
        figures[cpu] = (time.process_time() - used) / count * 1e6
    return figures


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure_one(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))))
