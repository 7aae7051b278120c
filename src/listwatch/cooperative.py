"""Who has much to do lets others have a turn now and then: the event loop belongs to the whole program."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TypeVar

__all__ = ["Turns", "in_turns"]

T = TypeVar("T")

_TURN = 0.005
"""Seconds of work in a row. Time as the event loop has it: this is about the loop, not about what a program does."""


class Turns:
    """Work without a pause, up to some milliseconds at a time."""

    def __init__(self) -> None:
        self.now = asyncio.get_running_loop().time
        self.end = self.now() + _TURN
        """When this one will have been long enough."""

    async def share(self) -> None:
        """Let others have a turn if this one was long; to be called after each piece of work."""
        if self.now() > self.end:
            await asyncio.sleep(0)
            self.end = self.now() + _TURN


async def in_turns(work: Generator[None, None, T]) -> T:
    """What comes of work that is done piece by piece."""
    turns = Turns()
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        await turns.share()
