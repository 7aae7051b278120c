"""Waits for events that meet a sequence of conditions. `wait_for.py` waits for the state of an object."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from typing import TypeVar

from listwatch.api.predicates import EventConditions, describe_last
from listwatch.api.watch_events import ErrorEvent, WatchEvent
from listwatch.client.wait.retry_watcher import RetryWatcher, Watchable
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import WaitTimeoutError, WatchClosedError
from listwatch.objects.object import Object

__all__ = ["EventCondition", "until", "until_without_retry"]

T = TypeVar("T", bound=Object)

EventCondition = Callable[[WatchEvent[T]], bool]
"""A predicate of an event. An exception ends the wait."""


async def until(
    source: Watchable[T],
    resource_version: str,
    condition: EventCondition[T],
    *then: EventCondition[T],
    timeout: float | None = None,
    clock: Clock | None = None,
) -> WatchEvent[T]:
    """Watch from a resource version until the conditions were met, one after the other; return the last event.

    The watch resumes as a RetryWatcher does. WaitTimeoutError after `timeout` seconds, with the `last` event.
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
    """Wait as `until` does, but on one open watch: WatchClosedError if it ends before the conditions are met."""
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
        message = f"timed out after {timeout} s waiting for {conditions}; {describe_last(last)}"
        raise WaitTimeoutError(message, last=last) from None
    raise WatchClosedError(f"the watch ended while waiting for {conditions}; {describe_last(last)}")
