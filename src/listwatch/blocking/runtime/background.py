"""The event loop behind all blocking objects of a process. It runs in a daemon thread.

    LoopReference ──▶ BackgroundLoop ──▶ LoopThread

References are counted: the first call starts the thread, closing the last reference ends it.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import TypeVar

from listwatch.errors import UsageError
from listwatch.tasks.callers import begin_thread_wait, end_thread_wait

__all__ = ["BackgroundLoop", "LoopReference", "LoopThread", "check_may_block"]

R = TypeVar("R")

_log = logging.getLogger("listwatch.blocking")

# A signal may be delivered to another thread. Python runs its handler, Ctrl-C included, only when the main thread
# executes again, so a waiting thread wakes up this often.
_SIGNAL_CHECK_INTERVAL = 0.25

# A handler that never returns must not keep the process from exiting.
_EXIT_TIMEOUT = 2.0


class LoopThread(threading.Thread):
    """A daemon thread with an event loop, from `start` to `end`. Tasks that still run at the end are cancelled."""

    def __init__(self) -> None:
        super().__init__(name="listwatch event loop", daemon=True)
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            while not self._ending.is_set():
                try:
                    runner.run(self._wait_for_end())
                except (SystemExit, KeyboardInterrupt) as error:
                    # The caller that waits for the result receives it too; other callers still need the loop.
                    fields = {"reason": repr(error)}
                    _log.warning("A function in the background event loop raised %r", error, extra=fields)

    async def _wait_for_end(self) -> None:
        await self._ending.wait()

    def submit(self, coroutine: Coroutine[object, object, R]) -> Future[R]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call_soon(self, function: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(function)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)


class BackgroundLoop:
    """Starts the loop thread with the first call and ends it with the last reference."""

    def __init__(self) -> None:
        # Reentrant: the garbage collector can release a reference in the middle of any call.
        self._lock = threading.RLock()
        self._references = 0
        self._thread: LoopThread | None = None

    def acquire(self) -> None:
        with self._lock:
            self._references += 1

    def submit(self, coroutine: Coroutine[object, object, R]) -> Future[R]:
        """Run a coroutine. If the loop ends first, the coroutine is cancelled."""
        with self._lock:
            if self._thread is None:
                self._thread = LoopThread()
                self._thread.start()
            return self._thread.submit(coroutine)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function in the loop's thread; does nothing if there is no loop."""
        with self._lock:
            if self._thread is not None:
                self._thread.call_soon(function)

    def release(self, timeout: float | None = None) -> None:
        """Release a reference; the last one ends the loop and waits for its thread."""
        with self._lock:
            self._references -= 1
            thread = self._detach() if self._references == 0 else None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def release_later(self, clean_up: Callable[[], Awaitable[object]]) -> None:
        """Clean up after an object that was garbage-collected without being closed, then release its reference."""
        with self._lock:
            if self._thread is not None:
                done = self._thread.submit(_await(clean_up))
                done.add_done_callback(lambda _: self.release(timeout=0))
                return
        self.release()

    def end(self) -> None:
        """End the loop at the exit of the process, whatever still uses it."""
        with self._lock:
            thread = self._detach()
        if thread is not None:
            thread.join(_EXIT_TIMEOUT)

    def reset(self) -> None:
        """Start over in a forked process, which has no threads of its parent."""
        self.__init__()  # type: ignore[misc]  # all state belongs to the parent

    def _detach(self) -> LoopThread | None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()
        return thread


_BACKGROUND = BackgroundLoop()
atexit.register(_BACKGROUND.end)
os.register_at_fork(after_in_child=_BACKGROUND.reset)


class LoopReference:
    """A counted reference to the background loop, through which a blocking object makes its calls.

    It is released by `close`, or when it is garbage-collected; `clean_up` then runs in the loop.
    """

    def __init__(self, owner: str, clean_up: Callable[[], Awaitable[object]]) -> None:
        self._owner = owner
        self._process = os.getpid()
        _BACKGROUND.acquire()
        self._finalizer = weakref.finalize(self, _BACKGROUND.release_later, clean_up)
        self._finalizer.atexit = False

    @property
    def is_open(self) -> bool:
        return self._finalizer.alive and self._process == os.getpid()

    def run(self, coroutine: Coroutine[object, object, R], name: str) -> R:
        """Run a coroutine and return its result. An exception in this thread, such as Ctrl-C, cancels it."""
        self._check(coroutine, name)
        begin_thread_wait(coroutine)
        try:
            return self._run(coroutine, name)
        finally:
            end_thread_wait(coroutine)

    def _run(self, coroutine: Coroutine[object, object, R], name: str) -> R:
        future: Future[R] | None = None
        try:
            future = _BACKGROUND.submit(coroutine)
            return _result(future)
        except CancelledError:
            raise UsageError(f"{name} was cancelled because {self._owner} was closed") from None
        except BaseException:
            if future is not None:
                future.cancel()
            else:  # Ctrl-C before `submit` has returned; the coroutine may run already
                _BACKGROUND.call_soon(lambda: _cancel(coroutine))
            raise

    def call(self, function: Callable[[], R], name: str) -> R:
        """Call a function in the loop's thread and return its result."""
        return self.run(_call(function), name)

    def start(self, coroutine: Coroutine[object, object, object], name: str) -> None:
        """Run a coroutine without waiting for it."""
        self._check(coroutine, name)
        _BACKGROUND.submit(coroutine)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function in the loop's thread without waiting; does nothing after `close`. Safe in any thread."""
        if self.is_open:
            _BACKGROUND.call_soon(function)

    def close(self) -> None:
        """Release the reference. Closing twice does nothing."""
        if self._process == os.getpid() and self._finalizer.detach() is not None:
            _BACKGROUND.release()

    def _check(self, coroutine: Coroutine[object, object, object], name: str) -> None:
        try:
            if self._process != os.getpid():
                raise UsageError(f"{self._owner} was created before this process was forked; create a new one here")
            if not self._finalizer.alive:
                raise UsageError(f"{name} failed: {self._owner} is closed")
            check_may_block(name)
        except UsageError:
            coroutine.close()
            raise


def check_may_block(name: str) -> None:
    """Raise UsageError if this thread runs an event loop, which a blocking call would stop."""
    if _runs_event_loop():
        raise UsageError(
            f"blocking.{name} would block the event loop that runs in this thread; "
            f"use listwatch.{name.partition('.')[0]} with `await` instead"
        )


def _cancel(coroutine: Coroutine[object, object, object]) -> None:
    """Cancel the task of a coroutine; in the thread of the loop."""
    for task in asyncio.all_tasks():
        if task.get_coro() is coroutine:
            task.cancel()


def _result(future: Future[R]) -> R:
    while True:
        try:
            return future.result(timeout=_SIGNAL_CHECK_INTERVAL)
        except TimeoutError:
            if future.done():  # then the coroutine itself may have raised TimeoutError
                return future.result()


async def _await(function: Callable[[], Awaitable[R]]) -> R:
    return await function()


async def _call(function: Callable[[], R]) -> R:
    return function()


def _runs_event_loop() -> bool:
    """Whether this thread runs an event loop that must not be blocked. Notebooks block theirs in every cell."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    in_background = isinstance(threading.current_thread(), LoopThread)
    return in_background or "ipykernel" not in sys.modules
