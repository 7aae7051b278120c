"""Clocks for tests. Each implements `listwatch.clock.Clock` and never waits for real time.

`InstantClock` is for code that only sleeps between attempts: sleeps take no time and are recorded, and deadlines pass
at once. `VirtualClock` is for code with deadlines or several tasks: time advances when the test advances it or, in
`run`, when every task is waiting. `SkewedClock` is the clock of another machine.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeVar

from listwatch.clock import Clock

_T = TypeVar("_T")

START = datetime(2020, 1, 1, tzinfo=UTC)
"""The default start time of virtual clocks."""

# More iterations of the event loop than any chain of tasks and futures needs; they take about a millisecond.
_SETTLE_ITERATIONS = 100

# Used as infinity; three thousand years after START is still a valid date.
_INFINITY = 1e11


class _ManualClock:
    """A clock that advances only on request."""

    def __init__(self, *, start: datetime = START) -> None:
        self._start = start
        self._nanoseconds = 0  # integers, so that ten steps of 0.1 equal one of 1

    def monotonic(self) -> float:
        return self._nanoseconds / 1e9

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())


class InstantClock(_ManualClock):
    """Every sleep ends after one iteration of the event loop and advances the clock; `slept` lists all sleeps."""

    def __init__(self, *, start: datetime = START) -> None:
        super().__init__(start=start)
        self.slept: list[float] = []

    async def sleep(self, delay: float) -> None:
        self.slept.append(delay)
        self._nanoseconds += _nanoseconds(delay)
        await asyncio.sleep(0)

    def __repr__(self) -> str:
        return f"InstantClock(monotonic={self.monotonic()}, slept={self.slept})"


class VirtualClock(_ManualClock):
    """Time advances only when the test advances it. Sleepers wake in the order of their deadlines."""

    def __init__(self, *, start: datetime = START) -> None:
        super().__init__(start=start)
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()
        self._sleep_started = asyncio.Event()

    @property
    def sleeping(self) -> int:
        """The number of pending sleeps."""
        return sum(not awake.done() for _, _, awake in self._sleepers)

    @property
    def next_deadline(self) -> float | None:
        """The monotonic time at which the next sleeper wakes; None if there is none."""
        deadline = self._next_deadline()
        return None if deadline is None else deadline / 1e9

    async def sleep(self, delay: float) -> None:
        if delay <= 0:
            await asyncio.sleep(0)
            return
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._nanoseconds + _nanoseconds(delay), next(self._order), awake))
        self._sleep_started.set()
        await awake

    async def wait_asleep(self, sleepers: int = 1) -> None:
        """Return when at least that many sleeps are pending."""
        while self.sleeping < sleepers:
            self._sleep_started.clear()
            await self._sleep_started.wait()

    async def advance(self, delay: float) -> None:
        """Advance time; wake each sleeper at its deadline, and let all tasks run before advancing further."""
        end = self._nanoseconds + _nanoseconds(delay)
        await _settle()
        while (deadline := self._next_deadline()) is not None and deadline <= end:
            self.wake_next()
            await _settle()
        self._nanoseconds = max(self._nanoseconds, end)

    def jump(self, delay: float) -> None:
        """Advance time in one step, as after a suspend: sleepers whose deadline has passed wake late."""
        self._nanoseconds += _nanoseconds(delay)
        while (deadline := self._next_deadline()) is not None and deadline <= self._nanoseconds:
            self.wake_next()

    def wake_next(self) -> bool:
        """Advance time to the next deadline and wake that sleeper; False if there is none."""
        deadline = self._next_deadline()
        if deadline is None:
            return False
        self._nanoseconds = max(self._nanoseconds, deadline)
        heapq.heappop(self._sleepers)[2].set_result(None)
        return True

    def run(self, coroutine: Coroutine[object, object, _T], *, patience: float = 0.0) -> _T:
        """Run a coroutine in a new event loop, in which time advances whenever every task is waiting.

        `patience` is the real time in seconds to wait for sockets and threads before time advances.
        """
        with asyncio.Runner(loop_factory=lambda: self.new_event_loop(patience=patience)) as runner:
            return runner.run(coroutine)

    def new_event_loop(self, *, patience: float = 0.0) -> asyncio.AbstractEventLoop:
        """The event loop that `run` uses."""
        return asyncio.SelectorEventLoop(_TimeMovingSelector(self, patience))

    def _next_deadline(self) -> int | None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)  # was cancelled
        return self._sleepers[0][0] if self._sleepers else None

    def __repr__(self) -> str:
        return f"VirtualClock(monotonic={self.monotonic()}, sleeping={self.sleeping})"


class SkewedClock:
    """A clock that runs `rate` times as fast as another, with its wall-clock time `ahead` by some seconds."""

    def __init__(self, clock: Clock, *, rate: float = 1.0, ahead: float = 0.0) -> None:
        self.rate = rate
        self.ahead = ahead
        self._clock = clock
        self._start = clock.monotonic()
        self._start_time = clock.now()

    def monotonic(self) -> float:
        return (self._clock.monotonic() - self._start) * self.rate

    def now(self) -> datetime:
        return self._start_time + timedelta(seconds=self.monotonic() + self.ahead)

    async def sleep(self, delay: float) -> None:
        await self._clock.sleep(delay / self.rate)

    def __repr__(self) -> str:
        return f"SkewedClock({self._clock!r}, rate={self.rate}, ahead={self.ahead})"


class _TimeMovingSelector(selectors.DefaultSelector):
    """Advances the clock when the event loop is about to wait, because then no task can run."""

    def __init__(self, clock: VirtualClock, patience: float) -> None:
        super().__init__()
        self._clock = clock
        self._patience = patience

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # The timeout is 0 if the loop has callbacks to run. A real timer that is due soon is not interfered with.
        if timeout is not None and timeout <= self._patience:
            return super().select(timeout)
        ready = super().select(self._patience)
        if ready or self._clock.wake_next():
            return ready
        return super().select(timeout)


def _nanoseconds(delay: float) -> int:
    return round(min(max(delay, 0.0), _INFINITY) * 1e9)


async def _settle() -> None:
    for _ in range(_SETTLE_ITERATIONS):
        await asyncio.sleep(0)
