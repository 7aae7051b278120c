"""Logs and proxied requests."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import aiohttp
import pytest
from tests.server.http.kubelet_server import POD, PODS, served

from listwatch.errors import BadRequestError
from listwatch.server import ContainerLog, FunctionKubelet, Kubelet, LogRequest, ProxyRequest, ProxyResponse

# Logs


async def test_a_log_has_the_options_of_the_request():
    seen: list[LogRequest] = []

    def logs(request: LogRequest) -> bytes:
        seen.append(request)
        return b"one\ntwo\nthree\n"

    async with served(FunctionKubelet(logs=logs)) as call:
        reply = await call("GET", f"{POD}/log")
        assert (reply.status, reply.body, reply.headers["Content-Type"]) == (200, b"one\ntwo\nthree\n", "text/plain")
        assert (await call("GET", f"{POD}/log?tailLines=2")).body == b"two\nthree\n"
        assert (await call("GET", f"{POD}/log?limitBytes=5")).body == b"one\nt"
        assert (await call("GET", f"{POD}/log?sinceTime=2026-01-02T03:04:05Z&previous=true&timestamps=1")).status == 200
        assert (await call("GET", f"{POD}/log?sinceTime=yesterday")).status == 400
        assert (await call("GET", f"{POD}/log?tailLines=-1")).status == 422
        assert (await call("GET", f"{POD}/log", Accept="text/plain")).status == 406
    last = seen[3]
    assert (last.previous, last.timestamps, last.follow, last.pod.metadata.name, last.container) == (
        *(True, True, False),
        *("p", "a"),
    )
    assert str(last.since_time) == "2026-01-02 03:04:05+00:00"


async def test_a_followed_log_arrives_as_it_is_written():
    log = ContainerLog()
    log.write("one\n")
    async with (
        served(FunctionKubelet(logs=log.read)) as call,
        call.session.get(f"{call._url}{POD}/log?follow=true") as response,
    ):
        assert await response.content.readline() == b"one\n"
        log.write("two\n")
        assert await response.content.readline() == b"two\n"
        log.close()
        assert await response.content.read() == b""


async def test_a_kubelet_is_cancelled_when_the_reader_of_a_log_goes():
    ended = asyncio.Event()

    async def logs(_: LogRequest) -> AsyncIterator[bytes]:
        try:
            yield b"one\n"
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with (
        served(FunctionKubelet(logs=logs)) as call,
        call.session.get(f"{call._url}{POD}/log?follow=true") as response,
    ):
        await response.content.readline()
        response.close()
        await ended.wait()


async def test_an_error_before_the_first_bytes_of_a_log_is_a_response_and_a_later_one_cuts_it_off(
    caplog: pytest.LogCaptureFixture,
):
    async def logs(request: LogRequest) -> AsyncIterator[bytes]:
        if request.previous:
            raise BadRequestError("previous terminated container not found")
        if request.timestamps:
            raise ValueError("no clock")
        yield b"one\n"
        raise ValueError("the disk is gone")

    async with served(FunctionKubelet(logs=logs)) as call:
        reply = await call("GET", f"{POD}/log?previous=true")
        assert (reply.status, reply.json["message"]) == (400, "previous terminated container not found")
        assert not caplog.records
        reply = await call("GET", f"{POD}/log?timestamps=true")
        assert (reply.status, reply.json["reason"]) == (500, "InternalError")
        with pytest.raises(aiohttp.ClientError):
            await call("GET", f"{POD}/log")
        assert [each.levelno for each in caplog.records] == [logging.ERROR] * 2


async def test_a_pod_without_a_node_has_no_log():
    async with served(FunctionKubelet(logs=lambda _: b"text")) as call:
        spec = {"containers": [{"name": "a", "image": "x"}]}
        await call("POST", PODS, {"metadata": {"name": "waiting"}, "spec": spec})
        assert (await call("GET", f"{PODS}/waiting/log")).status == 204
        assert (await call("GET", f"{PODS}/none/log")).status == 404


async def test_what_a_kubelet_does_not_serve_responds_as_without_one():
    class Nothing(Kubelet):
        pass

    for kubelet in (None, Nothing(), FunctionKubelet()):
        async with served(kubelet) as call:
            node = {"metadata": {"name": "n1"}, "status": {"addresses": [{"type": "Hostname", "address": "10.0.0.9"}]}}
            await call("POST", "/api/v1/nodes", node)
            reply = await call("GET", f"{POD}/log")
            assert (reply.status, reply.json["message"][-18:]) == (500, "connection refused")
            reply = await call("GET", f"{POD}/proxy/")
            assert (reply.status, reply.json["message"]) == (400, "address not allowed")


# Proxies


async def test_a_proxied_request_reaches_the_kubelet_without_the_credentials():
    async def proxy(request: ProxyRequest) -> ProxyResponse:
        assert "Authorization" not in request.headers
        body = b"".join([piece async for piece in request.body])
        seen = [request.resource, request.namespace, request.name, request.scheme, request.port]
        seen += [request.method, request.path, request.query_string, body.decode(), request.headers.get("X-Mine", "")]
        return ProxyResponse(json.dumps(seen), status=202, headers={"X-Yours": "y", "Connection": "close"})

    async with served(FunctionKubelet(proxy=proxy)) as call:
        reply = await call("POST", f"{PODS}/https:p:8080/proxy/a/b/?c=d&e", b"body", X_Mine="m")
        assert (reply.status, reply.headers["X-Yours"]) == (202, "y")
        target = ["pods", "default", "p", "https", "8080"]
        assert reply.json == [*target, "POST", "/a/b/", "c=d&e", "body", "m"]
        reply = await call("GET", "/api/v1/namespaces/default/services/kubernetes/proxy/", Accept="text/html")
        assert reply.json[:5] == ["services", "default", "kubernetes", "", ""]
        assert (await call("OPTIONS", f"{POD}/proxy/x")).json[5] == "OPTIONS"
        await call("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
        assert (await call("PUT", "/api/v1/nodes/n1:10255/proxy/pods")).json[:5] == ["nodes", "", "n1", "", "10255"]
        assert (await call("GET", "/api/v1/nodes/none/proxy/x")).status == 404
        assert (await call("GET", f"{PODS}/a:b:c:d/proxy/x")).json["message"] == 'invalid pod request "a:b:c:d"'


async def test_a_path_without_a_slash_is_redirected():
    async with (
        served(FunctionKubelet()) as call,
        call.session.get(f"{call._url}{POD}/proxy?a=b", allow_redirects=False) as response,
    ):
        assert (response.status, response.headers["Location"]) == (301, f"{POD}/proxy/?a=b")


async def test_the_body_of_a_proxied_response_may_be_a_stream(caplog: pytest.LogCaptureFixture):
    async def pieces(fails: bool) -> AsyncIterator[bytes]:
        yield b"one"
        if fails:
            raise ValueError("broken")
        yield b"two"

    async def proxy(request: ProxyRequest) -> ProxyResponse:
        if request.path == "/fail":
            raise ValueError("down")
        return ProxyResponse(pieces(request.path == "/cut"), headers={"Content-Type": "text/x"})

    async with served(FunctionKubelet(proxy=proxy)) as call:
        reply = await call("GET", f"{POD}/proxy/")
        assert (reply.body, reply.headers["Content-Type"]) == (b"onetwo", "text/x")
        with pytest.raises(aiohttp.ClientError):
            await call("GET", f"{POD}/proxy/cut")
        assert (await call("GET", f"{POD}/proxy/fail")).status == 500
        assert len(caplog.records) == 2
