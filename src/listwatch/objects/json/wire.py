"""Splits watch streams into events without decoding their objects, and checks documents.

`list_splitter.py` splits lists. `object.py` makes objects from the pieces, `api/watch_events.py` makes events.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import NamedTuple

import msgspec

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.objects.json.json_scan import IncompleteJSONError, members_of
from listwatch.objects.json.reading import DECODE_FAILURES, reason_of

__all__ = [
    "DECODE_FAILURES",
    "LineSplitter",
    "WireEvent",
    "check_document",
    "compact",
    "nesting_of",
    "parse_event",
    "scan_event",
]


class WireEvent(NamedTuple):
    """One watch event: its type, and the bytes of its object."""

    type: str
    object: bytes

    def __repr__(self) -> str:
        # Without the object, which may be a Secret: error trackers record local variables.
        return f"<WireEvent {self.type}, {len(self.object)} bytes>"


class _Frame(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


_frames = msgspec.json.Decoder(_Frame)
_documents = msgspec.json.Decoder(msgspec.Raw)

_SPACE = re.compile(rb"[ \t\r\n]*+")
# The group is a string, in which brackets do not count.
_BRACKET = re.compile(rb'("(?:[^"\\]++|\\.)*+"?)|[{}\[\]]')


# --- watches -----------------------------------------------------------------------------------------------------


def parse_event(line: bytes) -> WireEvent:
    """Split a line that is exactly one event by decoding all of it."""
    try:
        frame = _frames.decode(line)
    except DECODE_FAILURES as error:
        raise _no_event(reason_of(error, line), line) from None
    return WireEvent(frame.type, bytes(frame.object))


def scan_event(line: bytes, start: int = 0) -> tuple[WireEvent, int]:
    """The event that starts here, and the position after it; for lines that `parse_event` rejects.

    The object may be nested to any depth and contain invalid strings; it may be followed by other events. Raises
    IncompleteJSONError if the line ends within the event, and DecodeError if this is no event.
    """
    parts: dict[str, bytes] = {}
    end = start
    try:
        for name, value, end in members_of(line, start):
            parts[name] = line[value:end]
        kind = msgspec.json.decode(parts["type"], type=str)
        event = WireEvent(kind, parts["object"])
    except IncompleteJSONError:
        raise
    except KeyError as error:
        raise _no_event(f"object missing required field {error.args[0]}", line) from None
    except (DecodeError, *DECODE_FAILURES) as error:
        raise _no_event(error.message if isinstance(error, DecodeError) else reason_of(error), line) from None
    after = _SPACE.match(line, line.index(b"}", end) + 1)
    assert after is not None
    return event, after.end()


def nesting_of(line: bytes) -> int:
    """How many more brackets a line of a frame opens than it closes. No string spans two lines."""
    depth = 0
    for token in _BRACKET.finditer(line):
        if token[1] is None:
            depth += 1 if token[0] in b"[{" else -1
    return depth


def _no_event(reason: str, line: bytes) -> DecodeError:
    # The line is not shown: it may contain secrets.
    return DecodeError(f"{reason}, in a line of {len(line)} bytes", object_name="a watch event")


class LineSplitter:
    """Takes chunks that may be cut anywhere and returns complete, non-blank lines without line ends.

    A line may have `max_size` bytes.
    """

    __slots__ = ("_pending", "max_size")

    def __init__(self, *, max_size: int = 16 * 2**20) -> None:
        self.max_size = max_size
        self._pending = bytearray()  # the unfinished line; in one object, because it may arrive byte by byte

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk; ResponseTooLargeError if one is too large, even an unfinished one."""
        *complete, rest = chunk.split(b"\n")
        if complete:
            complete[0] = bytes(self._pending + complete[0])
            self._pending.clear()
        self._pending += rest
        if max(map(len, complete), default=0) > self.max_size or len(self._pending) > self.max_size:
            raise ResponseTooLargeError.of("a line", self.max_size, "max_event_size")
        return [each.removesuffix(b"\r") for each in complete if each and not each.isspace()]

    def finish(self) -> bytes:
        """The bytes after the last line feed; a stream may end without one, or in the middle of an event."""
        line = bytes(self._pending)
        self._pending.clear()
        return b"" if line.isspace() else line.removesuffix(b"\r")


# --- documents ---------------------------------------------------------------------------------------------------


def compact(text: bytes | str, what: str) -> bytes:
    """The bytes of a document on one line, so that it can be a line of a stream."""
    try:
        raw = text.encode() if isinstance(text, str) else bytes(memoryview(text))
        return msgspec.json.format(raw, indent=-1) if b"\n" in raw else raw
    except UnicodeEncodeError:
        raise DecodeError("a string in it contains a lone surrogate", object_name=what) from None
    except DECODE_FAILURES as error:
        raise DecodeError(reason_of(error), object_name=what) from None


def check_document(document: bytes, what: str) -> None:
    """Raise DecodeError for a document that is not valid JSON, or has a duplicate key: one value would be lost."""
    try:
        _documents.decode(document)
    except DECODE_FAILURES as error:
        raise DecodeError(reason_of(error, document), object_name=what) from None

    def check(pairs: list[tuple[str, object]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise DecodeError(f"duplicate key {twice!r}", object_name=what)

    try:
        if not _has_unique_keys(document):
            json.loads(document, object_pairs_hook=check, parse_int=str, parse_float=str)
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name=what) from None
    except ValueError:
        pass  # An invalid string; it raises on access.


def _has_unique_keys(document: bytes) -> bool:
    # A fast check that is enough for nearly every document: a lost key reduces the number of colons. Spaces before a
    # colon, and escaped quotes and colons, change the count as well, and lead to the slow check.
    try:
        again = msgspec.json.encode(msgspec.json.decode(document))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return again.count(b'":') == document.count(b'":') and b"\\u00" not in document
