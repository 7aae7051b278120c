"""Cuts a list or a watch stream into objects, without decoding them.

`object.py` makes objects of the pieces, `api/watch_events.py` events.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.metadata import ListMeta
from listwatch.objects.reading import convert
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = [
    "UNREADABLE",
    "LineSplitter",
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
_frames = msgspec.json.Decoder(_Frame)

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
    """Takes chunks that may be cut anywhere, gives the lines that are complete and not blank."""

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
        return [line for each in complete if (line := each.strip())]

    def finish(self) -> bytes:
        """What came after the last line feed: a stream may end without one, or in the middle of an event."""
        line = b"".join(self._pending)
        self._pending.clear()
        return line.strip()


# --- documents ---------------------------------------------------------------------------------------------------


def compact(text: bytes | str, what: str) -> bytes:
    """The bytes of a document, in one line, so that they can be a line of a stream; else as they are."""
    try:
        raw = text.encode() if isinstance(text, str) else bytes(memoryview(text))
        return msgspec.json.format(raw, indent=-1) if b"\n" in raw else raw
    except UnicodeEncodeError:
        raise DecodeError("a text in it has half of a surrogate pair", object_name=what) from None
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
