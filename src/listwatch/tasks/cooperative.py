"""Cooperative yielding for long-running synchronous work on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import TypeVar
from weakref import WeakKeyDictionary

__all__ = ["TimeSlice", "give_way", "run_sliced"]

T = TypeVar("T")

TIME_SLICE = 0.003
"""Seconds of work without a yield, by the clock of the event loop: virtual clocks do not apply here."""
_ITERATION = 0.009
"""Seconds of an iteration of the event loop that all slices share: in each iteration, every busy task has a slice."""
_SHORTEST = 0.0002
"""A shorter slice would be used up by the yield itself."""
_GIVEN = 0.05
"""The time in seconds after which a task stops giving way. The current iteration of the event loop is completed."""


class _LoopLoad:
    """The length of the slices of one event loop, by the number of slices that its last iteration has used up.

    It does not refer to the event loop, which would then never be released.
    """

    def __init__(self) -> None:
        self._used_up = 0
        self.length = TIME_SLICE

    def count(self, loop: asyncio.AbstractEventLoop) -> None:
        self._used_up += 1
        if self._used_up == 1:
            loop.call_soon(self._start_iteration)  # called in the next iteration, before most of its tasks

    def _start_iteration(self) -> None:
        self.length = min(max(_ITERATION / self._used_up, _SHORTEST), TIME_SLICE)
        self._used_up = 0


_loads: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopLoad] = WeakKeyDictionary()


class TimeSlice:
    """A budget of a few milliseconds of uninterrupted work; less if many tasks of the event loop have one."""

    def __init__(self, length: float = TIME_SLICE) -> None:
        loop = asyncio.get_running_loop()
        if (load := _loads.get(loop)) is None:
            load = _loads.setdefault(loop, _LoopLoad())
        self._loop = loop
        self._load = load
        self.now = loop.time
        self._length = length
        self.end = self.now() + min(length, load.length)
        """When the current slice is used up."""

    async def checkpoint(self) -> None:
        """Yield to the event loop if the slice is used up. Call it after each piece of work."""
        if self.now() > self.end:
            self._load.count(self._loop)
            await asyncio.sleep(0)
            self.end = self.now() + min(self._length, self._load.length)


async def give_way(pending: Callable[[], int], *, limit: int) -> None:
    """Yield to the event loop until at most `limit` pieces of work are pending.

    It also returns after about 50 ms, and if an iteration of the event loop completes no work: the tasks that do the
    work then wait for something else.
    """
    now = asyncio.get_running_loop().time
    end = now() + _GIVEN
    await asyncio.sleep(0)  # what the caller has queued is distributed first, which can raise the number
    left = pending()
    while left > limit and now() < end:
        await asyncio.sleep(0)
        before, left = left, pending()
        if left >= before:
            return


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
