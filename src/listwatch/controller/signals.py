"""Hears the signals by which a program is told to end: SIGTERM from a kubelet, SIGINT from a keyboard."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["ENDING", "on_ending_signals"]

ENDING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def on_ending_signals(action: Callable[[], None]) -> Iterator[None]:
    """Call the action, in the running loop, for each such signal within this block.

    Only a program's main thread hears signals; in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}
    for each in ENDING:
        with suppress(NotImplementedError):  # a system whose loops cannot
            before[each] = signal.getsignal(each)
            loop.add_signal_handler(each, action)
    try:
        yield
    finally:
        for each, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(each)
                signal.signal(each, handler)
