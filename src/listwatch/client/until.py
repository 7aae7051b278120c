"""Waits for events: for one that meets a condition, then for one that meets the next. `waiting.py` waits for states."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import TypeVar

from listwatch.api.watch_events import Failed, WatchEvent
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import WaitTimeoutError, WatchClosedError
from listwatch.objects.object import Object

from .retry_watcher import RetryWatcher, Watchable

__all__ = ["EventCondition", "until", "until_without_retry"]

T = TypeVar("T", bound=Object)

EventCondition = Callable[[WatchEvent[T]], bool]
"""Whether an event is the one; what it raises ends the waiting."""


async def until(
    source: Watchable[T],
    resource_version: str,
    condition: EventCondition[T],
    *then: EventCondition[T],
    timeout: float | None = None,
    clock: Clock | None = None,
) -> WatchEvent[T]:
    """The event that met the last of the conditions, which are met in turn by what happens after that version.

    Interruptions are made good as by a RetryWatcher. WaitTimeoutError after `timeout` seconds, with the `last` event.
    """
    async with RetryWatcher(source, resource_version, clock=clock) as events:
        return await until_without_retry(events, condition, *then, timeout=timeout, clock=clock)


async def until_without_retry(
    events: AsyncIterable[WatchEvent[T] | Failed],
    condition: EventCondition[T],
    *then: EventCondition[T],
    timeout: float | None = None,
    clock: Clock | None = None,
) -> WatchEvent[T]:
    """The same over one watch: WatchClosedError if that ends first. One event may meet several conditions in turn."""
    pending = [condition, *then]
    last: WatchEvent[T] | Failed | None = None
    try:
        async with time_limit(clock or SystemClock(), timeout):
            async for last in events:
                if isinstance(last, Failed):
                    raise last.error
                while pending and pending[0](last):
                    del pending[0]
                if not pending:
                    return last
    except TimeoutError:
        raise WaitTimeoutError(f"waited {timeout} s in vain for {_names(pending)}; {_seen(last)}", last=last) from None
    raise WatchClosedError(f"the watch ended while waiting for {_names(pending)}; {_seen(last)}")


def _names(pending: list[EventCondition[T]]) -> str:
    return ", ".join(getattr(each, "__name__", str(each)) for each in pending)


def _seen(last: WatchEvent[T] | Failed | None) -> str:
    return f"the last event was {last.type} {last.object.describe()}" if last else "there was no event"
