"""Repeats a change that lost a race: read the object, change it, write it, and again if somebody was faster.

async def add_label() -> Pod:
    pod = await pods.get("web-0")
    pod.metadata.labels["seen"] = "yes"
    return await pods.update(pod)

pod = await retry_on_conflict(add_label)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from listwatch.backoff import DEFAULT_RETRY, Backoff
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ConflictError, UsageError

__all__ = ["retry_on_conflict", "retry_on_error"]

R = TypeVar("R")


async def retry_on_conflict(
    change: Callable[[], Awaitable[R]], *, backoff: Backoff = DEFAULT_RETRY, clock: Clock | None = None
) -> R:
    """What `change` returns in the end; the last ConflictError if it never comes through."""
    return await retry_on_error(change, lambda error: isinstance(error, ConflictError), backoff=backoff, clock=clock)


async def retry_on_error(
    attempt: Callable[[], Awaitable[R]],
    is_retriable: Callable[[Exception], bool],
    *,
    backoff: Backoff = DEFAULT_RETRY,
    clock: Clock | None = None,
    random: Random | None = None,
) -> R:
    """The same for other errors: those that are not retriable are raised at once, the last one in the end."""
    if not callable(attempt):
        raise UsageError(f"{attempt!r} cannot be tried again: give an async function without arguments")
    clock = clock or SystemClock()
    delays = backoff.retries(random or Random())
    while True:
        try:
            return await attempt()
        except Exception as error:
            delay = next(delays, None) if is_retriable(error) else None
            if delay is None:
                raise
        await clock.sleep(delay)
