"""Timestamps and durations: parsing, formatting, parts and arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TypeVar
from zoneinfo import ZoneInfo

from listwatch.server.cel.declarations import Functions, Overload, function, method
from listwatch.server.cel.type_system import DURATION, INT, STRING, TIMESTAMP
from listwatch.server.cel.values import CELError, Duration, Timestamp

__all__ = [
    "TIMES",
    "TIME_CONVERSIONS",
    "duration_text",
    "parse_date",
    "parse_duration",
    "parse_timestamp",
    "shifted",
    "timestamp_text",
]

_SECOND = 10**9
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -62135596800 * _SECOND
_LAST = 253402300800 * _SECOND
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_MAX_DIGITS = 64
"""More are not a duration, and Python limits the digits of an integer."""
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_OFFSET = re.compile(r"([+-]?)([0-9]{1,2}):([0-9]{2})")

T = TypeVar("T", Timestamp, Duration)


def parse_duration(text: str) -> Duration:
    """Parse a duration as Go writes them: `1h30m`, `-1.5s`. Raises CELError."""
    problem = CELError("type conversion error from 'string' to 'google.protobuf.Duration'")
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    if rest == "0":
        return Duration(0)
    total, position = 0, 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if not match or not (match[1] or match[2]) or len(match[0]) > _MAX_DIGITS:
            raise problem
        fraction = match[2] or ""
        total += (
            (int(match[1] or 0) * 10 ** len(fraction) + int(fraction or 0)) * _UNITS[match[3]] // 10 ** len(fraction)
        )
        position = match.end()
    if not rest or total >= 2**63:
        raise problem
    return Duration(-total if text.startswith("-") else total)


def parse_timestamp(text: str) -> Timestamp:
    """Parse a time of RFC 3339. Raises CELError."""
    match = _TIMESTAMP.fullmatch(text)
    try:
        if not match:
            raise ValueError
        moment = datetime(*(int(each) for each in match.groups()[:6]), tzinfo=UTC)  # type: ignore[misc, arg-type]  # six numbers
    except ValueError:
        raise CELError("type conversion error from 'string' to 'google.protobuf.Timestamp'") from None
    nanoseconds = int((match[7] or "").ljust(9, "0")[:9])
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    if match[8] not in ("Z", "z"):
        sign = -1 if match[8][0] == "-" else 1
        seconds -= sign * (int(match[8][1:3]) * 3600 + int(match[8][4:]) * 60)
    return _checked(Timestamp(seconds * _SECOND + nanoseconds))


def parse_date(text: str) -> Timestamp:
    """Parse a date such as 2026-11-17. Raises CELError."""
    return parse_timestamp(f"{text}T00:00:00Z")


def _checked(moment: Timestamp) -> Timestamp:
    if not _FIRST <= moment.nanoseconds < _LAST:
        raise CELError("timestamp overflow")
    return moment


def shifted(moment: T, by: Duration, sign: int) -> T:
    nanoseconds = moment.nanoseconds + sign * by.nanoseconds
    if isinstance(moment, Timestamp):
        return _checked(Timestamp(nanoseconds))
    if not -(2**63) <= nanoseconds < 2**63:
        raise CELError("duration overflow")
    return Duration(nanoseconds)


def duration_text(duration: Duration) -> str:
    """Return seconds: `90s`, `0.5s`."""
    sign = "-" if duration.nanoseconds < 0 else ""
    seconds, rest = divmod(abs(duration.nanoseconds), _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{sign}{seconds}{fraction}s"


def timestamp_text(moment: Timestamp) -> str:
    seconds, rest = divmod(moment.nanoseconds, _SECOND)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"


def _in_zone(moment: Timestamp, zone: str = "") -> datetime:
    found = _EPOCH + timedelta(microseconds=moment.nanoseconds // 1000)
    return found.astimezone(_zone(zone)) if zone else found


def _zone(name: str) -> tzinfo:
    if match := _OFFSET.fullmatch(name):
        minutes = int(match[2]) * 60 + int(match[3])
        return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise CELError(f"unknown time zone {name}") from None


def _part(name: str, read: Callable[[datetime], int]) -> tuple[Overload, ...]:
    def call(moment: Timestamp, zone: str = "") -> int:
        return read(_in_zone(moment, zone))

    return (
        method(f"timestamp_to_{name}", (TIMESTAMP,), INT, call),
        method(f"timestamp_to_{name}_with_tz", (TIMESTAMP, STRING), INT, call),
    )


def _amount(name: str, unit: int) -> Overload:
    def call(duration: Duration) -> int:
        return int(duration.nanoseconds / unit) if unit > 1 else duration.nanoseconds

    return method(f"duration_to_{name}", (DURATION,), INT, call)


def _milliseconds(duration: Duration) -> int:
    return int(duration.nanoseconds / 10**6)


TIMES: Functions = {
    "getFullYear": _part("year", lambda moment: moment.year),
    "getMonth": _part("month", lambda moment: moment.month - 1),
    "getDayOfYear": _part("day_of_year", lambda moment: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": _part("day_of_month", lambda moment: moment.day - 1),
    "getDate": _part("day_of_month_1_based", lambda moment: moment.day),
    "getDayOfWeek": _part("day_of_week", lambda moment: (moment.weekday() + 1) % 7),
    "getHours": (*_part("hours", lambda moment: moment.hour), _amount("hours", 3600 * _SECOND)),
    "getMinutes": (*_part("minutes", lambda moment: moment.minute), _amount("minutes", 60 * _SECOND)),
    "getSeconds": (*_part("seconds", lambda moment: moment.second), _amount("seconds", _SECOND)),
    "getMilliseconds": (
        *_part("milliseconds", lambda moment: moment.microsecond // 1000),
        method("duration_to_milliseconds", (DURATION,), INT, _milliseconds),
    ),
}

TIME_CONVERSIONS: Mapping[str, tuple[Overload, ...]] = {
    "timestamp": (
        function("timestamp_to_timestamp", (TIMESTAMP,), TIMESTAMP, lambda value: value),
        function("int64_to_timestamp", (INT,), TIMESTAMP, lambda value: _checked(Timestamp(value * _SECOND))),
        function("string_to_timestamp", (STRING,), TIMESTAMP, parse_timestamp),
    ),
    "duration": (
        function("duration_to_duration", (DURATION,), DURATION, lambda value: value),
        function("int64_to_duration", (INT,), DURATION, Duration),
        function("string_to_duration", (STRING,), DURATION, parse_duration),
    ),
    "int": (
        function("timestamp_to_int64", (TIMESTAMP,), INT, lambda value: value.nanoseconds // _SECOND),
        function("duration_to_int64", (DURATION,), INT, lambda value: value.nanoseconds),
    ),
    "string": (
        function("timestamp_to_string", (TIMESTAMP,), STRING, timestamp_text),
        function("duration_to_string", (DURATION,), STRING, duration_text),
    ),
}
