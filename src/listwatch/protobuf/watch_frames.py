"""Splits a watch into frames as it arrives, without decoding their objects.

A frame has four bytes with its length, then {1: type, 2: {1: object}}. All lengths in front of the object follow from
that of the frame, so that they are compared with those that a server writes, and are decoded only if they differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from listwatch.errors import DecodeError, ResponseTooLargeError
from listwatch.protobuf.envelope import decode_watch_event
from listwatch.protobuf.wire_format import varint

__all__ = ["FrameReader"]

_SIZE = 4
_USUAL = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


class FrameReader:
    """Takes pieces that may be cut anywhere, and returns the type and the object of each frame.

    A frame may have `max_size` bytes.
    """

    __slots__ = ("_missing", "_pending", "_type", "max_size")

    def __init__(self, *, max_size: int) -> None:
        self.max_size = max_size
        self._pending = bytearray()  # the incomplete frame; in one object, because it may arrive byte by byte
        self._missing = 0  # bytes that it lacks, as far as that is known
        self._type = _USUAL[0]

    def feed(self, piece: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the frames that this piece completes.

        Raises DecodeError at a frame that is no event, and ResponseTooLargeError at one that is too large, even if it
        is incomplete.
        """
        position, stop = 0, len(piece)
        while self._pending:
            # The incomplete frame takes only the bytes that it lacks, so that the others are not copied.
            begin, position = position, min(position + self._missing, stop)
            self._pending += piece[begin:position]
            self._missing -= position - begin
            if self._missing:
                return
            size = self._checked_size(self._pending[:_SIZE])
            self._missing = _SIZE + size - len(self._pending)
            if not self._missing:
                frame = bytes(self._pending[_SIZE:])
                self._pending.clear()
                yield self._read(frame, size)
        while position + _SIZE <= stop:
            size = self._checked_size(piece[position : position + _SIZE])
            start = position + _SIZE
            end = start + size
            if end > stop:
                break
            usual = _frame_start(self._type, size)
            if piece.startswith(usual, start):
                yield self._type, piece[start + len(usual) : end]
            else:
                yield self._read(piece[start:end], size)
            position = end
        if position < stop:
            self._pending += piece[position:]
            known = position + _SIZE <= stop
            self._missing = (end if known else position + _SIZE) - stop

    def _checked_size(self, length: bytes | bytearray) -> int:
        size = int.from_bytes(length, "big")
        if size > self.max_size:
            raise ResponseTooLargeError.of("an event of the watch", self.max_size, "max_event_size")
        return size

    def _read(self, frame: bytes, size: int) -> tuple[str, bytes]:
        """Read a frame of any type, in any form."""
        for each in (self._type, *_USUAL):
            if frame.startswith(start := _frame_start(each, size)):
                self._type = each
                return each, frame[len(start) :]
        try:
            return decode_watch_event(frame)
        except DecodeError as error:
            raise DecodeError(f"{error.message}, in a frame of {size} bytes", object_name="a watch event") from None

    def finish(self) -> bytes:
        """Return the data after the last frame; drop it."""
        rest = bytes(self._pending)
        self._pending.clear()
        return rest


@lru_cache(maxsize=1 << 14)
def _frame_start(event_type: str, size: int) -> bytes:
    """The bytes in front of the object in a frame of this size; more bytes than it has if it is too short."""
    text = event_type.encode()
    start = b"\x0a%b%b" % (varint(len(text)), text)
    for key in (b"\x12", b"\x0a"):
        left = size - len(start) - len(key)  # of a length and as many bytes
        lengths = (varint(left - width) for width in range(1, 6) if len(varint(left - width)) == width)
        length = next(lengths, b"") if left > 0 else b""
        if not length:
            return bytes(size + 1)
        start += key + length
    return start
