"""The transport against scripted servers, failing networks and proxies."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.client.forwarders import SocksProxyServer, TunnelProxy

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.config.client_config import ClientConfig, ExecConfig, Impersonation, OIDCConfig
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.client.transport.connection import AiohttpStream
from listwatch.client.transport.sockets import open_socket
from listwatch.clock import Clock
from listwatch.errors import (
    ConnectError,
    ConnectionLostError,
    ConnectRefusedError,
    CredentialError,
    ProtocolError,
    StreamIdleError,
    TLSError,
    TransportError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.testing.clocks import VirtualClock
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

CANARY = "c4n4ry"
AUTHORITY, OTHER_AUTHORITY = trustme.CA(), trustme.CA()
Connect = Callable[..., AiohttpTransport]


def get(target: str = "/api/v1/pods", **headers: str) -> HTTPRequest:
    return HTTPRequest("GET", target, {name.replace("_", "-"): value for name, value in headers.items()})


def server_tls(*names: str, authority: trustme.CA = AUTHORITY) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("127.0.0.1",))).configure_cert(context)
    return context


def ca_data(authority: trustme.CA = AUTHORITY) -> bytes:
    return authority.cert_pem.bytes()


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes transports, and closes them."""
    made: list[AiohttpTransport] = []

    def new(host: str, *, clock: Clock | None = None, **options: Any) -> AiohttpTransport:
        made.append(AiohttpTransport(ClientConfig(host=host, **options), clock=clock))
        return made[-1]

    yield new
    for transport in made:
        await transport.aclose()


async def read_all(stream: AiohttpStream | HTTPResponse) -> bytes:
    assert isinstance(stream, AiohttpStream)
    read = b""
    while piece := await stream.read():
        read += piece
    return read


async def other_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


# --- What is sent ----------------------------------------------------------------------------------------------------


async def test_a_request_carries_credentials_and_user_agent(connect: Connect):
    async with ScriptedServer(respond(200, b"{}")) as server:
        transport = connect(server.url + "/prefix/", token=CANARY)
        request = HTTPRequest("POST", "/api/v1/pods?dryRun=All", {"Content-Type": "application/json"}, b'{"a":1}')
        response = await transport.send(request, timeout=60)
    assert (response.status, response.body) == (200, b"{}")
    assert response.headers["content-type"] == "application/json"
    [received] = server.requests
    assert (received.method, received.target, received.body) == ("POST", "/prefix/api/v1/pods?dryRun=All", b'{"a":1}')
    assert received.headers["authorization"] == f"Bearer {CANARY}"
    assert received.headers["user-agent"].startswith("listwatch/")
    assert received.headers["accept-encoding"] == "gzip"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["host"] == f"127.0.0.1:{server.port}"


async def test_a_request_without_a_body_has_no_content_type(connect: Connect):
    async with ScriptedServer(respond()) as server:
        await connect(server.url).send(get(), timeout=60)
    assert not server.requests[0].headers.keys() & {"content-type", "content-length", "transfer-encoding"}


async def test_streams_are_not_compressed_unless_requested(connect: Connect):
    async with ScriptedServer(respond(), respond()) as server:
        transport = connect(server.url)
        await read_all(await transport.open_stream(get(), timeout=60))
        await read_all(await transport.open_stream(get(Accept_Encoding="gzip"), timeout=60))
    assert [request.headers["accept-encoding"] for request in server.requests] == ["identity", "gzip"]


async def test_compression_can_be_switched_off(connect: Connect):
    async with ScriptedServer(respond()) as server:
        await connect(server.url, disable_compression=True).send(get(), timeout=60)
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_another_user_agent_can_be_set(connect: Connect):
    async with ScriptedServer(respond()) as server:
        await connect(server.url, user_agent="my-operator/2").send(get(), timeout=60)
    assert server.requests[0].headers["user-agent"] == "my-operator/2"


async def test_impersonation_names_every_group_and_extra_value(connect: Connect):
    impersonated = Impersonation(user="jane", uid="7", groups=("a", "b"), extra={"scopes/x": ("read", "write")})
    async with ScriptedServer(respond()) as server:
        await connect(server.url, impersonate=impersonated).send(get(), timeout=60)
    said = {name: values for name, values in server.requests[0].repeated.items() if name.startswith("impersonate-")}
    assert said == {
        "impersonate-user": ["jane"],
        "impersonate-uid": ["7"],
        "impersonate-group": ["a", "b"],
        "impersonate-extra-scopes%2fx": ["read", "write"],
    }


async def test_headers_of_a_request_take_precedence_over_the_config(connect: Connect):
    async with ScriptedServer(respond()) as server:
        transport = connect(server.url, token="t", impersonate=Impersonation(user="jane", groups=("a",)))
        own = get(Authorization="Bearer mine", Impersonate_User="joe", User_Agent="me")
        await transport.send(own, timeout=60)
    headers = server.requests[0].repeated
    assert headers["authorization"] == ["Bearer mine"]
    assert headers["impersonate-user"] == ["joe"]
    assert "impersonate-group" not in headers
    assert headers["user-agent"] == ["me"]


@pytest.mark.parametrize("status", [200, 401])
async def test_no_plugin_is_run_for_a_request_with_its_own_credentials(connect: Connect, status: int):
    async with ScriptedServer(respond(status)) as server:
        transport = connect(server.url, exec=ExecConfig(command="/there/is/no/such/plugin"))
        assert (await transport.send(get(Authorization="Bearer mine"), timeout=60)).status == status
        with pytest.raises(CredentialError):
            await transport.send(get(), timeout=60)
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer mine"]


async def test_a_body_of_megabytes_is_sent_whole(connect: Connect):
    body = b"x" * (3 * 2**20)
    async with ScriptedServer(respond()) as server:
        await connect(server.url).send(HTTPRequest("PUT", "/", {}, body), timeout=60)
    assert server.requests[0].body == body


# --- What comes back -------------------------------------------------------------------------------------------------

BODY = b'{"kind":"PodList","items":[%s]}' % (b"x" * 5000)


@pytest.mark.parametrize(
    "reply",
    [
        respond(200, BODY),
        [respond(200, BODY)[:40], respond(200, BODY)[40:]],
        [stream_head(), chunk(BODY), LAST_CHUNK],
        [stream_head(), *(chunk(BODY[i : i + 100]) for i in range(0, len(BODY), 100)), LAST_CHUNK],
        [b"HTTP/1.1 200 OK\r\n\r\n", BODY, CLOSE],
        [b"HTTP/1.0 200 OK\r\n\r\n", BODY, CLOSE],
        [respond(200, BODY, headers={"Connection": "close"}), CLOSE],
        respond(200, gzip.compress(BODY), headers={"Content-Encoding": "gzip"}),
        respond(200, gzip.compress(BODY[:9]) + gzip.compress(BODY[9:]), headers={"Content-Encoding": "gzip"}),
        b"HTTP/1.1 100 Continue\r\n\r\n" + respond(200, BODY),
    ],
    ids=["length", "two parts", "chunked", "many chunks", "until close", "1.0", "then close", "gzip", "members", "100"],
)
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_a_body_is_the_same_however_it_is_sent(connect: Connect, reply: Reply, is_stream: bool):
    async with ScriptedServer(reply) as server:
        transport = connect(server.url)
        if is_stream:
            assert await read_all(await transport.open_stream(get(), timeout=60)) == BODY
        else:
            assert (await transport.send(get(), timeout=60)).body == BODY


async def test_a_slow_body_is_read_to_its_end(connect: Connect):
    whole = stream_head() + chunk(b'{"a":1}') + LAST_CHUNK
    async with ScriptedServer([whole[i : i + 1] for i in range(len(whole))]) as server:
        assert (await connect(server.url).send(get(), timeout=60)).body == b'{"a":1}'


async def test_pieces_of_a_compressed_stream_can_be_read_as_they_arrive(connect: Connect):
    go_on = asyncio.Event()
    head = stream_head(headers={"Content-Encoding": "gzip"})
    second = gzip.compress(b"two")
    async with ScriptedServer(
        [head, chunk(gzip.compress(b"one")), go_on, chunk(second[:7]), chunk(second[7:]), LAST_CHUNK]
    ) as server:
        stream = await connect(server.url).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        assert await stream.read() == b"one"
        go_on.set()
        assert await stream.read() == b"two"
        assert await stream.read() == b""
        assert await stream.read() == b""


async def test_each_warning_header_is_returned_separately(connect: Connect):
    said = b'HTTP/1.1 200 OK\r\nWarning: 299 - "a"\r\nwarning: 299 - "b"\r\nContent-Length: 0\r\n\r\n'
    async with ScriptedServer(said, said) as server:
        transport = connect(server.url)
        assert list((await transport.send(get(), timeout=60)).warnings) == ['299 - "a"', '299 - "b"']
        stream = await transport.open_stream(get(), timeout=60)
        assert list(stream.warnings) == ['299 - "a"', '299 - "b"']
        await read_all(stream)


async def test_an_unsuccessful_response_is_read_whole_even_for_a_stream(connect: Connect):
    async with ScriptedServer([stream_head(404), chunk(b'{"kind":'), chunk(b'"Status"}'), LAST_CHUNK]) as server:
        response = await connect(server.url).open_stream(get(), timeout=60)
    assert isinstance(response, HTTPResponse)
    assert (response.status, response.body) == (404, b'{"kind":"Status"}')


async def test_headers_of_tens_of_kilobytes_are_read(connect: Connect):
    async with ScriptedServer(respond(200, b"{}", headers={"X-Long": "x" * 60_000})) as server:
        response = await connect(server.url).send(get(), timeout=60)
    assert len(response.headers["X-Long"]) == 60_000


# --- What goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (CLOSE, ConnectionLostError, "closed the connection without a response"),
        (RESET, ConnectionLostError, "reset"),
        ([b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE], ConnectionLostError, "without a response"),
        ([b"HTTP/1.1 200 OK\r\nContent-Le", RESET], ConnectionLostError, "reset"),
        ([respond(200, BODY)[:-1], CLOSE], ConnectionLostError, "in the middle of the response"),
        ([respond(200, BODY)[:-1], RESET], ConnectionLostError, "in the middle of the response"),
        ([stream_head(), chunk(BODY)[:-20], CLOSE], ConnectionLostError, "in the middle of the response"),
        ([stream_head(), chunk(BODY), CLOSE], ConnectionLostError, "in the middle of the response"),
        ([stream_head(), chunk(BODY), RESET], ConnectionLostError, "in the middle of the response"),
        (
            respond(200, gzip.compress(BODY, mtime=0)[:-9], headers={"Content-Encoding": "gzip"}),
            ConnectionLostError,
            "is truncated",
        ),
        (respond(200, BODY, headers={"Content-Encoding": "gzip"}), ProtocolError, "is not gzip"),
        (respond(200, BODY, headers={"Content-Encoding": "br"}), ProtocolError, "Content-Encoding 'br'"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n", CLOSE], ProtocolError, "not valid HTTP"),
        ([b"HTTP/1.1 2OO OK\r\n\r\n", CLOSE], ProtocolError, "not valid HTTP"),
        ([stream_head(), b"nonsense\r\n", CLOSE], ProtocolError, "not valid HTTP"),
        (respond(200, b"{}", headers={"X-Enormous": "x" * 300_000}), ProtocolError, "not valid HTTP"),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_each_failure_has_its_own_error_that_names_the_request(
    connect: Connect, reply: Reply, error: type[TransportError], message: str, is_stream: bool
):
    async with ScriptedServer(reply) as server:
        transport = connect(server.url, token=CANARY)
        with pytest.raises(error, match=message) as caught:
            await send(transport, is_stream=is_stream)
        assert type(caught.value) is error
        assert str(caught.value).startswith(f"GET /api/v1/pods: 127.0.0.1:{server.port}: ")
        assert CANARY not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
        behind = list(errors_behind(caught.value))
        assert not [each for each in behind if type(each).__module__.startswith("aiohttp")], "they hold the request"
        assert len(server.requests) == 1


def errors_behind(error: BaseException) -> Iterator[BaseException]:
    for each in (error.__cause__, error.__context__):
        if each is not None:
            yield each
            yield from errors_behind(each)


async def send(transport: AiohttpTransport, *, is_stream: bool) -> None:
    if is_stream:
        await read_all(await transport.open_stream(get(), timeout=60))
    else:
        await transport.send(get(), timeout=60)


async def test_no_request_is_repeated_by_the_http_library(connect: Connect):
    async with ScriptedServer(respond(200, b"{}"), CLOSE, otherwise=respond(200, b"{}")) as server:
        transport = connect(server.url)
        await transport.send(get(), timeout=60)
        with pytest.raises(ConnectionLostError):
            await transport.send(HTTPRequest("DELETE", "/api/v1/pods"), timeout=60)
    assert [request.method for request in server.requests] == ["GET", "DELETE"]
    assert server.connections == 1


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_the_error_of_a_refused_connection_has_advice(connect: Connect):
    with pytest.raises(ConnectRefusedError, match=r"connection refused; check that the server is running"):
        await connect(f"http://127.0.0.1:{closed_port()}").send(get(), timeout=60)


async def test_an_unknown_host_name_is_a_connect_error(connect: Connect):
    with pytest.raises(ConnectError, match="the host name cannot be resolved") as caught:
        await connect("http://no-such-host.invalid").send(get(), timeout=60)
    assert caught.value.host == "no-such-host.invalid"


# --- Time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [HANG, [b"HTTP/1.1 200 OK\r\n", HANG], [respond(200, BODY)[:-1], HANG], [stream_head(), chunk(BODY), HANG]],
    ids=["no word", "half a head", "half a body", "no last chunk"],
)
async def test_a_peer_that_stops_responding_causes_a_timeout(connect: Connect, reply: Reply):
    clock = VirtualClock()
    async with ScriptedServer(reply) as server:
        sending = asyncio.create_task(connect(server.url, clock=clock).send(get(), timeout=60))
        await server.wait_requests(1)
        await clock.advance(59.9)
        assert not sending.done()
        await clock.advance(0.1)
        with pytest.raises(TransportTimeoutError, match="no response within 60 s"):
            await sending
        await server.wait_all_closed()


async def test_a_stream_has_limited_time_to_begin_and_none_to_last(connect: Connect):
    clock, go_on = VirtualClock(), asyncio.Event()
    async with ScriptedServer([stream_head(), go_on, chunk(b"late"), LAST_CHUNK], HANG) as server:
        transport = connect(server.url, clock=clock)
        stream = await transport.open_stream(get(), timeout=5)
        reading = asyncio.create_task(read_all(stream))
        await clock.advance(100_000)
        go_on.set()
        assert await reading == b"late"
        opening = asyncio.create_task(transport.open_stream(get(), timeout=5))
        await server.wait_requests(2)
        await clock.advance(5)
        with pytest.raises(TransportTimeoutError, match="no response within 5 s"):
            await opening


async def test_a_connection_has_limited_time_to_be_made(connect: Connect):
    clock = VirtualClock()
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # never accepted from: once its queue is full, the system does not respond either
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        transport = connect(f"http://127.0.0.1:{full.getsockname()[1]}", clock=clock)
        sending = asyncio.create_task(transport.send(get(), timeout=None))
        await clock.wait_asleep()
        await clock.advance(29.9)
        assert not sending.done()
        await clock.advance(0.1)
        with pytest.raises(TransportTimeoutError, match="no connection within 30 s"):
            await sending


async def test_a_silent_stream_times_out(connect: Connect):
    clock, go_on = VirtualClock(), asyncio.Event()
    async with ScriptedServer([stream_head(), chunk(b"a"), go_on, chunk(b"b"), HANG]) as server:
        stream = await connect(server.url, clock=clock).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        stream.set_idle_timeout(100)
        assert await stream.read() == b"a"
        reading = asyncio.create_task(stream.read())
        await clock.advance(99)
        go_on.set()
        assert await reading == b"b"
        reading = asyncio.create_task(stream.read())
        await clock.advance(99)
        assert not reading.done()
        await clock.advance(1)
        with pytest.raises(StreamIdleError, match=r"no data for 100 s") as caught:
            await reading
        assert caught.value.doing == "GET /api/v1/pods"
        assert await stream.read() == b""
        await server.wait_all_closed()


def test_connections_have_tcp_keepalive():
    with open_socket((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 1))) as opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 45_000
        assert not opened.getblocking()


async def test_the_idle_timeout_can_shrink_during_a_read(connect: Connect):
    clock = VirtualClock()
    async with ScriptedServer([stream_head(), HANG]) as server:
        stream = await connect(server.url, clock=clock).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        stream.set_idle_timeout(3000)
        reading = asyncio.create_task(stream.read())
        await clock.advance(10)
        stream.set_idle_timeout(100)
        await clock.advance(89)
        assert not reading.done()
        await clock.advance(1)
        with pytest.raises(StreamIdleError):
            await reading


async def test_cancelled_reads_do_not_extend_the_idle_timeout(connect: Connect):
    clock = VirtualClock()
    async with ScriptedServer([stream_head(), HANG]) as server:
        stream = await connect(server.url, clock=clock).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        stream.set_idle_timeout(100)
        for _ in range(2):
            reading = asyncio.create_task(stream.read())
            await clock.advance(40)
            reading.cancel()
            await asyncio.wait([reading])
        reading = asyncio.create_task(stream.read())
        await clock.advance(19)
        assert not reading.done()
        await clock.advance(1)
        with pytest.raises(StreamIdleError):
            await reading


async def test_a_slow_reader_does_not_cause_an_idle_timeout(connect: Connect):
    clock = VirtualClock()
    async with ScriptedServer([stream_head(), chunk(b"a"), HANG]) as server:
        stream = await connect(server.url, clock=clock).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        stream.set_idle_timeout(100)
        await clock.advance(1000)
        assert await stream.read() == b"a"
        stream.close()


# --- Connections -----------------------------------------------------------------------------------------------------


async def test_one_connection_serves_many_requests(connect: Connect):
    async with ScriptedServer(otherwise=respond(200, b"{}")) as server:
        transport = connect(server.url)
        for _ in range(5):
            await transport.send(get(), timeout=60)
    assert server.connections == 1


async def test_a_connection_that_was_closed_while_idle_is_not_reused(connect: Connect):
    async with ScriptedServer([respond(200, b"{}"), CLOSE], otherwise=respond(200, b"{}")) as server:
        transport = connect(server.url)
        await transport.send(get(), timeout=60)
        await server.wait_all_closed()
        await other_turns()  # the client detects the close meanwhile
        assert (await transport.send(get(), timeout=60)).status == 200
    assert [request.connection for request in server.requests] == [1, 2]


async def test_a_lost_connection_is_not_reused(connect: Connect):
    clock = VirtualClock()
    async with ScriptedServer(otherwise=respond(200, b"{}")) as server, SocksProxyServer() as network:
        transport = connect(server.url, proxy_url=f"socks5://127.0.0.1:{network.port}", clock=clock)
        await transport.send(get(), timeout=None)
        network.is_frozen = True
        sending = asyncio.create_task(transport.send(get(), timeout=60))
        await clock.wait_asleep()
        await clock.advance(60)
        with pytest.raises(TransportTimeoutError):
            await sending
        network.is_frozen = False
        assert (await transport.send(get(), timeout=None)).status == 200
    assert [request.connection for request in server.requests] == [1, 2]


async def test_watches_do_not_use_the_connections_of_requests(connect: Connect):
    many = 120
    async with ScriptedServer(*[[stream_head(), HANG]] * many, otherwise=respond(200, b"{}")) as server:
        transport = connect(server.url)
        streams = [await transport.open_stream(get(), timeout=60) for _ in range(many)]
        assert (await transport.send(get(), timeout=60)).status == 200
        assert server.connections == many + 1
        for stream in streams:
            assert isinstance(stream, AiohttpStream)
            stream.close()


async def test_closing_a_stream_closes_its_connection_and_ends_the_reading(connect: Connect):
    async with ScriptedServer([stream_head(), chunk(b"a"), HANG]) as server:
        stream = await connect(server.url).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        assert await stream.read() == b"a"
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        stream.close()
        stream.close()
        assert await reading == b""
        assert stream.is_closed
        await server.wait_all_closed()


async def test_a_stream_has_one_reader(connect: Connect):
    async with ScriptedServer([stream_head(), HANG]) as server:
        stream = await connect(server.url).open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="another task is already reading"):
            await stream.read()
        assert not stream.is_closed
        stream.close()
        await reading


@pytest.mark.parametrize("reply", [HANG, [respond(200, BODY)[:-1], HANG]], ids=["before the head", "in the body"])
async def test_a_cancelled_request_leaves_no_connection(connect: Connect, reply: Reply):
    async with ScriptedServer(reply) as server:
        sending = asyncio.create_task(connect(server.url).send(get(), timeout=60))
        await server.wait_requests(1)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await server.wait_all_closed()


async def test_a_cancelled_read_loses_no_data(connect: Connect):
    go_on = asyncio.Event()
    async with ScriptedServer([stream_head(), go_on, chunk(b"a"), LAST_CHUNK]) as server:
        stream = await connect(server.url).open_stream(get(), timeout=60)
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        go_on.set()
        assert await read_all(stream) == b"a"


async def test_closing_the_transport_ends_everything(connect: Connect):
    async with ScriptedServer([stream_head(), HANG], HANG) as server:
        transport = connect(server.url)
        stream = await transport.open_stream(get(), timeout=60)
        assert isinstance(stream, AiohttpStream)
        reading = asyncio.create_task(stream.read())
        sending = asyncio.create_task(transport.send(get(), timeout=60))
        await server.wait_requests(2)
        await transport.aclose()
        assert await reading == b""
        with pytest.raises(ConnectionLostError):
            await sending
        await server.wait_all_closed()
        with pytest.raises(UsageError, match="the client is closed"):
            await transport.send(get(), timeout=60)


@pytest.mark.parametrize(
    ("reply", "is_stream"),
    [
        ([respond(200, BODY)[:-1], HANG], False),
        ([stream_head(), chunk(BODY), HANG], False),
        ([stream_head(404), chunk(BODY), HANG], True),
    ],
    ids=["half a body", "no last chunk", "a stream that is refused"],
)
async def test_closing_the_transport_ends_pending_reads_of_a_body(connect: Connect, reply: Reply, is_stream: bool):
    async with ScriptedServer(reply) as server:
        transport = connect(server.url)
        sending = asyncio.create_task(send(transport, is_stream=is_stream))
        await server.wait_requests(1)
        await other_turns()  # in which the start of the response arrives
        await transport.aclose()
        with pytest.raises(ConnectionLostError):
            await sending
        await server.wait_all_closed()


async def test_a_transport_cannot_be_used_in_another_event_loop(connect: Connect):
    async with ScriptedServer(respond()) as server:
        transport = connect(server.url)
        await transport.send(get(), timeout=60)

        def elsewhere() -> None:
            with pytest.raises(UsageError, match="was used in another event loop"):
                asyncio.run(transport.send(get(), timeout=60))

        await asyncio.to_thread(elsewhere)


# --- Redirects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_on_the_same_server_is_followed(connect: Connect, status: int):
    async with ScriptedServer(respond(status, headers={"Location": "/there?a=%2F"}), respond(200, b"{}")) as server:
        response = await connect(server.url, token="t").send(get(), timeout=60)
    assert response.status == 200
    assert [request.target for request in server.requests] == ["/api/v1/pods", "/there?a=%2F"]
    assert server.requests[1].headers["authorization"] == "Bearer t"


async def test_a_redirect_to_another_server_is_not_followed(connect: Connect):
    async with ScriptedServer(respond()) as other, ScriptedServer() as server:
        server.will(respond(302, headers={"Location": f"{other.url}/api/v1/pods"}))
        response = await connect(server.url, token="t").send(get(), timeout=60)
    assert response.status == 302
    assert other.requests == []


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_redirect_of_a_write_is_not_followed(connect: Connect, method: str):
    async with ScriptedServer(respond(307, headers={"Location": "/there"})) as server:
        response = await connect(server.url).send(HTTPRequest(method, "/here", {}, b"{}"), timeout=60)
    assert response.status == 307
    assert len(server.requests) == 1


async def test_a_redirect_loop_ends(connect: Connect):
    here, there = (respond(302, headers={"Location": place}) for place in ("/here", "/there"))
    async with ScriptedServer(*[there, here] * 20) as server:
        response = await connect(server.url).send(get("/here"), timeout=60)
    assert response.status == 302
    assert len(server.requests) == 11


@pytest.mark.parametrize("place", ["http://[bad", "//[/", "/a b", "/\udcff", "http://127.0.0.1:x/"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_redirect_to_an_invalid_url_is_returned_as_the_response(connect: Connect, method: str, place: str):
    said = b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % place.encode(errors="surrogateescape")
    async with ScriptedServer(said, respond(200, b"{}")) as server:
        transport = connect(server.url)
        assert (await transport.send(HTTPRequest(method, "/here", {}), timeout=60)).status == 302
        assert (await transport.send(get(), timeout=60)).status == 200
    assert server.connections == 1, "the response was read to its end"


async def test_a_redirect_to_itself_or_without_a_location_is_returned_as_the_response(connect: Connect):
    async with ScriptedServer(respond(302, headers={"Location": "/here"}), respond(302)) as server:
        transport = connect(server.url)
        assert (await transport.send(get("/here"), timeout=60)).status == 302
        assert (await transport.send(get("/here"), timeout=60)).status == 302
    assert len(server.requests) == 2


# --- Credentials -----------------------------------------------------------------------------------------------------


async def test_new_credentials_are_tried_once_after_a_refusal(connect: Connect, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("old")
    async with ScriptedServer(respond(200), respond(401), respond(200, b"{}")) as server:
        transport = connect(server.url, token_file=str(token))
        await transport.send(get(), timeout=60)
        token.write_text("new")
        assert (await transport.send(get(), timeout=60)).status == 200
    used = [request.headers["authorization"] for request in server.requests]
    assert used == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_second_401_is_final_even_with_newer_credentials(connect: Connect, tmp_path: Path):
    token, gate = tmp_path / "token", asyncio.Event()
    token.write_text("old")
    async with ScriptedServer(
        respond(200), respond(401), [gate, respond(401, b"{}")], otherwise=respond(200)
    ) as server:
        transport = connect(server.url, token_file=str(token))
        await transport.send(get(), timeout=60)
        token.write_text("new")
        sending = asyncio.create_task(transport.send(get(), timeout=60))
        await server.wait_requests(3)
        token.write_text("newer")
        gate.set()
        assert (await sending).status == 401
    assert len(server.requests) == 3


async def test_a_401_for_fixed_credentials_is_final(connect: Connect):
    async with ScriptedServer(respond(401), otherwise=respond(200)) as server:
        assert (await connect(server.url, token="t").send(get(), timeout=60)).status == 401
    assert len(server.requests) == 1


async def test_a_stream_request_is_repeated_with_new_credentials_too(connect: Connect, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("old")
    async with ScriptedServer(respond(200), respond(401), respond(200, b"{}")) as server:
        transport = connect(server.url, token_file=str(token))
        await transport.send(get(), timeout=60)
        token.write_text("new")
        assert await read_all(await transport.open_stream(get(), timeout=60)) == b"{}"


def oidc(server: ScriptedServer) -> OIDCConfig:
    return OIDCConfig(issuer_url=f"{server.url}/issuer", client_id="me", refresh_token="r")


async def test_an_identity_provider_is_reached_over_separate_connections(connect: Connect):
    async with ScriptedServer() as provider, ScriptedServer(respond(200)) as server:
        endpoint = b'{"token_endpoint":"%s/token"}' % provider.url.encode()
        provider.will(respond(200, endpoint), respond(200, b'{"id_token":"fresh"}'))
        await connect(server.url, auth_provider=oidc(provider)).send(get(), timeout=60)
        await provider.wait_all_closed()
    assert server.requests[0].headers["authorization"] == "Bearer fresh"
    assert [request.target for request in provider.requests] == ["/issuer/.well-known/openid-configuration", "/token"]
    assert provider.requests[1].body == b"grant_type=refresh_token&refresh_token=r&client_id=me"


@pytest.mark.parametrize(
    "reply",
    [
        CLOSE,
        RESET,
        respond(302, headers={"Location": "/"}),
        respond(200, b"x" * (2**20 + 1)),
        [b"nonsense", CLOSE],
    ],
)
async def test_a_failure_of_an_identity_provider_is_a_credential_error(connect: Connect, reply: Reply):
    async with ScriptedServer(reply) as provider, ScriptedServer() as server:
        with pytest.raises(CredentialError):
            await connect(server.url, auth_provider=oidc(provider)).send(get(), timeout=60)
        await provider.wait_all_closed()
    assert server.requests == []


async def test_an_identity_provider_that_cannot_be_reached_is_named_without_its_password(connect: Connect):
    issuer = f"http://joe:{CANARY}@127.0.0.1:{closed_port()}"
    provider = OIDCConfig(issuer_url=issuer, client_id="me", refresh_token="r")
    with pytest.raises(CredentialError, match="connection refused") as caught:
        await connect("http://127.0.0.1:1", auth_provider=provider).send(get(), timeout=60)
    behind = list(errors_behind(caught.value))
    assert CANARY not in " ".join(f"{each} {each!r}" for each in (caught.value, *behind))
    assert not [each for each in behind if type(each).__module__.startswith("aiohttp")]


async def test_a_timeout_while_waiting_for_credentials_names_their_issuer(connect: Connect):
    async with ScriptedServer(HANG) as provider, ScriptedServer() as server:
        transport = connect(server.url, auth_provider=oidc(provider))
        with pytest.raises(TransportTimeoutError, match="no credentials from the identity provider http"):
            await transport.send(get(), timeout=0.01)
        await transport.aclose()
        await provider.wait_all_closed()
        with pytest.raises(UsageError, match="the client is closed"):
            await transport.send(get(), timeout=60)
    assert server.requests == []
    assert len(provider.requests) <= 1, "a closed client sends no request"


# --- TLS -------------------------------------------------------------------------------------------------------------


async def test_requests_are_sent_to_a_trusted_server(connect: Connect):
    async with ScriptedServer(respond(200, b"{}"), tls=server_tls()) as server:
        assert (await connect(server.url, ca_data=ca_data()).send(get(), timeout=60)).body == b"{}"


async def test_a_server_may_be_known_under_another_name(connect: Connect):
    async with ScriptedServer(respond(200, b"{}"), tls=server_tls("kubernetes.example")) as server:
        transport = connect(server.url, ca_data=ca_data(), tls_server_name="kubernetes.example")
        assert (await transport.send(get(), timeout=60)).body == b"{}"


@pytest.mark.parametrize(
    ("context", "options", "message"),
    [
        (
            server_tls(authority=OTHER_AUTHORITY),
            {"ca_data": ca_data()},
            "not trusted: .*; set ca_file or ca_data",
        ),
        (server_tls("other.example"), {"ca_data": ca_data()}, "for another name: .*set tls_server_name"),
    ],
)
async def test_nothing_is_sent_to_an_untrusted_server(
    connect: Connect, context: ssl.SSLContext, options: dict[str, Any], message: str
):
    async with ScriptedServer(tls=context) as server:
        with pytest.raises(TLSError, match=message):
            await connect(server.url, token=CANARY, **options).send(get(), timeout=60)
        assert server.requests == []


async def test_a_server_without_tls_has_its_own_message(connect: Connect):
    async with ScriptedServer(
        [b"HTTP/1.1 400 Bad Request\r\n\r\n", CLOSE], greeting=b"HTTP/1.1 400 No\r\n\r\n"
    ) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(TLSError, match=r"the server does not use TLS on this port; write http:// in the URL"):
            await connect(url, ca_data=ca_data()).send(get(), timeout=60)


async def test_a_server_that_requires_a_client_certificate_has_its_own_message(connect: Connect):
    context = server_tls()
    AUTHORITY.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    async with ScriptedServer(tls=context) as server:
        with pytest.raises(TransportError) as caught:
            await connect(server.url, ca_data=ca_data()).send(get(), timeout=60)
    assert isinstance(caught.value, TLSError | ConnectionLostError)


async def test_connections_made_with_old_certificates_are_retired(connect: Connect, tmp_path: Path):
    clock, authority = VirtualClock(), tmp_path / "ca.crt"
    authority.write_bytes(ca_data())
    async with ScriptedServer([stream_head(), HANG], otherwise=respond(200, b"{}"), tls=server_tls()) as server:
        transport = connect(server.url, ca_file=str(authority), clock=clock)
        stream = await transport.open_stream(get(), timeout=None)
        assert isinstance(stream, AiohttpStream)
        await transport.send(get(), timeout=None)
        authority.write_bytes(ca_data(OTHER_AUTHORITY) + ca_data())
        clock.jump(301)
        await transport.send(get(), timeout=None)
        assert [request.connection for request in server.requests] == [1, 2, 3]
        await other_turns()
        assert server.open_connections == 2  # the idle one is closed, the stream continues
        assert not stream.is_closed
        stream.close()


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_an_authority_that_was_replaced_is_read_as_soon_as_a_connection_fails(
    connect: Connect, tmp_path: Path, is_stream: bool
):
    authority = tmp_path / "ca.crt"
    authority.write_bytes(ca_data())
    tls = server_tls(authority=OTHER_AUTHORITY)
    async with ScriptedServer(otherwise=respond(200, b"{}"), tls=tls) as server:
        transport = connect(server.url, ca_file=str(authority), clock=VirtualClock())
        send = transport.open_stream if is_stream else transport.send
        with pytest.raises(TLSError):
            await send(get(), timeout=None)
        authority.write_bytes(ca_data(OTHER_AUTHORITY))
        assert (await send(get(), timeout=None)).status == 200
        assert len(server.requests) == 1


@pytest.mark.parametrize("is_stream", [False, True], ids=["whole", "streamed"])
async def test_closing_does_not_wait_for_a_dead_peer(connect: Connect, is_stream: bool):
    clock = VirtualClock()
    async with (
        ScriptedServer(respond(200, b"{}"), [stream_head(), HANG], tls=server_tls()) as server,
        SocksProxyServer() as network,
    ):
        proxy_url = f"socks5://127.0.0.1:{network.port}"
        transport = connect(server.url, ca_data=ca_data(), proxy_url=proxy_url, clock=clock)
        await transport.send(get(), timeout=None)
        stream = await transport.open_stream(get(), timeout=None)
        assert isinstance(stream, AiohttpStream)
        network.is_frozen = True
        if is_stream:
            stream.close()
        else:
            sending = asyncio.create_task(transport.send(get(), timeout=5))
            await clock.wait_asleep()
            await clock.advance(5)
            with pytest.raises(TransportTimeoutError):
                await sending
        await transport.aclose()
        await other_turns()
        assert network.open_connections == 0


# --- Proxies ---------------------------------------------------------------------------------------------------------


async def test_an_http_proxy_gets_the_whole_url(connect: Connect):
    async with ScriptedServer(respond(200, b"{}")) as proxy:
        transport = connect("http://api.example.com/x", proxy_url=f"http://jane:{CANARY}@127.0.0.1:{proxy.port}")
        assert (await transport.send(get(), timeout=60)).body == b"{}"
    [request] = proxy.requests
    assert request.target == "http://api.example.com/x/api/v1/pods"
    assert request.headers["proxy-authorization"].startswith("Basic ")


async def test_the_environment_can_name_the_proxy(connect: Connect, monkeypatch: pytest.MonkeyPatch):
    async with ScriptedServer(respond(200, b"{}")) as proxy:
        monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
        assert (await connect("http://api.example.com").send(get(), timeout=60)).body == b"{}"


async def test_tls_goes_through_a_tunnel(connect: Connect):
    async with (
        ScriptedServer(respond(200, b"{}"), tls=server_tls("api.example.com")) as server,
        TunnelProxy() as proxy,
    ):
        transport = connect(
            f"https://api.example.com:{server.port}", ca_data=ca_data(), proxy_url=f"http://127.0.0.1:{proxy.port}"
        )
        assert (await transport.send(get(), timeout=60)).body == b"{}"
    assert proxy.targets == [("api.example.com", server.port)]
    assert "Bearer" not in proxy.heads[0]


async def test_a_tunnel_that_is_refused_is_a_connect_error(connect: Connect):
    async with TunnelProxy(refusal=b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n") as proxy:
        transport = connect("https://api.example.com", ca_data=ca_data(), proxy_url=f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(ConnectError, match=r"the proxy rejected the connection \(status 407\)"):
            await transport.send(get(), timeout=60)


async def test_an_unreachable_proxy_is_a_connect_error(connect: Connect):
    proxy_url = f"http://jane:{CANARY}@127.0.0.1:{closed_port()}"
    with pytest.raises(ConnectError, match="the proxy cannot be reached") as caught:
        await connect("http://api.example.com", proxy_url=proxy_url).send(get(), timeout=60)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", ["name.example.com", "10.1.2.3", "[fd00::1]"])
async def test_a_socks_proxy_looks_up_the_name(connect: Connect, name: str):
    async with ScriptedServer(respond(200, b"{}")) as server, SocksProxyServer() as proxy:
        transport = connect(f"http://{name}:{server.port}", proxy_url=f"socks5://127.0.0.1:{proxy.port}")
        assert (await transport.send(get(), timeout=60)).body == b"{}"
    assert proxy.targets == [(name.strip("[]"), server.port)]


async def test_tls_goes_through_a_socks_proxy_with_a_password(connect: Connect):
    async with (
        ScriptedServer(respond(200, b"{}"), tls=server_tls("api.example.com")) as server,
        SocksProxyServer(password=CANARY) as proxy,
    ):
        transport = connect(
            f"https://api.example.com:{server.port}",
            ca_data=ca_data(),
            proxy_url=f"socks5://jane:{CANARY}@127.0.0.1:{proxy.port}",
        )
        assert (await transport.send(get(), timeout=60)).body == b"{}"


@pytest.mark.parametrize(
    ("proxy", "user", "message"),
    [
        (SocksProxyServer(code=5), "", "cannot connect to api.example.com:80: connection refused"),
        (SocksProxyServer(code=99), "", "cannot connect to api.example.com:80: code 99"),
        (SocksProxyServer(password="p"), "", "requires authentication"),
        (SocksProxyServer(password="p"), f"jane:{CANARY}@", "rejected the user and password"),
    ],
)
async def test_the_reply_code_of_a_socks_proxy_is_reported(
    connect: Connect, proxy: SocksProxyServer, user: str, message: str
):
    async with proxy:
        transport = connect("http://api.example.com", proxy_url=f"socks5://{user}127.0.0.1:{proxy.port}")
        with pytest.raises(ConnectError, match=message) as caught:
            await transport.send(get(), timeout=60)
    assert CANARY not in f"{caught.value} {caught.value!r}"
    assert caught.value.doing == "GET /api/v1/pods"


@pytest.mark.parametrize(
    ("greeting", "message"), [(CLOSE, "closed the connection"), (b"HTTP/1.1 ", "does not support SOCKS5")]
)
async def test_a_proxy_that_does_not_support_socks_is_an_error(connect: Connect, greeting: Reply, message: str):
    async with ScriptedServer(greeting=greeting) as other:
        transport = connect("http://api.example.com", proxy_url=f"socks5://127.0.0.1:{other.port}")
        with pytest.raises(ConnectError, match=message):
            await transport.send(get(), timeout=60)


async def test_an_unreachable_socks_proxy_is_a_connect_error(connect: Connect):
    with pytest.raises(ConnectError, match="cannot be reached"):
        await connect("http://a.example", proxy_url=f"socks5://127.0.0.1:{closed_port()}").send(get(), timeout=60)


def test_the_repr_shows_the_state_and_no_secret():
    transport = AiohttpTransport(ClientConfig(host="http://10.0.0.1", token=CANARY))
    assert repr(transport) == "<AiohttpTransport to http://10.0.0.1, open>"
    assert CANARY not in repr(replace(ClientConfig(host="http://10.0.0.1", token=CANARY)))
