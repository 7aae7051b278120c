"""Watch events as values, and how a line of a stream becomes one.

async for event in client.core_v1.pods().watch():
    match event:
        case Added(pod) | Modified(pod): ...
        case Deleted(pod): ...
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from listwatch.api.statuses import error_from_status
from listwatch.errors import APIError, DecodeError
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.objects.wire import UNREADABLE, WireEvent, cut_event, parse_event

__all__ = ["Added", "Bookmark", "Deleted", "Failed", "Modified", "WatchEvent", "read_event"]

T = TypeVar("T", bound=Object)

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class WatchEvent(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """Something that a watch reported: `type` as the API spells it, and the object it is about."""

    type: ClassVar[str] = ""

    object: T


class Added(WatchEvent[T], frozen=True):
    """The object is new, or new to what is watched."""

    type: ClassVar[str] = "ADDED"


class Modified(WatchEvent[T], frozen=True):
    """The object was changed."""

    type: ClassVar[str] = "MODIFIED"


class Deleted(WatchEvent[T], frozen=True):
    """The object is gone, or left what is watched; this is its last state."""

    type: ClassVar[str] = "DELETED"


class Bookmark(WatchEvent[T], frozen=True):
    """Nothing happened up to this version: an object that holds just its kind and version."""

    type: ClassVar[str] = "BOOKMARK"

    @property
    def resource_version(self) -> str:
        return self.object.resource_version

    @property
    def ends_initial_events(self) -> bool:
        """True for the mark that says: all that was there at the start has been sent."""
        return self.object.metadata.annotations.get(_INITIAL_EVENTS_END) == "true"


class Failed(WatchEvent[Unstructured], frozen=True):
    """The server gives up on this watch, and says why."""

    type: ClassVar[str] = "ERROR"

    @property
    def error(self) -> APIError:
        """The reason, as the error to raise."""
        return error_from_status(self.object.to_dict(), doing="watch")


_WITH_OBJECT: dict[str, Any] = {each.type: each for each in (Added, Modified, Deleted, Bookmark)}


def read_event(line: bytes, kind: type[T]) -> WatchEvent[T] | Failed:
    """The event in one line of a stream; DecodeError if it is none, which says nothing of the next line."""
    cut = cut_event(line)
    if cut is not None:
        try:
            return _event(cut, kind)
        except DecodeError:
            # Something follows the object in its frame, or it is broken: reading the whole line tells.
            pass
    return _event(parse_event(line), kind)


def _event(wire: WireEvent, kind: type[T]) -> WatchEvent[T] | Failed:
    if event := _WITH_OBJECT.get(wire.type):
        read: WatchEvent[T] = event(kind.from_wire(wire.object))
        return read
    if wire.type == "ERROR":
        return Failed(_status(wire.object))
    raise DecodeError(f"{wire.type!r} is no event type", object_name="a watch event")


def _status(raw: bytes) -> Unstructured:
    try:
        msgspec.json.decode(raw)
    except UNREADABLE:
        raise DecodeError("the reason of an ERROR event cannot be read", object_name="a watch event") from None
    return Unstructured.from_wire(raw)
