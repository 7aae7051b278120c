"""Contenders that run in this environment: an informer of listwatch, and a bare loop over etcd's JSON gateway.

`python -m bench.etcd.run CONTENDER URL PREFIX COUNT REVISION` measures one and prints its figures as JSON: a list of
COUNT keys, and COUNT changes since REVISION. The other programs of this part take the last four arguments.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import aiohttp
import msgspec

import listwatch as lw
from bench.etcd.measured import figures_of
from listwatch.cache import Keyed
from listwatch.informer import Page
from listwatch.sources.etcd import EtcdClient, EtcdListWatch
from listwatch.sources.etcd.messages import ListedRange, WatchFrame, decode, prefix_end, text

INFORMER, BARE = "listwatch informer", "bare gateway loop"
PREFIX = b"/bench/"
PAGE = 5000


class Item(Keyed, msgspec.Struct):
    """A value of about 980 bytes."""

    padding: str
    round: int


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
        since = lw.ListWatch(list=lambda: Page([], revision), watch=source.watch_for_cache)
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
    body = msgspec.json.encode({"create_request": {**create, "fragment": True}})
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


if __name__ == "__main__":
    contender, url, _, count, revision = sys.argv[1:]
    listed, watched = partial(_KEYS[contender], url, int(count)), partial(_EVENTS[contender], url, int(count), revision)
    print(json.dumps(asyncio.run(figures_of(int(count), listed, watched))))
