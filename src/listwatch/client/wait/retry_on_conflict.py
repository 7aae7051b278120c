"""Retries a change after a conflict: read the object, change it, write it, and repeat if it was changed meanwhile.

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
    """Call `change`, and retry it after a ConflictError; return its result, or raise the error of the last retry."""
    return await retry_on_error(change, lambda error: isinstance(error, ConflictError), backoff=backoff, clock=clock)


async def retry_on_error(
    attempt: Callable[[], Awaitable[R]],
    is_retriable: Callable[[Exception], bool],
    *,
    backoff: Backoff = DEFAULT_RETRY,
    clock: Clock | None = None,
    random: Random | None = None,
) -> R:
    """Call `attempt` until it raises no retriable error, and return its result.

    Other errors are raised at once. If all retries fail, the last error is raised.
    """
    if not callable(attempt):
        raise UsageError(f"{attempt!r} cannot be retried: pass an async function without arguments")
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
