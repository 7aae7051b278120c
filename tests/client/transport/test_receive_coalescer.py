"""Coalescing reads of large amounts of data, without a long delay."""

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
from listwatch.client.transport.sockets import ReceiveCoalescer
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing.scripted_server import HANG, ScriptedServer, chunk, stream_head

LARGE = 2**18 + 1
SOON = 5.0
"""Seconds after which a test fails instead of hanging. Much longer than needed."""

MANY = 300
"""Enough events for reads to be coalesced."""
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
    def low_water_mark(self) -> int:
        return self._writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


@asynccontextmanager
async def connect() -> AsyncIterator[Peers]:
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


async def test_a_small_amount_of_data_is_read_at_once():
    async with connect() as peers:
        for _ in range(4):
            peers.coalescer.received(2**16)
        assert peers.low_water_mark == 1


async def test_after_a_large_amount_of_data_reads_are_coalesced():
    async with connect() as peers:
        peers.coalescer.received(LARGE)
        assert peers.low_water_mark > 2**16
        peers.coalescer.stop()


async def test_a_few_bytes_are_read_after_a_short_delay():
    async with connect() as peers:
        for word in (b"one", b"two"):
            peers.coalescer.received(LARGE)
            peers.there.write(word)
            async with asyncio.timeout(SOON):
                assert await peers.reader.readexactly(3) == word
        peers.coalescer.stop()


async def test_after_stop_reads_are_not_coalesced():
    async with connect() as peers:
        peers.coalescer.received(LARGE)
        peers.coalescer.stop()
        assert peers.low_water_mark == 1


async def test_a_closed_connection_is_no_error():
    async with connect() as peers:
        peers.coalescer.received(LARGE)
    peers.coalescer.received(LARGE)
    peers.coalescer.stop()


async def test_a_transport_without_a_socket_is_ignored():
    coalescer = ReceiveCoalescer(asyncio.Transport())
    coalescer.received(LARGE)
    coalescer.stop()


# --- Through a client ------------------------------------------------------------------------------------------------


def sent(event: dict[str, Any]) -> bytes:
    return chunk(msgspec.json.encode(event) + b"\n")


def client_low_water_mark(server: ScriptedServer) -> int:
    """The low-water mark of the client's socket of the only connection to this server."""
    [size] = filter(None, (_low_water_mark(int(fd), server.port) for fd in os.listdir("/dev/fd")))
    return size


def _low_water_mark(fd: int, port: int) -> int:
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
    """A watch after many events; the server sends the rest once a read waits for it."""
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


async def test_reads_of_initial_events_are_coalesced_until_the_bookmark():
    async with watching(rest=[sent(BOOKMARK)], initial=True) as (server, watch):
        assert client_low_water_mark(server) > 2**16
        assert isinstance(await anext(watch), BookmarkEvent)
        assert client_low_water_mark(server) == 1


@pytest.mark.parametrize("initial", [None, False])
async def test_other_events_are_read_at_once(initial: bool | None):
    async with watching(rest=[], initial=initial) as (server, _):
        assert client_low_water_mark(server) == 1


async def test_an_initial_event_after_a_pause_is_not_delayed():
    async with watching(rest=[sent(ADDED)], initial=True) as (_, watch):
        assert isinstance(await anext(watch), AddedEvent)
