"""The webhooks that specs deploy as pods of the image agnhost, served by this process.

No container runs, so the API servers are directed here: the embedded one by `--webhook-service`, the real one by a
proxy for its connections to the cluster. Each webhook has the certificate of its spec, which is in a Secret.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from aiohttp import web

import listwatch as lw
from listwatch.models.core_v1 import Secret

__all__ = ["WebhookPods"]

_SERVICES = {
    "sample-webhook-secret": "e2e-test-webhook",
    "sample-custom-resource-conversion-webhook-secret": "e2e-test-crd-conversion-webhook",
}
"""The services of the specs, by the Secrets with their certificates."""
_ADMISSION, _CONVERSION = "admission.k8s.io/v1", "apiextensions.k8s.io/v1"
_LABEL = "webhook-e2e-test"

Tree = dict[str, Any]


class WebhookPods:
    """Listens on loopback, with the certificates of all Secrets that `follow` finds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._proxies: list[asyncio.Server] = []
        self._runner = web.AppRunner(_application())

    @property
    def port(self) -> int:
        return int(self._runner.addresses[0][1])

    @property
    def embedded_flags(self) -> list[str]:
        return [f"--webhook-service=*/{service}=https://127.0.0.1:{self.port}" for service in _SERVICES.values()]

    @property
    def real_flags(self) -> list[str]:
        return [f"--egress-selector-config-file={self._folder / 'egress.yaml'}"]

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.sni_callback = self._choose
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context).start()
        socket = self._folder / "proxy.sock"
        self._proxies.append(await asyncio.start_unix_server(self._forward, socket))
        connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(socket)}}}
        config = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": connection}],
        }
        (self._folder / "egress.yaml").write_text(json.dumps(config))
        return self

    async def __aexit__(self, *_: object) -> None:
        for proxy in self._proxies:
            proxy.close()
        await self._runner.cleanup()

    def follow(self, client: lw.ClientSet) -> lw.SharedIndexInformer[Secret]:
        """An informer, to be run by the caller, that adds the certificates of a cluster."""
        informer = lw.SharedIndexInformer(client.core_v1.secrets(), Secret)
        informer.add_handler(on_add=self._add)
        return informer

    def _add(self, secret: Secret) -> None:
        if (service := _SERVICES.get(secret.name)) is None:
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:  # both, as OpenSSL reads them
            for name in ("tls.crt", "tls.key"):
                file.write(secret.data[name] + b"\n")
            file.flush()
            context.load_cert_chain(file.name)
        self._contexts[f"{service}.{secret.namespace}.svc"] = context

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        if name not in self._contexts:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = self._contexts[name]
        return None

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a CONNECT request for any address; the server name in the TLS handshake selects the webhook."""
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


# --- the behaviour of agnhost -----------------------------------------------------------------------------------------


def _application() -> web.Application:
    app = web.Application()
    app.router.add_get("/readyz", _ready)
    app.router.add_post("/always-allow-delay-5s", _slow)
    app.router.add_post("/crdconvert", _convert)
    for path, decide in _DECISIONS.items():
        app.router.add_post(path, _review(decide))
    return app


async def _ready(_: web.Request) -> web.Response:
    return web.Response(text="ok")


def _review(decide: Callable[[Tree], Tree]) -> Callable[[web.Request], Any]:
    async def handle(request: web.Request) -> web.Response:
        review = (await request.json())["request"]
        if review.get("object") and _labels(review["object"]).get(_LABEL) == "wait-forever":
            await asyncio.Event().wait()
        return _response(review, decide(review))

    return handle


def _response(review: Tree, decision: Tree) -> web.Response:
    body = {"apiVersion": _ADMISSION, "kind": "AdmissionReview", "response": {"uid": review["uid"], **decision}}
    return web.json_response(body)


async def _slow(request: web.Request) -> web.Response:
    review = (await request.json())["request"]
    await asyncio.sleep(5)
    return _response(review, {"allowed": True, "status": {"message": "this webhook allows all requests"}})


def _labels(tree: Tree) -> Tree:
    return tree.get("metadata", {}).get("labels") or {}


def _denied(**status: str) -> Tree:
    return {"allowed": False, "status": status}


def _patched(*operations: Tree) -> Tree:
    if not operations:
        return {"allowed": True}
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


def _deny(_: Tree) -> Tree:
    return _denied(message="this webhook denies all requests")


def _add_label(review: Tree) -> Tree:
    labels = _labels(review["object"])
    if labels.get("added-label") == "yes":
        return {"allowed": True}
    if not labels:
        return _patched({"op": "add", "path": "/metadata/labels", "value": {"added-label": "yes"}})
    operation = "replace" if "added-label" in labels else "add"
    return _patched({"op": operation, "path": "/metadata/labels/added-label", "value": "yes"})


def _pods(review: Tree) -> Tree:
    pod, problems = review["object"], []
    if _labels(pod).get(_LABEL) == "webhook-disallow":
        problems.append("the pod contains unwanted label;")
    if any("webhook-disallow" in each["name"] for each in pod["spec"]["containers"]):
        problems.append("the pod contains unwanted container name;")
    return _denied(message=" ".join(problems)) if problems else {"allowed": True}


def _attach(review: Tree) -> Tree:
    options = review["object"]
    if review["name"] == "to-be-attached-pod" and options.get("stdin") and options.get("container") == "container1":
        return _denied(message="attaching to pod 'to-be-attached-pod' is not allowed")
    return {"allowed": True}


def _mutate_pods(review: Tree) -> Tree:
    pod, added = review["object"], "webhook-added-init-container"
    present = pod["spec"].get("initContainers") or []
    if pod["metadata"].get("name") != "webhook-to-be-mutated" or any(each["name"] == added for each in present):
        return {"allowed": True}
    container = {"image": "webhook-added-image", "name": added, "resources": {}}
    return _patched({"op": "add", "path": "/spec/initContainers", "value": [container]})


def _unwanted(what: str, on_write: str) -> Callable[[Tree], Tree]:
    def decide(review: Tree) -> Tree:
        deletes = review["operation"] == "DELETE"
        data = (review["oldObject"] if deletes else review["object"]).get("data") or {}
        if not deletes and data.get(_LABEL) == "webhook-disallow":
            return _denied(reason=f"the {what} contains unwanted {on_write}")
        if deletes and data.get(_LABEL) == "webhook-nondeletable":
            return _denied(reason=f"the {what} cannot be deleted because it contains unwanted key and value")
        return {"allowed": True}

    return decide


def _mutate_data(review: Tree) -> Tree:
    data = review["object"].get("data") or {}
    for key, stage in (("mutation-stage-1", 2), ("mutation-start", 1)):
        if data.get(key) == "yes":
            return _patched({"op": "add", "path": f"/data/mutation-stage-{stage}", "value": "yes"})
    return {"allowed": True}


def _definitions(review: Tree) -> Tree:
    if _labels(review["object"]).get(_LABEL) == "webhook-disallow":
        return _denied(message="the crd contains unwanted label")
    return {"allowed": True}


_DECISIONS: dict[str, Callable[[Tree], Tree]] = {
    "/always-deny": _deny,
    "/add-label": _add_label,
    "/pods": _pods,
    "/pods/attach": _attach,
    "/mutating-pods": _mutate_pods,
    "/configmaps": _unwanted("configmap", "key and value"),
    "/mutating-configmaps": _mutate_data,
    "/custom-resource": _unwanted("custom resource", "data"),
    "/mutating-custom-resource": _mutate_data,
    "/crd": _definitions,
}


async def _convert(request: web.Request) -> web.Response:
    """Version v1 of the specs has `hostPort`, v2 has `host` and `port`."""
    review = (await request.json())["request"]
    objects = [_converted(each, review["desiredAPIVersion"]) for each in review["objects"]]
    response = {"uid": review["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
    return web.json_response({"apiVersion": _CONVERSION, "kind": "ConversionReview", "response": response})


def _converted(tree: Tree, version: str) -> Tree:
    tree = {**tree, "apiVersion": version}
    if version.endswith("/v2") and "hostPort" in tree:
        tree["host"], _, tree["port"] = tree.pop("hostPort").partition(":")
    elif version.endswith("/v1") and ("host" in tree or "port" in tree):
        tree["hostPort"] = f"{tree.pop('host', '')}:{tree.pop('port', '')}"
    return tree
