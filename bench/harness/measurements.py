"""What a contender's process measures: its memory, stalls of the event loop, percentiles, the cost of a server."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ServerCost", "StallDetector", "detect_stalls", "memory", "percentiles"]


def memory(name: str) -> float:
    """Resident bytes of this process: `VmRSS` now, `VmHWM` at the peak."""
    return _memory("self", name)


def _memory(process: int | str, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) * 1024 if found else 0.0


def percentiles(name: str, nanoseconds: list[int]) -> dict[str, float]:
    """Percentiles of durations, in seconds."""
    took, parts = sorted(nanoseconds), {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    return {f"{name}_{suffix}": took[min(int(len(took) * part), len(took) - 1)] / 1e9 for suffix, part in parts.items()}


class ServerCost:
    """CPU time and growth of memory of another process, from now on; the kernel counts CPU time in steps of 10 ms."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak begins again
        self._resident, self._used = _memory(pid, "VmRSS"), self._cpu_seconds()

    def figures(self) -> dict[str, float]:
        grown = _memory(self._pid, "VmHWM") - self._resident
        return {"server_cpu": self._cpu_seconds() - self._used, "server_grown": grown}

    def _cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
