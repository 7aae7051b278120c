"""Decides when a series of equal events of events.k8s.io is written. The core API's are in `correlation.py`.

first ─▶ created     second ─▶ a series of 2     more ─▶ counted here, written every 30 minutes
                                                 silence of 6 minutes ─▶ the last count, and the series is over
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

_OVER_AFTER: Final = 360.0
_REFRESH_EVERY: Final = 1800.0


@dataclass(slots=True)
class Series:
    """Events that differ only in when they happened; a series of one is just an event."""

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
    def over_at(self) -> float:
        return self.last_seen + _OVER_AFTER

    def next_due(self) -> float:
        """When it is to be written again, or is over; that is put off by events and by writing, never brought on."""
        return min(self.over_at, self.written + _REFRESH_EVERY) if self.is_unwritten else self.over_at


class SeriesCorrelator:
    """The series that are under way, each known by everything but its message and its time."""

    def __init__(self) -> None:
        self._series: dict[Hashable, Series] = {}
        self._due_times: list[tuple[float, int, Hashable, Series]] = []
        self._begun = 0

    def observe(self, occurrence: Occurrence, *, now: float) -> Series | None:
        """What is to be written at once: an event that is new, or that became a series; None if it is only counted."""
        key = _key(occurrence)
        series = self._series.get(key)
        if series is None or series.over_at <= now:
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
        """What is to be written because of the time; series that are over are forgotten."""
        due = []
        while self.next_due() <= now:
            _, _, key, series = self._due_times[0]
            if series.over_at <= now:
                del self._series[key]
            if series.is_unwritten:
                due.append(_marked(series, now))
        return due

    def unwritten(self, *, now: float) -> list[Series]:
        """Every series with a count that was not written yet."""
        return [_marked(series, now) for series in self._series.values() if series.is_unwritten]

    def next_due(self) -> float:
        """When there will be something due; infinity if nothing is under way."""
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
