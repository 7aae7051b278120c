"""Who has much to do lets others have a turn now and then: the event loop belongs to the whole program."""

from __future__ import annotations

import asyncio

__all__ = ["Turns"]

_TURN = 0.005
"""Seconds of work in a row. Time as the event loop has it: this is about the loop, not about what a program does."""


class Turns:
    """Work without a pause, up to some milliseconds at a time."""

    def __init__(self) -> None:
        self._time = asyncio.get_running_loop().time
        self._ends = self._time() + _TURN

    @property
    def is_over(self) -> bool:
        """True if this one was long."""
        return self._time() > self._ends

    async def share(self) -> None:
        """Let others have a turn if this one was long; to be called after each piece of work."""
        if self.is_over:
            await asyncio.sleep(0)
            self._ends = self._time() + _TURN
