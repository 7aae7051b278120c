"""What a process can say of itself: its memory, and how long its event loop was held."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Stalls", "memory", "stalls"]


def memory(name: str) -> float:
    """Bytes: `VmRSS` is resident now, `VmHWM` was resident at most."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0.0


class Stalls:
    """Looks at the clock again and again, and notices how long others held the event loop in between.

    By the clock, and in time that this thread had the processor: what other programs took away is not the loop's fault.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._last = _now()
        self._longest = (0.0, 0.0)

    def longest(self, name: str) -> dict[str, float]:
        """Seconds of the longest stalls so far."""
        self._look()
        return {f"{name}_stall": self._longest[0], f"{name}_stall_cpu": self._longest[1]}

    def _wake(self) -> None:
        # A task that sleeps would cost more, which is not to be counted as the work of an informer.
        self._look(self._period)
        self._timer = asyncio.get_running_loop().call_later(self._period, self._wake)

    def _look(self, slept: float = 0.0) -> None:
        (clock, processor), (last_clock, last_processor) = _now(), self._last
        self._longest = (
            max(self._longest[0], clock - last_clock - slept),
            max(self._longest[1], processor - last_processor),
        )
        self._last = clock, processor


@contextmanager
def stalls(period: float = 0.001) -> Iterator[Stalls]:
    """Looks for them while inside; at a price, so only where they are wanted."""
    looking = Stalls(period)
    looking._wake()
    try:
        yield looking
    finally:
        looking._timer.cancel()


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.thread_time()
