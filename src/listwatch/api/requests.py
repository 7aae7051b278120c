"""What is asked of an API server, as a value: which method, where, with which words and which body.

`client/rest/request.py` builds one step by step; `responses.py` has what comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from listwatch.errors import RequestError
from listwatch.meta import path_segment, split_api_version

__all__ = [
    "PATCH_TYPES",
    "HTTPRequest",
    "api_path",
    "encode_query",
    "go_duration",
    "join_path",
    "parameter_texts",
    "sendable",
    "split_uri",
]

PATCH_TYPES: Mapping[str, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""What kinds of patch there are, and the content types that say so."""

_SAFE_IN_PATHS = ":@!$&'()*+,;=~"
_NANOSECONDS = 10**9
_SMALL_UNITS = (("ms", 10**6), ("µs", 10**3), ("ns", 1))


class HTTPRequest(msgspec.Struct, frozen=True, gc=False):
    """One request, as often as it may have to be sent."""

    method: str
    target: str
    """Path and query, percent-encoded, without what the server's own URL puts before every path."""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes | None = None

    def describe(self) -> str:
        """Method and path, for messages."""
        return f"{self.method} {self.target.partition('?')[0] or '/'}"


def api_path(group_version: str) -> str:
    """Where a group-version is served: `apps/v1` at `/apis/apps/v1`, `v1` at `/api/v1`."""
    group, version = (path_segment(part, "group-version") if part else "" for part in split_api_version(group_version))
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def join_path(*segments: str) -> str:
    """The segments one below the other, percent-encoded; each may itself have slashes in it."""
    if not all(isinstance(segment, str) for segment in segments):
        raise RequestError(f"a path is text, not {', '.join(map(repr, segments))}")
    parts = [part for segment in segments for part in segment.split("/") if part]
    for part in parts:
        if part in (".", ".."):
            raise RequestError(f"{'/'.join(segments)!r} cannot be a path: it may not contain '.' or '..'")
    return "".join(f"/{quote(sendable(part), safe=_SAFE_IN_PATHS)}" for part in parts)


def split_uri(uri: str) -> tuple[str, list[tuple[str, str]]]:
    """The path, not yet encoded, and the parameters of a URI below the server's own."""
    parts = urlsplit(uri)
    return unquote(parts.path), parse_qsl(parts.query, keep_blank_values=True)


def parameter_texts(value: Any) -> list[str]:
    """A parameter's value as the query holds it; None is no value, and several values are several parameters."""
    match value:
        case None:
            return []
        case bool():
            return ["true" if value else "false"]
        case str() | int():
            return [sendable(str(value))]
        case list() | tuple():
            return [text for each in value for text in parameter_texts(each)]
        case _:
            raise RequestError(f"a {type(value).__name__} cannot be the value of a parameter")


def sendable(text: str) -> str:
    """The same text; RequestError if it has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(f"{text!r} cannot be sent: it contains a lone surrogate") from None
    return text


def encode_query(parameters: Iterable[tuple[str, str]]) -> str:
    """What follows the question mark."""
    return "&".join([f"{quote(name, safe='')}={quote(text, safe=':,')}" for name, text in parameters])


def go_duration(seconds: float) -> str:
    """A length of time as the API's own language writes it: 5m30s, 1.5s, 250ms."""
    nanoseconds = round(seconds * _NANOSECONDS)
    if nanoseconds == 0:
        return "0s"
    if nanoseconds < _NANOSECONDS:
        unit, size = next(each for each in _SMALL_UNITS if nanoseconds >= each[1])
        return f"{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * _NANOSECONDS)
    hours, minutes = divmod(minutes, 60)
    whole = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{whole}{_decimal(rest, _NANOSECONDS)}s"


def _decimal(count: int, unit: int) -> str:
    whole, rest = divmod(count, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
