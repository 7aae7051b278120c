"""How the errors of informers are reported: to `on_problem`, or to the log, without flooding either.

Every failed request is one problem. Errors that are not failed requests, such as objects that cannot be decoded, may
be thousands: after the first ones, they are folded into one problem with a count every few seconds.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from listwatch.clock import Clock, SystemClock
from listwatch.token_bucket import Tokens

__all__ = ["Problem", "ProblemReporter", "guarded_reporter"]

_log = logging.getLogger("listwatch.informer")

_BURST = 20
"""How many errors that are not failed requests are reported one by one."""
_INTERVAL = 5.0
"""Seconds between reports after that."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error of an informer or reflector; the request is retried, or the object was skipped."""

    source: str
    error: Exception
    attempt: int
    """How many requests in a row have failed; 0 for an error that is not a failed request."""
    delay: float
    """Seconds until the next request."""
    count: int = 1
    """How many errors this stands for. Above 1 if errors were folded; `error` is then the last of them."""


class ProblemReporter:
    """Calls `on_problem`, whose exceptions are logged; without `on_problem`, logs.

    The log has a warning for the first failure of a series and whenever the cause changes; the others are for
    debugging.
    """

    def __init__(self, on_problem: Callable[[Problem], None] | None, clock: Clock) -> None:
        self._on_problem = on_problem
        self._clock = clock
        self._tokens = Tokens(1 / _INTERVAL, _BURST)
        self._folded: Problem | None = None
        self._next_report = 0.0
        self._logged: dict[str, str] = {}  # the last cause in the log, by source
        self.last_text = ""
        """The message of the last problem; not the error, whose traceback would keep objects alive."""
        self.last_at: datetime | None = None

    def __call__(self, problem: Problem) -> None:
        self.last_text = str(problem.error) or type(problem.error).__name__
        self.last_at = self._clock.now()
        if problem.attempt:
            self._emit(problem)
            return
        if self._folded is not None:
            self._folded = replace(problem, count=self._folded.count + problem.count)
            self.flush()
            return
        now = self._clock.monotonic()
        if self._tokens.take(now):
            self._emit(problem)
        else:
            self._folded, self._next_report = problem, now + _INTERVAL

    @property
    def has_folded(self) -> bool:
        """True if there are errors that `flush` has to report."""
        return self._folded is not None

    def flush(self, *, at_end: bool = False) -> None:
        """Report the folded errors if it is time, or at the end in any case."""
        folded = self._folded
        now = self._clock.monotonic()
        if folded is not None and (at_end or now >= self._next_report):
            self._folded = None
            self._tokens.take(now)
            self._tokens.left = 0.0  # while errors are folded, the time since the last report adds no tokens
            self._emit(folded)

    def _emit(self, problem: Problem) -> None:
        if self._on_problem is None:
            self._log(problem)
            return
        try:
            self._on_problem(problem)
        except Exception:  # noqa: BLE001  # user code; the source must still be read
            _log.exception(
                "%s: on_problem failed on: %s", problem.source, problem.error, extra={"source": problem.source}
            )

    def _log(self, problem: Problem) -> None:
        # Numbers, such as versions and ports, differ between failures of the same cause.
        cause = f"{type(problem.error).__name__}: {_DIGITS.sub('0', str(problem.error))}"
        is_new = problem.attempt <= 1 or cause != self._logged.get(problem.source)
        if problem.attempt:
            self._logged[problem.source] = cause
        retry = f"; next attempt in {problem.delay:.1f} s" if problem.delay else ""
        others = f" (and {problem.count - 1} more errors)" if problem.count > 1 else ""
        fields = {
            "source": problem.source,
            "attempt": problem.attempt,
            "delay": problem.delay,
            "count": problem.count,
        }
        level = logging.WARNING if is_new else logging.DEBUG
        _log.log(level, "%s: %s%s%s", problem.source, problem.error, others, retry, extra=fields)


def guarded_reporter(on_problem: Callable[[Problem], None] | None, clock: Clock | None = None) -> ProblemReporter:
    """Return a ProblemReporter for `on_problem`, which may be one already."""
    if isinstance(on_problem, ProblemReporter):
        return on_problem
    return ProblemReporter(on_problem, clock or SystemClock())
