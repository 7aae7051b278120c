"""Reads the blobs of cache files through memory maps, so that pages which are not read need not be in memory.

A file is replaced when much of it is outdated. The replaced one stays readable for instances that refer to it.

Reading a page behind the end of a mapped file ends the process with SIGBUS. So each read checks first that no other
program has truncated the file.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable
from threading import RLock
from weakref import finalize

from msgspec import Struct

from listwatch.cache.persistent.file_format import read_blob
from listwatch.errors import DecodeError

__all__ = ["MappedBlob", "MappedFile", "MappedFiles"]

_OFFSET_BITS = 48
_OFFSET = (1 << _OFFSET_BITS) - 1


class MappedFile:
    """A file that only grows, unless another program changes it. It is open as long as this object exists."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        finalize(self, os.close, self._descriptor)
        self._remapping = RLock()
        self._map: mmap.mmap | None = None

    def read(self, offset: int) -> bytes:
        """Return the blob at this position; raises DecodeError if it is damaged."""
        mapped = self._map
        try:
            # The last byte is read from the file, not from the map. `fstat` takes twice as long.
            if mapped is None or offset >= len(mapped) or not os.pread(self._descriptor, 1, len(mapped) - 1):
                mapped = self._remap()
        except OSError as error:
            raise DecodeError(f"its cache file cannot be read: {error}") from None
        return read_blob(memoryview(mapped), offset, len(mapped)) if mapped is not None else read_blob(b"", offset, 0)

    def whole(self) -> memoryview:
        """Return all bytes; there is at least one."""
        mapped = self._remap()
        assert mapped is not None
        return memoryview(mapped)

    def was_truncated(self) -> None:
        """Map the file as it is now: if it grows again, a blob could otherwise be cut at the end of the old map."""
        self._remap()

    def _remap(self) -> mmap.mmap | None:
        """Return a map of the whole file; None if it is empty."""
        with self._remapping:
            size, mapped = os.fstat(self._descriptor).st_size, self._map
            if size != (0 if mapped is None else len(mapped)):
                # A blob is written completely before its position is known, so a larger map contains all of it.
                self._map = mapped = mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ) if size else None
            return mapped


class _ForgottenFile:
    """In place of a file that was forgotten: an object whose blob was there is damaged."""

    def read(self, offset: int) -> bytes:
        raise DecodeError("its cache file was replaced twice since it was read")


_FORGOTTEN = _ForgottenFile()


class MappedBlob(Struct, gc=False):
    """One blob of a file."""

    file: MappedFile | _ForgottenFile
    offset: int

    def read(self) -> bytes:
        return self.file.read(self.offset)


class MappedFiles:
    """The files of one store: one of each source, and replaced ones to which entries may still refer."""

    def __init__(self) -> None:
        self._files: dict[int, MappedFile] = {}
        self._last = 0

    def add(self, descriptor: int) -> int:
        """Add a file; return its number."""
        self._last += 1
        self._files[self._last] = MappedFile(descriptor)
        return self._last

    def place(self, number: int, offset: int) -> int:
        """Return the place of a position in a file."""
        return number << _OFFSET_BITS | offset

    def locate(self, place: int) -> MappedBlob:
        """Return the blob at a place. If its file was forgotten, reading it raises DecodeError."""
        return MappedBlob(self._files.get(place >> _OFFSET_BITS, _FORGOTTEN), place & _OFFSET)

    def locate_all(self, places: Iterable[int]) -> list[MappedBlob]:
        """Return the blobs at many places, most of which are in the same file."""
        found: list[MappedBlob] = []
        number = 0
        file: MappedFile | _ForgottenFile | None = None
        for place in places:
            if place >> _OFFSET_BITS != number or file is None:
                number, file = place >> _OFFSET_BITS, self.locate(place).file
            found.append(MappedBlob(file, place & _OFFSET))
        return found

    def whole(self, number: int) -> memoryview:
        """Return all bytes of a file that is not empty."""
        return self._files[number].whole()

    def was_truncated(self, number: int) -> None:
        """Do not read after the new end of a file."""
        self._files[number].was_truncated()

    def forget(self, number: int) -> None:
        """Forget a file; instances that refer to it can still be read."""
        self._files.pop(number, None)
