"""Turns the statistics of each part into samples, under client-go's names where it has one.

Names that begin with `listwatch_` have no likeness there. `metrics_text` writes them down for /metrics; the room
`metrics` has those of events too, and gives all to Prometheus' own package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from listwatch.client.rest.sender import ClientStatistics
from listwatch.controller.reports import ControllerStatistics, ManagerStatistics
from listwatch.errors import UsageError
from listwatch.informer.shared_informer import InformerStatistics
from listwatch.leaderelection.elector import ElectorStatistics
from listwatch.workqueue.durations import DurationSummary
from listwatch.workqueue.queue import WorkQueueStatistics

__all__ = ["Sample", "Total", "Value", "by_name", "is_counter", "samples_of"]


class Total(NamedTuple):
    """How often something was measured, and how much it was altogether."""

    times: int
    total: float


Value = float | Total | DurationSummary
"""A number, a sum, or a distribution."""


class Sample(NamedTuple):
    """One value of one metric; the labels tell it from others of that name."""

    name: str
    about: str
    labels: tuple[tuple[str, str], ...]
    value: Value


def by_name(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """The samples of each metric. Of two with the same labels the first one counts: Prometheus takes no others."""
    found: dict[str, dict[tuple[tuple[str, str], ...], Sample]] = {}
    for sample in samples:
        found.setdefault(sample.name, {}).setdefault(sample.labels, sample)
    return {name: [*each.values()] for name, each in found.items()}


def is_counter(name: str) -> bool:
    """Whether a number under this name only grows."""
    return name.endswith("_total")


def samples_of(statistics: object, *, host: str = "") -> Iterator[Sample]:
    """All that is to be told of one part; `host` is the server that a client talks to."""
    match statistics:
        case WorkQueueStatistics():
            yield from _queue(statistics)
        case InformerStatistics():
            yield from _informer(statistics)
        case ClientStatistics():
            yield from _client(statistics, host)
        case ElectorStatistics():
            yield from _elector(statistics)
        case ControllerStatistics():
            yield from _controller(statistics)
        case ManagerStatistics():
            yield from _each(statistics.controllers)
            yield from _each(statistics.informers)
            if statistics.elector is not None:
                yield from _elector(statistics.elector)
        case tuple():
            yield from _each(statistics)
        case _:
            raise UsageError(f"there are no metrics of {type(statistics).__name__}")


def _each(several: Iterable[object]) -> Iterator[Sample]:
    for statistics in several:
        yield from samples_of(statistics)


def _queue(queue: WorkQueueStatistics) -> Iterator[Sample]:
    if not queue.name:
        return  # who wants to see a queue gives it a name
    labels = (("name", queue.name),)
    values: dict[str, tuple[str, Value]] = {
        "depth": ("Items that wait.", queue.depth),
        "adds_total": ("Items that were added.", queue.adds),
        "queue_duration_seconds": ("How long items waited.", queue.queue_duration),
        "work_duration_seconds": ("How long items were in work.", queue.work_duration),
        "unfinished_work_seconds": ("How long what is in work has been so, in all.", queue.unfinished),
        "longest_running_processor_seconds": ("How long the longest has been in work.", queue.longest_running),
        "retries_total": ("Items that were added for later.", queue.retries),
    }
    for name, (about, value) in values.items():
        yield Sample(f"workqueue_{name}", about, labels, value)


def _informer(informer: InformerStatistics) -> Iterator[Sample]:
    resource = informer.resource
    labels = (
        ("name", informer.name),
        ("group", resource.group if resource else ""),
        ("version", resource.version if resource else ""),
        ("resource", resource.plural if resource else ""),
    )
    yield Sample("informer_queued_items", "Changes that wait for the cache.", labels, informer.queued)
    if informer.resource_version.isdecimal():
        version = float(informer.resource_version[-15:])  # as many digits as a number in Prometheus keeps
        yield Sample("informer_store_resource_version", "The version that the cache has.", labels, version)
    yield Sample("listwatch_informer_objects", "Objects in the cache.", labels, informer.objects)
    yield Sample("listwatch_informer_synced", "Whether the cache was ever filled.", labels, int(informer.has_synced))
    lists, watches = (sum(getattr(each, name) for each in informer.sources) for name in ("lists", "watches"))
    yield Sample("reflector_lists_total", "Lists that were asked for.", labels, lists)
    yield Sample("reflector_watches_total", "Watches that were asked for.", labels, watches)
    for name, about in (("handled", "Changes that handlers were told of."), ("failed", "Handlers' failures.")):
        value = sum(getattr(each, name) for each in informer.handlers)
        yield Sample(f"listwatch_informer_{name}_total", about, labels, value)
    pending = sum(each.pending for each in informer.handlers)
    yield Sample("listwatch_informer_pending_items", "Changes that wait for handlers.", labels, pending)


def _client(client: ClientStatistics, host: str) -> Iterator[Sample]:
    where = ("host", host)
    tries: dict[str, int] = {}
    for (method, code), count in client.tries.items():
        tries[method] = tries.get(method, 0) + count
        labels = (("code", code), ("method", method), where)
        yield Sample("rest_client_requests_total", "Tries of requests.", labels, count)
    for method, seconds in client.seconds.items():
        value = Total(tries.get(method, 0), seconds)
        about = "How long answers took."
        yield Sample("rest_client_request_duration_seconds", about, (("verb", method), where), value)
    throttled = Total(client.throttled, client.throttled_seconds)
    yield Sample("rest_client_rate_limiter_duration_seconds", "How long tries waited first.", (where,), throttled)
    yield Sample("rest_client_request_retries_total", "Requests that were sent again.", (where,), client.retries)
    yield Sample("listwatch_rest_client_open_watches", "Watches that are open.", (where,), client.open_watches)


def _elector(elector: ElectorStatistics) -> Iterator[Sample]:
    labels = (("name", elector.lock),)
    yield Sample("leader_election_master_status", "Whether this candidate leads.", labels, int(elector.is_leader))
    about = "Renewals that had to look at the lease first."
    yield Sample("leader_election_slowpath_total", about, labels, elector.slow_paths)


def _controller(controller: ControllerStatistics) -> Iterator[Sample]:
    label = ("controller", controller.name)
    results = {
        "success": controller.succeeded - controller.requeued,
        "requeue_after": controller.requeued,
        "error": controller.failed + controller.gave_up,
    }
    for result, count in results.items():
        labels = (label, ("result", result))
        yield Sample("controller_runtime_reconcile_total", "Reconciles by what came of them.", labels, count)
    values: dict[str, tuple[str, Value]] = {
        "terminal_reconcile_errors_total": ("Reconciles that gave up.", controller.gave_up),
        "active_workers": ("Workers that reconcile now.", controller.running),
        "max_concurrent_reconciles": ("Workers that there are.", controller.concurrency),
        "reconcile_time_seconds": ("How long reconciles took.", controller.durations),
    }
    for name, (about, value) in values.items():
        yield Sample(f"controller_runtime_{name}", about, (label,), value)
    yield from _queue(controller.queue)
