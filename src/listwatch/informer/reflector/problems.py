"""How the errors of informers are reported: to `on_problem`, or to the log, without flooding either.

Every failed request is one problem. Errors that are not failed requests, such as objects that cannot be decoded, may
be thousands: after the first ones, they are folded into one problem with a count every few seconds. In the log, failed
requests of one cause are folded too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from listwatch.clock import Clock, SystemClock
from listwatch.logs.folded_log import FoldedLog, Folding, cause_of_text
from listwatch.wording import counted

__all__ = ["Problem", "ProblemReporter", "guarded_reporter"]

_log = logging.getLogger("listwatch.informer")

_BURST = 20
"""How many errors that are not failed requests are reported one by one."""
_INTERVAL = 5.0
"""Seconds between reports after that."""


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
    """Calls `on_problem`, whose exceptions are logged; without `on_problem`, logs."""

    def __init__(self, on_problem: Callable[[Problem], None] | None, clock: Clock) -> None:
        self._on_problem = on_problem
        self._clock = clock
        self._folding: Folding[Problem] = Folding(burst=_BURST, interval=_INTERVAL)
        self._failed_requests = FoldedLog(_log, clock)
        self._failing: set[str] = set()  # sources with a failure in the log
        self.last_text = ""
        """The message of the last problem; not the error, whose traceback would keep objects alive."""
        self.last_at: datetime | None = None

    def __call__(self, problem: Problem) -> None:
        self.last_text = str(problem.error) or type(problem.error).__name__
        self.last_at = self._clock.now()
        if problem.attempt:
            self._emit(problem)
        elif count := self._folding.take(problem.source, problem, self._clock.monotonic()):
            self._emit(problem if count == 1 else replace(problem, count=count))

    @property
    def has_folded(self) -> bool:
        """True if there are errors that `flush` has to report."""
        return self._folding.pending > 0

    def flush(self, *, at_end: bool = False) -> None:
        """Report the folded errors if it is time, or at the end in any case."""
        for problem, count in self._folding.take_due(self._clock.monotonic(), at_end=at_end):
            self._emit(replace(problem, count=count))
        if at_end:
            self._failed_requests.flush()

    def recovered(self, source: str, failures: int) -> None:
        """Log that requests succeed again, if the log has their failure."""
        if source in self._failing:
            self._failing.discard(source)
            self._failed_requests.discard(lambda cause: isinstance(cause, tuple) and cause[0] == source)
            fields = {"resource": source, "count": failures}
            _log.info("%s: recovered after %s", source, counted(failures, "failed attempt"), extra=fields)

    def _emit(self, problem: Problem) -> None:
        if self._on_problem is None:
            self._log(problem)
            return
        try:
            self._on_problem(problem)
        except Exception:  # noqa: BLE001  # user code; the source must still be read
            _log.exception(
                "%s: on_problem failed on: %s", problem.source, problem.error, extra={"resource": problem.source}
            )

    def _log(self, problem: Problem) -> None:
        fields = {"resource": problem.source, "attempt": problem.attempt, "delay": problem.delay}
        if problem.attempt:
            cause = (problem.source, cause_of_text(problem.error))
            message = "%s: %s; attempt %d failed, retrying in %.1f s"
            values = (problem.source, problem.error, problem.attempt, problem.delay)
            if self._failed_requests.log(logging.WARNING, cause, message, *values, fields=fields):
                self._failing.add(problem.source)
            return
        others = f" (and {problem.count - 1} more errors)" if problem.count > 1 else ""
        _log.warning("%s: %s%s", problem.source, problem.error, others, extra={**fields, "count": problem.count})


def guarded_reporter(on_problem: Callable[[Problem], None] | None, clock: Clock | None = None) -> ProblemReporter:
    """Return a ProblemReporter for `on_problem`, which may be one already."""
    if isinstance(on_problem, ProblemReporter):
        return on_problem
    return ProblemReporter(on_problem, clock or SystemClock())
