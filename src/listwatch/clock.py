"""The only reader of time: whatever waits or looks at the hour is given a `Clock`. `testing.clocks` has stand-ins.

`time_limit` is how a deadline is set, so that deadlines too follow the clock that was given.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

from listwatch.errors import UsageError


class Clock(Protocol):
    """Tells the time and lets it pass."""

    def monotonic(self) -> float:
        """Seconds since some moment in the past; it never goes back and is for measuring."""

    def now(self) -> datetime:
        """The time of day in UTC, for showing and for writing into objects; it may be set back."""

    async def sleep(self, delay: float) -> None:
        """Return after `delay` seconds; with none or fewer, after other tasks had a turn."""


class SystemClock:
    """The computer's own clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, delay: float) -> None:
        await asyncio.sleep(delay)

    def __repr__(self) -> str:
        return "SystemClock()"


def time_limit(clock: Clock, timeout: float | None) -> AbstractAsyncContextManager[object]:
    """Stop the block and raise TimeoutError when `timeout` seconds of that clock have passed; None sets no limit.

    A block that ends in time ends as if nothing had been there, also when it is cancelled from outside.
    """
    if not isinstance(timeout, int | float | None):
        raise UsageError(f"a timeout is a number of seconds, or None for no limit, not {timeout!r}")
    if timeout is None or timeout <= 0 or isinstance(clock, SystemClock):
        # asyncio's own alarm goes by the system's clock, and costs a fifth of a task that sleeps.
        return asyncio.timeout(timeout)
    return _limited(clock, timeout)


@asynccontextmanager
async def _limited(clock: Clock, timeout: float) -> AsyncIterator[None]:
    async with asyncio.timeout(None) as scope:
        deadline = clock.monotonic() + timeout
        alarm = asyncio.create_task(_ring(clock, deadline, scope), name=f"time limit of {timeout} s")
        try:
            yield
        finally:
            alarm.cancel()


async def _ring(clock: Clock, deadline: float, scope: asyncio.Timeout) -> None:
    await clock.sleep(deadline - clock.monotonic())
    scope.reschedule(asyncio.get_running_loop().time())
