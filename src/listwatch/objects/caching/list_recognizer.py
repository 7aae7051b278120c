"""Takes known objects out of the body of a list while it arrives, so that an unchanged list is never in memory.

What is left is a list of the other objects, which `object_list.py` reads as usual. Only bodies as servers write them
are changed: the known objects of one that begins otherwise are recognized when it is read.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

import msgspec

from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.json.reading import DECODE_FAILURES
from listwatch.objects.object import Object

__all__ = ["ListRecognizer"]

T = TypeVar("T", bound=Object)

_TEXT = rb'"[^"\\]*+"'
_START = re.compile(
    rb'\{(?:"kind":TEXT,"apiVersion":TEXT,"metadata":\{(?:"[a-zA-Z]++":(?:TEXT|[0-9]++),?+)*+\}|"apiVersion":TEXT),'
    rb'"items":\['.replace(b"TEXT", _TEXT)
)
_MAX_START = 1 << 14
_MAX_OBJECT = 1 << 22
_FIRST_BYTES = 10  # of an object, in which all objects of a list are equal
_TRIES = 3
_MAX_KEPT = 100
"""After so many objects that are not known, and not more known ones, the rest of the list is left as it is."""
_END = ord("]")

_whole = msgspec.json.Decoder(msgspec.Raw)


class ListRecognizer(Generic[T]):
    """Receives the pieces of one body, and returns what is left of them."""

    __slots__ = ("_buffer", "_has_started", "_is_passing", "_kept", "_recognized", "_walk")

    def __init__(self, known: KnownObjects[T], kind: type[T], recognized: dict[str, T]) -> None:
        """`recognized` is cleared, and receives the known objects by key."""
        recognized.clear()  # those of an earlier attempt
        self._recognized = recognized
        self._walk = known.walker(kind, recognized.__setitem__)
        self._buffer = bytearray()
        self._has_started = False  # with the first object
        self._is_passing = False  # the rest is left as it is
        self._kept = 0

    def feed(self, piece: bytes) -> bytes:
        """Return what is left of the pieces so far and was not returned before."""
        if self._is_passing:
            return piece
        buffer = self._buffer
        buffer += piece
        start = 0
        if not self._has_started:
            found = _START.match(buffer)
            if not found:
                return b"" if len(buffer) < _MAX_START else self._pass(buffer)
            self._has_started, start = True, found.end()
        left = buffer[:start]
        position = self._take(buffer, start, left)
        del buffer[:position]
        return bytes(left)

    def finish(self) -> bytes:
        """Return the rest, when the body is complete."""
        return b"" if self._is_passing else self._pass(self._buffer)

    def _take(self, buffer: bytearray, position: int, left: bytearray) -> int:
        """Take objects from a position on; append the others to what is left. Return the position of the rest."""
        while position < len(buffer):
            end = self._walk(buffer, position)
            if end > position:
                if buffer[end] == _END:
                    self._is_passing = True
                    left += buffer[end:]
                    return len(buffer)
                position = end + 1
                continue
            end = _end_of_object(buffer, position)
            is_hopeless = end < 0 and len(buffer) - position > _MAX_OBJECT
            if is_hopeless or (self._kept >= _MAX_KEPT and self._kept > len(self._recognized)):
                left += self._pass(buffer[position:])
                return len(buffer)
            if end < 0:
                break  # the rest of the object has not arrived
            left += b"," * bool(self._kept)
            left += buffer[position:end]
            self._kept += 1
            position = end + 1
        return position

    def _pass(self, rest: bytearray) -> bytes:
        """Return the rest as it is, behind a comma if objects precede it."""
        self._is_passing = True
        # A bracket behind a comma is an error, which has to stay one.
        needs_comma = self._kept or (rest.startswith(b"]") and self._recognized)
        return (b"," if needs_comma and self._has_started else b"") + bytes(rest)


def _end_of_object(buffer: bytearray, position: int) -> int:
    """The end of the object at a position, in front of another one; -1 if it is not found."""
    separator, end = b"}," + buffer[position : position + _FIRST_BYTES], position
    for _ in range(_TRIES):
        end = buffer.find(separator, end) + 1
        if not end:
            break
        try:
            _whole.decode(buffer[position:end])
        except DECODE_FAILURES:
            continue  # found inside of the object, or it is invalid
        return end
    return -1
