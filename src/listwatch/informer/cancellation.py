"""How tasks end: when they are told to, whatever the functions of a program that they call make of that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

__all__ = ["cancel_and_wait", "is_being_cancelled", "log_end", "until_cancelled", "waited_in_vain"]


async def until_cancelled(*, then: Callable[[], object]) -> None:
    """Wait in a task group for its end, to say so to tasks that call functions which may hide a cancellation."""
    try:
        await asyncio.Event().wait()
    finally:
        then()


def is_being_cancelled() -> bool:
    """Whether this task is to end, also if somebody whom it called has hidden that."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def waited_in_vain(who: str, error: asyncio.CancelledError) -> Exception:
    """What to report of somebody who waited for something which was cancelled; raises if this task was itself."""
    if is_being_cancelled():
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


def log_end(room: str) -> Callable[[asyncio.Task[None]], None]:
    """For tasks in the background: says in the log by which error one ended, since whoever began it may never ask."""

    def log(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            what = str(error) or repr(error)
            logging.getLogger(room).error("the %s ended: %s", task.get_name(), what, exc_info=error)

    return log
