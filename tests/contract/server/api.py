"""A plain HTTP client for API servers: sends exactly what a test gives, and returns the complete response."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from tests.contract.target import Target

Tree = Any

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"

_TRIES = 20_000
_TIMEOUT = 15.0
"""How many seconds a watch waits for an event that a test expects."""


@dataclass(frozen=True)
class Response:
    """A complete response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Tree:
        assert self.headers.get_content_type() == JSON, (self.headers.as_string(), self.body)
        return json.loads(self.body)

    @property
    def warnings(self) -> list[str]:
        return self.headers.get_all("Warning") or []

    def ok(self, status: int = 200) -> Tree:
        """The returned object; fails unless the response has that status, and the headers of every success."""
        assert self.status == status, (self.status, self.body)
        assert self.headers["Cache-Control"] == "no-cache, private"
        assert self.headers["Audit-Id"]
        return self.json

    def failed(self, status: int, reason: str) -> Tree:
        """The returned Status; fails unless it is one with that code and reason."""
        found = self.json
        assert (self.status, found.get("reason", "")) == (status, reason), found
        assert {name: found[name] for name in ("kind", "apiVersion", "metadata", "status", "code")} == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "code": status,
        }
        return found


def causes(status: Tree) -> set[tuple[str, str]]:
    """The causes of a Status: reasons and fields."""
    return {(cause["reason"], cause.get("field", "")) for cause in status["details"]["causes"]}


class API:
    """Sends requests to a server, as its administrator unless headers override that, by default in one namespace."""

    def __init__(self, target: Target, namespace: str) -> None:
        self._target = target
        self._connection = target.connect()
        self.namespace = namespace

    def close(self) -> None:
        self._connection.close()

    # --- paths

    def path(self, plural: str, name: str = "", *rest: str, version: str = "v1", everywhere: bool = False) -> str:
        """Of a collection in the namespace, or of an object in it, or of its subresource."""
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        place = "" if everywhere else f"/namespaces/{self.namespace}"
        return "/".join([root + place, plural, *filter(None, [name, *rest])])

    # --- requests

    def request(
        self,
        method: str,
        path: str,
        body: Tree = None,
        /,
        *,
        headers: Mapping[str, str] | None = None,
        **query: object,
    ) -> Response:
        """Send a request. A body of bytes is sent unchanged, anything else as JSON; a header of None is omitted.

        Retries while the server initializes the storage of a changed definition, for which it responds with 429.
        """
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        for _ in range(_TRIES):
            self._connection.request(method, _target(path, query), data, self._headers(data, headers))
            response = self._connection.getresponse()
            content = response.read()
            if response.status != 429 or b"storage is (re)initializing" not in content:
                break
        return Response(response.status, response.headers, content)

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Tree, /, **options: Any) -> Response:
        return self.request("POST", path, body, **options)

    def put(self, path: str, body: Tree, /, **options: Any) -> Response:
        return self.request("PUT", path, body, **options)

    def patch(self, path: str, body: Tree, /, content_type: str = MERGE_PATCH, **options: Any) -> Response:
        headers = {"Content-Type": content_type, **options.pop("headers", {})}
        return self.request("PATCH", path, body, headers=headers, **options)

    def delete(self, path: str, body: Tree = None, /, **options: Any) -> Response:
        return self.request("DELETE", path, body, **options)

    def create(self, plural: str, name: str, *, version: str = "v1", **fields: Tree) -> Tree:
        """Create an object in the namespace; `metadata` may have more than its name."""
        metadata = {"name": name, **fields.pop("metadata", {})}
        return self.post(self.path(plural, version=version), {"metadata": metadata, **fields}).ok(201)

    def list(self, path: str, **query: object) -> Tree:
        return self.get(path, **query).ok()

    def names(self, path: str, **query: object) -> list[str]:
        """The names of the listed objects."""
        return [item["metadata"]["name"] for item in self.list(path, **query)["items"]]

    @contextmanager
    def watch(self, path: str, *, headers: Mapping[str, str] | None = None, **query: object) -> Iterator[Watch]:
        connection = self._target.connect(timeout=_TIMEOUT)
        try:
            connection.request("GET", _target(path, {"watch": "true", **query}), None, self._headers(None, headers))
            yield Watch(connection.getresponse())
        finally:
            connection.close()

    def _headers(self, body: bytes | None, headers: Mapping[str, str] | None) -> dict[str, str]:
        usual = {"Authorization": f"Bearer {self._target.token}", "Accept": JSON}
        if body is not None:
            usual["Content-Type"] = JSON
        return {name: value for name, value in {**usual, **(headers or {})}.items() if value is not None}


def _target(path: str, query: Mapping[str, object]) -> str:
    pairs = [
        f"{name}={quote_plus(str(value))}"
        for name, values in query.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    return path + ("?" + "&".join(pairs) if pairs else "")


class Watch:
    """The events of a watch, one after the other, each a type and an object."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response = response

    def __iter__(self) -> Iterator[tuple[str, Tree]]:
        """Until the server ends the watch."""
        while line := self._response.readline():
            event = json.loads(line)
            assert event.keys() == {"type", "object"}
            yield event["type"], event["object"]

    def next(self) -> tuple[str, Tree]:
        return next(iter(self))

    def take(self, count: int) -> list[tuple[str, str]]:
        """The types and names of the next events."""
        return [_brief(*self.next()) for _ in range(count)]

    def until(self, name: str) -> list[tuple[str, str]]:
        """The types and names of all events before the first about an object of that name."""
        seen = []
        while (event := _brief(*self.next()))[1] != name:
            seen.append(event)
        return seen

    def read(self) -> Response:
        """The body that was received instead of events."""
        return Response(self.status, self.headers, self._response.read())


def _brief(type_: str, found: Tree) -> tuple[str, str]:
    return type_, found["metadata"].get("name", "")
