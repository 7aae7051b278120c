"""A transport that tampers with the responses of a server, for faults that the embedded server does not have.

Frames are cut at any byte with a clean end, odd objects are inserted, continue tokens repeat or expire, lists are
paged although no limit was requested, `sendInitialEvents` is ignored, versions are missing, and `Retry-After` is long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from urllib.parse import parse_qs, quote, urlsplit

import msgspec

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.rest.sender import ResponseStream, Transport
from soak.odd_objects import odd_object

__all__ = ["Tampering", "TamperingTransport"]

_VERSION = re.compile(rb'"resourceVersion":"\d+"')
_CONTINUE = re.compile(rb'"continue":"[^"]*"')
_LIST = re.compile(r"/configmaps(\?|$)")
_REVISION = 1


@dataclass
class Tampering:
    """The probability of each fault per request or read."""

    cut_frame: float = 0.0
    odd_items: float = 0.0
    no_version: float = 0.0
    repeated_token: float = 0.0
    expired_page: float = 0.0
    unrequested_pages: float = 0.0
    ignored_initial_events: float = 0.0
    long_retry_after: float = 0.0

    @classmethod
    def random(cls, rng: Random) -> Tampering:
        return cls(**{name: rng.choice([0.0, 0.0, 0.02, 0.2]) for name in cls.__dataclass_fields__})


class TamperingTransport:
    """Sends requests with another transport, and changes the requests and responses of lists and watches."""

    def __init__(self, transport: Transport, rng: Random, *, names: Sequence[str], namespaces: Sequence[str]) -> None:
        self._transport = transport
        self._rng = rng
        self._names = names
        self._namespaces = namespaces
        self.faults = Tampering()

    def happens(self, probability: float) -> bool:
        return probability > 0 and self._rng.random() < probability

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """Send a request; tamper with lists."""
        if request.method != "GET" or not _LIST.search(request.target):
            return await self._transport.send(request, timeout=timeout)
        if self.happens(self.faults.long_retry_after):
            return _too_many_requests()
        query = parse_qs(urlsplit(request.target).query)
        token = query.get("continue", [""])[0]
        if token and self.happens(self.faults.expired_page):
            return HTTPResponse(410, {"Content-Type": "application/json"}, b"the continue token is too old")
        if "limit" not in query and not token and self.happens(self.faults.unrequested_pages):
            request = _with_parameter(request, "limit", "20")
        response = await self._transport.send(request, timeout=timeout)
        return self._tamper_with_list(response, token) if response.status == 200 else response

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> ResponseStream | HTTPResponse:
        """Open a stream; tamper with watches."""
        if self.happens(self.faults.long_retry_after):
            return _too_many_requests()
        if "sendInitialEvents=true" in request.target and self.happens(self.faults.ignored_initial_events):
            target = re.sub(r"&?(sendInitialEvents|resourceVersionMatch)=\w+", "", request.target)
            request = HTTPRequest(request.method, target, request.headers, request.body)
        stream = await self._transport.open_stream(request, timeout=timeout)
        return stream if isinstance(stream, HTTPResponse) else _TamperedStream(stream, self)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    def odd_object(self) -> bytes:
        """Return a random object that must not harm the others."""
        namespace = self._rng.choice(self._namespaces)
        return odd_object(self._rng, names=self._names, namespace=namespace, revision=_REVISION)

    def cut(self, piece: bytes) -> bytes:
        """Return the start of a piece."""
        return piece[: self._rng.randrange(len(piece))]

    def _tamper_with_list(self, response: HTTPResponse, token: str) -> HTTPResponse:
        body = response.body
        head, items, rest = body.partition(b'"items":[')
        if token and self.happens(self.faults.repeated_token):
            head = _CONTINUE.sub(b'"continue":%s' % msgspec.json.encode(token), head)
        if self.happens(self.faults.no_version):
            head = _VERSION.sub(b'"resourceVersion":""', head)
        if items and self.happens(self.faults.odd_items):
            rest = self.odd_object() + (b"" if rest.startswith(b"]") else b",\n") + rest
        return HTTPResponse(response.status, response.headers, head + items + rest, response.warnings)


class _TamperedStream:
    """A watch that is cut with a clean end, has odd events, or bookmarks without a version."""

    def __init__(self, stream: ResponseStream, transport: TamperingTransport) -> None:
        self._stream = stream
        self._transport = transport
        self._is_cut = False
        self._is_between_frames = True
        self.status = stream.status
        self.headers: Mapping[str, str] = stream.headers
        self.warnings = stream.warnings

    @property
    def is_closed(self) -> bool:
        return self._stream.is_closed

    async def read(self) -> bytes:
        if self._is_cut:
            self._stream.close()
            return b""
        piece, transport = await self._stream.read(), self._transport
        faults = transport.faults
        if piece.startswith(b'{"type":"BOOKMARK"') and transport.happens(faults.no_version):
            piece = _VERSION.sub(b'"resourceVersion":""', piece, count=1)
        if piece and self._is_between_frames and transport.happens(faults.odd_items):
            piece = b'{"type":"MODIFIED","object":%s}\n' % transport.odd_object() + piece
        if len(piece) > 1 and transport.happens(faults.cut_frame):
            self._is_cut = True
            piece = transport.cut(piece)
            if not piece:
                self._stream.close()
        self._is_between_frames = piece.endswith(b"\n")
        return piece

    def set_idle_timeout(self, seconds: float) -> None:
        self._stream.set_idle_timeout(seconds)

    def close(self) -> None:
        self._stream.close()


def _with_parameter(request: HTTPRequest, name: str, value: str) -> HTTPRequest:
    separator = "&" if "?" in request.target else "?"
    return HTTPRequest(
        request.method, f"{request.target}{separator}{name}={quote(value)}", request.headers, request.body
    )


def _too_many_requests() -> HTTPResponse:
    return HTTPResponse(429, {"Retry-After": "86400", "Content-Type": "text/plain"}, b"too many requests")
