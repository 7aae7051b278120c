"""Cooperative yielding for long-running synchronous work on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TypeVar

__all__ = ["TIME_SLICE", "TimeSlice", "run_sliced"]

T = TypeVar("T")

TIME_SLICE = 0.003
"""Seconds of work without a yield, by the clock of the event loop: virtual clocks do not apply here.

The reflector, the store and each handler of an informer have slices of their own, which may follow one another."""


class TimeSlice:
    """A budget of a few milliseconds of uninterrupted work."""

    def __init__(self, length: float = TIME_SLICE) -> None:
        self.now = asyncio.get_running_loop().time
        self._length = length
        self.end = self.now() + length
        """When the current slice is used up."""

    async def checkpoint(self) -> None:
        """Yield to the event loop if the slice is used up. Call it after each piece of work."""
        if self.now() > self.end:
            await asyncio.sleep(0)
            self.end = self.now() + self._length


async def run_sliced(work: Generator[None, None, T]) -> T:
    """Run a generator to its end, yielding to the event loop between time slices, and return its result."""
    time_slice = TimeSlice()
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        await time_slice.checkpoint()
