"""Handles the signals that stop a program: SIGTERM from a kubelet, SIGINT from a keyboard."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["STOP_SIGNALS", "handling_stop_signals"]

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def handling_stop_signals(action: Callable[[], None]) -> Iterator[None]:
    """Call the action in the running loop for each stop signal within this block.

    Python handles signals only in the main thread; in any other thread this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    previous: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}
    for each in STOP_SIGNALS:
        with suppress(NotImplementedError):  # event loops on Windows
            previous[each] = signal.getsignal(each)
            loop.add_signal_handler(each, action)
    try:
        yield
    finally:
        for each, handler in previous.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(each)
                signal.signal(each, handler)
