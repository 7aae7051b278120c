"""Durations and ages as kube-apiserver prints them: 45s, 3m20s, 5h12m, 12d, 2y40d."""

from __future__ import annotations

from datetime import datetime

__all__ = ["UNKNOWN", "duration_text", "seconds_between", "since_text"]

UNKNOWN = "<unknown>"
_INVALID = "<invalid>"


def since_text(timestamp: str, now: datetime) -> str:
    """Return the time since a timestamp of the API; `<unknown>` for an empty one."""
    return duration_text(seconds_between(timestamp, now)) if timestamp else UNKNOWN


def seconds_between(start: str | datetime, end: str | datetime) -> float:
    return (_moment(end) - _moment(start)).total_seconds()


def duration_text(duration: float) -> str:
    """Return a duration in seconds with at most two units, fewer the longer it is.

    Clocks may differ by a second: a duration that is slightly negative is 0s, an earlier one is invalid.
    """
    seconds = int(duration)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < -1:
        return _INVALID
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    if minutes < 10:
        return _two_units(minutes, "m", seconds % 60, "s")
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return _two_units(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two_units(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _two_units(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two_units(larger: int, unit: str, rest: int, smaller_unit: str) -> str:
    return f"{larger}{unit}{rest}{smaller_unit}" if rest else f"{larger}{unit}"


def _moment(time: str | datetime) -> datetime:
    return datetime.fromisoformat(time) if isinstance(time, str) else time
