"""Ports of pods, on the embedded server: streams in this process, local listeners, and clients of aiohttp and httpx."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx
import pytest
import trustme
from aiohttp import web
from tests.client.pods.local_kubelet import LocalKubelet, pod_tree, served_pods
from tests.controller.worlds import turns_until

from listwatch.client import PodConnector, PortStream, pod_transport
from listwatch.client.pods.port_opener import PortOpener
from listwatch.errors import ConnectError, NotFoundError, PortForwardError, RequestError
from listwatch.server import FunctionKubelet, PortConnection
from listwatch.testing import InstantClock


async def echo(connection: PortConnection) -> None:
    """Send back what arrives, after a line that names the pod and the port."""
    await connection.output.write(f"{connection.pod.name}:{connection.port}\n")
    async for piece in connection.input:
        await connection.output.write(piece)


@asynccontextmanager
async def http_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    async def respond(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {request.path} {len(await request.read())}")

    runner = web.AppRunner(_application(respond))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _application(handler: Any) -> web.Application:
    application = web.Application(client_max_size=2**24)
    application.router.add_route("*", "/{tail:.*}", handler)
    return application


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    return await reader.read()


async def test_a_stream_reads_and_writes_in_this_process():
    async with served_pods(FunctionKubelet(port_forward=echo)) as pods:
        async with pods.open_port("web-0", 8080) as stream:
            assert await stream.read() == b"web-0:8080\n"
            await stream.write(b"x" * 100_000)
            received = b""
            while len(received) < 100_000:
                received += await stream.read()
        assert received == b"x" * 100_000
        assert stream.is_closed
        assert pods._rest.statistics().open_streams == 0


async def test_a_port_at_which_nothing_listens_is_an_error():
    async with served_pods(LocalKubelet()) as pods, pods.open_port("web-0", 1) as stream:
        with pytest.raises(PortForwardError, match=r"port 1 of pod web-0: .*Refused"):
            await stream.read()


async def test_a_missing_pod_is_not_found():
    async with served_pods(LocalKubelet()) as pods:
        with pytest.raises(NotFoundError):
            async with pods.open_port("no", 80):
                pass


@pytest.mark.parametrize("port", [0, -1, 65536, "80", 1.5, True, None])
async def test_a_port_is_a_number(port: Any):
    async with served_pods(None) as pods:
        with pytest.raises(RequestError, match="the port must be a number"):
            pods.open_port("web-0", port)


async def test_a_local_port_leads_to_the_port_of_a_pod():
    async with served_pods(FunctionKubelet(port_forward=echo)) as pods:
        async with pods.port_forward("web-0", 8080) as forward:
            reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
            assert await reader.readline() == b"web-0:8080\n"
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            assert forward.connections == 1
            writer.close()
            await writer.wait_closed()
        assert forward.failures == 0


async def test_closing_the_listener_closes_its_connections():
    async with served_pods(FunctionKubelet(port_forward=echo)) as pods:
        async with pods.port_forward("web-0", 8080) as forward:
            port = forward.local_port
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.readline()
        assert await until_closed(reader) == b""
        writer.close()
        await writer.wait_closed()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        assert pods._rest.statistics().open_streams == 0


async def test_many_connections_share_a_local_port():
    async def ask(port: int, number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.readline()
        writer.write(b"%d\n" % number)
        try:
            return await reader.readline()
        finally:
            writer.close()
            await writer.wait_closed()

    async with served_pods(FunctionKubelet(port_forward=echo)) as pods, pods.port_forward("web-0", 8080) as forward:
        answers = await asyncio.gather(*[ask(forward.local_port, number) for number in range(50)])
    assert answers == [b"%d\n" % number for number in range(50)]


async def test_a_pod_that_closes_its_connection_ends_the_local_one():
    async def greet(connection: PortConnection) -> None:
        await connection.output.write(b"bye")

    async with served_pods(FunctionKubelet(port_forward=greet)) as pods, pods.port_forward("web-0", 8080) as forward:
        reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
        assert await until_closed(reader) == b"bye"
        writer.close()
        await writer.wait_closed()


async def test_a_failed_connection_is_logged_and_the_listener_stays(caplog: pytest.LogCaptureFixture):
    is_broken = True

    async def serve(connection: PortConnection) -> None:
        if is_broken:
            raise ConnectionRefusedError("nothing listens")
        await echo(connection)

    async with served_pods(FunctionKubelet(port_forward=serve)) as pods:
        with caplog.at_level(logging.WARNING, "listwatch.client"):
            async with pods.port_forward("web-0", 8080) as forward:
                reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
                assert await until_closed(reader) == b""
                writer.close()
                is_broken = False
                reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
                assert await reader.readline() == b"web-0:8080\n"
                writer.close()
                await writer.wait_closed()
    assert forward.failures == 1
    assert "nothing listens" in str(forward.last_error)
    assert "port 8080 of pod web-0: a connection failed" in caplog.text


async def test_each_connection_finds_a_pod_that_is_ready():
    not_ready = pod_tree("a", app="web")
    not_ready["status"]["conditions"] = []
    trees = (not_ready, pod_tree("b", app="web"), pod_tree("c", app="web"))
    async with (
        served_pods(FunctionKubelet(port_forward=echo), *trees) as pods,
        pods.port_forward(port=80, label_selector="app=web") as forward,
    ):
        for expected in (b"b:80\n", b"c:80\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
            assert await reader.readline() == expected
            writer.close()
            await writer.wait_closed()
            await pods.delete("b", grace_period_seconds=0) if expected == b"b:80\n" else None


async def test_a_port_may_be_named():
    tree = pod_tree("web-0")
    tree["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8081}]
    async with (
        served_pods(FunctionKubelet(port_forward=echo), tree) as pods,
        pods.port_forward("web-0", "http") as forward,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", forward.local_port)
        assert await reader.readline() == b"web-0:8081\n"
        writer.close()
        await writer.wait_closed()


async def test_a_name_or_a_selector_is_needed():
    async with served_pods(None) as pods:
        for arguments in ({}, {"name": "web-0", "label_selector": "a=b"}):
            with pytest.raises(RequestError, match="a port needs the name of a pod or a label_selector"):
                pods.port_forward(port=80, **arguments)


async def test_a_session_of_aiohttp_speaks_to_a_pod():
    async with http_server() as port, served_pods(LocalKubelet()) as pods:
        async with aiohttp.ClientSession(connector=PodConnector(pods, "web-0")) as session:
            async with session.get(f"http://web-0:{port}/healthz") as response:
                assert await response.text() == "GET /healthz 0"
            async with session.post(f"http://web-0:{port}/upload", data=b"x" * 2**20) as response:
                assert await response.text() == f"POST /upload {2**20}"
            answers = await asyncio.gather(*[_get(session, port, number) for number in range(20)])
            assert answers == [f"GET /{number} 0" for number in range(20)]
        assert pods._rest.statistics().open_streams == 0


async def _get(session: aiohttp.ClientSession, port: int, number: int) -> str:
    async with session.get(f"http://web-0:{port}/{number}") as response:
        return await response.text()


async def test_a_session_of_aiohttp_fails_if_the_pod_is_missing():
    async with (
        served_pods(LocalKubelet()) as pods,
        aiohttp.ClientSession(connector=PodConnector(pods, "no")) as session,
    ):
        with pytest.raises(NotFoundError):
            await session.get("http://web-0:80/")


# --- httpx


async def test_a_client_of_httpx_speaks_to_a_pod():
    async with http_server() as port, served_pods(LocalKubelet()) as pods:
        async with httpx.AsyncClient(transport=pod_transport(pods, "web-0")) as http:
            assert (await http.get(f"http://web-0:{port}/healthz")).text == "GET /healthz 0"
            posted = await http.post(f"http://web-0:{port}/upload", content=b"x" * 2**20)
            assert posted.text == f"POST /upload {2**20}"
            answers = await asyncio.gather(*[http.get(f"http://web-0:{port}/{number}") for number in range(20)])
            assert [each.text for each in answers] == [f"GET /{number} 0" for number in range(20)]
            async with http.stream("GET", f"http://web-0:{port}/streamed") as response:
                assert b"".join([piece async for piece in response.aiter_raw()]) == b"GET /streamed 0"
        assert pods._rest.statistics().open_streams == 0


async def test_a_client_of_httpx_names_the_reason_of_a_failure():
    async with (
        served_pods(LocalKubelet()) as pods,
        httpx.AsyncClient(transport=pod_transport(pods, "web-0")) as http,
        httpx.AsyncClient(transport=pod_transport(pods, "no")) as missing,
    ):
        with pytest.raises(httpx.ReadError, match=r"port 1 of pod web-0: .*Refused"):
            await http.get("http://web-0:1/")
        with pytest.raises(httpx.ConnectError, match='pods "no" not found'):
            await missing.get("http://web-0:80/")


async def test_a_client_of_httpx_connects_again_after_the_pod_closed_an_idle_connection():
    connections = 0

    async def respond_once(connection: PortConnection) -> None:
        nonlocal connections
        connections += 1
        async for _ in connection.input:
            break
        await connection.output.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with (
        served_pods(FunctionKubelet(port_forward=respond_once)) as pods,
        httpx.AsyncClient(transport=(transport := pod_transport(pods, "web-0"))) as http,
    ):
        for _ in range(4):
            assert (await http.get("http://web-0:80/")).text == "ok"
            await turns_until(lambda: not transport._sockets._relays)  # the other end of the socket is closed
            for _ in range(3):
                await asyncio.sleep(0)  # the event loop reads that
        assert connections == 4


async def test_a_response_that_the_pod_does_not_finish_is_an_error_of_httpx():
    ending = asyncio.Event()

    async def respond(connection: PortConnection) -> None:
        async for _ in connection.input:
            break
        await connection.output.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
        await ending.wait()

    async with served_pods(FunctionKubelet(port_forward=respond)) as pods:
        async with (
            httpx.AsyncClient(transport=pod_transport(pods, "web-0")) as http,
            http.stream("GET", "http://web-0:80/") as response,
        ):
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"ok"
            ending.set()
            with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
                await anext(pieces)
        assert pods._rest.statistics().open_streams == 0


async def test_a_connection_that_was_just_opened_is_closed_with_the_transport():
    async with served_pods(FunctionKubelet(port_forward=echo)) as pods:
        transport = pod_transport(pods, "web-0")
        local = await transport._sockets.open(80)
        await transport.aclose()
        with local:
            assert local.recv(100) == b""
        await turns_until(lambda: pods._rest.statistics().open_streams == 0)


async def test_a_client_of_httpx_checks_the_certificate_of_the_pod():
    authority = trustme.CA()
    server_context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("web-0.example.com").configure_cert(server_context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with (
        http_server(server_context) as port,
        served_pods(LocalKubelet()) as pods,
        httpx.AsyncClient(transport=pod_transport(pods, "web-0", verify=trusting)) as http,
    ):
        assert (await http.get(f"https://web-0.example.com:{port}/")).text == "GET / 0"
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await http.get(f"https://other.example.com:{port}/")


async def test_http_clients_find_a_ready_pod_for_each_connection():
    async def name(connection: PortConnection) -> None:
        body = connection.pod.name.encode()
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        await connection.output.write(head + body)

    trees = (pod_tree("b", app="web"), pod_tree("c", app="web"))
    async with (
        served_pods(FunctionKubelet(port_forward=name), *trees) as pods,
        httpx.AsyncClient(transport=pod_transport(pods, label_selector="app=web")) as http,
        aiohttp.ClientSession(connector=PodConnector(pods, label_selector="app=web")) as session,
    ):
        assert (await http.get("http://web/")).text == "b"
        await pods.delete("b", grace_period_seconds=0)
        assert (await http.get("http://web/")).text == "c"
        async with session.get("http://web/") as response:
            assert await response.text() == "c"


async def test_opening_a_port_is_retried_while_the_server_is_unreachable():
    async with served_pods(FunctionKubelet(port_forward=echo)) as pods:
        opened: list[str] = []

        class Restarting:
            """The first connection is refused, as by a server that restarts."""

            get, list = pods.get, pods.list

            def open_port(self, name: str, port: int) -> PortStream:
                opened.append(name)
                if len(opened) == 1:
                    raise ConnectError("refused")
                return pods.open_port(name, port)

        stream = await PortOpener(Restarting(), "web-0", None, clock=InstantClock()).open(8080)
        assert await stream.read() == b"web-0:8080\n"
        await stream.aclose()
    assert opened == ["web-0", "web-0"]
