"""Reads the keys of a terminal without waiting for Enter."""

from __future__ import annotations

import asyncio
import os
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["keyboard", "split_keys"]

_SEQUENCES = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x1b[H": "home",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x1b[F": "end",
    "\x1bOF": "end",
    "\x1b[4~": "end",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
}
_CHARACTERS = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
    "\x15": "clear",
}
_LONGEST = max(map(len, _SEQUENCES))


def split_keys(text: str) -> Iterator[str]:
    """The keys of what a terminal sent: characters, and names such as `up` and `enter`."""
    position = 0
    while position < len(text):
        for length in range(min(_LONGEST, len(text) - position), 1, -1):
            if (sequence := text[position : position + length]) in _SEQUENCES:
                yield _SEQUENCES[sequence]
                break
        else:
            length, character = 1, text[position]
            if character == "\x1b" and (unknown := _unknown_sequence(text, position)):
                length = unknown
            elif character in _CHARACTERS:
                yield _CHARACTERS[character]
            elif character.isprintable():
                yield character
        position += length


def _unknown_sequence(text: str, start: int) -> int:
    """The length of a control sequence that is none of ours; 0 if there is none."""
    if text[start + 1 : start + 2] not in ("[", "O"):
        return 0
    for position in range(start + 2, len(text)):
        if "@" <= text[position] <= "~":
            return position + 1 - start
    return len(text) - start


@contextmanager
def keyboard(descriptor: int) -> Iterator[asyncio.Queue[str]]:
    """A queue of the keys that are pressed within this block. Ctrl-C still interrupts the program."""
    pressed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    before = termios.tcgetattr(descriptor)

    def read() -> None:
        data = os.read(descriptor, 1024)
        if not data:
            loop.remove_reader(descriptor)  # the terminal was closed
        for key in split_keys(data.decode(errors="ignore")):
            pressed.put_nowait(key)

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read)
    try:
        yield pressed
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
