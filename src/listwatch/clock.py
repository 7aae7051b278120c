"""The clock that a component reads and waits with; `listwatch.testing` has virtual ones.

`time_limit` sets a deadline that follows the given clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

from listwatch.errors import UsageError

__all__ = ["Clock", "SuspendAwareClock", "SystemClock", "epoch_time", "time_limit"]


class Clock(Protocol):
    """Reads the time, and sleeps."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never decreases. Use it to measure durations."""

    def now(self) -> datetime:
        """The wall-clock time in UTC, for display and for timestamps in objects; it may jump."""

    async def sleep(self, delay: float) -> None:
        """Return after `delay` seconds; if that is not positive, after yielding to other tasks once."""


class SystemClock:
    """The clock of the operating system."""

    monotonic = staticmethod(time.monotonic)  # without a method around it, which would double the time of a call

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, delay: float) -> None:
        await asyncio.sleep(delay)

    def __repr__(self) -> str:
        return "SystemClock()"


class SuspendAwareClock(SystemClock):
    """The clock of the operating system, whose `monotonic` also counts the time in which the machine is suspended."""

    @staticmethod
    def monotonic() -> float:
        return _seconds_with_suspend()

    def __repr__(self) -> str:
        return "SuspendAwareClock()"


def _seconds_with_suspend() -> float:
    # Linux: CLOCK_MONOTONIC stands still in suspend. macOS: CLOCK_MONOTONIC_RAW counts it. Elsewhere monotonic does.
    number = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC_RAW", None))
    return time.monotonic() if number is None else time.clock_gettime(number)


def epoch_time(clock: Clock) -> Callable[[], float]:
    """Return a function that reads the wall-clock time as seconds since the epoch."""

    def now() -> float:
        return clock.now().timestamp()

    return now


def time_limit(clock: Clock, timeout: float | None) -> AbstractAsyncContextManager[object]:
    """Cancel the block and raise TimeoutError when `timeout` seconds of that clock have passed; None means no limit.

    A block that ends in time is not affected, and cancellation from outside passes through.
    """
    if not isinstance(timeout, int | float | None):
        raise UsageError(f"timeout must be a number of seconds, or None for no limit, not {timeout!r}")
    if timeout is None or timeout <= 0 or isinstance(clock, SystemClock):
        # asyncio.timeout uses the system clock, at a fifth of the cost of a sleeping task.
        return asyncio.timeout(timeout)
    return _limited(clock, timeout)


@asynccontextmanager
async def _limited(clock: Clock, timeout: float) -> AsyncIterator[None]:
    async with asyncio.timeout(None) as scope:
        deadline = clock.monotonic() + timeout
        alarm = asyncio.create_task(_expire_at(clock, deadline, scope), name=f"time limit of {timeout} s")
        try:
            yield
        finally:
            alarm.cancel()


async def _expire_at(clock: Clock, deadline: float, scope: asyncio.Timeout) -> None:
    await clock.sleep(deadline - clock.monotonic())
    scope.reschedule(asyncio.get_running_loop().time())
