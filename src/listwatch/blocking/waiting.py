"""Waiting for what happens, and trying again, for programs without an event loop.

Conditions are called in the thread of the background loop and must not wait; what `retry_on_conflict` repeats is called
in the caller's own thread and may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import datetime
from functools import wraps
from typing import Any, Generic, TypeVar

from listwatch.api.watch_events import WatchEvent
from listwatch.backoff import DEFAULT_RETRY, Backoff
from listwatch.blocking.face import Opened, leased, spoken, waiting_function
from listwatch.client.wait import retry_on_conflict as conflicts
from listwatch.client.wait import retry_watcher
from listwatch.client.wait import until as events
from listwatch.client.wait import wait_for as waiting
from listwatch.clock import Clock, SystemClock
from listwatch.errors import UsageError
from listwatch.informer import informed_until as informed
from listwatch.objects.object import Object

__all__ = ["RetryWatcher", "finished", "retry_on_conflict", "until", "until_with_sync", "wait_for"]

R = TypeVar("R")
T = TypeVar("T", bound=Object)

wait_for = waiting_function(waiting.wait_for)
until = waiting_function(events.until)
until_with_sync = waiting_function(informed.until_with_sync)


class RetryWatcher(Opened, Generic[T], twin=retry_watcher.RetryWatcher):  # noqa: D101  # it has its twin's
    _is_closed = False

    def __iter__(self) -> Iterator[WatchEvent[T]]:
        events: Iterator[WatchEvent[T]] = iter(self.__next__, None)
        try:
            yield from events
        finally:
            self.close()

    def __next__(self) -> WatchEvent[T]:
        try:
            event: WatchEvent[T] = self._wait(lambda: anext(self._twin), doing="RetryWatcher.__next__")
        except StopAsyncIteration:
            raise StopIteration from None
        except UsageError:
            if self._is_closed:
                raise StopIteration from None
            raise
        return event

    def close(self) -> None:
        self._is_closed = True
        self._lease.call_soon(self._end)
        self._give_back()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end(self) -> None:
        self._closing = asyncio.ensure_future(self._twin.aclose())


@wraps(conflicts.retry_on_conflict)
def retry_on_conflict(change: Callable[[], R], *, backoff: Backoff = DEFAULT_RETRY, clock: Clock | None = None) -> R:
    async def attempt() -> R:
        return change()

    return finished(conflicts.retry_on_conflict(attempt, backoff=backoff, clock=_HoldingClock(clock or SystemClock())))


retry_on_conflict.__doc__ = spoken(retry_on_conflict.__doc__)


class _HoldingClock:
    """A clock whose sleep holds up the thread that it is called in."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def now(self) -> datetime:
        return self._clock.now()

    async def sleep(self, delay: float) -> None:
        with leased(None, "retry_on_conflict") as lease:
            lease.wait(lambda: self._clock.sleep(delay), doing="retry_on_conflict")


def finished(coroutine: Coroutine[Any, Any, R]) -> R:
    """What a coroutine returns that waits for nothing but what holds up its thread anyway."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    raise AssertionError("it waited for an event loop")
