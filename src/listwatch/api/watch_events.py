"""Watch events as values, and the decoder that splits the body of a watch response into events.

async for event in client.core_v1.pods().watch():
    match event:
        case AddedEvent(pod) | ModifiedEvent(pod): ...
        case DeletedEvent(pod): ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import APIError, DecodeError, ResponseTooLargeError
from listwatch.keyed import Cached
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.json.byte_search import contains
from listwatch.objects.json.json_scan import IncompleteJSONError
from listwatch.objects.json.reading import LONE_SURROGATE, reason_of
from listwatch.objects.json.wire import DECODE_FAILURES, WireEvent, nesting_of, parse_event, scan_event
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = [
    "DEFAULT_MAX_EVENT_SIZE",
    "EVENT_CLASSES",
    "AddedEvent",
    "BatchedEvent",
    "BookmarkEvent",
    "DeletedEvent",
    "ErrorEvent",
    "EventReader",
    "ModifiedEvent",
    "ReceivedEvent",
    "UnchangedEvents",
    "UndecodableEvent",
    "WatchEvent",
    "read_events",
]

T = TypeVar("T")  # of objects with a key and a version
K = TypeVar("K", bound=Object)

DEFAULT_MAX_EVENT_SIZE = 16 * 2**20
"""Bytes; the limit of client-go. An object in etcd has at most 1.5 MB, which JSON can write in about six times that."""

_SEARCHED = 4096
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class AddedEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was created, or now matches the selectors of the watch."""

    type: ClassVar[Literal["ADDED"]] = "ADDED"

    object: T


class ModifiedEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was changed."""

    type: ClassVar[Literal["MODIFIED"]] = "MODIFIED"

    object: T


class DeletedEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """The object was deleted, or no longer matches the selectors of the watch. `object` is its last state."""

    type: ClassVar[Literal["DELETED"]] = "DELETED"

    object: T


class BookmarkEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """All changes up to a resourceVersion were sent. `object` holds only the kind and that resourceVersion."""

    type: ClassVar[Literal["BOOKMARK"]] = "BOOKMARK"

    object: T

    @classmethod
    def at(cls, resource_version: str, *, ends_initial_events: bool = False) -> BookmarkEvent[Any]:
        """Return a bookmark of a source whose objects are not API objects."""
        return BookmarkEvent(_Progress(resource_version, ends_initial_events))

    @property
    def resource_version(self) -> str:
        return cast("Cached", self.object).resource_version

    @property
    def ends_initial_events(self) -> bool:
        """True for the bookmark that follows the initial events of a WatchList stream."""
        if isinstance(self.object, Object):
            return self.object.metadata.annotations.get(_INITIAL_EVENTS_END) == "true"
        return isinstance(self.object, _Progress) and self.object.ends_initial_events


class _Progress(msgspec.Struct, frozen=True, gc=False):
    """The object of a bookmark that has only a version."""

    resource_version: str
    ends_initial_events: bool = False
    cache_key: ClassVar[str] = ""


class ErrorEvent(msgspec.Struct, frozen=True, gc=False):
    """The server ends the watch because of an error. `object` is the Status."""

    type: ClassVar[Literal["ERROR"]] = "ERROR"

    object: Unstructured

    @property
    def error(self) -> APIError:
        """The Status as an exception."""
        return error_from_status(self.object.to_dict(), doing="watch")


class UndecodableEvent(msgspec.Struct, frozen=True, gc=False):
    """A change of an object whose metadata cannot be decoded. The change is lost; the watch continues."""

    type: ClassVar[Literal["UNDECODABLE"]] = "UNDECODABLE"

    error: DecodeError


class UnchangedEvents(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """Consecutive ADDED events of objects that are cached in the same version. Only for informers."""

    type: ClassVar[Literal["UNCHANGED"]] = "UNCHANGED"

    objects: Mapping[str, T]
    """The cached objects by key, in the form in which they are stored."""


WatchEvent = AddedEvent[T] | ModifiedEvent[T] | DeletedEvent[T] | BookmarkEvent[T]
"""An event of a watch. `type` is its type as on the wire, `object` is the API object."""

ReceivedEvent = WatchEvent[T] | ErrorEvent | UndecodableEvent
"""What a stream contains. Only its batches have ERROR and undecodable events; iterating raises and skips them."""

BatchedEvent = ReceivedEvent[T] | UnchangedEvents[T]
"""An element of a batch of a stream that recognizes cached objects."""

EVENT_CLASSES: dict[str, Any] = {each.type: each for each in (AddedEvent, ModifiedEvent, DeletedEvent, BookmarkEvent)}
"""The classes of events with an object, by their types."""

# The first bytes of a frame of each type, the offset of the object in it, and the class of the event. Splitting frames
# by these prefixes saves a pass over each object and a copy of it.
_FRAMES: list[tuple[bytes, int, Any]] = [
    (start := b'{"type":"%s","object":{' % each.type.encode(), len(start) - 1, each)
    for each in (ModifiedEvent, AddedEvent, DeletedEvent, BookmarkEvent)
]
_ADDED = b'{"type":"ADDED","object":'
_NO_FRAME = (b"\n", 0, None)  # matches only an empty line, which holds no event
_FRAME_START = b'{"type":'

# Found where a second event begins on a line. Quotes are escaped in strings, so none of them contains it. If the second
# event begins with its object, it ends with its type, so that the line does not end with the brackets of an object.
_SECOND_EVENT = b'}{"type":"'
# The same after a space, or with another first member. No server is known to write that, and this search takes twice
# as long, so only some of the network reads are searched: the first ones of a stream, and one of many later ones.
_OTHER_SECOND_EVENT = re.compile(rb'\}[ \t\r]*+\{"\w')
_FIRST_SAMPLES = 2
_SAMPLE_INTERVAL = 64
_MAX_ON_LINE = 1000
# All frames of a smaller network read are decoded completely. The time for that is short in relation to the read.
_SMALL = 1 << 14

_whole = msgspec.json.Decoder(msgspec.Raw)


class EventReader(Generic[K]):
    """Decodes the events of a stream that arrives in pieces of any size. An event may have `max_size` bytes.

    A frame is one line that is exactly one event. Frames of small pieces are decoded completely. In large pieces, which
    come at high rates, only the heads of large objects are: there, a frame must start and end like an event, without
    the start of another one in between. Errors in the rest are raised when that is accessed. Frames in other formats
    are accepted, also those that span lines, and several on one line.

    Initial events of cached objects are recognized without decoding them, up to a bookmark.
    """

    __slots__ = ("_checks_all", "_depth", "_kind", "_pending", "_pieces", "_read", "_unfinished", "_walk", "max_size")

    def __init__(
        self, kind: type[K], *, max_size: int = DEFAULT_MAX_EVENT_SIZE, known: KnownObjects[K] | None = None
    ) -> None:
        self._kind = kind
        self._read = known.reader(kind, kind.from_wire) if known else kind.from_wire
        self._walk: Callable[[bytes, int, int, dict[str, K]], int] | None = (
            known.frame_walker(kind, _ADDED) if known else None
        )
        self.max_size = max_size
        self._pending = bytearray()  # the incomplete line; in one object, because it may arrive byte by byte
        # The first lines of a frame that spans lines, and the number of brackets that they leave open.
        self._unfinished = bytearray()
        self._depth = 0
        # True if this server writes frames that only a complete check finds to be unusual.
        self._checks_all = False
        self._pieces = 0

    def feed(self, piece: bytes) -> Iterator[BatchedEvent[K]]:
        """Return the events that this piece completes.

        Raises DecodeError at a line that is not an event, and ResponseTooLargeError at one that is too large, even if
        it is incomplete.
        """
        first = piece.find(b"\n") + 1
        if len(self._unfinished) + len(self._pending) + (first or len(piece)) > self.max_size:
            raise self._too_large()
        if not first:
            self._pending += piece
            return iter(())
        start, stop = 0, piece.rfind(b"\n") + 1
        self._pieces += 1
        if self._walk is not None and len(piece) <= self.max_size:
            return self._known_and_others(piece, first, stop)
        is_checked = self._is_checked(piece, len(piece))
        # Not a generator: each event would pass through one more.
        parts: list[Iterator[ReceivedEvent[K]]] = []
        if self._pending:
            start = first
            self._pending += piece[:start]
            line = bytes(self._pending)
            self._pending.clear()
            parts.append(self._events_in(line, 0, len(line), is_checked=is_checked or _has_second_event(line)))
        if len(piece) > self.max_size:
            parts.append(self._events_up_to_too_large(piece, start))
        if stop < len(piece):
            self._pending += piece[stop:]
        parts.append(self._events_in(piece, start, stop, is_checked=is_checked))
        return chain.from_iterable(parts)

    def _known_and_others(self, piece: bytes, first: int, stop: int) -> Iterator[BatchedEvent[K]]:
        """Yield the events that a piece completes; those of known objects together."""
        parts = [(piece, 0, stop)]
        if self._pending:
            line = bytes(self._pending + piece[:first])
            parts = [(line, 0, len(line)), (piece, first, stop)]
        self._pending[:] = piece[stop:]
        for text, start, end in parts:
            while start < end:
                if self._walk is not None and not self._unfinished:
                    found: dict[str, K] = {}
                    start = self._walk(text, start, end, found)
                    if found:
                        yield UnchangedEvents(found)
                    behind = text.find(b"\n", start, end) + 1
                else:
                    behind = end
                lines = text[start:behind]
                start = behind or end
                if not lines:
                    continue
                is_checked = self._is_checked(lines, len(piece))
                for event in self._events_in(lines, 0, len(lines), is_checked=is_checked):
                    if type(event) is BookmarkEvent:
                        self._walk = None  # the initial events are complete
                    yield event

    def _is_checked(self, piece: bytes, size: int) -> bool:
        """Return whether the frames of this part of a network read of that size are decoded completely."""
        if self._checks_all or size < _SMALL or _has_second_event(piece):
            return True
        if self._is_sampled() and _OTHER_SECOND_EVENT.search(piece):
            self._checks_all = True
            if self._pieces > _FIRST_SAMPLES:
                reason = "the server writes several events on one line, of which some may have been lost"
                raise DecodeError(reason, object_name="a watch event")
        return self._checks_all

    def _is_sampled(self) -> bool:
        return self._pieces <= _FIRST_SAMPLES or self._pieces % _SAMPLE_INTERVAL == 0

    def _events_up_to_too_large(self, piece: bytes, start: int) -> Iterator[ReceivedEvent[K]]:
        """If there is an event that is too large, yield those before it and raise its error."""
        position = start
        while position < len(piece):
            end = piece.find(b"\n", position) + 1 or len(piece)
            if end - position > self.max_size:
                yield from self._events_in(piece, start, position, is_checked=True)
                raise self._too_large()
            position = end

    def _too_large(self) -> ResponseTooLargeError:
        self._pending.clear()
        self._unfinished.clear()
        return ResponseTooLargeError.of("an event of the watch", self.max_size, "max_event_size")

    def forget_known(self) -> None:
        """From now on, decode all objects."""
        self._read, self._walk = self._kind.from_wire, None

    def finish(self) -> bytes:
        """Return the data after the last frame: an event without a line feed, or an incomplete one."""
        rest = bytes(self._unfinished + self._pending)
        self._unfinished.clear()
        self._pending.clear()
        return rest.strip()

    def _events_in(self, piece: bytes, start: int, stop: int, *, is_checked: bool) -> Iterator[ReceivedEvent[K]]:
        """Yield the events of these lines. If `is_checked`, the frames are decoded completely."""
        find, starts, ends = piece.find, piece.startswith, piece.endswith
        decode, (prefix, offset, event_class) = self._read, _FRAMES[0]
        if self._unfinished:
            yield from self._read_lines(piece[start:stop])
            return
        checked = stop if is_checked else start + self._is_sampled()
        while start < stop:
            end = find(b"\n", start)
            if not starts(prefix, start):
                # Most events have the type of the event before them, so that type is tried first.
                prefix, offset, event_class = next((each for each in _FRAMES if starts(each[0], start)), _NO_FRAME)
            if event_class and ends(b"}}", start, end):
                raw = piece[start + offset : end - 1]
                try:
                    if start < checked:
                        _check_whole(raw)
                    yield event_class(decode(raw))
                except (DecodeError, *DECODE_FAILURES):
                    pass  # the frame has members after the object, is several events, or is damaged
                else:
                    start = end + 1
                    continue
            yield from self._read_line(piece[start:end].strip())
            if self._unfinished:
                yield from self._read_lines(piece[end + 1 : stop])
                return
            checked = stop if self._checks_all else checked
            start = end + 1

    def _read_lines(self, lines: bytes) -> Iterator[ReceivedEvent[K]]:
        for line in lines.split(b"\n"):
            yield from self._read_line(line.strip())

    def _read_line(self, line: bytes) -> Iterator[ReceivedEvent[K]]:
        """Yield the events of a line in any format; keeps a line on which a frame begins but does not end."""
        if not line:
            return
        if self._unfinished:
            if line.startswith(_FRAME_START):
                self._unfinished.clear()
                raise DecodeError("a frame ends before it is complete", object_name="a watch event")
            self._unfinished += line + b"\n"
            self._depth += nesting_of(line)
            if len(self._unfinished) > self.max_size:
                raise self._too_large()
            if self._depth > 0:
                return
            line = bytes(self._unfinished).strip()
            self._unfinished.clear()
        try:
            wire = parse_event(line)
        except DecodeError:
            yield from self._scan(line)
        else:
            if line.startswith(_FRAME_START) and not line.endswith(wire.object + b"}"):
                self._checks_all = True
            yield _event(wire, self._kind)

    def _scan(self, line: bytes) -> Iterator[ReceivedEvent[K]]:
        start = found = 0
        while start < len(line):
            found = _counted(found)
            try:
                wire, start = scan_event(line, start)
            except IncompleteJSONError:
                self._depth = nesting_of(line[start:])
                self._unfinished += line[start:] + b"\n"
                return
            yield _event(wire, self._kind)


def _check_whole(raw: bytes) -> None:
    """Raise one of DECODE_FAILURES if this is not exactly one object.

    An object that is only too deep for msgspec, or has a lone surrogate, is not scanned to its end, which takes long.
    """
    try:
        _whole.decode(raw)
    except DECODE_FAILURES as error:
        is_odd = isinstance(error, RecursionError) or reason_of(error, raw) == LONE_SURROGATE
        if not is_odd or _OTHER_SECOND_EVENT.search(raw):
            raise


def _has_second_event(lines: bytes) -> bool:
    return contains(lines, _SECOND_EVENT)


def read_events(text: bytes, kind: type[K]) -> Iterator[ReceivedEvent[K]]:
    """Yield all events of a text, usually a single one. Raises DecodeError if it is not a sequence of whole events."""
    try:
        wire = parse_event(text)
    except DecodeError:
        start = found = 0
        while start < len(text):
            found = _counted(found)
            wire, start = scan_event(text, start)
            yield _event(wire, kind)
    else:
        yield _event(wire, kind)


def _counted(found: int) -> int:
    # Scanning takes longer than decoding, and a line is read without a pause.
    if found == _MAX_ON_LINE:
        raise DecodeError(f"more than {_MAX_ON_LINE} events are on one line", object_name="a watch event")
    return found + 1


def _event(wire: WireEvent, kind: type[K]) -> ReceivedEvent[K]:
    if event_class := EVENT_CLASSES.get(wire.type):
        try:
            event: WatchEvent[K] = event_class(kind.from_wire(_on_one_line(wire.object)))
        except DecodeError as error:
            name = f"{kind.__name__} {named}" if (named := _name_in(wire.object)) else error.object_name
            reason = f"the object of the {wire.type} event cannot be decoded: {error.message}"
            return UndecodableEvent(DecodeError(reason, object_name=name, field=error.field))
        return event
    if wire.type == "ERROR":
        return ErrorEvent(_status(wire.object))
    raise DecodeError(f"{wire.type!r} is not an event type", object_name="a watch event")


def _on_one_line(raw: bytes) -> bytes:
    try:
        return msgspec.json.format(raw, indent=-1) if b"\n" in raw else raw
    except DECODE_FAILURES:
        return raw


_NAMES = re.compile(rb'"(name|namespace)"\s*:\s*"([a-z0-9.:-]{1,253})"')


def _name_in(raw: bytes) -> str:
    """The name of an object whose head cannot be decoded; empty if it is not found. For messages only."""
    names: dict[bytes, bytes] = {}
    for name, value in _NAMES.findall(raw[:_SEARCHED]):
        names.setdefault(name, value)
    return (
        "/".join(names[each].decode() for each in (b"namespace", b"name") if each in names) if b"name" in names else ""
    )


def _status(raw: bytes) -> Unstructured:
    try:
        msgspec.json.decode(raw)
    except DECODE_FAILURES:
        raise DecodeError("the Status of an ERROR event is not JSON", object_name="a watch event") from None
    return Unstructured.from_wire(raw)
