"""Reviews, certificates and a client for tests of webhooks."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from tests.controller.worlds import turns_until

import listwatch as lw
from listwatch.controller.manager import Manager
from listwatch.server.access.certificates import CertificateAuthority
from listwatch.webhooks import Webhooks

Tree = dict[str, Any]

AUTHORITY = CertificateAuthority.create()


class FleetSpec(lw.Model):
    region: str = ""
    ships: int = 1
    tags: list[str] = lw.field(default_factory=list)


class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet"):
    spec: FleetSpec = FleetSpec()


def write_certificate(folder: Path, authority: CertificateAuthority = AUTHORITY) -> None:
    """Write a certificate for 127.0.0.1 into a folder, as cert-manager does."""
    pair = authority.issue("webhooks", hosts=["127.0.0.1", "hooks.default.svc"])
    folder.mkdir(exist_ok=True)
    for name, content in (("tls.crt", pair.certificate), ("tls.key", pair.key), ("ca.crt", authority.certificate)):
        (folder / name).write_bytes(content)


def fleet(**spec: object) -> Tree:
    return {"apiVersion": "example.com/v1", "kind": "Fleet", "metadata": {"name": "north"}, "spec": spec}


def review(obj: Tree | None = None, old: Tree | None = None, **request: Any) -> Tree:
    """Return an AdmissionReview as kube-apiserver sends it."""
    group, _, version = ((obj or old or {}).get("apiVersion") or "v1").rpartition("/")
    kind = {"group": group, "version": version, "kind": (obj or old or {}).get("kind")}
    resource = {"group": group, "version": version, "resource": f"{str(kind['kind']).lower()}s"}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "0f1",
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": "north",
            "namespace": "default",
            "operation": "UPDATE" if obj and old else "DELETE" if old else "CREATE",
            "userInfo": {"username": "jane", "groups": ["sailors"], "extra": {"scopes": ["all"]}},
            "object": obj,
            "oldObject": old,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


class Reply(NamedTuple):
    status: int
    text: str

    @property
    def response(self) -> Tree:
        assert self.status == 200, self
        tree = json.loads(self.text)
        assert (tree["apiVersion"], tree["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
        response: Tree = tree["response"]
        return response

    @property
    def patch(self) -> list[Tree]:
        response = self.response
        assert response["allowed"] is True
        patch: list[Tree] = json.loads(base64.b64decode(response.get("patch", "W10=")))
        assert response.get("patchType") == ("JSONPatch" if patch else None)
        return patch


class Caller:
    """Calls webhooks as an API server does."""

    def __init__(self, session: aiohttp.ClientSession, manager: Manager, context: ssl.SSLContext) -> None:
        self._session = session
        self._manager = manager
        self.context = context

    async def post(self, path: str, body: object, content_type: str = "application/json") -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        url = f"https://127.0.0.1:{self._manager.webhook_port}{path}"
        headers = {"Content-Type": content_type}
        async with self._session.post(url, data=data, headers=headers, ssl=self.context) as response:
            return Reply(response.status, await response.text())

    async def probe(self, path: str) -> tuple[int, str]:
        """Get the line of the webhooks from a probe."""
        async with self._session.get(f"http://127.0.0.1:{self._manager.health_port}{path}") as response:
            [line] = [each for each in (await response.text()).splitlines() if "] webhooks" in each]
            return response.status, line

    async def presented(self) -> bytes:
        """Return the certificate that a new connection gets, in PEM."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _, writer = await asyncio.open_connection("127.0.0.1", self._manager.webhook_port, ssl=context)
        try:
            der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            return ssl.DER_cert_to_PEM_cert(der).encode()
        finally:
            writer.close()
            await writer.wait_closed()

    async def get(self, path: str) -> int:
        url = f"https://127.0.0.1:{self._manager.webhook_port}{path}"
        async with self._session.get(url, ssl=self.context) as response:
            return response.status


def trusting(authority: CertificateAuthority) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.certificate.decode())


@asynccontextmanager
async def serving(hooks: Webhooks, **options: Any) -> AsyncIterator[tuple[Manager, Caller]]:
    """Run a manager with these webhooks, and yield when it listens and has tried to load the certificate."""
    manager = Manager(None, health_port=0, **options)
    manager.add_webhooks(hooks)
    async with manager, aiohttp.ClientSession() as session:
        await turns_until(lambda: manager.webhook_port)
        server = manager._webhooks
        assert server is not None
        await turns_until(lambda: server._keeper._problem != "it was not loaded yet")
        yield manager, Caller(session, manager, trusting(AUTHORITY))
