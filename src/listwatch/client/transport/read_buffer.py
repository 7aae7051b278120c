"""The memory into which all connections of a pool read, one at a time."""

from __future__ import annotations

import asyncio

__all__ = ["SMALLEST_READ", "ReadBuffer"]

SMALLEST_READ = 2**18
_LARGEST_READ = 2**20
"""Bytes. Every batch of events has a fixed cost; with this size, events take a sixth less time than with the smallest.

A larger one would block the event loop for too long if the events are small. Over TLS, asyncio decrypts about 256 KiB
at once, so that reads do not get larger there.
"""
_FREED = 2**23
"""Bytes. After a block of this size was freed, glibc keeps up to twice as much free memory of the process, and takes
blocks up to this size from the heap (M_MMAP_THRESHOLD in mallopt(3))."""


class ReadBuffer:
    """A buffer of which each read gets a part: a smaller one if many connections read in one iteration of the loop.

    Allocating the largest possible read and returning most of it would take longer than the read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._memory = memoryview(bytearray(SMALLEST_READ))
        self._reads = 0  # in this iteration of the loop
        self._largest = _LARGEST_READ

    def part(self, size: int) -> memoryview:
        """Return memory for a read of up to `size` bytes."""
        self._reads += 1
        if self._reads == 1:
            self._loop.call_soon(self._start_iteration)
        size = min(size, self._largest)
        if size > len(self._memory):  # not before: most pools never receive much
            self._memory = memoryview(bytearray(_LARGEST_READ))
            # Without this, glibc returns the memory of replaced objects to the system after each read, and each event
            # causes a page fault. Not a bytearray, which would write to the memory.
            bytes(_FREED)
        return self._memory[:size]

    def _start_iteration(self) -> None:
        self._largest = max(_LARGEST_READ // self._reads, SMALLEST_READ)
        self._reads = 0
