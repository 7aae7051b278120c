"""Requests and responses as values: `routes` makes the requests, `representations` encodes the responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self
from urllib.parse import unquote_plus

from listwatch.errors import BadRequestError
from listwatch.json_value import JSONObject
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.storage.values import Stored

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class User:
    """The authenticated user of a request."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))


class Query:
    """The query parameters of a URL. Of a parameter that is repeated, the first value counts."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Sequence[str]] | None = None) -> None:
        self._values = {name: tuple(each) for name, each in (values or {}).items() if each}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the part after the `?`; malformed pairs are ignored, as in Go."""
        values: dict[str, list[str]] = {}
        for pair in text.split("&"):
            if pair and ";" not in pair and not _BROKEN_ESCAPE.search(pair):
                name, _, value = pair.partition("=")
                values.setdefault(unquote_plus(name), []).append(unquote_plus(value))
        return cls(values)

    def all(self, name: str) -> tuple[str, ...]:
        return self._values.get(name, ())

    def text(self, name: str) -> str:
        """Return the value; empty if there is no such parameter."""
        values = self._values.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        return self.optional_flag(name) or False

    def optional_flag(self, name: str) -> bool | None:
        """Return None if there is no such parameter; a bare `?watch` and any value but "false" and "0" are true."""
        values = self._values.get(name)
        return values[0].lower() not in ("false", "0") if values else None

    def number(self, name: str) -> int | None:
        """Return None if there is no such parameter; raises BadRequestError if it is not a 64-bit integer."""
        values = self._values.get(name)
        return _int64(values[0]) if values else None

    def shortened(self, size: int) -> Query:
        """Return the first parameters, as many as fit into this size."""
        values: dict[str, tuple[str, ...]] = {}
        for name, each in self._values.items():
            size -= len(name) + sum(map(len, each)) + len(each)
            if size < 0:
                break
            values[name] = each
        return Query(values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._values == other._values

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Query({self._values!r})"


def _int64(text: str) -> int:
    # The length stays below Python's limit on the digits of an int.
    if not _INTEGER.fullmatch(text):
        raise BadRequestError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > 100 or int(text) not in _INT64:
        raise BadRequestError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """A call of a webhook: at a URL, or of a service."""

    url: str
    service: str
    """Namespace and name, `system/hooks`; empty if there is a URL."""
    port: int
    path: str
    ca_bundle: str = field(repr=False)
    body: bytes = field(repr=False)  # it may hold a Secret
    timeout: float


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What a webhook returned, or why it could not be called."""

    body: bytes = field(default=b"", repr=False)
    problem: str = ""
    status: int = 200
    content_type: str = ""


class WebhookNeededError(Exception):
    """A request that has to wait for webhooks: add the responses to its `Replay` under their keys, and start it again.

    Several calls do not depend on each other, and are made at the same time.
    """

    def __init__(self, calls: Mapping[tuple[str, ...], WebhookCall]) -> None:
        super().__init__(f"webhooks have to be called: {', '.join(key[2] for key in calls)}")
        self.calls = calls


@dataclass(slots=True)
class Replay:
    """The state of a request that is started several times: responses of webhooks, and generated values."""

    new_uid: Callable[[], str]
    responses: dict[tuple[str, ...], WebhookResponse] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    converted: dict[bytes, JSONObject] = field(default_factory=dict, repr=False)
    """Objects that a conversion webhook has returned, by a digest of the originals and the version."""
    collection: ListResponse | None = None
    """What a request deletes, once it was listed."""
    deleted: dict[ObjectKey, list[str]] = field(default_factory=dict)
    """The objects of the collection that were deleted already, and the warnings of that."""


@dataclass(slots=True)
class APIRequest:
    """A request for a resource that is served, with a verb that it supports.

    `verb` is RBAC's: get list watch create update patch delete deletecollection, or connect for subresources such as
    exec and proxy. The namespace is empty for cluster-scoped resources and for all namespaces, the name is empty for
    collections. `subpath` is the path after a proxy subresource.
    """

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    subpath: str = ""
    query: Query = field(default_factory=Query)
    body: bytes = field(default=b"", repr=False)  # it may hold a Secret
    content_type: str = ""
    accept: str = ""
    user: User = ANONYMOUS
    method: str = "GET"
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    warnings: list[str] = field(default_factory=list)
    """Sent as Warning headers with the response, also with an error."""
    replay: Replay | None = None
    """Set if webhooks may be called for this request."""
    audit_annotations: dict[str, str] = field(default_factory=dict)
    """What admission plugins add to the audit event of the request; the log of requests keeps it."""

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.namespace, self.name)

    @property
    def kind(self) -> GroupVersionKind:
        """The kind of the objects that are sent and returned, which a subresource may have of its own."""
        return kind_of(self.resource, self.subresource)


def kind_of(resource: Resource, subresource: str) -> GroupVersionKind:
    """Return the kind of the objects of a resource, or of one of its subresources."""
    found = resource.subresource(subresource) if subresource else None
    return found.gvk if found else resource.gvk


class Admission(Protocol):
    """Inspects an object before it is written: may change `new`, or raise an APIError to reject the request.

    For a subresource with objects of its own kind, such as an Eviction or a Binding, `new` is that object.
    """

    def __call__(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None: ...


@dataclass(slots=True)
class NonResourceRequest:
    """A request for discovery, the version or health; `parts` are the segments of the path."""

    path: str
    parts: tuple[str, ...] = ()
    method: str = "GET"
    query: Query = field(default_factory=Query)
    accept: str = ""
    user: User = ANONYMOUS
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def verb(self) -> str:
        """RBAC's verb for non-resource paths."""
        return self.method.lower()


@dataclass(slots=True)
class ListResponse:
    """A list before it is encoded: the objects as stored JSON, and the metadata of the list.

    The items of built-in kinds have no apiVersion and kind; those of custom resources do.
    """

    resource: Resource
    items: Sequence[bytes] = field(default=(), repr=False)  # they may be Secrets
    resource_version: str = ""
    continue_token: str = ""
    remaining_item_count: int | None = None
    items_keep_kind: bool = False
    shard_selector: str = ""
    """The canonical selector of the shards that the list has; empty if it has all."""
    states: Sequence[Stored] = field(default=(), repr=False)
    """The stored states of the items, in the same order; empty if they are not known."""


@dataclass(slots=True)
class Response:
    """A response: an object as a tree or as JSON bytes, or a list.

    With a Content-Type header, the body is bytes that are sent unchanged.
    """

    body: JSONObject | bytes | ListResponse = field(repr=False)
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    stored: Stored | None = field(default=None, repr=False)
    """The stored state of the object, if it is known."""
