"""Where a log was read to, by the times of its lines, so that reading resumes without loss or repetition.

A server takes the time to resume from in whole seconds, so the lines of that second are sent again. Several lines may
have the same time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

__all__ = ["LineReader", "LogPosition", "split_timestamp"]

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?")
_MAX_LINE = 2**20


def split_timestamp(line: str) -> tuple[str, str]:
    """Return the time of a line and its text; no time if the line does not begin with one."""
    found = _TIME.match(line)
    return (found[0].rstrip(), line[found.end() :]) if found else ("", line)


class LogPosition:
    """The time of the last line that was delivered, and how many lines of that time were delivered."""

    def __init__(self) -> None:
        self._last: tuple[datetime, int] | None = None  # with nanoseconds
        self._count = 0
        self._skipping = 0  # lines of the last time that are still to be skipped after `resume`
        self._is_replaying = False

    @property
    def since(self) -> datetime | None:
        """The time to resume from; None if no line was delivered."""
        return None if self._last is None else self._last[0]

    def resume(self) -> None:
        """From now on, skip the lines that were delivered, until the first one that was not."""
        self._is_replaying, self._skipping = self._last is not None, self._count

    def accepts(self, timestamp: str) -> bool:
        """Whether a line with this time is new; it is counted as delivered then. A line without a time is new."""
        time = _parse(timestamp)
        if time is None:
            return True
        if self._is_replaying and self._last is not None:
            if time < self._last:
                return False
            if time == self._last and self._skipping:
                self._skipping -= 1
                return False
            self._is_replaying = False
        self._count = self._count + 1 if time == self._last else 1
        self._last = time
        return True


class LineReader:
    """Splits pieces of a log into lines. An incomplete last line is kept."""

    def __init__(self) -> None:
        self._partial = bytearray()

    def feed(self, piece: bytes) -> list[str]:
        """Return the lines that this piece completes. A line of more than 1 MiB is returned in parts."""
        *complete, rest = piece.split(b"\n")
        lines = []
        for part in complete:
            lines.append(bytes(self._partial + part))
            self._partial.clear()
        self._partial += rest
        if len(self._partial) > _MAX_LINE:
            lines.append(bytes(self._partial))
            self._partial.clear()
        return [line.decode(errors="replace") for line in lines]

    def finish(self) -> list[str]:
        """Return the last line, which no line feed ends."""
        last = bytes(self._partial)
        self._partial.clear()
        return [last.decode(errors="replace")] if last else []


def _parse(timestamp: str) -> tuple[datetime, int] | None:
    found = _TIME.fullmatch(timestamp)
    if not found:
        return None
    try:
        seconds = datetime.fromisoformat(found[1] + found[3].replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None
    return seconds, int((found[2] or "").ljust(9, "0") or 0)
