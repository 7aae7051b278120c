"""Gives memory that was freed back to the system, where the C library can do that."""

from __future__ import annotations

from threading import Lock

__all__ = ["FREED", "MUCH", "FreedMemory"]

MUCH = 32 * 2**20
"""Bytes for which memory is given back."""


class FreedMemory:
    """Counts the bytes of objects that were packed or written since memory was last given back. In any thread."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._bytes = 0

    def add(self, size: int) -> None:
        with self._changing:
            self._bytes += size

    @property
    def is_much(self) -> bool:
        return self._bytes >= MUCH

    def give_back(self) -> None:
        """Return unused pages of the heap to the system. glibc keeps them, unless they are at its end."""
        with self._changing:
            self._bytes = 0
        try:
            from ctypes import CDLL

            trim = CDLL(None).malloc_trim
        except (ImportError, OSError, AttributeError, TypeError):
            return  # another C library
        trim(0)


FREED = FreedMemory()
"""That of the heap of this process, which all stores share."""
