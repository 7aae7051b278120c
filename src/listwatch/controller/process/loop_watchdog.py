"""Detects a blocked event loop, and which task blocks it: an async function that calls a blocking operation.

The check runs in its own thread, since nothing in a blocked loop can run.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["OnStall", "watched_loop"]

OnStall = Callable[["asyncio.Task[object] | None", str], None]
"""Called in the watchdog's thread with the task that blocks the loop, and its location."""

_INTERVAL = 1.0

# How long a slow OnStall function may delay the end of the block.
_JOIN_TIMEOUT = 0.2


@contextmanager
def watched_loop(on_stall: OnStall, *, threshold: float) -> Iterator[None]:
    """Watch the running loop within this block; report each time that it is blocked for `threshold` seconds."""
    watchdog = _Watchdog(asyncio.get_running_loop(), on_stall, threshold)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.end()


class _Watchdog(threading.Thread):
    """Schedules a callback in the loop periodically, and reports each stall, in which it does not run in time, once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_stall: OnStall, threshold: float) -> None:
        super().__init__(name="listwatch loop watchdog", daemon=True)
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._on_stall = on_stall
        self._threshold = threshold
        self._ended = threading.Event()
        self._responded = threading.Event()

    def run(self) -> None:
        # The loop may have been closed.
        with suppress(RuntimeError):
            while not self._ended.wait(min(self._threshold, _INTERVAL)):
                self._check()

    def end(self) -> None:
        self._ended.set()
        self._responded.set()
        self.join(_JOIN_TIMEOUT)

    def _check(self) -> None:
        responded = self._responded = threading.Event()
        self._loop.call_soon_threadsafe(responded.set)
        if self._ended.is_set() or responded.wait(self._threshold) or not self._loop.is_running():
            return
        self._on_stall(asyncio.current_task(self._loop), self._location())
        while not responded.wait(_INTERVAL) and not self._ended.is_set():
            pass

    def _location(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        if frame is None:
            return "an unknown location"
        innermost = traceback.extract_stack(frame, limit=1)[0]
        return f"{innermost.filename}:{innermost.lineno}, in {innermost.name}"
