"""Counts repeated events of events.k8s.io as series, and decides when to write them.

first ─▶ created     second ─▶ a series of 2     more ─▶ counted, written every 30 minutes
                                                 6 minutes without one ─▶ the final count is written, the series ends
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush, heapreplace
from typing import Final

from listwatch.events.occurrence import Occurrence

__all__ = ["Series", "SeriesCorrelator"]

_END_AFTER: Final = 360.0
_REFRESH_EVERY: Final = 1800.0


@dataclass(slots=True)
class Series:
    """Events that differ only in their time; a series of one is a single event."""

    occurrence: Occurrence
    count: int
    last_at: datetime
    last_seen: float
    written: float
    written_count: int = 0

    @property
    def is_repeated(self) -> bool:
        return self.count > 1

    @property
    def is_unwritten(self) -> bool:
        return self.count > self.written_count

    @property
    def ends_at(self) -> float:
        return self.last_seen + _END_AFTER

    def next_due(self) -> float:
        """When to write it again or end it; later events and writes can only postpone that."""
        return min(self.ends_at, self.written + _REFRESH_EVERY) if self.is_unwritten else self.ends_at


class SeriesCorrelator:
    """The active series, keyed by everything but message and time."""

    def __init__(self) -> None:
        self._series: dict[Hashable, Series] = {}
        self._due_times: list[tuple[float, int, Hashable, Series]] = []
        self._begun = 0

    def observe(self, occurrence: Occurrence, *, now: float) -> Series | None:
        """The series to write now: a new event, or one that became a series; None if it is only counted."""
        key = _key(occurrence)
        series = self._series.get(key)
        if series is None or series.ends_at <= now:
            series = self._begin(key, Series(occurrence, 0, occurrence.at, now, now))
        series.count += 1
        series.last_at = occurrence.at
        series.last_seen = now
        return _marked(series, now) if series.count <= 2 else None

    def _begin(self, key: Hashable, series: Series) -> Series:
        self._series[key] = series
        self._begun += 1
        heappush(self._due_times, (series.next_due(), self._begun, key, series))
        return series

    def due(self, *, now: float) -> list[Series]:
        """The series that are due to be written; ended series are removed."""
        due = []
        while self.next_due() <= now:
            _, _, key, series = self._due_times[0]
            if series.ends_at <= now:
                del self._series[key]
            if series.is_unwritten:
                due.append(_marked(series, now))
        return due

    def unwritten(self, *, now: float) -> list[Series]:
        """Every series whose current count is not written yet."""
        return [_marked(series, now) for series in self._series.values() if series.is_unwritten]

    def next_due(self) -> float:
        """When the next series is due; infinity if none is active."""
        while self._due_times:
            noted, number, key, series = self._due_times[0]
            if self._series.get(key) is not series:
                heappop(self._due_times)
            elif (due := series.next_due()) > noted:
                heapreplace(self._due_times, (due, number, key, series))
            else:
                return due
        return math.inf


def _key(occurrence: Occurrence) -> Hashable:
    related = occurrence.related.identity if occurrence.related else None
    regarding = occurrence.regarding.identity
    return (occurrence.type, occurrence.action, occurrence.reason, regarding, related)


def _marked(series: Series, now: float) -> Series:
    series.written = now
    series.written_count = series.count
    return series
