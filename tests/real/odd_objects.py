"""Objects that kube-apiserver accepts and that no JSON decoder of Python reads as a whole, written as raw bytes."""

import re
import secrets
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection

from listwatch.testing.real.real_api_server_thread import RealAPIServerThread

DEPTH = 2_000
"""How deep the spec of an odd custom object is nested; kube-apiserver accepts up to 10,000 levels."""

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TRIES = 20_000


@dataclass(frozen=True)
class OddObjects:
    """The objects of one resource in one namespace: plain ones, and odd ones whose part `damaged` cannot be decoded."""

    server: RealAPIServerThread
    namespace: str
    api_version: str
    kind: str
    plural: str
    damaged: str
    plain_part: str
    odd_part: str
    version: str = ""
    """The version of the last object that was there at the start."""

    @property
    def path(self) -> str:
        return f"/apis/{self.api_version}/namespaces/{self.namespace}/{self.plural}"

    def create(self, name: str, *, odd: bool = False) -> str:
        """Create an object; returns its resource version."""
        part = self.odd_part if odd else self.plain_part
        body = f'{{"apiVersion":"{self.api_version}","kind":"{self.kind}","metadata":{{"name":"{name}"}},{part}}}'
        return _version(self._request(201, "POST", self.path, body))

    def label(self, name: str) -> str:
        """Change an object; returns its resource version."""
        patch = '{"metadata":{"labels":{"changed":"yes"}}}'
        return _version(self._request(200, "PATCH", f"{self.path}/{name}", patch))

    def delete(self, name: str) -> None:
        self._request(200, "DELETE", f"{self.path}/{name}")

    def is_served(self) -> bool:
        return self._status("GET", self.path)[0] == 200

    def _request(self, expected: int, method: str, path: str, body: str = "") -> bytes:
        status, response = self._status(method, path, body)
        assert status == expected, (status, response[:1000])
        return response

    def _status(self, method: str, path: str, body: str = "") -> tuple[int, bytes]:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self.server.token}", "Content-Type": kind}
        trust = ssl.create_default_context(cadata=self.server.ca_certificate.decode())
        address = self.server.url.removeprefix("https://")
        with closing(HTTPSConnection(address, timeout=30, context=trust)) as connection:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            return response.status, response.read()


def _version(response: bytes) -> str:
    found = re.search(rb'"resourceVersion":\s*"(\d+)"', response)
    assert found is not None
    return found[1].decode()


@contextmanager
def controller_revisions(server: RealAPIServerThread, namespace: str) -> Iterator[OddObjects]:
    """ControllerRevisions; the data of odd ones contains half of a surrogate pair, which is not a character."""
    yield OddObjects(
        server,
        namespace,
        "apps/v1",
        "ControllerRevision",
        "controllerrevisions",
        damaged="data",
        plain_part='"revision":1,"data":{"text":"plain"}',
        odd_part=r'"revision":1,"data":{"text":"\ud800"}',
    )


@contextmanager
def custom_objects(server: RealAPIServerThread, namespace: str) -> Iterator[OddObjects]:
    """Objects of a custom resource without a schema; the spec of odd ones is nested deeply."""
    group = f"g{secrets.token_hex(4)}.example.com"
    nested = '{"a":' * DEPTH + "1" + "}" * DEPTH
    found = OddObjects(
        server,
        namespace,
        f"{group}/v1",
        "Oddity",
        "oddities",
        damaged="spec",
        plain_part='"spec":{"a":1}',
        odd_part=f'"spec":{nested}',
    )
    schema = '{"type":"object","x-kubernetes-preserve-unknown-fields":true}'
    version = f'{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}'
    names = '{"plural":"oddities","kind":"Oddity"}'
    spec = f'{{"group":"{group}","scope":"Namespaced","names":{names},"versions":[{version}]}}'
    definition = f'{{"metadata":{{"name":"oddities.{group}"}},"spec":{spec}}}'
    found._request(201, "POST", _DEFINITIONS, definition)
    try:
        assert any(found.is_served() for _ in range(_TRIES)), "what was defined was never served"
        yield found
    finally:
        found._request(200, "DELETE", f"{_DEFINITIONS}/oddities.{group}")
