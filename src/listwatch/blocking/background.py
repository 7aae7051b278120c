"""The one event loop behind all blocking clients of a process, in a thread that is there while one of them is.

    Lease ──▶ BackgroundLoop ──▶ LoopThread      counted: the first call starts the thread, the last lease ends it

`face.py` makes the calls.
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
from typing import Any, TypeVar

from listwatch.errors import UsageError

__all__ = ["BackgroundLoop", "Lease", "LoopThread", "check_not_in_a_loop"]

R = TypeVar("R")

_log = logging.getLogger(__name__)

# A signal may reach another thread of the process, and then wakes nobody: its handler, Ctrl-C included, is called when
# the main thread next does something.
_NAP = 0.25

# A handler that never returns must not keep a program from ending.
_LAST_WAIT = 2.0


class LoopThread(threading.Thread):
    """An event loop in a daemon thread, from `start` to `end`; what runs then is cancelled."""

    def __init__(self) -> None:
        super().__init__(name="listwatch event loop", daemon=True)
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()

    def run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            while not self._ending.is_set():
                try:
                    runner.run(self._serve())
                except (SystemExit, KeyboardInterrupt) as error:
                    # Whoever waits for the call that raised it has it as well; everybody else still needs the loop.
                    _log.warning("a function called in the event loop of blocking clients raised %r", error)

    async def _serve(self) -> None:
        await self._ending.wait()

    def submit(self, coroutine: Coroutine[Any, Any, R]) -> Future[R]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call_soon(self, function: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(function)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ending.set)


class BackgroundLoop:
    """Starts a loop when it is first needed, and ends it when nobody has a lease any more."""

    def __init__(self) -> None:
        # Reentrant: the garbage collector may give back a lease in the middle of anything.
        self._lock = threading.RLock()
        self._leases = 0
        self._thread: LoopThread | None = None

    def acquire(self) -> None:
        with self._lock:
            self._leases += 1

    def submit(self, coroutine: Coroutine[Any, Any, R]) -> Future[R]:
        """Run it; what was submitted before the end is finished or cancelled, never forgotten."""
        with self._lock:
            if self._thread is None:
                self._thread = LoopThread()
                self._thread.start()
            return self._thread.submit(coroutine)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call it in the loop's thread; without a loop there is nothing to call it for."""
        with self._lock:
            if self._thread is not None:
                self._thread.call_soon(function)

    def release(self, timeout: float | None = None) -> None:
        """Give back a lease; with the last one, end the loop and wait for that."""
        with self._lock:
            self._leases -= 1
            thread = self._detach() if self._leases == 0 else None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def abandon(self, clean_up: Callable[[], Awaitable[object]]) -> None:
        """Give back a lease whose owner was forgotten instead of closed; waits for nothing."""
        with self._lock:
            if self._thread is not None:
                done = self._thread.submit(_awaited(clean_up))
                done.add_done_callback(lambda _: self.release(timeout=0))
                return
        self.release()

    def end(self) -> None:
        """End the loop, whoever still uses it: the program is over."""
        with self._lock:
            thread = self._detach()
        if thread is not None:
            thread.join(_LAST_WAIT)

    def forget(self) -> None:
        """Begin anew in a forked process, which has none of the threads of its parent."""
        self.__init__()  # type: ignore[misc]  # all of its state is of the parent

    def _detach(self) -> LoopThread | None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.end()
        return thread


_BACKGROUND = BackgroundLoop()
atexit.register(_BACKGROUND.end)
os.register_at_fork(after_in_child=_BACKGROUND.forget)


class Lease:
    """What one client has of the background loop: calls go through it until it is closed, or forgotten."""

    def __init__(self, owner: str, clean_up: Callable[[], Awaitable[object]]) -> None:
        self._owner = owner
        self._process = os.getpid()
        _BACKGROUND.acquire()
        self._forgotten = weakref.finalize(self, _BACKGROUND.abandon, clean_up)
        self._forgotten.atexit = False

    @property
    def is_open(self) -> bool:
        return self._forgotten.alive and self._process == os.getpid()

    def wait(self, make: Callable[[], Awaitable[R]], *, doing: str) -> R:
        """What the coroutine returns; whatever ends the waiting early, as Ctrl-C does, cancels it."""
        self._check(doing)
        waiting = _BACKGROUND.submit(_awaited(make))
        try:
            return _result(waiting)
        except CancelledError:
            raise UsageError(f"{doing} was cancelled: {self._owner} was closed meanwhile") from None
        except BaseException:
            waiting.cancel()
            raise

    def begin(self, make: Callable[[], Awaitable[object]], *, doing: str) -> None:
        """Have it done without waiting for it."""
        self._check(doing)
        _BACKGROUND.submit(_awaited(make))

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call it in the loop's thread, if there is one still; from any thread, and waits for nothing."""
        if self.is_open:
            _BACKGROUND.call_soon(function)

    def close(self) -> None:
        """Give it back; closing twice does nothing."""
        if self._process == os.getpid() and self._forgotten.detach() is not None:
            _BACKGROUND.release()

    def _check(self, doing: str) -> None:
        if self._process != os.getpid():
            raise UsageError(f"{self._owner} was made before this process was forked: make another one in here")
        if not self._forgotten.alive:
            raise UsageError(f"{self._owner} is closed: {doing} cannot be called any more")
        check_not_in_a_loop(doing)


def check_not_in_a_loop(doing: str) -> None:
    """Refuse to wait in a thread whose event loop would stand still meanwhile."""
    if _is_in_a_loop():
        raise UsageError(
            f"blocking.{doing} would hold up the event loop that runs in this thread; "
            f"use listwatch.{doing.partition('.')[0]} here, with `await`"
        )


def _result(waiting: Future[R]) -> R:
    while True:
        try:
            return waiting.result(timeout=_NAP)
        except TimeoutError:
            if waiting.done():  # then the error may be its own
                return waiting.result()


async def _awaited(make: Callable[[], Awaitable[R]]) -> R:
    return await make()


def _is_in_a_loop() -> bool:
    """Whether this thread has an event loop that must not wait. A notebook's waits for every cell anyway."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    in_background = isinstance(threading.current_thread(), LoopThread)
    return in_background or "ipykernel" not in sys.modules
