"""Gives memory that was freed back to the system, where the C library can do that."""

from __future__ import annotations

__all__ = ["return_freed_memory"]


def return_freed_memory() -> None:
    """Return unused pages of the heap to the system. The allocator of glibc keeps them, unless they are at its end."""
    try:
        from ctypes import CDLL

        trim = CDLL(None).malloc_trim
    except (ImportError, OSError, AttributeError, TypeError):
        return  # another C library
    trim(0)
