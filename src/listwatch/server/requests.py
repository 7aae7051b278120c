"""What the server is asked and answers, as values: `routes` makes the requests, `representations` writes answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self
from urllib.parse import unquote_plus

from listwatch.errors import BadRequestError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey, Resource

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class User:
    """Who is asking, as an authenticator found out."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", groups=("system:unauthenticated",))


class Query:
    """The parameters of a URL. Each may come several times, and the first one counts."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Sequence[str]] | None = None) -> None:
        self._values = {name: tuple(each) for name, each in (values or {}).items() if each}

    @classmethod
    def parse(cls, text: str) -> Self:
        """From what follows the `?`; pairs that are no form data are passed over, as Go does."""
        values: dict[str, list[str]] = {}
        for pair in text.split("&"):
            if pair and ";" not in pair and not _BROKEN_ESCAPE.search(pair):
                name, _, value = pair.partition("=")
                values.setdefault(unquote_plus(name), []).append(unquote_plus(value))
        return cls(values)

    def all(self, name: str) -> tuple[str, ...]:
        return self._values.get(name, ())

    def text(self, name: str) -> str:
        """The empty text if there is no such parameter."""
        values = self._values.get(name)
        return values[0] if values else ""

    def flag(self, name: str) -> bool:
        return self.optional_flag(name) or False

    def optional_flag(self, name: str) -> bool | None:
        """None if there is no such parameter; a bare `?watch` and any other word than "false" and "0" mean yes."""
        values = self._values.get(name)
        return values[0].lower() not in ("false", "0") if values else None

    def number(self, name: str) -> int | None:
        """None if there is no such parameter; raises BadRequestError if it is no 64-bit integer."""
        values = self._values.get(name)
        return _int64(values[0]) if values else None

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
    # The length keeps clear of Python's own limit on the digits of an int.
    if not _INTEGER.fullmatch(text):
        raise BadRequestError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > 100 or int(text) not in _INT64:
        raise BadRequestError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


@dataclass(slots=True)
class APIRequest:
    """A request for a resource that is served, with a verb that it supports.

    `verb` is as RBAC names it: get list watch create update patch delete deletecollection, or connect where a
    subresource is a door to something else. The namespace is empty for cluster resources and for all namespaces, and
    so is the name for collections. `subpath` is what follows a subresource that takes paths, as proxies do.
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
    """What whoever asks is told beside the answer, even if that is a refusal."""

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.namespace, self.name)


class Admission(Protocol):
    """Inspects an object before it is written: may change `new`, or raise an APIError to reject the request."""

    def __call__(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None: ...


@dataclass(slots=True)
class NonResourceRequest:
    """A request for something else than a resource: discovery, the version, health; `parts` are the path's segments."""

    path: str
    parts: tuple[str, ...] = ()
    method: str = "GET"
    query: Query = field(default_factory=Query)
    accept: str = ""
    user: User = ANONYMOUS
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def verb(self) -> str:
        """As RBAC names it for paths."""
        return self.method.lower()


@dataclass(slots=True)
class ListResponse:
    """A list before it is written: the objects as JSON, each as it is stored, and what the list's own metadata says.

    The items of a built-in kind do not repeat what they are; those of a custom resource do.
    """

    resource: Resource
    items: Sequence[bytes] = ()
    resource_version: str = ""
    continue_token: str = ""
    remaining_item_count: int | None = None
    items_keep_kind: bool = False


@dataclass(slots=True)
class Response:
    """What a verb says: a tree, the JSON bytes of one object, which are sent as they are, or a list.

    With a Content-Type among the headers the body is bytes, and not for `representations` to touch.
    """

    body: JSONObject | bytes | ListResponse = field(repr=False)
    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
