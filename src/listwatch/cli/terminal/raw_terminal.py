"""A terminal whose keys go to a remote program as they are, Ctrl-C included. It is restored in any case."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["is_terminal", "raw_terminal", "terminal_size"]

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def terminal_size(descriptor: int) -> tuple[int, int]:
    """The width and the height of a terminal in characters."""
    size = os.get_terminal_size(descriptor)
    return size.columns, size.lines


@contextmanager
def raw_terminal(descriptor: int, on_resize: Callable[[], object]) -> Iterator[None]:
    """Pass keys on as they are within this block. SIGTERM and SIGHUP end it as a cancellation, to restore the terminal.

    `on_resize` is called when the size of the terminal has changed.
    """
    before = termios.tcgetattr(descriptor)
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    for number in _ENDING:
        loop.add_signal_handler(number, task.cancel)
    loop.add_signal_handler(signal.SIGWINCH, on_resize)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number in (*_ENDING, signal.SIGWINCH):
            loop.remove_signal_handler(number)
