"""How requests are read and responses are sent over HTTP."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator

import pytest
from tests.server.caller import CONFIG_MAPS, Caller, config_map, raw_connection

from listwatch.server.api_server import APIServer


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


@pytest.fixture
async def call(server: APIServer) -> AsyncIterator[Caller]:
    async with Caller(server) as call:
        yield call


# Responses


async def test_an_object_is_sent_as_json_with_the_headers_of_every_response(call: Caller):
    reply = await call("GET", "/api/v1/namespaces/default")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["Cache-Control"] == "no-cache, private"
    assert len(reply.headers["Audit-Id"]) == 36
    assert reply.json["metadata"]["name"] == "default"


async def test_the_clients_own_audit_id_is_kept(call: Caller):
    assert (await call("GET", "/version", Audit_Id="mine")).headers["Audit-Id"] == "mine"


async def test_an_error_response_is_a_status(call: Caller):
    reply = await call("GET", f"{CONFIG_MAPS}/none")
    assert reply.status == 404
    assert reply.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "none" not found',
        "reason": "NotFound",
        "details": {"name": "none", "kind": "configmaps"},
        "code": 404,
    }


async def test_an_error_response_is_yaml_if_the_client_accepts_that(call: Caller):
    reply = await call("GET", f"{CONFIG_MAPS}/none", Accept="application/yaml")
    assert reply.headers["Content-Type"] == "application/yaml"
    assert b"reason: NotFound" in reply.body


async def test_interactive_clients_get_indented_json(call: Caller):
    assert b'\n  "kind": "Namespace"' in (await call("GET", "/api/v1/namespaces/default", User_Agent="curl/8")).body


async def test_warnings_are_headers(call: Caller):
    reply = await call("POST", CONFIG_MAPS, {**config_map("a"), "unknown": 1, 'a\\"': 2})
    assert reply.status == 201
    assert sorted(reply.headers.getall("Warning")) == [
        r'299 - "unknown field \"a\\\\\\\"\""',
        r'299 - "unknown field \"unknown\""',
    ]


async def test_a_retriable_error_has_a_retry_after_header(call: Caller):
    reply = await call("GET", f"{CONFIG_MAPS}?resourceVersion=999999&resourceVersionMatch=NotOlderThan")
    assert reply.status == 504
    assert reply.headers["Retry-After"] == "1"
    assert reply.json["details"]["retryAfterSeconds"] == 1


async def test_a_head_request_gets_headers_only(call: Caller):
    healthy, refused = await call("HEAD", "/healthz"), await call("HEAD", CONFIG_MAPS)
    assert (healthy.status, healthy.body) == (200, b"")
    assert (refused.status, refused.body) == (405, b"")


async def test_large_responses_are_compressed_if_the_client_accepts_that(call: Caller):
    for number in range(3):
        await call("POST", CONFIG_MAPS, {**config_map(f"big-{number}"), "data": {"much": "x" * 60_000}})
    plain = await call("GET", CONFIG_MAPS)
    packed = await call("GET", CONFIG_MAPS, Accept_Encoding="deflate, gzip")
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert len(packed.body) < len(plain.body)
    assert gzip.decompress(packed.body) == plain.body


async def test_small_responses_are_not_compressed(call: Caller):
    assert "Content-Encoding" not in (await call("GET", CONFIG_MAPS, Accept_Encoding="gzip")).headers


async def test_a_request_with_an_unacceptable_accept_header_is_not_handled(call: Caller):
    reply = await call("POST", CONFIG_MAPS, config_map("a"), Accept="text/html")
    assert (reply.status, reply.json["reason"]) == (406, "NotAcceptable")
    assert (await call("GET", f"{CONFIG_MAPS}/a")).status == 404


# Bodies


async def test_a_body_of_three_mebibytes_is_read_and_a_larger_one_is_rejected(call: Caller):
    def body(size: int) -> bytes:
        return json.dumps(config_map("a")).encode().ljust(size)

    too_large = await call("POST", CONFIG_MAPS, body(3 * 1024 * 1024 + 1))
    assert too_large.status == 413
    assert too_large.json["reason"] == "RequestEntityTooLarge"
    assert too_large.json["message"] == "Request entity too large: limit is 3145728"
    assert (await call("POST", CONFIG_MAPS, body(3 * 1024 * 1024))).status == 201


async def test_a_body_without_a_length_is_limited_too(call: Caller):
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b" " * 1024 * 1024

    url = call._url + CONFIG_MAPS
    async with call.session.post(url, data=endless(), headers={"Content-Type": "application/json"}) as response:
        assert response.status == 413


async def test_a_client_that_expects_100_continue_gets_it(server: APIServer):
    body = json.dumps(config_map("a")).encode()
    async with raw_connection(server) as (reader, writer):
        writer.write(request(server, "POST", CONFIG_MAPS, Expect="100-continue", Content_Length=str(len(body))))
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        await reader.readline()
        writer.write(body)
        assert await reader.readline() == b"HTTP/1.1 201 Created\r\n"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"kind":"Pod","apiVersion":"v1"}'])
async def test_an_invalid_body_is_a_bad_request(call: Caller, body: bytes):
    reply = await call("POST", CONFIG_MAPS, body)
    assert (reply.status, reply.json["reason"]) == (400, "BadRequest")


# Malformed requests


def request(server: APIServer, method: str, target: str, **headers: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: x", f"Authorization: Bearer {server.token}"]
    lines += ["Content-Type: application/json"] if method == "POST" else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/namespaces/default/../kube-system", 404),
        ("/api/v1/namespaces/default/configmaps/..", 400),
        ("/api/v1/namespaces/default/configmaps/%2e%2e", 400),
        ("/api/v1/namespaces/default/configmaps/a%2fb", 404),
        ("/api/v1//namespaces", 404),
        ("//api/v1/namespaces", 404),
        ("/api/v1/namespaces/default/configmaps/%zz", 400),
        ("/api/v1/namespaces/default/configmaps/%00", 404),
        ("/nowhere", 404),
    ],
)
async def test_paths_with_dots_escapes_and_double_slashes_are_rejected(
    server: APIServer, call: Caller, path: str, status: int
):
    async with raw_connection(server) as (reader, writer):
        writer.write(request(server, "GET", path))
        line = await reader.readline()
    assert int(line.split()[1]) == status, line
    assert (await call("GET", "/api/v1/namespaces/default")).status == 200


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"GET / HTTP/1.1\r\nbroken header\r\n\r\n",
        b"POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_malformed_http_is_rejected_and_the_server_continues(server: APIServer, call: Caller, nonsense: bytes):
    async with raw_connection(server) as (reader, writer):
        writer.write(nonsense)
        assert (await reader.readline()).split()[1] == b"400"
    assert (await call("GET", "/version")).status == 200


async def test_headers_without_end_are_rejected_and_not_logged(
    server: APIServer, call: Caller, caplog: pytest.LogCaptureFixture
):
    async with raw_connection(server) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nX-Long: ")
        writer.write(b"x" * (2 << 20) + b"\r\n\r\n")
        assert (await reader.readline()).split()[1] == b"400"
    assert (await call("GET", "/version")).status == 200
    assert not caplog.records  # what cannot be read may be a secret


async def test_an_unknown_method_is_not_allowed(call: Caller):
    reply = await call("FROB", CONFIG_MAPS)
    assert (reply.status, reply.body) == (405, b"405 Method Not Allowed")


async def test_a_selector_of_many_kilobytes_is_read(call: Caller):
    names = ",".join(f"name-{number}" for number in range(5000))
    assert (await call("GET", f"{CONFIG_MAPS}?labelSelector=app+in+({names})")).status == 200


async def test_an_incomplete_request_delays_no_others(server: APIServer, call: Caller):
    async with raw_connection(server) as (_, first), raw_connection(server) as (_, second):
        first.write(b"GET /version HTT")
        second.write(request(server, "POST", CONFIG_MAPS, Content_Length="1000") + b"{")
        await second.drain()
        assert (await call("GET", "/version")).status == 200
    assert (await call("GET", CONFIG_MAPS)).json["items"] == []


async def test_a_client_that_disconnects_during_its_body_stores_nothing(server: APIServer, call: Caller):
    async with raw_connection(server) as (_, writer):
        writer.write(request(server, "POST", CONFIG_MAPS, Content_Length="1000") + b"{")
        await writer.drain()
        await server.wait_for_requests(1, until="started", method="POST")
    [record] = await server.wait_for_requests(1, method="POST")
    assert record.status == 0
    assert (await call("GET", CONFIG_MAPS)).json["items"] == []


async def test_requests_on_one_connection_get_responses_in_order(server: APIServer):
    async with raw_connection(server) as (reader, writer):
        writer.write(request(server, "GET", "/healthz") + request(server, "GET", "/nowhere", Connection="close"))
        responses = await reader.read()
    assert responses.index(b"200 OK") < responses.index(b"404 Not Found")


async def test_a_token_in_a_path_is_not_logged_even_if_the_rest_cannot_be_read(server: APIServer):
    async with raw_connection(server) as (reader, writer):
        writer.write(f"GET /token/{server.token}/api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert (await reader.readline()).split()[1] == b"400"
    assert [(request.method, request.path) for request in server.requests] == [("GET", "")]


# Internal errors


async def test_an_unexpected_error_is_an_internal_error_and_the_server_continues(caplog: pytest.LogCaptureFixture):
    def admit(request: object, new: object, old: object) -> None:
        if getattr(request, "name", "") == "" and getattr(request, "namespace", ""):
            raise ZeroDivisionError("of the admission")

    async with APIServer(admission=[admit]) as server, Caller(server) as call:
        reply = await call("POST", CONFIG_MAPS, config_map("a"))
        assert (reply.status, reply.json["reason"]) == (500, "InternalError")
        assert "admission" not in reply.json["message"]
        assert "ZeroDivisionError: of the admission" in caplog.text
        assert (await call("GET", "/version")).status == 200


async def test_stopping_closes_idle_connections():
    async with APIServer() as server, raw_connection(server) as (reader, writer):
        writer.write(request(server, "GET", "/healthz"))
        await reader.readuntil(b"ok")
        await server.stop()
        assert await reader.read() == b""


async def test_stopping_ends_open_requests():
    async with APIServer() as server, raw_connection(server) as (reader, writer):
        writer.write(request(server, "POST", CONFIG_MAPS, Content_Length="10"))
        await server.wait_for_requests(1, until="started")
        await server.stop()
        assert await asyncio.wait_for(reader.read(), 10) == b""
