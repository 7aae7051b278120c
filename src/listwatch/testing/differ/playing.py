"""Plays requests on one server, in bare HTTP, so that nothing is hidden of what comes back. `comparison` compares."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus, urlsplit

import yaml

from listwatch.testing.differ.plays import Request

__all__ = ["Answer", "Player", "Server"]

Tree = Any

_JSON = "application/json"
_MERGE_PATCH = "application/merge-patch+json"
_AWAITED = frozenset({"orphan", "foregroundDeletion"})
"""Finalizers of the garbage collector."""
_SPOKEN_OF = re.compile(r"\$\{(version|uid|continue) ([^}]*)\}")
_OF_A_COLLECTION = re.compile(r"^/apis?/(?:[^/]+/)?[^/]+/(?:namespaces/[^/]+/)?([^/]+)$")


@dataclass(frozen=True)
class Server:
    """Where a server is, and how to be an administrator there."""

    title: str
    url: str
    token: str = field(repr=False)
    ca: bytes = b""

    def connect(self) -> http.client.HTTPConnection:
        address = urlsplit(self.url).netloc
        if self.url.startswith("http:"):
            return http.client.HTTPConnection(address, timeout=60)
        tls = ssl.create_default_context(cadata=self.ca.decode() if self.ca else None)
        return http.client.HTTPSConnection(address, timeout=60, context=tls)


@dataclass(frozen=True)
class Answer:
    """A whole answer; a watch's is all its events, since every one that is played ends by itself."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def tree(self) -> Tree:
        """What its JSON or YAML says; else None."""
        if self.headers.get("content-type") == "application/yaml":
            return yaml.safe_load(self.body)
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def events(self) -> list[Tree]:
        return [json.loads(line) for line in self.body.splitlines()]


class Player:
    """Plays in one namespace of one server, and remembers what was answered, for requests that speak of it."""

    def __init__(self, server: Server, namespace: str) -> None:
        self.namespace = namespace
        self._server = server
        self._connection = server.connect()
        self._known: dict[tuple[str, str], str] = {}

    def open(self) -> None:
        """Make the namespace, with the account that a cluster's own controllers would add."""
        for path, name in (("/api/v1/namespaces", self.namespace), (_in(self.namespace, "serviceaccounts"), "default")):
            body = {"metadata": {"name": name}}
            answer = self._ask("POST", path, json.dumps(body).encode(), {"Content-Type": _JSON})
            if answer.status not in (201, 409):
                raise RuntimeError(f"{self._server.title} does not let a play begin: {answer.body.decode()}")

    def close(self) -> None:
        """Take the namespace away; and, since nobody empties it there, what holds addresses, of which there are few."""
        services = _in(self.namespace, "services")
        for item in (self._ask("GET", services, None, {}).tree or {}).get("items", ()):
            path = f"{services}/{item['metadata']['name']}"
            self._ask("PATCH", path, b'{"metadata":{"finalizers":null}}', {"Content-Type": _MERGE_PATCH})
            self._ask("DELETE", path, b'{"propagationPolicy":"Background"}', {"Content-Type": _JSON})
        self._ask("DELETE", f"/api/v1/namespaces/{self.namespace}", None, {})
        self._connection.close()

    def play(self, request: Request) -> Answer:
        """Ask, and remember what was answered."""
        path = self._filled(request.path)
        query = "&".join(f"{quote_plus(name)}={quote_plus(self._filled(text))}" for name, text in request.query.items())
        body = None if request.body is None else self._body(request.body)
        usual = {"Content-Type": _JSON} if body is not None else {}
        answer = self._ask(request.method, f"{path}?{query}" if query else path, body, usual | request.headers)
        self._remember(path, answer.tree)
        if request.method == "DELETE" and answer.status in (200, 202):
            self._collect(path if _OF_A_COLLECTION.match(path) else path.rpartition("/")[0])
        return answer

    def _collect(self, path: str) -> None:
        """Do what a cluster's garbage collector does, which a lone API server has not: finish what waits for it."""
        listed = self._ask("GET", path, None, {}).tree or {}
        for item in listed.get("items", ()):
            metadata = item["metadata"]
            if "deletionTimestamp" in metadata and not _AWAITED.isdisjoint(metadata.get("finalizers", ())):
                rest = [each for each in metadata["finalizers"] if each not in _AWAITED]
                change = json.dumps({"metadata": {"finalizers": rest or None}}).encode()
                self._ask("PATCH", f"{path}/{metadata['name']}", change, {"Content-Type": _MERGE_PATCH})

    def _body(self, body: Tree) -> bytes:
        return self._filled(body if isinstance(body, str) else json.dumps(body)).encode()

    def _filled(self, text: str) -> str:
        text = text.replace("{namespace}", self.namespace)
        return _SPOKEN_OF.sub(lambda found: self._known.get((found[1], found[2]), f"no-{found[1]}"), text)

    def _remember(self, path: str, tree: Tree) -> None:
        metadata = tree.get("metadata") if isinstance(tree, dict) else None
        if not isinstance(metadata, dict) or tree.get("kind") == "Status":
            return
        collection = _OF_A_COLLECTION.match(path)
        if "items" in tree:
            if collection:
                self._known["continue", collection[1]] = metadata.get("continue", "")
            return
        name = f"{collection[1]}/{metadata.get('name')}" if collection else "/".join(path.split("/")[-2:])
        self._known["version", name] = metadata.get("resourceVersion", "")
        self._known["uid", name] = metadata.get("uid", "")

    def _ask(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        said = {"Authorization": f"Bearer {self._server.token}", "Accept": _JSON, **headers}
        try:
            self._connection.request(method, target, body, said)
            answer = self._connection.getresponse()
        except (http.client.HTTPException, ConnectionError):
            # Servers may close a connection after an answer; the same request on a new one is the first to be heard.
            self._connection.close()
            self._connection.request(method, target, body, said)
            answer = self._connection.getresponse()
        return Answer(answer.status, _headers(answer), answer.read())


def _headers(answer: http.client.HTTPResponse) -> dict[str, str]:
    """By name, in small letters; all of those that come several times, as warnings do."""
    found: dict[str, list[str]] = {}
    for name, value in answer.getheaders():
        found.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(values) for name, values in found.items()}


def _in(namespace: str, plural: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}"
