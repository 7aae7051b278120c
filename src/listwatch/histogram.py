"""Histograms of durations and sizes, with fixed bounds."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

__all__ = ["GROUP", "Histogram", "HistogramSummary"]

GROUP: Final = 256
"""The number of values that are added to the buckets at once, which takes a third of the time of single additions."""


@dataclass(frozen=True, slots=True)
class HistogramSummary:
    """Values by size: their number, sum and maximum, and cumulative counts per bucket."""

    count: int
    total: float
    largest: float
    buckets: tuple[int, ...]
    """For each bound, the number of values that are not larger."""
    bounds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average; 0 if there is no value."""
        return self.total / self.count if self.count else 0.0

    def __add__(self, other: HistogramSummary) -> HistogramSummary:
        """The values of both, which must have the same bounds."""
        buckets = tuple(ours + theirs for ours, theirs in zip(self.buckets, other.buckets, strict=True))
        largest = max(self.largest, other.largest)
        return HistogramSummary(self.count + other.count, self.total + other.total, largest, buckets, self.bounds)


class Histogram:
    """Collects values: one thread adds them, any thread may read the summary."""

    __slots__ = ("_parts", "recent")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.recent: list[float] = []
        """Values since the last `fold`, which replaces the list."""
        self._parts = (HistogramSummary(0, 0.0, 0.0, (0,) * len(bounds), bounds), self.recent)

    def add(self, value: float) -> None:
        self.recent.append(value)
        if len(self.recent) == GROUP:
            self.fold()

    @property
    def count(self) -> int:
        return self._parts[0].count + len(self.recent)

    def fold(self) -> None:
        """Add the recent values to the buckets."""
        summary = self.summary()
        self.recent = []
        self._parts = (summary, self.recent)  # in one step, for readers in other threads

    def summary(self) -> HistogramSummary:
        before, recent = self._parts
        found = sorted(recent)
        if not found:
            return before
        buckets = (
            count + bisect_right(found, bound) for count, bound in zip(before.buckets, before.bounds, strict=True)
        )
        total, largest = before.total + sum(found), max(before.largest, found[-1])
        return HistogramSummary(before.count + len(found), total, largest, tuple(buckets), before.bounds)
