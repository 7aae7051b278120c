"""What a process can say of itself: its memory, and how long its event loop was held."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

__all__ = ["Stalls", "memory"]


def memory(name: str) -> float:
    """Bytes: `VmRSS` is resident now, `VmHWM` was resident at most."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0.0


class Stalls:
    """A task that wakes up every millisecond, and notices how long others held the event loop in between.

    In time that this thread had the processor: what other programs took away is not the loop's fault.
    """

    _PERIOD = 0.001

    def __init__(self) -> None:
        self._last = time.thread_time()
        self._longest = 0.0

    def longest(self) -> float:
        """Seconds of the longest stall since this was last asked."""
        self._look()
        longest, self._longest = self._longest, 0.0
        return longest

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """While inside."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        while True:
            self._look()
            await asyncio.sleep(self._PERIOD)

    def _look(self) -> None:
        now = time.thread_time()
        self._longest = max(self._longest, now - self._last)
        self._last = now
