"""The caller of the current code: its task, and the thread that waits for that task in the blocking API.

A component that waits for a call of user code to end compares its caller: user code that waits for its own end would
wait forever. Another task or thread that user code starts may wait: it is not the call itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Never

from listwatch.errors import UsageError

__all__ = ["Caller", "SelfWaitError", "begin_thread_wait", "end_thread_wait", "is_caller", "waiting_thread"]


class SelfWaitError(UsageError):
    """User code waits for its own end."""


Caller = asyncio.Task[object] | threading.Thread

AnyCoroutine = Coroutine[object, Never, object]

# Only a task knows the coroutine that it runs, so that tasks which that coroutine creates are not mistaken for it.
_waiting_threads: dict[AnyCoroutine, threading.Thread] = {}


def begin_thread_wait(coroutine: AnyCoroutine) -> None:
    """Declare that this thread waits for the result of a coroutine, which runs in the event loop of another thread."""
    _waiting_threads[coroutine] = threading.current_thread()


def end_thread_wait(coroutine: AnyCoroutine) -> None:
    _waiting_threads.pop(coroutine, None)


def waiting_thread() -> threading.Thread | None:
    """Return the thread that waits for the current task, if one does."""
    task = asyncio.current_task()
    coroutine = None if task is None else task.get_coro()
    return _waiting_threads.get(coroutine) if isinstance(coroutine, Coroutine) else None


def is_caller(caller: Caller | None) -> bool:
    """Return whether the current code runs in this task, or this thread waits for it."""
    return caller is not None and (caller is asyncio.current_task() or caller is waiting_thread())
