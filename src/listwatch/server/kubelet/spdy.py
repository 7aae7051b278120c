"""SPDY/3.1, as far as port-forward needs it: kubectl sends its frames inside WebSocket messages.

`SPDYConnection` is the server's side without I/O: `receive` returns the events in the client's frames, the other
methods return frames to send. There is no flow control: Kubernetes does not use it either.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["DataReceived", "GoAway", "Ping", "SPDYConnection", "SPDYError", "StreamOpened", "StreamReset"]

_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _HEADERS, _WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
_KNOWN = frozenset({_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _HEADERS, _WINDOW_UPDATE})
_CONTROL, _VERSION = 0x8000, 3
_FIN = 1
_STREAM_ID = 0x7FFFFFFF
_FRAME_HEADER = 8

_MAX_CONTROL = 64 * 1024
_MAX_HEADERS = 64 * 1024
REFUSED_STREAM = 3

# The dictionary that the protocol prescribes: names with their lengths, then a text.
_NAMES = """
    options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
    authorization cache-control connection content-base content-encoding content-language content-length
    content-location content-md5 content-range content-type date etag expect expires from host if-match
    if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma
    proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade
    user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie
    keep-alive origin
"""
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _dictionary() -> bytes:
    names = (name.replace("_", " ").encode() for name in _NAMES.split())
    return b"".join(len(name).to_bytes(4) + name for name in names) + _TEXT.encode()


class SPDYError(Exception):
    """The client violated the protocol; the connection has to be closed."""


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """The client has opened a stream; `is_last` if it sends nothing on it."""

    stream: int
    headers: dict[str, str]
    is_last: bool


@dataclass(frozen=True, slots=True)
class DataReceived:
    """Data on a stream, possibly a part of a frame; `is_last` if the client sends no more."""

    stream: int
    data: bytes
    is_last: bool


@dataclass(frozen=True, slots=True)
class StreamReset:
    """The client has given up a stream."""

    stream: int


@dataclass(frozen=True, slots=True)
class Ping:
    """A ping; the response is `SPDYConnection.pong`."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """The client opens no more streams."""


Event = StreamOpened | DataReceived | StreamReset | Ping | GoAway


class SPDYConnection:
    """The server's side of one connection."""

    def __init__(self) -> None:
        dictionary = _dictionary()
        self._inflater = zlib.decompressobj(zdict=dictionary)
        self._deflater = zlib.compressobj(zdict=dictionary)
        self._received = bytearray()
        self._data_stream = 0
        self._data_left = 0  # of a data frame that has not arrived completely
        self._data_is_last = False

    # --- Received frames

    def receive(self, data: bytes) -> Iterator[Event]:
        """Yield what these bytes complete; raises SPDYError."""
        self._received += data
        while True:
            if self._data_left and self._received:
                yield self._take_data()
            elif not self._data_left and self._has_frame():
                if event := self._take_frame():
                    yield event
            else:
                return

    def _take_data(self) -> DataReceived:
        piece = bytes(self._received[: self._data_left])
        del self._received[: len(piece)]
        self._data_left -= len(piece)
        return DataReceived(self._data_stream, piece, self._data_is_last and not self._data_left)

    def _has_frame(self) -> bool:
        """Whether a control frame has arrived completely, or the header of a data frame."""
        if len(self._received) < _FRAME_HEADER:
            return False
        first, size = int.from_bytes(self._received[:4]), int.from_bytes(self._received[5:_FRAME_HEADER])
        if not first >> 16 & _CONTROL:
            return True
        if first >> 16 & ~_CONTROL != _VERSION or first & 0xFFFF not in _KNOWN or size > _MAX_CONTROL:
            raise SPDYError("invalid control frame")
        return len(self._received) >= _FRAME_HEADER + size

    def _take_frame(self) -> Event | None:
        first, flags = int.from_bytes(self._received[:4]), self._received[4]
        size = int.from_bytes(self._received[5:_FRAME_HEADER])
        if not first >> 16 & _CONTROL:
            del self._received[:_FRAME_HEADER]
            self._data_stream, self._data_left = _checked_stream(first), size
            self._data_is_last = bool(flags & _FIN)
            return None if size else DataReceived(self._data_stream, b"", self._data_is_last)
        payload = bytes(self._received[_FRAME_HEADER : _FRAME_HEADER + size])
        del self._received[: _FRAME_HEADER + size]
        return self._control_event(first & 0xFFFF, flags, payload)

    def _control_event(self, kind: int, flags: int, payload: bytes) -> Event | None:
        if kind == _SYN_STREAM and len(payload) >= 10:
            headers = self._read_headers(payload[10:])
            return StreamOpened(_checked_stream(int.from_bytes(payload[:4])), headers, bool(flags & _FIN))
        if kind == _RST_STREAM and len(payload) == 8:
            return StreamReset(_checked_stream(int.from_bytes(payload[:4])))
        if kind == _PING and len(payload) == 4:
            return Ping(int.from_bytes(payload))
        if kind == _GOAWAY:
            return GoAway()
        if kind in (_SYN_REPLY, _HEADERS) and len(payload) >= 4:
            self._read_headers(payload[4:])  # the next headers depend on them
            return None
        if kind in (_SETTINGS, _WINDOW_UPDATE):
            return None
        raise SPDYError("invalid control frame")

    def _read_headers(self, block: bytes) -> dict[str, str]:
        try:
            text = self._inflater.decompress(block, _MAX_HEADERS)
        except zlib.error as error:
            raise SPDYError("invalid headers") from error
        if self._inflater.unconsumed_tail:
            raise SPDYError("the headers are too large")
        fields = _Fields(text)
        return {fields.text().lower(): fields.text() for _ in range(fields.number())}

    # --- Frames to send

    def reply(self, stream: int) -> bytes:
        """Accept a stream."""
        block = self._deflater.compress((0).to_bytes(4)) + self._deflater.flush(zlib.Z_SYNC_FLUSH)
        return _control(_SYN_REPLY, stream.to_bytes(4) + block)

    def data(self, stream: int, data: bytes, *, is_last: bool = False) -> bytes:
        return stream.to_bytes(4) + bytes((is_last,)) + len(data).to_bytes(3) + data

    def reset(self, stream: int, status: int) -> bytes:
        return _control(_RST_STREAM, stream.to_bytes(4) + status.to_bytes(4))

    def pong(self, number: int) -> bytes:
        return _control(_PING, number.to_bytes(4))


class _Fields:
    """Reads numbers and texts of a header block."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0

    def number(self) -> int:
        return int.from_bytes(self._take(4))

    def text(self) -> str:
        return self._take(self.number()).decode("utf-8", "replace")

    def _take(self, size: int) -> bytes:
        found = self._text[self._at : self._at + size]
        if len(found) != size:
            raise SPDYError("truncated headers")
        self._at += size
        return found


def _checked_stream(number: int) -> int:
    if not number & _STREAM_ID:
        raise SPDYError("stream zero is not allowed")
    return number & _STREAM_ID


def _control(kind: int, payload: bytes) -> bytes:
    return (_CONTROL | _VERSION).to_bytes(2) + kind.to_bytes(2) + b"\0" + len(payload).to_bytes(3) + payload
