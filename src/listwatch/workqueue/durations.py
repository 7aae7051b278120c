"""Counts how long things took, as a histogram. `queue_state.py` keeps two: for waiting and for working."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["BOUNDS", "DurationSummary", "Durations"]

BOUNDS = tuple(10.0**exponent for exponent in range(-8, 2))
"""The upper bounds of the buckets in seconds: 10 ns, 100 ns, … 10 s."""


@dataclass(frozen=True, slots=True)
class DurationSummary:
    """How often something was measured, how long it took altogether, and how long at most."""

    count: int
    total: float
    longest: float
    buckets: tuple[int, ...]
    """How many took no longer than each of `BOUNDS`."""

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


class Durations:
    """Remembers the distribution of durations, and none of them alone."""

    __slots__ = ("_counts", "_longest", "_total")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._total = 0.0
        self._longest = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._total += seconds
        if seconds > self._longest:
            self._longest = seconds

    def summary(self) -> DurationSummary:
        *buckets, count = accumulate(self._counts)
        return DurationSummary(count, self._total, self._longest, tuple(buckets))
