"""Splits a watch in protobuf into events. `watch_events.py` has the events and the decoder of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from listwatch.api.watch_events import EVENT_CLASSES, ErrorEvent, ReceivedEvent, UndecodableEvent
from listwatch.errors import DecodeError
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.object import Object
from listwatch.objects.protobuf.protobuf_objects import protobuf_reader
from listwatch.objects.unstructured import Unstructured
from listwatch.protobuf.watch_frames import FrameReader

__all__ = ["ProtobufEventReader"]

K = TypeVar("K", bound=Object)


class ProtobufEventReader(Generic[K]):
    """Decodes the events of a stream that arrives in pieces of any size. An event may have `max_size` bytes.

    Frames have lengths, which are checked; of the objects only the heads are decoded.
    """

    __slots__ = ("_decode", "_frames", "_name", "_read")

    def __init__(self, kind: type[K], *, max_size: int, known: KnownObjects[K] | None = None) -> None:
        self._name = kind.__name__
        self._read = protobuf_reader(kind)
        self._decode = known.reader(kind, self._read) if known else self._read
        self._frames = FrameReader(max_size=max_size)

    def feed(self, piece: bytes) -> Iterator[ReceivedEvent[K]]:
        """Yield the events that this piece completes.

        Raises DecodeError at a frame that is not an event, and ResponseTooLargeError at one that is too large, even if
        it is incomplete.
        """
        decode, classes = self._decode, EVENT_CLASSES
        for event_type, raw in self._frames.feed(piece):
            event_class: Any = classes.get(event_type)
            if event_class is None:
                yield _other_event(event_type, raw)
                continue
            try:
                yield event_class(decode(raw))
            except DecodeError as error:
                yield self._undecodable(event_type, error)

    def forget_known(self) -> None:
        """From now on, decode all objects."""
        self._decode = self._read

    def finish(self) -> bytes:
        """Return the data after the last frame: an incomplete one."""
        return self._frames.finish()

    def _undecodable(self, event_type: str, error: DecodeError) -> UndecodableEvent:
        reason = f"the object of the {event_type} event cannot be decoded: {error.message}"
        return UndecodableEvent(DecodeError(reason, object_name=error.object_name or self._name, field=error.field))


def _other_event(event_type: str, raw: bytes) -> ErrorEvent:
    if event_type != "ERROR":
        raise DecodeError(f"{event_type[:80]!r} is not an event type", object_name="a watch event")
    try:
        status = Unstructured.from_wire(raw)
        status.to_dict()
    except DecodeError:
        raise DecodeError("the Status of an ERROR event cannot be decoded", object_name="a watch event") from None
    return ErrorEvent(status)
