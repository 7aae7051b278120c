"""Watch events as values, and the decoder that splits the body of a watch response into events.

async for event in client.core_v1.pods().watch():
    match event:
        case AddedEvent(pod) | ModifiedEvent(pod): ...
        case DeletedEvent(pod): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import APIError, DecodeError, ResponseTooLargeError
from listwatch.keyed import Cached
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.wire import DECODE_FAILURES, WireEvent, cut_event, parse_event

__all__ = [
    "DEFAULT_MAX_EVENT_SIZE",
    "AddedEvent",
    "BookmarkEvent",
    "DeletedEvent",
    "ErrorEvent",
    "EventReader",
    "ModifiedEvent",
    "WatchEvent",
    "read_event",
]

T = TypeVar("T")  # of objects with a key and a version
K = TypeVar("K", bound=Object)

DEFAULT_MAX_EVENT_SIZE = 16 * 2**20
"""Bytes; the limit of client-go. An object in etcd has at most 1.5 MB, which JSON can write in about six times that."""

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


WatchEvent = AddedEvent[T] | ModifiedEvent[T] | DeletedEvent[T] | BookmarkEvent[T]
"""An event of a watch. `type` is its type as on the wire, `object` is the API object."""

_BY_TYPE: dict[str, Any] = {each.type: each for each in (AddedEvent, ModifiedEvent, DeletedEvent, BookmarkEvent)}

# The first bytes of a frame of each type, the offset of the object in it, and the class of the event. Splitting frames
# by these prefixes saves a pass over each object and a copy of it.
_FRAMES: list[tuple[bytes, int, Any]] = [
    (start := b'{"type":"%s","object":{' % each.type.encode(), len(start) - 1, each)
    for each in (ModifiedEvent, AddedEvent, DeletedEvent, BookmarkEvent)
]
_NO_FRAME = (b"\n", 0, None)  # matches only an empty line, which holds no event


class EventReader(Generic[K]):
    """Decodes the events of a stream that arrives in pieces of any size.

    An event may have `max_size` bytes.
    """

    __slots__ = ("_kind", "_pending", "max_size")

    def __init__(self, kind: type[K], *, max_size: int = DEFAULT_MAX_EVENT_SIZE) -> None:
        self._kind = kind
        self.max_size = max_size
        self._pending = bytearray()  # the incomplete line; in one object, because it may arrive byte by byte

    def feed(self, piece: bytes) -> Iterator[WatchEvent[K] | ErrorEvent]:
        """Yield the events that this piece completes.

        Raises DecodeError at one that cannot be decoded, and ResponseTooLargeError at one that is too large, even if it
        is incomplete.
        """
        first = piece.find(b"\n") + 1
        if len(self._pending) + (first or len(piece)) > self.max_size:
            raise self._too_large()
        if not first:
            self._pending += piece
            return
        start, stop = 0, piece.rfind(b"\n") + 1
        if self._pending:
            start = first
            self._pending += piece[:start]
            line = bytes(self._pending).strip()
            self._pending.clear()
            if line:
                yield read_event(line, self._kind)
        if len(piece) > self.max_size:
            yield from self._events_up_to_too_large(piece, start)
        if stop < len(piece):
            self._pending += piece[stop:]
        yield from self._events_in(piece, start, stop)

    def _events_up_to_too_large(self, piece: bytes, start: int) -> Iterator[WatchEvent[K] | ErrorEvent]:
        """If there is an event that is too large, yield those before it and raise its error."""
        position = start
        while position < len(piece):
            end = piece.find(b"\n", position) + 1 or len(piece)
            if end - position > self.max_size:
                yield from self._events_in(piece, start, position)
                raise self._too_large()
            position = end

    def _too_large(self) -> ResponseTooLargeError:
        self._pending.clear()
        return ResponseTooLargeError.of("an event of the watch", self.max_size, "max_event_size")

    def finish(self) -> bytes:
        """Return the data after the last line feed: an event without a line feed, or an incomplete one."""
        line = bytes(self._pending)
        self._pending.clear()
        return line.strip()

    def _events_in(self, piece: bytes, start: int, stop: int) -> Iterator[WatchEvent[K] | ErrorEvent]:
        kind, find, starts = self._kind, piece.find, piece.startswith
        decode, (prefix, offset, event_class) = kind.from_wire, _FRAMES[0]
        while start < stop:
            end = find(b"\n", start)
            if not starts(prefix, start):
                # Most events have the type of the event before them, so that type is tried first.
                prefix, offset, event_class = next((each for each in _FRAMES if starts(each[0], start)), _NO_FRAME)
            if event_class and piece[end - 2 : end] == b"}}":
                try:
                    event: WatchEvent[K] | ErrorEvent = event_class(decode(piece[start + offset : end - 1]))
                except DecodeError:
                    # The frame has more fields after the object, or is invalid. Only the head of a large object is
                    # checked here; errors in the rest are raised when that is accessed.
                    event = read_event(piece[start:end], kind)
                yield event
            elif line := piece[start:end].strip():
                yield read_event(line, kind)
            start = end + 1


def read_event(line: bytes, kind: type[K]) -> WatchEvent[K] | ErrorEvent:
    """Decode the event in one line of a stream. Raises DecodeError if the line is not an event."""
    cut = cut_event(line)
    if cut is not None:
        try:
            return _event(cut, kind)
        except DecodeError:
            pass  # the frame has more fields after the object, or is invalid
    return _event(parse_event(line), kind)


def _event(wire: WireEvent, kind: type[K]) -> WatchEvent[K] | ErrorEvent:
    if event_class := _BY_TYPE.get(wire.type):
        event: WatchEvent[K] = event_class(kind.from_wire(wire.object))
        return event
    if wire.type == "ERROR":
        return ErrorEvent(_status(wire.object))
    raise DecodeError(f"{wire.type!r} is not an event type", object_name="a watch event")


def _status(raw: bytes) -> Unstructured:
    try:
        msgspec.json.decode(raw)
    except DECODE_FAILURES:
        raise DecodeError("the Status of an ERROR event is not JSON", object_name="a watch event") from None
    return Unstructured.from_wire(raw)
