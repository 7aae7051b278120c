"""Cancellation helpers that tolerate user code which swallows CancelledError."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

__all__ = ["cancel_and_wait", "cancelled_wait", "is_being_cancelled", "log_task_failure", "until_cancelled"]


async def until_cancelled(*, then: Callable[[], object]) -> None:
    """Wait in a task group until it is cancelled, then call a function that stops tasks which may swallow it."""
    try:
        await asyncio.Event().wait()
    finally:
        then()


def is_being_cancelled() -> bool:
    """Return whether the current task was cancelled, even if a function that it called swallowed the exception."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def cancelled_wait(component: str, error: asyncio.CancelledError) -> Exception:
    """Return the error of a component that awaited something cancelled; raises if the current task was cancelled."""
    if is_being_cancelled():
        raise error
    report = RuntimeError(f"{component} awaited something that was cancelled")
    report.__cause__ = error
    return report


async def cancel_and_wait(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end; raises the exception that ended it before."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def log_task_failure(logger: str) -> Callable[[asyncio.Task[None]], None]:
    """Return a callback for background tasks that logs the exception of a failed task, which may never be awaited."""

    def log(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            what = str(error) or repr(error)
            fields = {"task": task.get_name()}
            logging.getLogger(logger).error("Task %s failed: %s", task.get_name(), what, exc_info=error, extra=fields)

    return log
