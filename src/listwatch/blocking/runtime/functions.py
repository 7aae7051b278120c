"""Functions whose client is optional, and functions that call back.

The callbacks are plain functions and run in the caller's thread, so they may block.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar

from listwatch.backoff import Backoff
from listwatch.blocking.runtime.blocking_object import BlockingObject, loop_for, unwrap
from listwatch.client.server_side_apply.apply_object import apply as async_apply
from listwatch.client.server_side_apply.apply_object import diff as async_diff
from listwatch.client.server_side_apply.object_diff import ObjectDiff
from listwatch.client.wait.retry_on_conflict import retry_on_conflict as async_retry_on_conflict
from listwatch.client.wait.retry_on_conflict import retry_on_error as async_retry_on_error
from listwatch.clock import Clock, SystemClock
from listwatch.objects.object import Object

__all__ = ["apply", "diff", "finish", "retry_on_conflict", "retry_on_error"]

R = TypeVar("R")
T = TypeVar("T", bound=Object)


def apply(obj: T, *, client: BlockingObject | None, **options: Any) -> T:
    """Apply an object on the background loop."""
    with loop_for(client, "apply") as loop:
        return loop.run(async_apply(obj, client=unwrap(client), **options), "apply")


def diff(obj: Object, *, client: BlockingObject | None, **options: Any) -> ObjectDiff:
    """Compare an object on the background loop."""
    with loop_for(client, "diff") as loop:
        return loop.run(async_diff(obj, client=unwrap(client), **options), "diff")


def retry_on_conflict(change: Callable[[], R], *, backoff: Backoff, clock: Clock | None) -> R:
    """Call `change` in this thread until it raises no ConflictError."""
    waiting = _BlockingClock(clock or SystemClock(), "retry_on_conflict")
    return finish(async_retry_on_conflict(_async(change), backoff=backoff, clock=waiting))


def retry_on_error(
    attempt: Callable[[], R], is_retriable: Callable[[Exception], bool], *, clock: Clock | None, **options: Any
) -> R:
    """Call `attempt` in this thread until it raises no retriable error."""
    waiting = _BlockingClock(clock or SystemClock(), "retry_on_error")
    return finish(async_retry_on_error(_async(attempt), is_retriable, clock=waiting, **options))


def _async(function: Callable[[], R]) -> Callable[[], Coroutine[object, object, R]]:
    async def call() -> R:
        return function()

    return call


class _BlockingClock:
    """A clock whose `sleep` blocks the calling thread."""

    def __init__(self, clock: Clock, caller: str) -> None:
        self._clock = clock
        self._caller = caller

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def now(self) -> datetime:
        return self._clock.now()

    async def sleep(self, delay: float) -> None:
        with loop_for(None, self._caller) as loop:
            loop.run(self._clock.sleep(delay), self._caller)


def finish(coroutine: Coroutine[object, object, R]) -> R:
    """Run a coroutine in this thread; it must not wait for an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: R = end.value
        return result
    coroutine.close()
    raise AssertionError("the coroutine waited for an event loop")
