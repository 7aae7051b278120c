"""Who has much to do lets others have a turn now and then: the event loop belongs to the whole program."""

from __future__ import annotations

import asyncio
import time

__all__ = ["Turns"]

_TURN = 0.005
"""Seconds of work in a row, of the time that passes for all: this is about the loop, not about what a program does."""


class Turns:
    """Work without a pause, up to some milliseconds at a time."""

    def __init__(self) -> None:
        self.end = time.monotonic() + _TURN
        """When this one will have been long enough."""

    async def share(self) -> None:
        """Let others have a turn if this one was long; to be called after each piece of work."""
        if time.monotonic() > self.end:
            await asyncio.sleep(0)
            self.end = time.monotonic() + _TURN
