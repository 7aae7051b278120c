"""Notices when the event loop is held up, and by whom: an async function that waits as if it were a plain one.

It looks from a thread of its own, since nothing in a loop that is held up can. Whoever runs controllers keeps one.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["HeldUp", "watched_loop"]

HeldUp = Callable[["asyncio.Task[Any] | None", str], None]
"""Is told, in the watchdog's thread, which task holds up the loop and where it is."""

_INTERVAL = 1.0

# Whoever is being told of a loop that is held up may take his time, but not the loop's.
_LAST_WAIT = 0.2


@contextmanager
def watched_loop(on_held_up: HeldUp, *, patience: float) -> Iterator[None]:
    """Watch the running loop within this block; report whoever holds it up for longer than `patience` seconds."""
    watchdog = _Watchdog(asyncio.get_running_loop(), on_held_up, patience)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.end()


class _Watchdog(threading.Thread):
    """Asks the loop now and then, and reports once each time that no answer comes in time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_held_up: HeldUp, patience: float) -> None:
        super().__init__(name="listwatch loop watchdog", daemon=True)
        self._loop = loop
        self._loop_thread = threading.get_ident()
        self._on_held_up = on_held_up
        self._patience = patience
        self._ended = threading.Event()
        self._answered = threading.Event()

    def run(self) -> None:
        # The loop may have been closed without a word.
        with suppress(RuntimeError):
            while not self._ended.wait(min(self._patience, _INTERVAL)):
                self._ask()

    def end(self) -> None:
        self._ended.set()
        self._answered.set()
        self.join(_LAST_WAIT)

    def _ask(self) -> None:
        answered = self._answered = threading.Event()
        self._loop.call_soon_threadsafe(answered.set)
        if self._ended.is_set() or answered.wait(self._patience) or not self._loop.is_running():
            return
        self._on_held_up(asyncio.current_task(self._loop), self._place())
        while not answered.wait(_INTERVAL) and not self._ended.is_set():
            pass

    def _place(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        if frame is None:
            return "an unknown place"
        here = traceback.extract_stack(frame, limit=1)[0]
        return f"{here.filename}:{here.lineno}, in {here.name}"
