"""What a controller reports: failures as values, and statistics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from listwatch.clock import Clock
from listwatch.controller.clusters.cluster_statistics import ClusterStatistics
from listwatch.controller.sharding.shard_statistics import ShardStatistics
from listwatch.errors import ListWatchError
from listwatch.events.recorder import EventRecorderStatistics
from listwatch.histogram import HistogramSummary
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.leaderelection.elector import ElectorStatistics
from listwatch.logs.folded_log import FoldedLog, cause_of_call
from listwatch.meta import ObjectKey
from listwatch.metrics.samples import Sample, Value, samples_of
from listwatch.webhooks.statistics import WebhookStatistics
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = [
    "RECONCILE_BOUNDS",
    "ControllerStatistics",
    "Failure",
    "FailureReporter",
    "ManagerStatistics",
    "cluster_field",
]

_log = logging.getLogger("listwatch.controller")

# The buckets of controller-runtime, in seconds.
RECONCILE_BOUNDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5),
    *(1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)

_LOGGED_ONE_BY_ONE = 10
"""How many failures of one cause are logged one by one."""


def cluster_field(key: ObjectKey | None) -> dict[str, str]:
    """The field `cluster` of a log record about a key; none if the key has no cluster."""
    return {"cluster": key.cluster} if key is not None and key.cluster else {}


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure inside a controller, which continues."""

    controller: str
    description: str
    """What failed, with the name of the function and the key or the object."""
    error: BaseException
    key: ObjectKey | None = None
    attempt: int = 0
    """How many times in a row the key was reconciled without success; 0 if no reconcile failed."""
    will_retry: bool = False
    delay: float | None = None
    """Seconds until the retry; None if there is none, or if it is not known yet."""

    def __str__(self) -> str:
        retry = ""
        if self.will_retry and self.delay is not None:
            retry = f"; attempt {self.attempt} failed, retrying in {self.delay:.3g} s"
        elif self.will_retry:
            retry = f"; attempt {self.attempt} failed, it will be retried"
        return f"{self.controller}: {self.description}: {str(self.error) or repr(self.error)}{retry}"


class FailureReporter:
    """Passes the failures of one controller to `on_failure`, or to the log, and keeps the last one."""

    def __init__(self, controller: str, on_failure: Callable[[Failure], None] | None, *, clock: Clock) -> None:
        self._controller = controller
        self._log = FoldedLog(_log, clock, burst=_LOGGED_ONE_BY_ONE)
        self._on_failure = on_failure or self._log_failure
        self.last: Failure | None = None

    def __call__(
        self,
        description: str,
        error: BaseException,
        key: ObjectKey | None = None,
        *,
        attempt: int = 0,
        will_retry: bool = False,
        delay: float | None = None,
    ) -> None:
        failure = self.last = Failure(self._controller, description, error, key, attempt, will_retry, delay)
        try:
            self._on_failure(failure)
        except Exception as raised:  # noqa: BLE001  # user code
            self._log_failure(failure)
            self._log_failure(Failure(self._controller, "on_failure failed", raised))

    def flush(self) -> None:
        """Log the counts of failures that were folded."""
        self._log.flush()

    def _log_failure(self, failure: Failure) -> None:
        # The message of our own errors is enough; other errors need the traceback.
        traceback = None if isinstance(failure.error, ListWatchError) else failure.error
        fields = {
            "controller": failure.controller,
            "key": str(failure.key or ""),
            "attempt": failure.attempt,
            "delay": failure.delay,
            **cluster_field(failure.key),
        }
        level = logging.WARNING if failure.will_retry else logging.ERROR
        self._log.log(level, cause_of_call(failure.error), "%s", str(failure), fields=fields, exc_info=traceback)


@dataclass(frozen=True, slots=True)
class ControllerStatistics:
    """What a controller has done so far, and is doing now."""

    name: str
    concurrency: int
    running: int
    """Reconciles in progress."""
    queue: WorkQueueStatistics
    succeeded: int
    requeued: int
    """Successful reconciles that returned a delay."""
    failed: int
    """Failed reconciles that are retried, timeouts included. Those that are not retried are in `gave_up`."""
    gave_up: int
    """Reconciles that raised PermanentError and are not retried."""
    timed_out: int
    interrupted: int
    """Reconciles that were cancelled; their effects are unknown."""
    stale: int
    """Reconciles that started before the caches contained the key's last writes."""
    keys_with_writes: int
    """Keys with writes that the caches may not contain yet."""
    loop_stalls: int
    """How often a reconcile blocked the event loop."""
    trigger_failures: int
    """Failures of predicates, key functions and timers."""
    durations: HistogramSummary
    last_failure: Failure | None
    events: EventRecorderStatistics | None
    """Of the events that reconcile functions recorded."""

    def samples(self) -> Iterator[Sample]:
        """The same as samples for metrics."""
        label = ("controller", self.name)
        results = {
            "success": self.succeeded - self.requeued,
            "requeue_after": self.requeued,
            "error": self.failed + self.gave_up,
        }
        for result, count in results.items():
            labels = (label, ("result", result))
            yield Sample("controller_runtime_reconcile_total", "Reconciles, by result.", labels, count)
        values: dict[str, tuple[str, Value]] = {
            "reconcile_errors_total": ("Reconciles that failed.", self.failed + self.gave_up),
            "reconcile_timeouts_total": ("Reconciles that exceeded their timeout.", self.timed_out),
            "terminal_reconcile_errors_total": ("Reconciles that failed and are not retried.", self.gave_up),
            "active_workers": ("Reconciles in progress.", self.running),
            "max_concurrent_reconciles": ("Maximum number of concurrent reconciles.", self.concurrency),
            "reconcile_time_seconds": ("Duration of reconciles.", self.durations),
        }
        for name, (help_text, value) in values.items():
            yield Sample(f"controller_runtime_{name}", help_text, (label,), value)
        yield from samples_of(self.queue)
        if self.events is not None:
            yield from samples_of(self.events)


@dataclass(frozen=True, slots=True)
class ManagerStatistics:
    """The statistics of a manager, its controllers, their informers and the leader elector."""

    is_leading: bool
    is_ready: bool
    is_stopping: bool
    controllers: tuple[ControllerStatistics, ...]
    informers: tuple[InformerStatistics, ...]
    elector: ElectorStatistics | None
    shards: ShardStatistics | None = None
    webhooks: WebhookStatistics | None = None
    clusters: tuple[ClusterStatistics, ...] = ()
    """The clusters of a manager of several, with their informers, which are not in `informers` then."""

    def samples(self) -> Iterator[Sample]:
        """The same as samples for metrics."""
        for statistics in (
            *self.controllers,
            *self.informers,
            *filter(None, [self.elector, self.shards, self.webhooks]),
            *self.clusters,
        ):
            yield from samples_of(statistics)
