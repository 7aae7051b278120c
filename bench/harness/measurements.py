"""What a contender's process measures about itself: memory, stalls of the event loop, percentiles of latencies."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["StallDetector", "detect_stalls", "memory", "percentiles"]


def memory(name: str) -> float:
    """Resident bytes of this process: `VmRSS` now, `VmHWM` at the peak."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0.0


def percentiles(name: str, nanoseconds: list[int]) -> dict[str, float]:
    """Percentiles of durations, in seconds."""
    took, parts = sorted(nanoseconds), {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    return {f"{name}_{suffix}": took[min(int(len(took) * part), len(took) - 1)] / 1e9 for suffix, part in parts.items()}


class StallDetector:
    """Wakes up periodically and records the longest time for which the event loop was blocked in between.

    Measured in wall-clock time and in CPU time of this thread, which excludes time taken by other processes.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._last = _now()
        self._longest = (0.0, 0.0)

    def longest(self, name: str) -> dict[str, float]:
        """The longest stalls so far, in seconds."""
        self._sample()
        return {f"{name}_stall": self._longest[0], f"{name}_stall_cpu": self._longest[1]}

    def _wake(self) -> None:
        # A timer costs less than a sleeping task, and its cost is counted as the informer's.
        self._sample(self._period)
        self._timer = asyncio.get_running_loop().call_later(self._period, self._wake)

    def _sample(self, slept: float = 0.0) -> None:
        (clock, processor), (last_clock, last_processor) = _now(), self._last
        self._longest = (
            max(self._longest[0], clock - last_clock - slept),
            max(self._longest[1], processor - last_processor),
        )
        self._last = clock, processor


@contextmanager
def detect_stalls(period: float = 0.001) -> Iterator[StallDetector]:
    """Run a detector inside the context. It costs CPU time, so use it only where stalls are reported."""
    detector = StallDetector(period)
    detector._wake()
    try:
        yield detector
    finally:
        detector._timer.cancel()


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.thread_time()
