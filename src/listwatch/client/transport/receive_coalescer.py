"""Lets the system gather what comes, where it is much and wanted as a whole. `exchange` reads the initial events so.

Servers send those one by one, and to wake up for each takes several times as long as to read it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

__all__ = ["Gathering"]

_MUCH = 2**18  # bytes; who sends less is not to be held up
_ENOUGH = 2**17  # bytes to wake up for
_LONGEST = 0.005  # seconds without a wake-up. Time as the event loop has it: this is about when it wakes up.


class Gathering:
    """Once much has come, lets a connection be read when enough is there, or after some milliseconds."""

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        self._came = 0
        self._alarm: asyncio.TimerHandle | None = None

    def saw(self, size: int) -> None:
        """So many bytes were read; more may gather."""
        self._came += size
        if self._came > _MUCH:
            if self._alarm:
                self._alarm.cancel()
            self._wake_for(_ENOUGH)
            self._alarm = self._loop.call_later(_LONGEST, self._wake_for, 1)

    def stop(self) -> None:
        """Let whatever comes be read as soon as it comes."""
        if self._alarm:
            self._alarm.cancel()
            self._wake_for(1)

    def _wake_for(self, size: int) -> None:
        if self._socket is None or self._transport.is_closing():
            return
        with suppress(OSError, AttributeError):  # not every system can do this
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
