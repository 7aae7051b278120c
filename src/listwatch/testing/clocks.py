"""Clocks for tests, which never wait: each fits where `listwatch.clock.Clock` is asked for.

`InstantClock` is for code that only sleeps between attempts: no sleep takes any time, and all are on record. With it, a
deadline passes at once. `VirtualClock` is for code with deadlines or several tasks: time stands still until the test
moves it, or, in `run`, until every task is waiting. `SkewedClock` is what another computer has of the same time.
"""

from __future__ import annotations

import asyncio
import heapq
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from listwatch.clock import Clock

_T = TypeVar("_T")

START = datetime(2020, 1, 1, tzinfo=UTC)
"""What the stand-ins show at first, if not told otherwise."""

# More turns than any chain of tasks and futures needs to hand something on; they cost about a millisecond.
_TURNS_TO_SETTLE = 100

# Stands for infinity; three thousand years from START is still a date.
_FOR_EVER = 1e11


class _HandSetClock:
    def __init__(self, *, start: datetime = START) -> None:
        self._start = start
        self._nanoseconds = 0  # whole ones, so that ten steps of 0.1 are a step of 1

    def monotonic(self) -> float:
        return self._nanoseconds / 1e9

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())


class InstantClock(_HandSetClock):
    """Every sleep is over after one turn of the event loop, as if its time had passed; `slept` lists them."""

    def __init__(self, *, start: datetime = START) -> None:
        super().__init__(start=start)
        self.slept: list[float] = []

    async def sleep(self, delay: float) -> None:
        self.slept.append(delay)
        self._nanoseconds += _nanoseconds(delay)
        await asyncio.sleep(0)

    def __repr__(self) -> str:
        return f"InstantClock(monotonic={self.monotonic()}, slept={self.slept})"


class VirtualClock(_HandSetClock):
    """Time passes only when the test says so, and sleepers wake in the order of their deadlines, each at its own."""

    def __init__(self, *, start: datetime = START) -> None:
        super().__init__(start=start)
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = count()
        self._fell_asleep = asyncio.Event()

    @property
    def sleeping(self) -> int:
        """How many sleeps are under way."""
        return sum(not awake.done() for _, _, awake in self._sleepers)

    @property
    def next_deadline(self) -> float | None:
        """The monotonic time at which the next sleeper wakes; None if nobody sleeps."""
        deadline = self._next_deadline()
        return None if deadline is None else deadline / 1e9

    async def sleep(self, delay: float) -> None:
        if delay <= 0:
            await asyncio.sleep(0)
            return
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._nanoseconds + _nanoseconds(delay), next(self._order), awake))
        self._fell_asleep.set()
        await awake

    async def wait_asleep(self, sleepers: int = 1) -> None:
        """Return when at least so many sleeps are under way."""
        while self.sleeping < sleepers:
            self._fell_asleep.clear()
            await self._fell_asleep.wait()

    async def advance(self, delay: float) -> None:
        """Let time pass, waking each sleeper at its deadline and letting all tasks do what they can before going on."""
        end = self._nanoseconds + _nanoseconds(delay)
        await _settle()
        while (deadline := self._next_deadline()) is not None and deadline <= end:
            self.wake_next()
            await _settle()
        self._nanoseconds = max(self._nanoseconds, end)

    def jump(self, delay: float) -> None:
        """Move time at once, as when the machine was suspended: whose deadline has passed wakes late."""
        self._nanoseconds += _nanoseconds(delay)
        while (deadline := self._next_deadline()) is not None and deadline <= self._nanoseconds:
            self.wake_next()

    def wake_next(self) -> bool:
        """Move time to the next deadline and wake that sleeper; False if nobody sleeps."""
        deadline = self._next_deadline()
        if deadline is None:
            return False
        self._nanoseconds = max(self._nanoseconds, deadline)
        heapq.heappop(self._sleepers)[2].set_result(None)
        return True

    def run(self, coroutine: Coroutine[Any, Any, _T], *, patience: float = 0.0) -> _T:
        """Run a coroutine in an event loop of its own, in which time moves on by itself whenever every task is waiting.

        Sockets and threads are given `patience` real seconds to have news before time moves.
        """
        with asyncio.Runner(loop_factory=lambda: self.new_event_loop(patience=patience)) as runner:
            return runner.run(coroutine)

    def new_event_loop(self, *, patience: float = 0.0) -> asyncio.AbstractEventLoop:
        """The event loop that `run` uses, for those who run their loops themselves."""
        return asyncio.SelectorEventLoop(_TimeMovingSelector(self, patience))

    def _next_deadline(self) -> int | None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)  # was cancelled
        return self._sleepers[0][0] if self._sleepers else None

    def __repr__(self) -> str:
        return f"VirtualClock(monotonic={self.monotonic()}, sleeping={self.sleeping})"


class SkewedClock:
    """Another clock of the same time: it runs `rate` times as fast, and its time of day is `ahead` by some seconds."""

    def __init__(self, clock: Clock, *, rate: float = 1.0, ahead: float = 0.0) -> None:
        self.rate = rate
        self.ahead = ahead
        self._clock = clock
        self._start = clock.monotonic()
        self._start_of_day = clock.now()

    def monotonic(self) -> float:
        return (self._clock.monotonic() - self._start) * self.rate

    def now(self) -> datetime:
        return self._start_of_day + timedelta(seconds=self.monotonic() + self.ahead)

    async def sleep(self, delay: float) -> None:
        await self._clock.sleep(delay / self.rate)

    def __repr__(self) -> str:
        return f"SkewedClock({self._clock!r}, rate={self.rate}, ahead={self.ahead})"


class _TimeMovingSelector(selectors.DefaultSelector):
    """Moves the clock when an event loop comes to wait, since then no task has anything left to do."""

    def __init__(self, clock: VirtualClock, patience: float) -> None:
        super().__init__()
        self._clock = clock
        self._patience = patience

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # A loop that still has something to run asks with 0; one with a real timer due soon is left to it.
        if timeout is not None and timeout <= self._patience:
            return super().select(timeout)
        news = super().select(self._patience)
        if news or self._clock.wake_next():
            return news
        return super().select(timeout)


def _nanoseconds(delay: float) -> int:
    return round(min(max(delay, 0.0), _FOR_EVER) * 1e9)


async def _settle() -> None:
    for _ in range(_TURNS_TO_SETTLE):
        await asyncio.sleep(0)
