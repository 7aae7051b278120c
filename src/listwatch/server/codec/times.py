"""Parses times as Go's `time.Parse` does with the layouts of Kubernetes, with its errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["LAYOUTS", "TimeError", "parse_time"]

LAYOUTS = {"seconds": "2006-01-02T15:04:05Z07:00", "microseconds": "2006-01-02T15:04:05.000000Z07:00"}
# The elements of both layouts, with the text before each. The fraction is only in the second one.
_ELEMENTS = (("", "2006"), ("-", "01"), ("-", "02"), ("T", "15"), (":", "04"), (":", "05"), ("", "Z07:00"))
_FRACTION = ".000000"
_COMMON = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z", re.ASCII)
_UNNEEDED_FRACTION = re.compile(r"[.,]\d+", re.ASCII)
_NUMBER = re.compile(r"\d\d?", re.ASCII)
_TWO_DIGITS = re.compile(r"\d\d", re.ASCII)
_LIMITS = {"01": (1, 12, "month"), "15": (0, 23, "hour"), "04": (0, 59, "minute"), "05": (0, 59, "second")}


class TimeError(Exception):
    """A text is not a time in the expected layout; the message is that of Go."""


def parse_time(text: str, layout: str) -> datetime:
    """Return the time that a text has, in UTC; raises TimeError."""
    if _COMMON.fullmatch(text) and ("." in text) == (_FRACTION in layout):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    return _Parser(text, layout).parse()


class _Parser:
    """Reads one text, element by element; an error shows the rest of the text where an element does not match."""

    def __init__(self, text: str, layout: str) -> None:
        self._text = text
        self._layout = layout
        self._rest = text
        self._microseconds = 0

    def parse(self) -> datetime:
        elements = [*_ELEMENTS]
        if _FRACTION in self._layout:
            elements.insert(-1, ("", _FRACTION))
        numbers: list[int] = []
        for prefix, element in elements:
            self._skip(prefix)
            match element:
                case "2006":
                    numbers.append(self._read_year())
                case "Z07:00":
                    offset = self._read_offset()
                case ".000000":
                    self._read_fraction()
                case _:
                    numbers.append(self._read_number(element))
        if self._rest:
            raise self._error(f": extra text: {_quoted(self._rest)}")
        year, month, day, hour, minute, second = numbers
        try:
            return datetime(year, month, day, hour, minute, second, self._microseconds, tzinfo=UTC) - offset
        except (ValueError, OverflowError):  # Go has years below 1 and above 9999; the API does not
            raise self._error(": day out of range") from None

    def _skip(self, prefix: str) -> None:
        if not self._rest.startswith(prefix):
            raise self._mismatch(self._rest, prefix)
        self._rest = self._rest[len(prefix) :]

    def _read_year(self) -> int:
        digits = self._rest[:4]
        if not re.fullmatch(r"\d{4}", digits, re.ASCII):
            raise self._mismatch(self._rest, "2006")
        self._rest = self._rest[4:]
        return int(digits)

    def _read_number(self, element: str) -> int:
        # Only hours may have one digit.
        found = (_NUMBER if element == "15" else _TWO_DIGITS).match(self._rest)
        if not found:
            raise self._mismatch(self._rest, element)
        number, self._rest = int(found[0]), self._rest[found.end() :]
        lowest, highest, name = _LIMITS.get(element, (0, 99, ""))
        if not lowest <= number <= highest:
            raise self._error(f": {name} out of range")
        if element == "05" and _FRACTION not in self._layout:
            # A fraction is accepted also where the layout has none.
            fraction = _UNNEEDED_FRACTION.match(self._rest)
            self._set_fraction(fraction[0] if fraction else "")
        return number

    def _read_fraction(self) -> None:
        fraction = self._rest[: len(_FRACTION)]
        if len(fraction) < len(_FRACTION) or not _UNNEEDED_FRACTION.fullmatch(fraction):
            raise self._mismatch(self._rest, _FRACTION)
        self._set_fraction(fraction)

    def _set_fraction(self, fraction: str) -> None:
        self._microseconds = int(fraction[1:7].ljust(6, "0"))
        self._rest = self._rest[len(fraction) :]

    def _read_offset(self) -> timedelta:
        held = self._rest
        if held.startswith("Z"):
            self._rest = held[1:]
            return timedelta()
        found = re.match(r"([+-])(\d\d):(\d\d)", held, re.ASCII)
        if not found:
            raise self._mismatch(held, "Z07:00")
        self._rest = held[6:]
        hours, minutes = int(found[2]), int(found[3])
        for number, highest, name in ((hours, 24, "hour"), (minutes, 60, "minute")):
            if number > highest:
                raise self._error(f": time zone offset {name} out of range")
        offset = timedelta(hours=hours, minutes=minutes)
        return -offset if found[1] == "-" else offset

    def _mismatch(self, rest: str, element: str) -> TimeError:
        return self._error(f" as {_quoted(self._layout)}: cannot parse {_quoted(rest)} as {_quoted(element)}")

    def _error(self, message: str) -> TimeError:
        return TimeError(f"parsing time {_quoted(self._text)}{message}")


def _quoted(text: str) -> str:
    """Quote a text as Go's package time does: what is not printable ASCII as the bytes of its UTF-8."""
    shown = (
        f"\\{character}"
        if character in '"\\'
        else character
        if " " <= character < "\x80"
        else "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "replace"))
        for character in text
    )
    return f'"{"".join(shown)}"'
