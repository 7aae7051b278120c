"""What is much may gather before it is read; nothing waits for long."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
from tests.client.scripted import scripted

from listwatch.api.watch_events import AddedEvent, BookmarkEvent
from listwatch.client.rest.streams import WatchStream
from listwatch.client.transport.connection import ReceiveCoalescer
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing.scripted_server import HANG, ScriptedServer, chunk, stream_head

MUCH = 2**18 + 1
SOON = 5.0
"""Seconds, and many more than it takes: what waits for more than will come is to fail, and not to hang."""

MANY = 300
"""Such events are much."""
METADATA = {"name": "x", "namespace": "a", "resourceVersion": "1", "annotations": {"note": "y" * 900}}
ADDED = {"type": "ADDED", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": METADATA}}
BOOKMARK = {
    "type": "BOOKMARK",
    "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}},
}


class Peers:
    """The two ends of one connection."""

    def __init__(self, here: tuple[asyncio.StreamReader, asyncio.StreamWriter], there: asyncio.StreamWriter) -> None:
        self.reader, self._writer = here
        self.there = there
        self.coalescer = ReceiveCoalescer(self._writer.transport)

    @property
    def woken_for(self) -> int:
        return self._writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


@asynccontextmanager
async def connected() -> AsyncIterator[Peers]:
    accepted: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    there = await accepted
    try:
        yield Peers((reader, writer), there)
    finally:
        for each in (writer, there):
            each.close()
            await each.wait_closed()
        server.close()
        await server.wait_closed()


async def test_little_is_read_at_once():
    async with connected() as peers:
        for _ in range(4):
            peers.coalescer.received(2**16)
        assert peers.woken_for == 1


async def test_once_much_has_come_more_may_gather():
    async with connected() as peers:
        peers.coalescer.received(MUCH)
        assert peers.woken_for > 2**16
        peers.coalescer.stop()


async def test_a_few_bytes_do_not_wait_for_more():
    async with connected() as peers:
        for word in (b"one", b"two"):
            peers.coalescer.received(MUCH)
            peers.there.write(word)
            async with asyncio.timeout(SOON):
                assert await peers.reader.readexactly(3) == word
        peers.coalescer.stop()


async def test_after_it_was_stopped_everything_is_read_at_once():
    async with connected() as peers:
        peers.coalescer.received(MUCH)
        peers.coalescer.stop()
        assert peers.woken_for == 1


async def test_a_connection_that_is_gone_is_no_error():
    async with connected() as peers:
        peers.coalescer.received(MUCH)
    peers.coalescer.received(MUCH)
    peers.coalescer.stop()


async def test_where_there_is_no_socket_nothing_is_done():
    coalescer = ReceiveCoalescer(asyncio.Transport())
    coalescer.received(MUCH)
    coalescer.stop()


# --- Through a client ------------------------------------------------------------------------------------------------


def sent(event: dict[str, Any]) -> bytes:
    return chunk(msgspec.json.encode(event) + b"\n")


def client_woken_for(server: ScriptedServer) -> int:
    """What the client's end of the one connection to this server is woken for."""
    [size] = filter(None, (_woken_for(int(fd), server.port) for fd in os.listdir("/dev/fd")))
    return size


def _woken_for(fd: int, port: int) -> int:
    with suppress(OSError):  # most are no sockets, or not connected
        borrowed = socket.socket(fileno=fd)
        try:
            if borrowed.getpeername()[1:2] == (port,):
                return borrowed.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)
        finally:
            borrowed.detach()
    return 0


@asynccontextmanager
async def watching(
    *, rest: list[bytes], initial: bool | None
) -> AsyncIterator[tuple[ScriptedServer, WatchStream[ConfigMap]]]:
    """A watch of which much was read; its server sends the rest once somebody waits for it."""
    go_on = asyncio.Event()
    script = [stream_head(), *[sent(ADDED)] * MANY, go_on, *rest, HANG]
    async with (
        scripted(script) as (server, client),
        asyncio.timeout(SOON),
        client.core_v1.configmaps("a").watch(send_initial_events=initial) as watch,
    ):
        for _ in range(MANY):
            assert isinstance(await anext(watch), AddedEvent)
        asyncio.get_running_loop().call_soon(go_on.set)
        yield server, watch


async def test_the_initial_events_gather_until_the_bookmark():
    async with watching(rest=[sent(BOOKMARK)], initial=True) as (server, watch):
        assert client_woken_for(server) > 2**16
        assert isinstance(await anext(watch), BookmarkEvent)
        assert client_woken_for(server) == 1


@pytest.mark.parametrize("initial", [None, False])
async def test_other_events_are_read_at_once(initial: bool | None):
    async with watching(rest=[], initial=initial) as (server, _):
        assert client_woken_for(server) == 1


async def test_an_initial_event_after_a_pause_does_not_wait_for_more():
    async with watching(rest=[sent(ADDED)], initial=True) as (_, watch):
        assert isinstance(await anext(watch), AddedEvent)
