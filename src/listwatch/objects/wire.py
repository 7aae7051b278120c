"""Cuts a list or a watch stream into objects, without decoding them.

`object.py` makes objects of the pieces, `api/watch_events.py` events.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.metadata import ListMeta
from listwatch.objects.reading import convert
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = [
    "LONG",
    "UNREADABLE",
    "LineSplitter",
    "ListCutter",
    "WireEvent",
    "WireList",
    "compact",
    "cut_event",
    "parse_event",
    "refuse_repeated_keys",
    "split_list",
]


class WireList(msgspec.Struct, rename="camel", gc=False):
    """A list as it came: its own metadata, and each object as a view of the bytes."""

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

LONG = 1 << 20
"""How many bytes are too many to be joined or cut in one go."""

# Where servers write the objects of a list, and how long a group of them is.
_ITEMS = b'"items":['
_SEARCHED = 4096
_GROUP = 1 << 18
_TRIES = 32

# Servers write frames exactly so. Cutting by these saves a pass over each object.
_PREFIXES = {
    b'{"type":"%s","object":{' % kind.encode(): kind for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_PREFIX_LENGTHS = sorted({len(prefix) for prefix in _PREFIXES}, reverse=True)


# --- lists -------------------------------------------------------------------------------------------------------


def split_list(body: bytes | str) -> WireList:
    """Cut the answer to a list request into objects."""
    # Who prints prettily does so from the start.
    body = body if isinstance(body, bytes) and b"\n" not in body[:64] else compact(body, "a list")
    try:
        wire = _lists.decode(body)
    except UNREADABLE as error:
        wire = _split_forgiving(body, error)
    if wire.items is msgspec.UNSET:
        # An error or a single object would else pass for an empty list, and a cache would forget all it knows.
        raise DecodeError(f"expected a list, got {wire.kind or 'something'} without items", object_name="a list")
    return wire


def _split_forgiving(body: bytes, error: Exception) -> WireList:
    try:
        parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        tree = {name: part if name == "items" else msgspec.json.decode(part) for name, part in parts.items()}
        if "items" in tree:
            tree["items"] = msgspec.json.decode(tree["items"], type=list[msgspec.Raw] | None)
    except UNREADABLE:
        raise DecodeError(reason_of(error, body), object_name="a list") from None
    wire: WireList = convert(tree, WireList, what="a list")
    return wire


class ListCutter:
    """Takes a list in pieces, gives its objects in groups: all at once they would take long, where they are many.

    The list must be written as servers write lists. Any other, and a short one, comes in one group at the end.
    """

    __slots__ = ("_between", "_held", "_start", "head")

    def __init__(self) -> None:
        self._held = bytearray()
        # Where the objects begin in what is held, and what stands between two of them: unknown, or None if of no use.
        self._start = 0
        self._between: bytes | None = b""
        self.head = WireList()
        """What the list said of itself before its objects."""

    def feed(self, piece: bytes) -> Iterator[list[msgspec.Raw]]:
        """The groups that this piece completes."""
        self._held += piece
        if self._between == b"" and len(self._held) > LONG:
            self._between = self._begin()
        start = self._start
        while self._between and (found := self._next_group(start)):
            end, group = found
            yield group
            start = end + 1
        del self._held[self._start : start]

    def finish(self) -> WireList:
        """What the list says of itself, and the rest of its objects; DecodeError if it was no list."""
        return split_list(bytes(self._held))

    def _begin(self) -> bytes | None:
        held = self._held
        start = self._start = held.find(_ITEMS, 0, _SEARCHED) + len(_ITEMS)
        first = bytes(held[start : held.find(b":", start, start + _SEARCHED) + 1])
        try:
            head = self.head = _lists.decode(held[:start] + b"]}")
        except UNREADABLE:
            return None
        # Objects that do not name themselves have their kind from the list, which has to be known by then.
        is_usual = head.items == [] and first.startswith(b"{") and (head.kind or first != b'{"metadata":')
        # All objects begin alike.
        return b"}," + first if is_usual else None

    def _next_group(self, start: int) -> tuple[int, list[msgspec.Raw]] | None:
        """Where it ends, and what is in it; None if its end has not come."""
        held, end = self._held, start + _GROUP
        for _ in range(_TRIES):
            end = held.find(self._between or b"", end) + 1
            if not end:
                return None
            with suppress(*UNREADABLE):
                return end, _raws.decode(b"[" + held[start:end] + b"]")
            # Not between two, but something like it inside of one: then the piece is never whole.
        self._between = None
        return None


# --- watches -----------------------------------------------------------------------------------------------------


def cut_event(line: bytes) -> WireEvent | None:
    """Cut an event by the frame that servers write; None where the line starts or ends otherwise.

    What lies between is not looked at. If it turns out not to be one object, `parse_event` has the last word.
    """
    for length in _PREFIX_LENGTHS:
        if (kind := _PREFIXES.get(line[:length])) and line.endswith(b"}}"):
            return WireEvent(kind, line[length - 1 : -1])
    return None


def parse_event(line: bytes) -> WireEvent:
    """Cut an event by reading its whole line."""
    try:
        frame = _frames.decode(line)
    except UNREADABLE as error:
        # None of the line is shown: it may hold secrets.
        reason = f"{reason_of(error, line)}, in a line of {len(line)} bytes"
        raise DecodeError(reason, object_name="a watch event") from None
    return WireEvent(frame.type, bytes(frame.object))


class LineSplitter:
    """Takes chunks that may be cut anywhere, gives the lines that are complete and not blank, without their ends."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        # Pieces of the unfinished line, joined once: a line may be many megabytes in small chunks.
        self._pending: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk."""
        *complete, rest = chunk.split(b"\n")
        if complete and self._pending:
            self._pending.append(complete[0])
            complete[0] = b"".join(self._pending)
            self._pending.clear()
        if rest:
            self._pending.append(rest)
        return [each.removesuffix(b"\r") for each in complete if each and not each.isspace()]

    def finish(self) -> bytes:
        """What came after the last line feed: a stream may end without one, or in the middle of an event."""
        line = b"".join(self._pending)
        self._pending.clear()
        return b"" if line.isspace() else line.removesuffix(b"\r")


# --- documents ---------------------------------------------------------------------------------------------------


def compact(text: bytes | str, what: str) -> bytes:
    """The bytes of a document, in one line, so that they can be a line of a stream; else as they are."""
    try:
        raw = text.encode() if isinstance(text, str) else bytes(memoryview(text))
        return msgspec.json.format(raw, indent=-1) if b"\n" in raw else raw
    except UnicodeEncodeError:
        raise DecodeError("a string in it contains a lone surrogate", object_name=what) from None
    except UNREADABLE as error:
        raise DecodeError(reason_of(error), object_name=what) from None


def refuse_repeated_keys(document: bytes, what: str) -> None:
    """Raise for a key that is given twice: a mistake of whoever wrote it, and one of the two would be lost."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise DecodeError(f"the key {twice!r} is given twice", object_name=what)

    try:
        if not _keeps_its_keys(document):
            json.loads(document, object_pairs_hook=check, parse_int=str, parse_float=str)
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name=what) from None
    except ValueError:
        pass  # A text in it cannot be read, which is said when it is touched.


def _keeps_its_keys(document: bytes) -> bool:
    # Nearly every document does, and this tells ten times faster: a key that is lost takes its colon with it. Spaces
    # before a colon, and quotes and colons written as numbers, spoil the count, so that a closer look is taken.
    try:
        again = msgspec.json.encode(msgspec.json.decode(document))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return again.count(b'":') == document.count(b'":') and b"\\u00" not in document
