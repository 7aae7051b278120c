"""What a controller says of itself: every failure as a value, and numbers on request. `workers` fills them in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from listwatch.controller.reconciler import Outcome
from listwatch.errors import ListWatchError, ReconcileTimeoutError
from listwatch.informer.shared_informer import InformerStatistics
from listwatch.leaderelection.elector import ElectorStatistics
from listwatch.meta import ObjectKey
from listwatch.workqueue.durations import Durations, DurationSummary
from listwatch.workqueue.queue import WorkQueueStatistics

__all__ = [
    "ControllerStatistics",
    "Counts",
    "Failure",
    "ManagerStatistics",
    "Reporter",
    "log_failure",
]

_log = logging.getLogger("listwatch.controller")


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong in a controller, which goes on."""

    controller: str
    doing: str
    """What failed: with the name of the function, and the key or the object."""
    error: BaseException
    key: ObjectKey | None = None
    will_retry: bool = False

    def __str__(self) -> str:
        end = "; it is tried again" if self.will_retry else ""
        return f"{self.controller}: {self.doing}: {str(self.error) or repr(self.error)}{end}"


def log_failure(failure: Failure) -> None:
    """What happens to failures if a program does not want to see them itself."""
    # An error of ours says all; of others, only the place tells what happened.
    trace = None if isinstance(failure.error, ListWatchError) else failure.error
    _log.error("%s", failure, exc_info=trace)


class Reporter:
    """Tells a program what goes wrong in one controller, and remembers the last of it."""

    def __init__(self, controller: str, on_failure: Callable[[Failure], None] | None) -> None:
        self._controller = controller
        self._on_failure = on_failure or log_failure
        self.last: Failure | None = None

    def __call__(
        self, doing: str, error: BaseException, key: ObjectKey | None = None, *, will_retry: bool = False
    ) -> None:
        self.last = Failure(self._controller, doing, error, key, will_retry)
        try:
            self._on_failure(self.last)
        except Exception as another:  # noqa: BLE001  # it is the user's function
            log_failure(self.last)
            log_failure(Failure(self._controller, "on_failure failed", another))


@dataclass(frozen=True, slots=True)
class ControllerStatistics:
    """What a controller has done so far, and is doing now."""

    name: str
    concurrency: int
    running: int
    queue: WorkQueueStatistics
    succeeded: int
    requeued: int
    """How many of these want to be called again later."""
    failed: int
    """How many failed and are tried again; those that took too long are among them."""
    gave_up: int
    """How many failed for good."""
    timed_out: int
    interrupted: int
    """How many were cancelled in the middle: nothing is known of what they did."""
    stale: int
    """How many began although the cache did not show yet what the one before had written."""
    keys_with_writes: int
    """For how many keys something was written that may have to be waited for before the next reconcile."""
    held_up: int
    """How often the event loop was held up by a reconcile."""
    trigger_failures: int
    """How often a predicate, a function for keys or a timer failed."""
    durations: DurationSummary
    last_failure: Failure | None


@dataclass(frozen=True, slots=True)
class ManagerStatistics:
    """What a manager and all that it runs are doing."""

    is_leading: bool
    is_ready: bool
    is_stopping: bool
    controllers: tuple[ControllerStatistics, ...]
    informers: tuple[InformerStatistics, ...]
    elector: ElectorStatistics | None


@dataclass(slots=True)
class Counts:
    """The numbers as they grow."""

    succeeded: int = 0
    requeued: int = 0
    failed: int = 0
    gave_up: int = 0
    timed_out: int = 0
    interrupted: int = 0
    stale: int = 0
    held_up: int = 0
    trigger_failures: int = 0
    durations: Durations = field(default_factory=Durations)

    def ended(self, outcome: Outcome, seconds: float) -> None:
        self.durations.add(seconds)
        if outcome.error is None:
            self.succeeded += 1
            self.requeued += outcome.again_after is not None
        elif outcome.is_permanent:
            self.gave_up += 1
        else:
            self.failed += 1
            self.timed_out += isinstance(outcome.error, ReconcileTimeoutError)
