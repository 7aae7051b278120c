"""A client that keeps connections open, floods the log, or comes from a web page does not affect other clients.

Nor does a machine without space or file descriptors end the server.
"""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from tests.server.caller import CONFIG_MAPS, Caller, config_map, raw_connection
from tests.server.test_hostile_clients import check_alive

from listwatch.server import APIServer, ConnectionSettings


@asynccontextmanager
async def attacked(**settings: float) -> AsyncIterator[APIServer]:
    """A server with short timeouts; it must respond to others after the attack."""
    async with APIServer(connection_settings=ConnectionSettings(**settings)) as server:
        yield server
        await check_alive(server)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(30):
            return await reader.read() == b""
    except ConnectionError:
        return True


# --- Connections ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET", b"GET /version HTTP/1.1\r\nHost: x\r\nAccept: ", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50],
    ids=["nothing", "half a line", "half of the headers", "headers without an end"],
)
async def test_a_connection_without_a_complete_request_is_closed(sent: bytes):
    async with attacked(idle_timeout=0.1) as server, raw_connection(server) as (reader, writer):
        writer.write(sent)
        assert await is_closed(reader)


async def test_a_connection_is_closed_when_it_is_idle_after_a_request():
    async with attacked(idle_timeout=0.1) as server, raw_connection(server) as (reader, writer):
        writer.write(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 401 " in await reader.readline()
        async with asyncio.timeout(30):
            assert (await reader.read()).endswith(b"}\n")


@pytest.mark.parametrize("framing", [b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
async def test_a_body_that_does_not_arrive_is_a_timeout(framing: bytes):
    async with attacked(body_timeout=0.1) as server, raw_connection(server) as (reader, writer):
        head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n"
        writer.write(head.encode() + b"Content-Type: application/json\r\n" + framing)
        async with asyncio.timeout(30):
            assert b" 504 " in await reader.readline()
            assert b"did not arrive within 0.1 seconds" in await reader.read()


async def test_a_client_that_does_not_read_its_response_is_disconnected():
    async with attacked(stall_timeout=0.1) as server:
        async with Caller(server) as call:
            for number in range(20):
                await call("POST", CONFIG_MAPS, {**config_map(f"c{number}"), "data": {"a": "x" * 1_000_000}})
        async with raw_connection(server) as (_, writer):
            request = f"GET {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n"
            writer.write(request.encode() * 3)
            await server.wait_for_requests(1, verb="list", until="started")
            await wait_for_connections(server, 0)


async def test_a_client_that_reads_slowly_gets_all_of_its_response():
    async with attacked(stall_timeout=0.2) as server, Caller(server) as call:
        await call("POST", CONFIG_MAPS, {**config_map("large"), "data": {"a": "x" * 1_000_000}})
        async with raw_connection(server) as (reader, writer):
            target = f"{CONFIG_MAPS}?limit=500"
            writer.write(f"GET {target} HTTP/1.0\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
            received = 0
            while piece := await reader.read(100_000):
                received += len(piece)
                await asyncio.sleep(0.05)
            assert received > 1_000_000


async def test_connections_above_the_limit_are_closed_at_once(caplog: pytest.LogCaptureFixture):
    async with APIServer(connection_settings=ConnectionSettings(max_connections=5)) as server:
        opened = [await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2])) for _ in range(9)]
        assert await is_closed(opened[-1][0])
        reported = [record.message for record in caplog.records if record.name.startswith("listwatch.")]
        assert reported == ["New connections are refused: the limit of 5 connections is reached"]
        for _, writer in opened:
            writer.close()
        await wait_for_connections(server, 0)
        await check_alive(server)


async def wait_for_connections(server: APIServer, count: int) -> None:
    async with asyncio.timeout(30):
        while server.statistics().connections > count:  # noqa: ASYNC110  # the server has no event for it
            await asyncio.sleep(0.01)


# --- The request log --------------------------------------------------------------------------------------------------


async def test_the_request_log_does_not_grow_with_the_size_of_requests():
    async with attacked() as server, raw_connection(server) as (reader, writer):
        tracemalloc.start()
        try:
            for number in range(300):
                target = f"{CONFIG_MAPS}/{'a' * 20_000}{number}?labelSelector={'b' * 20_000}{number}"
                headers = f"Host: x\r\nAuthorization: Bearer {server.token}\r\nUser-Agent: {number}{'c' * 20_000}"
                writer.write(f"GET {target} HTTP/1.1\r\n{headers}\r\n\r\n".encode())
                await receive_response(reader)
            used, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert used < 10_000_000
        logged = server.requests[-1]
        assert (logged.verb, logged.resource, logged.path[:50]) == ("get", "configmaps", f"{CONFIG_MAPS}/aaaaaaaaaaaa")
        assert max(len(logged.path), len(logged.name), len(logged.user_agent)) <= 512


async def receive_response(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    [length] = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return await reader.readexactly(int(length.partition(b":")[2]))


async def test_caches_do_not_grow_with_the_size_of_headers_and_values():
    async with attacked() as server, Caller(server) as call:
        await call("GET", "/version")
        tracemalloc.start()
        try:
            for number in range(40):
                accept = f"application/json,a/{number}" + "b" * 500_000
                assert (await call("GET", CONFIG_MAPS, Accept=accept)).status == 200
                resources = {"limits": {"cpu": f"{number}" + "0" * 500_000}}
                container = {"name": "a", "image": "b", "resources": resources}
                pod = {"metadata": {"name": "p"}, "spec": {"containers": [container]}}
                assert (await call("POST", "/api/v1/namespaces/default/pods", pod)).status == 400
            used, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert used < 8_000_000


async def test_the_path_and_headers_of_a_client_without_credentials_are_not_kept():
    async with attacked() as server, Caller(server, token="wrong", User_Agent="secret-agent") as call:
        assert (await call("GET", "/api/v1/namespaces/secret-namespace/pods?labelSelector=secret")).status == 401
        assert "secret" not in repr(list(server.requests))
        assert [(each.method, each.verb, each.status) for each in server.requests] == [("GET", "list", 401)]


# --- Web pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:1234"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "LocalHost:1"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "app.localhost"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost.evil.example:80"}, 403),
        ({"Host": "192.0.2.1"}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost", "Origin": "https://evil.example"}, 403),
        ({"Host": "localhost", "Origin": "null"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost.evil.example"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost@evil.example"}, 403),
    ],
)
async def test_anonymous_requests_are_accepted_only_from_this_machine(headers: dict[str, str], status: int):
    async with APIServer(anonymous=True) as server, Caller(server, token="", **headers) as call:
        reply = await call("GET", "/api/v1/namespaces")
        assert reply.status == status
        if status == 403:
            assert "does not name this server; anonymous requests" in reply.json["message"]
    async with APIServer(anonymous=True) as server, Caller(server, **headers) as call:
        assert (await call("GET", "/api/v1/namespaces")).status == 200


# --- File descriptors -------------------------------------------------------------------------------------------------


@contextmanager
def serving(limits: str, data_dir: str = "") -> Iterator[tuple[subprocess.Popen[str], http.client.HTTPConnection]]:
    """A server in another process, which runs these statements after it has started; and a connection to it."""
    program = f"""
import asyncio, logging, resource, sys
from listwatch.server import APIServer

async def main():
    async with APIServer(token="secret", data_dir=sys.argv[1] or None) as server:
        {limits}
        print(server.url, flush=True)
        loop = asyncio.get_running_loop()
        while command := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
            exec(command)
            print("done", flush=True)

logging.basicConfig(stream=sys.stderr, format="%(message)s")
asyncio.run(main())
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program, data_dir], **pipes) as process:
        try:
            address = process.stdout.readline().strip().removeprefix("http://")
            with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
                yield process, connection
        finally:
            process.kill()


def request(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> tuple[int, str]:
    headers = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_without_file_descriptors_the_server_logs_one_line_and_pauses():
    limits = "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"
    with serving(limits) as (process, connection):
        assert request(connection, "GET", "/version")[0] == 200
        address = connection.host, connection.port
        idle = [http.client.HTTPConnection(*address, timeout=30) for _ in range(60)]
        for each in idle:
            each.connect()
        for number in range(100):
            assert request(connection, "POST", CONFIG_MAPS, config_map(f"c{number}"))[0] == 201
        for each in idle:
            each.close()
        with closing(http.client.HTTPConnection(*address, timeout=30)) as another:
            assert request(another, "GET", "/version")[0] == 200
        _, errors = process.communicate("\n", timeout=30)
    assert errors.splitlines() == [
        "New connections are refused: Too many open files",
        "New connections are accepted again",
    ]


def test_connections_that_wait_to_be_accepted_do_not_fill_the_log_when_descriptors_are_free_again():
    limits = "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))"
    with serving(limits) as (process, connection):
        address = connection.host, connection.port
        idle = [socket.create_connection(address, timeout=30) for _ in range(400)]
        for each in idle:
            each.close()
        with closing(http.client.HTTPConnection(*address, timeout=30)) as another:
            assert request(another, "GET", "/version")[0] == 200
        _, errors = process.communicate("\n", timeout=30)
    assert errors.splitlines() == [
        "New connections are refused: Too many open files",
        "New connections are accepted again",
    ]


# --- Disks ------------------------------------------------------------------------------------------------------------


def test_a_full_disk_fails_writes_only_and_only_while_it_is_full(tmp_path: Path):
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, resource.RLIM_INFINITY))"
    with serving(full, str(tmp_path)) as (process, connection):
        stored, status, reply = [], 201, ""
        while status == 201:
            body = {**config_map(f"c{len(stored)}"), "data": {"a": "x" * 5000}}
            status, reply = request(connection, "POST", CONFIG_MAPS, body)
            if status == 201:
                stored.append(body["metadata"]["name"])
        assert (status, json.loads(reply)["reason"]) == (500, "InternalError")
        assert "the request was not stored, because the storage of the server cannot be written" in reply
        assert names(connection) == sorted(stored)
        assert request(connection, "GET", f"{CONFIG_MAPS}/c0")[0] == 200
        changed = {**config_map("c0"), "data": {"a": "y" * 9000}}
        assert request(connection, "PUT", f"{CONFIG_MAPS}/c0", changed)[0] == 500
        assert "xxx" in request(connection, "GET", f"{CONFIG_MAPS}/c0")[1]
        assert request(connection, "GET", "/readyz")[0] == 500
        assert request(connection, "GET", "/readyz/storage")[0] == 500
        assert request(connection, "GET", "/livez")[0] == 200
        process.stdin.write("resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"
        assert request(connection, "GET", "/readyz")[0] == 200
        assert request(connection, "POST", CONFIG_MAPS, config_map("later"))[0] == 201
        assert names(connection) == sorted([*stored, "later"])
        process.kill()
        cause, end = process.stderr.read().splitlines()
        assert cause.startswith(f"The storage {tmp_path / 'storage.db'} cannot be written: ")
        assert cause.endswith("; free space on its disk")
        assert end == "The storage can be written again"
    with serving("pass", str(tmp_path)) as (_, connection):
        assert names(connection) == sorted([*stored, "later"])


def names(connection: http.client.HTTPConnection) -> list[str]:
    status, reply = request(connection, "GET", CONFIG_MAPS)
    assert status == 200
    return [item["metadata"]["name"] for item in json.loads(reply)["items"]]
