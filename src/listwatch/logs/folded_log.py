"""Reports repeated failures without flooding: those of one cause are folded into one report with a count.

    WARNING pods: connection refused; attempt 1 failed, retrying in 0.8 s
    WARNING pods: connection refused; attempt 9 failed, retrying in 30.0 s (8 times since the last line)

`Folding` decides which failures are reported, `FoldedLog` writes them to a logger.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from listwatch.clock import Clock
from listwatch.token_bucket import Tokens

__all__ = ["INTERVAL", "FoldedLog", "Folding", "cause_of_call", "cause_of_text"]

INTERVAL = 60.0
"""Seconds between two reports of one cause."""
MAX_CAUSES = 100
"""How many causes are distinguished. Those beyond are folded into one."""

R = TypeVar("R")

_OTHERS = object()
_DIGITS = re.compile(r"\d+")
_MAX_TEXT = 300


# --- Causes -----------------------------------------------------------------------------------------------------------


def cause_of_text(error: BaseException) -> Hashable:
    """The class and the text of an error. Numbers, such as versions and ports, differ between failures of one cause."""
    return type(error).__name__, _DIGITS.sub("0", str(error)[:_MAX_TEXT])


def cause_of_call(error: BaseException) -> Hashable:
    """The class of an error and the lines that it passed through: the text of a program's error may name the object."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        lines.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return hash((type(error), *lines)) if lines else cause_of_text(error)


# --- Which failures are reported --------------------------------------------------------------------------------------


class Folding(Generic[R]):
    """Counts failures by cause. Each cause has `burst` reports at once, and then one per `interval` seconds."""

    def __init__(self, *, burst: int = 1, interval: float = INTERVAL) -> None:
        self._burst = burst
        self._interval = interval
        self._series: dict[Hashable, _Series[R]] = {}
        self.pending = 0
        """The number of causes with failures that `take_due` has to return."""

    def take(self, cause: Hashable, report: R, now: float) -> int:
        """Count a failure. Return how many failures a report of it stands for; 0 if it is folded."""
        series = self._series_of(cause, now)
        if not series.folded and series.tokens.take(now):
            series.next_report = now + self._interval
            return 1
        self.pending += not series.folded
        series.folded, series.last = series.folded + 1, report
        return self._take_folded(series, now)[1] if now >= series.next_report else 0

    def take_due(self, now: float, *, at_end: bool = False) -> list[tuple[R, int]]:
        """Return the last report of each series of folded failures that is due, or of all at the end, and its count."""
        due = [each for each in self._series.values() if each.folded and (at_end or now >= each.next_report)]
        return [self._take_folded(each, now) for each in due]

    def discard(self, belongs: Callable[[Hashable], bool]) -> None:
        """Forget the folded failures of the causes for which a function is true."""
        for cause, series in self._series.items():
            if series.folded and belongs(cause):
                self.pending -= 1
                series.folded, series.last = 0, None

    def __len__(self) -> int:
        return len(self._series)

    def _take_folded(self, series: _Series[R], now: float) -> tuple[R, int]:
        self.pending -= 1
        report, count = series.last, series.folded
        series.last, series.folded, series.next_report = None, 0, now + self._interval
        series.tokens.take(now)
        series.tokens.left = 0.0  # while failures are folded, the time since the last report adds no tokens
        assert report is not None
        return report, count

    def _series_of(self, cause: Hashable, now: float) -> _Series[R]:
        if cause not in self._series and len(self._series) >= MAX_CAUSES:
            for idle in [each for each, series in self._series.items() if series.is_idle(now, self._burst)]:
                del self._series[idle]
            cause = cause if len(self._series) < MAX_CAUSES else _OTHERS
        if cause not in self._series:
            self._series[cause] = _Series(Tokens(1 / self._interval, self._burst))
        return self._series[cause]


class _Series(Generic[R]):
    """The failures of one cause."""

    __slots__ = ("folded", "last", "next_report", "tokens")

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.folded = 0
        self.last: R | None = None
        self.next_report = 0.0

    def is_idle(self, now: float, burst: int) -> bool:
        return not self.folded and self.tokens.available(now) >= burst


# --- The log ----------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    level: int
    message: str
    arguments: tuple[object, ...]
    fields: Mapping[str, object]


class FoldedLog:
    """Logs failures; those that are folded are logged at DEBUG, and counted in the next line of their cause.

    The count of a series that has ended is logged after the interval, if an event loop runs, or with `flush`. May be
    used in any thread.
    """

    def __init__(self, logger: logging.Logger, clock: Clock, *, burst: int = 1, interval: float = INTERVAL) -> None:
        self._logger = logger
        self._clock = clock
        self._interval = interval
        self._folding: Folding[_Line] = Folding(burst=burst, interval=interval)
        self._timer: asyncio.TimerHandle | None = None
        self._lock = threading.Lock()

    def log(
        self,
        level: int,
        cause: Hashable,
        message: str,
        *arguments: object,
        fields: Mapping[str, object],
        exc_info: BaseException | None = None,
    ) -> bool:
        """Log a failure with the `extra` fields, and `count`; at DEBUG if it is folded, which returns False."""
        if not self._logger.isEnabledFor(level):
            return False
        # The text of an error instead of the error, whose frames hold other objects.
        texts = tuple([str(each) if isinstance(each, BaseException) else each for each in arguments])
        line = _Line(level, message, texts, fields)
        with self._lock:
            count = self._folding.take(cause, line, self._clock.monotonic())
        if count:
            self._write(line, count, exc_info)
        else:
            self._logger.debug(message, *texts, extra={**fields, "count": 1}, stacklevel=2)
            self._set_timer()
        return count > 0

    def flush(self, *, at_end: bool = True) -> None:
        """Log the counts of folded failures: of all, or without `at_end` of those whose interval has passed."""
        with self._lock:
            due = self._folding.take_due(self._clock.monotonic(), at_end=at_end)
        for line, count in due:
            self._write(line, count, is_repeated=True)

    def discard(self, belongs: Callable[[Hashable], bool]) -> None:
        """Forget the folded failures of some causes, for example after a line that says that they have ended."""
        with self._lock:
            self._folding.discard(belongs)

    def _write(
        self, line: _Line, count: int, exc_info: BaseException | None = None, *, is_repeated: bool = False
    ) -> None:
        times = "once" if count == 1 else f"{count} times"
        suffix = f" ({times} since the last line)" if is_repeated or count > 1 else ""
        extra = {**line.fields, "count": count}
        message = line.message + suffix
        self._logger.log(line.level, message, *line.arguments, exc_info=exc_info, extra=extra, stacklevel=3)

    def _set_timer(self) -> None:
        if self._timer is None:
            with suppress(RuntimeError):  # this thread has no event loop
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self._interval, _flush_due, weakref.ref(self))


def _flush_due(log: weakref.ref[FoldedLog]) -> None:
    found = log()
    if found is not None:
        found._timer = None
        found.flush(at_end=False)
        if found._folding.pending:
            found._set_timer()
