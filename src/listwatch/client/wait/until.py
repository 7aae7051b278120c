"""Waits for events: for one that meets a condition, then for one that meets the next. `waiting.py` waits for states."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import TypeVar

from listwatch.api.event_conditions import EventConditions, describe_last
from listwatch.api.watch_events import ErrorEvent, WatchEvent
from listwatch.client.wait.retry_watcher import RetryWatcher, Watchable
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import WaitTimeoutError, WatchClosedError
from listwatch.objects.object import Object

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
    events: AsyncIterable[WatchEvent[T] | ErrorEvent],
    condition: EventCondition[T],
    *then: EventCondition[T],
    timeout: float | None = None,
    clock: Clock | None = None,
) -> WatchEvent[T]:
    """The same over one watch: WatchClosedError if that ends first. One event may meet several conditions in turn."""
    conditions = EventConditions([condition, *then])
    last: WatchEvent[T] | ErrorEvent | None = None
    try:
        async with time_limit(clock or SystemClock(), timeout):
            async for last in events:
                if isinstance(last, ErrorEvent):
                    raise last.error
                if conditions.are_met_by(last):
                    return last
    except TimeoutError:
        message = f"waited {timeout} s in vain for {conditions}; {describe_last(last)}"
        raise WaitTimeoutError(message, last=last) from None
    raise WatchClosedError(f"the watch ended while waiting for {conditions}; {describe_last(last)}")
