"""The scripted server, through plain sockets."""

import asyncio

import pytest

from listwatch.testing.scripted_server import (
    CLOSE,
    HANG,
    LAST_CHUNK,
    RESET,
    Reply,
    ScriptedServer,
    chunk,
    respond,
    stream_head,
)

GET = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nx-a: 2\r\n\r\n"


async def talk(server: ScriptedServer, *requests: bytes) -> bytes:
    """The bytes received until the server closes the connection or all requests have responses."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(b"".join(requests))
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()


async def test_each_request_gets_the_next_reply_over_whichever_connection():
    async with ScriptedServer(b"one", b"two", otherwise=b"more") as server:
        assert await talk(server, GET, GET) == b"onetwo"
        assert await talk(server, GET) == b"more"
        server.will(b"three")
        assert await talk(server, GET) == b"three"
    assert [request.connection for request in server.requests] == [1, 1, 2, 3]
    assert server.connections == 3


async def test_received_requests_are_recorded():
    body = b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
    in_chunks = b"PUT /y HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
    async with ScriptedServer(otherwise=b"") as server:
        await talk(server, GET, body, in_chunks)
    first, second, third = server.requests
    assert (first.method, first.target, first.headers) == ("GET", "/a?b=c", {"host": "x", "x-a": "2"})
    assert first.repeated["x-a"] == ["1", "2"]
    assert (second.body, third.body) == (b"abc", b"def")


async def test_a_request_without_a_script_is_reported():
    async with ScriptedServer() as server:
        assert b"the script is used up" in await talk(server, GET)


async def test_it_can_send_before_a_request():
    async with ScriptedServer(greeting=[b"hello", CLOSE]) as server:
        assert await talk(server) == b"hello"


@pytest.mark.parametrize("reply", [[b"a", CLOSE, b"never"], [b"a", HANG]], ids=["close", "hang"])
async def test_a_reply_may_close_the_connection(reply: Reply):
    async with ScriptedServer(reply) as server:
        assert await talk(server, GET) == b"a"
        await server.wait_all_closed()


async def test_a_reset_is_not_a_normal_end_of_the_connection():
    async with ScriptedServer(RESET) as server:
        with pytest.raises(ConnectionResetError):
            await talk(server, GET)


async def test_a_reply_can_be_paused_by_the_test():
    gate = asyncio.Event()
    async with ScriptedServer([b"a", gate, b"b", CLOSE]) as server:
        talking = asyncio.create_task(talk(server, GET))
        await server.wait_requests(1)
        await server.wait_connections(1)
        assert server.open_connections == 1
        assert not talking.done()
        gate.set()
        assert await talking == b"ab"


def test_responses_are_encoded_as_http():
    assert respond(404, b"no", headers={"X-A": "1"}) == (
        b"HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-A: 1\r\n\r\nno"
    )
    assert respond(599).startswith(b"HTTP/1.1 599 Unknown\r\n")
    assert stream_head(headers={"Content-Type": "text/plain"}) == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    assert chunk(b"0123456789abcdef") + LAST_CHUNK == b"10\r\n0123456789abcdef\r\n0\r\n\r\n"
