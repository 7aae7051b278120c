"""Schedules of CronJobs: `*/5 * * * *`, `@hourly`, `0 3 * * mon-fri`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from listwatch.errors import UsageError

__all__ = ["CronSchedule"]

_SHORT = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MAX_DAYS = 366 * 9


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """The minutes at which a Job is due, in a time zone."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    """Whether the day of the month or of the week is not restricted: then the other one alone decides."""
    zone: tzinfo

    @classmethod
    def parse(cls, text: str, zone: tzinfo) -> CronSchedule:
        """Read a schedule; UsageError if it is not valid."""
        fields = _SHORT.get(text.strip(), text).split()
        if len(fields) != 5:
            raise UsageError(f"the schedule {text!r} does not have five fields")
        try:
            return cls(
                minutes=_values(fields[0], 0, 59),
                hours=_values(fields[1], 0, 23),
                days=_values(fields[2], 1, 31),
                months=_values(fields[3], 1, 12, _MONTHS, 1),
                weekdays=frozenset(day % 7 for day in _values(fields[4], 0, 7, _DAYS, 0)),
                any_day=any(field.startswith(("*", "?")) for field in (fields[2], fields[4])),
                zone=zone,
            )
        except ValueError:
            raise UsageError(f"the schedule {text!r} is not valid") from None

    def after(self, moment: datetime) -> datetime | None:
        """The first due time after a moment; None if there is none in the next years."""
        local = moment.astimezone(self.zone).replace(second=0, microsecond=0) + timedelta(minutes=1)
        day = local.date()
        for _ in range(_MAX_DAYS):
            if day.month in self.months and self._matches_day(day.day, (day.weekday() + 1) % 7):
                for hour, minute in self._times():
                    due = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.zone)
                    if due >= local and due > moment:
                        return due.astimezone(moment.tzinfo)
            day += timedelta(days=1)
        return None

    def _times(self) -> Iterator[tuple[int, int]]:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                yield hour, minute

    def _matches_day(self, day: int, weekday: int) -> bool:
        in_month, in_week = day in self.days, weekday in self.weekdays
        return in_month and in_week if self.any_day else in_month or in_week


def _values(text: str, low: int, high: int, names: tuple[str, ...] = (), first: int = 0) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        start, dash, end = span.partition("-")
        if start in ("*", "?"):
            begin, last = low, high
        else:
            begin = _number(start, names, first)
            last = _number(end, names, first) if dash else high if step else begin
        if not low <= begin <= last <= high or (step and int(step) < 1):
            raise ValueError(text)
        found.update(range(begin, last + 1, int(step or 1)))
    return frozenset(found)


def _number(text: str, names: tuple[str, ...], first: int) -> int:
    return names.index(text.lower()) + first if text.lower() in names else int(text)
