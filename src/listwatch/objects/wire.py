"""Splits lists and watch streams into objects without decoding them.

`object.py` makes objects from the pieces, `api/watch_events.py` makes events.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.objects.json_scan import IncompleteJSONError, members_of
from listwatch.objects.metadata import ListMeta
from listwatch.objects.reading import DECODE_FAILURES, convert, reason_of

__all__ = [
    "DECODE_FAILURES",
    "LARGE",
    "LineSplitter",
    "ListSplitter",
    "WireEvent",
    "WireList",
    "compact",
    "nesting_of",
    "parse_event",
    "reject_duplicate_keys",
    "scan_event",
    "split_list",
]


class WireList(msgspec.Struct, rename="camel", gc=False):
    """A received list: its metadata, and each object as a view of the bytes."""

    api_version: str = ""
    kind: str = ""
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class WireEvent(NamedTuple):
    """One watch event: its type, and the bytes of its object."""

    type: str
    object: bytes


class _Frame(msgspec.Struct, gc=False):
    type: str
    object: msgspec.Raw


_lists = msgspec.json.Decoder(WireList)
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_frames = msgspec.json.Decoder(_Frame)

LARGE = 1 << 20
"""Bodies with more bytes are joined and split in slices, to keep the event loop responsive."""

# How servers start the objects of a list, and the size of a group of objects.
_ITEMS = b'"items":['
_SEARCH_LIMIT = 4096
_GROUP = 1 << 18
_TRIES = 32

_SPACE = re.compile(rb"[ \t\r\n]*+")
# The group is a string, in which brackets do not count.
_BRACKET = re.compile(rb'("(?:[^"\\]++|\\.)*+"?)|[{}\[\]]')


# --- lists -------------------------------------------------------------------------------------------------------


def split_list(body: bytes | str) -> WireList:
    """Split the response to a list request into objects."""
    # Pretty-printed responses have line feeds from the start.
    body = body if isinstance(body, bytes) and b"\n" not in body[:64] else compact(body, "a list")
    try:
        wire = _lists.decode(body)
    except DECODE_FAILURES as error:
        wire = _split_lenient(body, error)
    if wire.items is msgspec.UNSET:
        # Taking an error or a single object for an empty list would clear the cache.
        raise DecodeError(f"expected a list, got {wire.kind or 'something'} without items", object_name="a list")
    return wire


def _split_lenient(body: bytes, error: Exception) -> WireList:
    try:
        parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        tree = {name: part if name == "items" else msgspec.json.decode(part) for name, part in parts.items()}
        if "items" in tree:
            tree["items"] = msgspec.json.decode(tree["items"], type=list[msgspec.Raw] | None)
    except DECODE_FAILURES:
        raise DecodeError(reason_of(error, body), object_name="a list") from None
    wire: WireList = convert(tree, WireList, what="a list")
    return wire


class ListSplitter:
    """Takes a list in chunks and returns its objects in groups, so that a large list is split in slices.

    Lists in an unusual format, and short ones, are returned in one group at the end.
    """

    __slots__ = ("_buffer", "_separator", "_start", "head")

    def __init__(self) -> None:
        self._buffer = bytearray()
        # The position of the first object in the buffer, and the bytes between two objects: b"" while unknown, None if
        # the list cannot be split by them.
        self._start = 0
        self._separator: bytes | None = b""
        self.head = WireList()
        """The fields of the list that precede its objects."""

    def feed(self, chunk: bytes) -> Iterator[list[msgspec.Raw]]:
        """The groups that this chunk completes."""
        self._buffer += chunk
        if self._separator == b"" and len(self._buffer) > LARGE:
            self._separator = self._read_head()
        start = self._start
        while self._separator and (found := self._next_group(start)):
            end, group = found
            yield group
            start = end + 1
        del self._buffer[self._start : start]

    def finish(self) -> WireList:
        """The fields of the list and the remaining objects; DecodeError if it is not a list."""
        return split_list(bytes(self._buffer))

    def _read_head(self) -> bytes | None:
        buffer = self._buffer
        start = self._start = buffer.find(_ITEMS, 0, _SEARCH_LIMIT) + len(_ITEMS)
        first = bytes(buffer[start : buffer.find(b":", start, start + _SEARCH_LIMIT) + 1])
        try:
            head = self.head = _lists.decode(buffer[:start] + b"]}")
        except DECODE_FAILURES:
            return None
        # Objects without a kind get it from the list, so the kind of the list must precede them.
        is_usual = head.items == [] and first.startswith(b"{") and (head.kind or first != b'{"metadata":')
        # All objects start with the same key.
        return b"}," + first if is_usual else None

    def _next_group(self, start: int) -> tuple[int, list[msgspec.Raw]] | None:
        """The end of the group and its objects; None if it is not complete."""
        buffer, end = self._buffer, start + _GROUP
        for _ in range(_TRIES):
            end = buffer.find(self._separator or b"", end) + 1
            if not end:
                return None
            with suppress(*DECODE_FAILURES):
                return end, _raws.decode(b"[" + buffer[start:end] + b"]")
            # The separator was found inside an object, so the slice is not a whole number of objects.
        self._separator = None
        return None


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


def reject_duplicate_keys(document: bytes, what: str) -> None:
    """Raise DecodeError for a duplicate key: one of the two values would be lost."""

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
