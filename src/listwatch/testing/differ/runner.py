"""Runs requests on one server in plain HTTP, so that no client hides part of a response."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote_plus, urlsplit

import yaml

from listwatch.json_value import JSON, JSONObject
from listwatch.testing.differ.scenarios import Request

__all__ = ["Response", "Runner", "Server"]

_JSON = "application/json"
_MERGE_PATCH = "application/merge-patch+json"
_TIMEOUT = 20.0
_RETRY_INTERVAL = 0.02
_COLLECTOR_FINALIZERS = frozenset({"orphan", "foregroundDeletion"})
_REFERENCE = re.compile(r"\$\{(version|uid|continue) ([^}]*)\}")
_COLLECTION_PATH = re.compile(r"^/apis?/(?:[^/]+/)?[^/]+/(?:namespaces/[^/]+/)?([^/]+)$")


@dataclass(frozen=True)
class Server:
    """The address of a server, with the credentials of an administrator."""

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
class Response:
    """A complete response; that of a watch has all its events, because every watch here times out by itself."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def tree(self) -> JSON:
        """The decoded JSON or YAML body; None if it is neither."""
        tree: JSON
        if self.headers.get("content-type") == "application/yaml":
            tree = yaml.safe_load(self.body)
            return tree
        try:
            tree = json.loads(self.body)
        except ValueError:
            return None
        return tree

    @property
    def events(self) -> list[JSONObject]:
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def items(self) -> list[JSONObject]:
        """The items of a list response; empty for other responses."""
        tree = self.tree
        items = tree.get("items") if isinstance(tree, dict) else None
        return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


class Runner:
    """Runs requests in one namespace of one server, and keeps what later requests refer to."""

    def __init__(self, server: Server, namespace: str) -> None:
        self.namespace = namespace
        self._server = server
        self._connection = server.connect()
        self._known: dict[tuple[str, str], str] = {}
        self._in_no_namespace: dict[str, None] = {}
        """The paths of created objects that the deletion of the namespace does not delete."""

    def open(self) -> None:
        """Create the namespace, and the service account that a cluster's controllers would add."""
        for path, name in (("/api/v1/namespaces", self.namespace), (_in(self.namespace, "serviceaccounts"), "default")):
            body = {"metadata": {"name": name}}
            response = self._request("POST", path, json.dumps(body).encode(), {"Content-Type": _JSON})
            if response.status not in (201, 409):
                raise RuntimeError(f"cannot create {path}/{name} on the {self._server.title} server: {response.body!r}")

    def close(self) -> None:
        """Delete the namespace. Its services first: no controller empties it, and cluster IPs are few."""
        services = _in(self.namespace, "services")
        for item in self._request("GET", services, None, {}).items:
            path = f"{services}/{_metadata(item)['name']}"
            self._request("PATCH", path, b'{"metadata":{"finalizers":null}}', {"Content-Type": _MERGE_PATCH})
            self._request("DELETE", path, b'{"propagationPolicy":"Background"}', {"Content-Type": _JSON})
        for path in self._in_no_namespace:
            self._request("PATCH", path, b'{"metadata":{"finalizers":null}}', {"Content-Type": _MERGE_PATCH})
            self._request("DELETE", path, b'{"propagationPolicy":"Background"}', {"Content-Type": _JSON})
        self._request("DELETE", f"/api/v1/namespaces/{self.namespace}", None, {})
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection, and keep the namespace."""
        self._connection.close()

    def send(self, request: Request) -> Response:
        """Send a request, until the response is the expected one, and keep its versions, uids and tokens."""
        deadline = time.monotonic() + _TIMEOUT
        while True:
            response = self._send(request)
            if request.until.encode() in response.body or time.monotonic() > deadline:
                return response
            time.sleep(_RETRY_INTERVAL)

    def _send(self, request: Request) -> Response:
        path = self._substituted(request.path)
        query = "&".join(
            f"{quote_plus(name)}={quote_plus(self._substituted(text))}" for name, text in request.query.items()
        )
        body = None if request.body is None else self._body(request.body)
        headers = {"Content-Type": _JSON} if body is not None else {}
        headers |= {name: self._substituted(text) for name, text in request.headers.items()}
        if request.method != "POST" and request.query.get("resourceVersion"):
            # A real server reads such versions from a cache, which may be older than the previous request.
            # A list without version waits until the cache is as new as the data.
            self._request("GET", _collection_of(path), None, {})
        response = self._request(request.method, f"{path}?{query}" if query else path, body, headers)
        self._remember(path, response.tree, is_new=response.status == 201)
        if request.method == "DELETE" and response.status in (200, 202):
            self._collect(_collection_of(path))
        return response

    def _collect(self, path: str) -> None:
        """Do the work of the garbage collector, which an API server alone lacks: remove its finalizers."""
        for item in self._request("GET", path, None, {}).items:
            metadata = _metadata(item)
            finalizers = metadata.get("finalizers")
            if "deletionTimestamp" not in metadata or not isinstance(finalizers, list):
                continue
            rest = [finalizer for finalizer in finalizers if finalizer not in _COLLECTOR_FINALIZERS]
            if len(rest) < len(finalizers):
                patch = json.dumps({"metadata": {"finalizers": rest or None}}).encode()
                self._request("PATCH", f"{path}/{metadata['name']}", patch, {"Content-Type": _MERGE_PATCH})

    def _body(self, body: JSON) -> bytes:
        return self._substituted(body if isinstance(body, str) else json.dumps(body)).encode()

    def _substituted(self, text: str) -> str:
        text = text.replace("{namespace}", self.namespace)
        return _REFERENCE.sub(lambda match: self._known.get((match[1], match[2]), f"no-{match[1]}"), text)

    def _remember(self, path: str, tree: JSON, *, is_new: bool) -> None:
        if not isinstance(tree, dict) or tree.get("kind") == "Status":
            return
        metadata = tree.get("metadata")
        if not isinstance(metadata, dict):
            return
        collection = _COLLECTION_PATH.match(path)
        if "items" in tree:
            if collection:
                self._known["continue", collection[1]] = str(metadata.get("continue", ""))
            return
        name = f"{collection[1]}/{metadata.get('name')}" if collection else "/".join(path.split("/")[-2:])
        if is_new and "/namespaces/" not in path:
            self._in_no_namespace[f"{path}/{metadata.get('name')}" if collection else path] = None
        self._known["version", name] = str(metadata.get("resourceVersion", ""))
        self._known["uid", name] = str(metadata.get("uid", ""))

    def _request(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        sent = {"Authorization": f"Bearer {self._server.token}", "Accept": _JSON, **headers}
        try:
            self._connection.request(method, target, body, sent)
            response = self._connection.getresponse()
        except (http.client.HTTPException, ConnectionError):
            # The server may have closed the idle connection before it read the request: retry on a new one.
            self._connection.close()
            self._connection.request(method, target, body, sent)
            response = self._connection.getresponse()
        return Response(response.status, _headers(response), response.read())


def _metadata(item: JSONObject) -> JSONObject:
    metadata = item["metadata"]
    return metadata if isinstance(metadata, dict) else {}


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    """Return the headers by lower-case name; repeated headers, such as warnings, are joined."""
    found: dict[str, list[str]] = {}
    for name, value in response.getheaders():
        found.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(values) for name, values in found.items()}


def _collection_of(path: str) -> str:
    return path if _COLLECTION_PATH.match(path) else path.rpartition("/")[0]


def _in(namespace: str, plural: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}"
