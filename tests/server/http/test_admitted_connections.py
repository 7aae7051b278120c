"""Connections to containers, with the options that a webhook has changed."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from tests.server.caller import Caller
from tests.server.http.kubelet_server import POD, PODS, messages, web_socket

from listwatch.server import APIServer, ExecSession, FunctionKubelet, Kubelet, ProxyRequest, ProxyResponse

HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
CONNECTIONS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/*"]}


@asynccontextmanager
async def patched(kubelet: Kubelet, *operations: dict[str, Any]) -> AsyncIterator[Caller]:
    """A server with a pod, and a webhook that patches the options of connections."""

    async def review(request: web.Request) -> web.Response:
        uid = (await request.json())["request"]["uid"]
        patch = base64.b64encode(json.dumps(operations).encode()).decode()
        response = {"uid": uid, "allowed": True, "patchType": "JSONPatch", "patch": patch}
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        return web.json_response(body)

    application = web.Application()
    application.router.add_post("/", review)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        services = {"default/hook": f"http://127.0.0.1:{runner.addresses[0][1]}"}
        async with APIServer(kubelet=kubelet, webhook_services=services) as server, Caller(server) as call:
            spec = {"nodeName": "n1", "containers": [{"name": name, "image": "x"} for name in ("a", "b")]}
            assert (await call("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})).status == 201
            hook = {
                "name": "hook.example.com",
                "clientConfig": {"service": {"namespace": "default", "name": "hook", "path": "/"}},
                "rules": [CONNECTIONS],
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
            assert (await call("POST", HOOKS, {"metadata": {"name": "hook"}, "webhooks": [hook]})).status == 201
            yield call
    finally:
        await runner.cleanup()


async def test_the_kubelet_runs_the_command_that_a_webhook_has_set():
    async def show(session: ExecSession) -> None:
        await session.stdout.write(f"{session.command} in {session.container}, tty: {session.tty}")

    operations = (
        {"op": "replace", "path": "/command", "value": ["echo", "a b&c"]},
        {"op": "add", "path": "/container", "value": "b"},
        {"op": "remove", "path": "/tty"},
    )
    async with (
        patched(FunctionKubelet(exec=show), *operations) as call,
        web_socket(call, f"{POD}/exec?command=rm&stdout=1&tty=1&container=a", "v5.channel.k8s.io") as socket,
    ):
        received = await messages(socket)
    assert received[0] == b"\1('echo', 'a b&c') in b, tty: False"


async def test_the_kubelet_proxies_to_the_path_that_a_webhook_has_set():
    async def proxy(request: ProxyRequest) -> ProxyResponse:
        body = b"".join([piece async for piece in request.body])
        return ProxyResponse(f"{request.path}?{request.query_string} {body.decode()}")

    async with patched(FunctionKubelet(proxy=proxy), {"op": "replace", "path": "/path", "value": "/safe"}) as call:
        reply = await call("POST", f"{POD}/proxy/admin?a=b", b"body")
        assert reply.body == b"/safe?a=b body"
