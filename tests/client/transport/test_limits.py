"""Hostile responses: of any size, compressed, endless, and invalid in ways that parsers are known to accept."""

import asyncio
import gzip
import itertools
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.client.transport.connection import AiohttpStream
from listwatch.errors import (
    ConfigError,
    ProtocolError,
    ResponseTooLargeError,
    StreamIdleError,
    TransportError,
    TransportTimeoutError,
)
from listwatch.testing.clocks import VirtualClock
from listwatch.testing.scripted_server import HANG, LAST_CHUNK, ScriptedServer, chunk, respond, stream_head

Connect = Callable[..., AiohttpTransport]
MIB = 2**20
GET = HTTPRequest("GET", "/api/v1/pods")


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes transports, and closes them."""
    made: list[AiohttpTransport] = []

    def new(server: ScriptedServer, **options: Any) -> AiohttpTransport:
        clock = options.pop("clock", None)
        made.append(AiohttpTransport(ClientConfig(host=server.url, **options), clock=clock))
        return made[-1]

    yield new
    for transport in made:
        await transport.aclose()


async def open_stream(transport: AiohttpTransport) -> AiohttpStream:
    stream = await transport.open_stream(GET, timeout=60)
    assert isinstance(stream, AiohttpStream)
    return stream


async def read_stream(transport: AiohttpTransport) -> bytes:
    stream = await open_stream(transport)
    content = b""
    while piece := await stream.read():
        content += piece
    return content


def endless(begin: bytes, then: bytes) -> Any:
    """A reply that never ends. Not a Sequence, as the server's type for replies, but an iterable will do."""
    return itertools.chain([begin], itertools.repeat(then))


def bomb(size: int) -> bytes:
    """A gzip body of that many zeros, made without holding them."""
    writer = zlib.compressobj(9, wbits=31)
    pieces = [writer.compress(bytes(MIB)) for _ in range(size // MIB)]
    return b"".join([*pieces, writer.flush()])


# --- The size of a response -------------------------------------------------------------------------------------------


async def test_a_response_that_announces_more_than_the_limit_is_refused_before_its_body_arrives(connect: Connect):
    async with ScriptedServer([respond(headers={"Content-Length": "1001"}), HANG]) as server:
        with pytest.raises(ResponseTooLargeError) as caught:
            await connect(server, max_response_size=1000).send(GET, timeout=60)
        await server.wait_all_closed()
    assert str(caught.value) == (
        f"GET /api/v1/pods: 127.0.0.1:{server.port}: the response has more than 1,000 bytes; "
        "set a larger max_response_size in the ClientConfig, or 0 for no limit"
    )


async def test_a_response_of_unknown_length_is_refused_when_it_passes_the_limit(connect: Connect):
    async with ScriptedServer([stream_head(), *itertools.repeat(chunk(b"x" * 400), 3), HANG]) as server:
        with pytest.raises(ResponseTooLargeError, match="more than 1,000 bytes"):
            await connect(server, max_response_size=1000).send(GET, timeout=60)
        await server.wait_all_closed()


async def test_a_response_without_length_and_chunks_is_refused_when_it_passes_the_limit(connect: Connect):
    async with ScriptedServer(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100_000)) as server:
        with pytest.raises(ResponseTooLargeError):
            await connect(server, max_response_size=MIB).send(GET, timeout=60)
        await server.wait_all_closed()


@pytest.mark.parametrize("body", [b"x" * 1000, b""])
async def test_a_response_of_exactly_the_limit_is_read(connect: Connect, body: bytes):
    replies = respond(200, body), [stream_head(), chunk(body), LAST_CHUNK][:: 1 if body else 2]
    async with ScriptedServer(*replies) as server:
        transport = connect(server, max_response_size=1000)
        assert [(await transport.send(GET, timeout=60)).body for _ in replies] == [body, body]


@pytest.mark.parametrize("unlimited", [0, None])
async def test_a_limit_of_zero_or_none_is_no_limit(connect: Connect, unlimited: int | None):
    async with ScriptedServer(respond(200, b"x" * 3 * MIB)) as server:
        response = await connect(server, max_response_size=unlimited).send(GET, timeout=60)
    assert len(response.body) == 3 * MIB


async def test_a_head_request_may_announce_any_length(connect: Connect):
    async with ScriptedServer(respond(headers={"Content-Length": "1001"})) as server:
        response = await connect(server, max_response_size=1000).send(HTTPRequest("HEAD", "/"), timeout=60)
    assert response.body == b""


@pytest.mark.parametrize("is_stream", [False, True])
async def test_an_error_response_is_cut_and_keeps_its_status(connect: Connect, is_stream: bool):
    async with ScriptedServer([respond(500, headers={"Content-Length": str(2**40)}), b"x" * 3 * MIB, HANG]) as server:
        transport = connect(server)
        send = transport.open_stream if is_stream else transport.send
        response = await send(GET, timeout=60)
        await server.wait_all_closed()
    assert isinstance(response, HTTPResponse)
    assert (response.status, response.body) == (500, b"x" * MIB)


async def test_a_response_in_tiny_pieces_takes_little_more_memory_than_its_content(connect: Connect):
    count = 20_000
    async with ScriptedServer([stream_head(), chunk(b"x") * count, LAST_CHUNK]) as server:
        response = await connect(server).send(GET, timeout=60)
    assert response.body == b"x" * count


@pytest.mark.parametrize("wrong", [-1, 1.5, "1", True])
@pytest.mark.parametrize("name", ["max_event_size", "max_response_size"])
def test_a_limit_that_is_not_a_size_is_an_error(name: str, wrong: object):
    options: dict[str, Any] = {name: wrong}
    with pytest.raises(ConfigError, match=f"{name}: must be a number of bytes, or 0 for no limit"):
        ClientConfig(host="http://127.0.0.1", **options)


# --- Compression ------------------------------------------------------------------------------------------------------


async def test_a_compressed_response_is_refused_when_its_content_passes_the_limit(connect: Connect):
    body = bomb(256 * MIB)
    async with ScriptedServer(respond(200, body, headers={"Content-Encoding": "gzip"})) as server:
        transport = connect(server, max_response_size=4 * MIB)
        tracemalloc.start()
        try:
            with pytest.raises(ResponseTooLargeError):
                await transport.send(GET, timeout=60)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 16 * MIB


async def test_other_tasks_run_while_a_response_is_decompressed(connect: Connect):
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with ScriptedServer(respond(200, bomb(64 * MIB), headers={"Content-Encoding": "gzip"})) as server:
        transport = connect(server)
        counting = asyncio.create_task(count_turns())
        sending = asyncio.create_task(transport.send(GET, timeout=60))
        await server.wait_requests(1)
        before = turns
        response = await sending
        counting.cancel()
    assert len(response.body) == 64 * MIB
    assert turns - before > 5


async def test_a_compressed_stream_is_read_in_slices(connect: Connect):
    body = bomb(32 * MIB)
    head = stream_head(headers={"Content-Encoding": "gzip"})
    async with ScriptedServer([head, chunk(body), LAST_CHUNK]) as server:
        stream = await open_stream(connect(server))
        sizes = []
        while piece := await stream.read():
            sizes.append(len(piece))
    assert sum(sizes) == 32 * MIB
    assert max(sizes) <= MIB


async def test_a_body_of_many_tiny_members_is_read(connect: Connect):
    member = gzip.compress(b"x", mtime=0)
    async with ScriptedServer(respond(200, member * 50_000, headers={"Content-Encoding": "gzip"})) as server:
        assert (await connect(server).send(GET, timeout=60)).body == b"x" * 50_000


async def test_a_truncated_bomb_ends_with_an_error(connect: Connect):
    body = bomb(8 * MIB)[:-4]
    async with ScriptedServer(respond(200, body, headers={"Content-Encoding": "gzip"})) as server:
        with pytest.raises(TransportError, match="the compressed response is truncated"):
            await connect(server).send(GET, timeout=60)


# --- Hostile HTTP -----------------------------------------------------------------------------------------------------

STATUS = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {  # how each begins, and what follows without an end
    "informational responses": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "headers": (STATUS, b"A: b\r\n" * 100),
    "one header": (STATUS + b"A: ", b"b" * 1000),
    "the name of a header": (STATUS, b"b" * 1000),
    "warnings": (STATUS, b'Warning: 299 - "' + b"w" * 1000 + b'"\r\n'),
    "a status line": (b"HTTP/1.1 200 ", b"OK" * 500),
}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("what", ENDLESS)
async def test_a_head_without_an_end_is_refused(connect: Connect, what: str, is_stream: bool):
    async with ScriptedServer(endless(*ENDLESS[what])) as server:
        transport = connect(server)
        with pytest.raises(ProtocolError, match="the response is not valid HTTP"):
            await (open_stream(transport) if is_stream else transport.send(GET, timeout=60))
        await server.wait_all_closed()


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_few_informational_responses_are_ignored(connect: Connect, is_stream: bool):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n"
    async with ScriptedServer([hints * 3, hints, stream_head(), chunk(b"{}"), LAST_CHUNK]) as server:
        transport = connect(server)
        if is_stream:
            assert await (await open_stream(transport)).read() == b"{}"
        else:
            assert (await transport.send(GET, timeout=60)).body == b"{}"


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_head_in_single_bytes_is_read(connect: Connect, is_stream: bool):
    head = stream_head(headers={f"X-{number}": "y" * 50 for number in range(20)})
    async with ScriptedServer([*(bytes([byte]) for byte in head), chunk(b"{}"), LAST_CHUNK]) as server:
        transport = connect(server)
        if is_stream:
            assert await (await open_stream(transport)).read() == b"{}"
        else:
            assert (await transport.send(GET, timeout=60)).body == b"{}"


HOSTILE_CHUNKS = {
    "an overflow of the size": [b"1" + b"0" * 16 + b"\r\n"],
    "a size of many digits": [b"f" * 100_000 + b"\r\n"],
    "a negative size": [b"-1\r\n"],
    "a chunk longer than stated": [b"1\r\nxxx"],
}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("what", HOSTILE_CHUNKS)
async def test_an_invalid_chunk_is_an_error(connect: Connect, what: str, is_stream: bool):
    async with ScriptedServer([stream_head(), *HOSTILE_CHUNKS[what], HANG]) as server:
        transport = connect(server)
        with pytest.raises(TransportError):
            await (read_stream(transport) if is_stream else transport.send(GET, timeout=60))
        await server.wait_all_closed()


async def test_the_largest_chunk_that_can_be_stated_takes_no_memory(connect: Connect):
    async with ScriptedServer(endless(stream_head() + b"f" * 16 + b"\r\n", b"x" * 100_000)) as server:
        with pytest.raises(ResponseTooLargeError):
            await connect(server, max_response_size=MIB).send(GET, timeout=60)
        await server.wait_all_closed()


@pytest.mark.parametrize("tail", [b"0\r\nA: b\r\n", b"1;xxxx"], ids=["trailers", "a chunk extension"])
async def test_a_stalled_body_is_limited_by_the_timeout(connect: Connect, tail: bytes):
    clock = VirtualClock()
    async with ScriptedServer([stream_head(), tail, HANG]) as server:
        sending = asyncio.create_task(connect(server, clock=clock).send(GET, timeout=60))
        await server.wait_requests(1)
        await clock.wait_asleep()
        await clock.advance(60)
        with pytest.raises(TransportTimeoutError):
            await sending


async def test_too_many_trailers_are_an_error(connect: Connect):
    async with ScriptedServer(endless(stream_head() + b"0\r\n", b"A: b\r\n" * 100)) as server:
        with pytest.raises(TransportError):
            await connect(server).send(GET, timeout=60)
        await server.wait_all_closed()


@pytest.mark.parametrize("expects_lines", [False, True])
async def test_a_stream_of_lines_that_arrives_byte_by_byte_times_out(connect: Connect, expects_lines: bool):
    clock, steps = VirtualClock(), [asyncio.Event() for _ in range(4)]
    drip = itertools.chain.from_iterable((step, chunk(b"x")) for step in steps)
    async with ScriptedServer([stream_head(), chunk(b"line\n"), *drip, HANG]) as server:
        stream = await open_stream(connect(server, clock=clock))
        stream.set_idle_timeout(100)
        if expects_lines:
            stream.expect_lines()
        assert await stream.read() == b"line\n"
        for step in steps[:3]:
            reading = asyncio.create_task(stream.read())
            await clock.advance(30)
            step.set()
            assert await reading == b"x"
        reading = asyncio.create_task(stream.read())
        await clock.advance(30)
        steps[3].set()
        if expects_lines:
            with pytest.raises(StreamIdleError, match="no complete line for 100 s"):
                await reading
        else:
            assert await reading == b"x"
