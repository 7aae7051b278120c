"""How tasks end: when they are told to, whatever the functions of a program that they call make of that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

__all__ = ["cancel_and_wait", "log_end", "until_cancelled", "waited_in_vain"]

_log = logging.getLogger("listwatch.informer")


async def until_cancelled(*, then: Callable[[], object]) -> None:
    """Wait in a task group for its end, to say so to tasks that call functions which may hide a cancellation."""
    try:
        await asyncio.Event().wait()
    finally:
        then()


def waited_in_vain(who: str, error: asyncio.CancelledError) -> Exception:
    """What to report of somebody who waited for something which was cancelled; raises if this task was itself."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise error
    report = RuntimeError(f"{who} waited for something that was cancelled")
    report.__cause__ = error
    return report


async def cancel_and_wait(task: asyncio.Task[None]) -> None:
    """End a task; raises what had ended it before."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()


def log_end(task: asyncio.Task[None]) -> None:
    """Say that something ended in the background by an error, since whoever began it may never ask."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("the %s ended", task.get_name(), exc_info=error)
