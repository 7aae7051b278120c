"""What is much may gather before it is read; nothing waits for long."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from listwatch.client.gathering import Gathering

MUCH = 2**18 + 1


class Peers:
    """The two ends of one connection."""

    def __init__(self, here: tuple[asyncio.StreamReader, asyncio.StreamWriter], there: asyncio.StreamWriter) -> None:
        self.reader, self._writer = here
        self.there = there
        self.gathering = Gathering(self._writer.transport)

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
            peers.gathering.saw(2**16)
        assert peers.woken_for == 1


async def test_once_much_has_come_more_may_gather():
    async with connected() as peers:
        peers.gathering.saw(MUCH)
        assert peers.woken_for > 2**16
        peers.gathering.stop()


async def test_a_few_bytes_do_not_wait_for_more():
    async with connected() as peers:
        for word in (b"one", b"two"):
            peers.gathering.saw(MUCH)
            peers.there.write(word)
            assert await peers.reader.readexactly(3) == word
        peers.gathering.stop()


async def test_after_it_was_stopped_everything_is_read_at_once():
    async with connected() as peers:
        peers.gathering.saw(MUCH)
        peers.gathering.stop()
        assert peers.woken_for == 1


async def test_a_connection_that_is_gone_is_no_error():
    async with connected() as peers:
        peers.gathering.saw(MUCH)
    peers.gathering.saw(MUCH)
    peers.gathering.stop()


async def test_where_there_is_no_socket_nothing_is_done():
    gathering = Gathering(asyncio.Transport())
    gathering.saw(MUCH)
    gathering.stop()
