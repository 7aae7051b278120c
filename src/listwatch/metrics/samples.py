"""Converts statistics into metric samples, and writes them in the text format of Prometheus.

The names are those of client-go and controller-runtime; all other metrics start with `listwatch_`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple, Protocol, runtime_checkable

from listwatch.client.rest.client_statistics import ClientStatistics
from listwatch.errors import UsageError
from listwatch.events.recorder import EventRecorderStatistics
from listwatch.histogram import HistogramSummary
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.leaderelection.elector import ElectorStatistics
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = [
    "TEXT_CONTENT_TYPE",
    "HasSamples",
    "Sample",
    "Total",
    "Value",
    "bound_text",
    "by_name",
    "is_counter",
    "metrics_text",
    "samples_of",
]

TEXT_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Total(NamedTuple):
    """The number of measurements and their sum."""

    measurements: int
    total: float


Value = float | Total | HistogramSummary
"""A number, a sum, or a histogram."""


class Sample(NamedTuple):
    """One value of one metric; samples of the same metric differ in their labels."""

    name: str
    help: str
    labels: tuple[tuple[str, str], ...]
    value: Value


@runtime_checkable
class HasSamples(Protocol):
    """Statistics that convert themselves, as those of controllers and managers do."""

    def samples(self) -> Iterable[Sample]: ...


def by_name(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """The samples of each metric. Of several with equal labels the first is kept: Prometheus rejects duplicates."""
    found: dict[str, dict[tuple[tuple[str, str], ...], Sample]] = {}
    for sample in samples:
        found.setdefault(sample.name, {}).setdefault(sample.labels, sample)
    return {name: [*each.values()] for name, each in found.items()}


def is_counter(name: str) -> bool:
    """Whether a number under this name only grows."""
    return name.endswith("_total")


# --- statistics to samples --------------------------------------------------------------------------------------------


def samples_of(statistics: object, *, host: str = "") -> Iterator[Sample]:
    """The samples of any statistics, or of a tuple of them; `host` is the URL of the server of a client."""
    match statistics:
        case WorkQueueStatistics():
            yield from _queue(statistics)
        case InformerStatistics():
            yield from _informer(statistics)
        case ClientStatistics():
            yield from _client(statistics, host)
        case ElectorStatistics():
            yield from _elector(statistics)
        case EventRecorderStatistics():
            yield from _recorder(statistics)
        case HasSamples():
            yield from statistics.samples()
        case tuple():
            for each in statistics:
                yield from samples_of(each)
        case _:
            raise UsageError(
                f"{type(statistics).__name__} cannot be converted to metrics; add a samples() method that yields Sample"
            )


def _queue(queue: WorkQueueStatistics) -> Iterator[Sample]:
    if not queue.name:
        return  # as in client-go, only named queues have metrics
    labels = (("name", queue.name),)
    values: dict[str, tuple[str, Value]] = {
        "depth": ("Items in the queue.", queue.depth),
        "adds_total": ("Items added.", queue.adds),
        "queue_duration_seconds": ("Time that items spent in the queue before they were taken.", queue.queue_duration),
        "work_duration_seconds": ("Time that processing an item took.", queue.work_duration),
        "unfinished_work_seconds": ("Sum of the processing times so far of all items in process.", queue.unfinished),
        "longest_running_processor_seconds": (
            "Processing time so far of the item that is longest in process.",
            queue.longest_running,
        ),
        "retries_total": ("Items added with a delay.", queue.retries),
    }
    for name, (help_text, value) in values.items():
        yield Sample(f"workqueue_{name}", help_text, labels, value)


def _informer(informer: InformerStatistics) -> Iterator[Sample]:
    resource = informer.resource
    labels = (
        ("name", informer.name),
        ("group", resource.group if resource else ""),
        ("version", resource.version if resource else ""),
        ("resource", resource.plural if resource else ""),
    )
    yield Sample("informer_queued_items", "Changes that are not yet in the cache.", labels, informer.queued)
    help_text = "Time to store a batch of changes and notify handlers."
    yield Sample("informer_processing_latency_seconds", help_text, labels, informer.processing)
    if informer.resource_version.isdecimal():
        version = float(informer.resource_version[-15:])  # a float has no more digits
        yield Sample("informer_store_resource_version", "Resource version of the cache.", labels, version)
    yield Sample("listwatch_informer_objects", "Objects in the cache.", labels, informer.objects)
    yield Sample("listwatch_informer_synced", "1 once the cache has synced.", labels, int(informer.has_synced))
    yield Sample("listwatch_informer_watching", "1 while all watches are open.", labels, int(informer.is_watching))
    if informer.last_contact is not None:
        help_text = "When the server last sent a response or an event, in seconds since the epoch."
        contact = informer.last_contact.timestamp()
        yield Sample("listwatch_informer_last_contact_timestamp_seconds", help_text, labels, contact)
    skipped = sum(each.skipped for each in informer.sources)
    yield Sample("listwatch_informer_skipped_total", "Received objects that were not stored.", labels, skipped)
    lists, watches = (sum(getattr(each, name) for each in informer.sources) for name in ("lists", "watches"))
    yield Sample("reflector_lists_total", "List requests.", labels, lists)
    yield Sample("reflector_watches_total", "Watch requests.", labels, watches)
    for name, help_text in (("handled", "Notifications delivered to handlers."), ("failed", "Failures of handlers.")):
        value = sum(getattr(each, name) for each in informer.handlers)
        yield Sample(f"listwatch_informer_{name}_total", help_text, labels, value)
    pending = sum(each.pending for each in informer.handlers)
    yield Sample("listwatch_informer_pending_items", "Notifications not yet delivered to handlers.", labels, pending)


def _client(client: ClientStatistics, host: str) -> Iterator[Sample]:
    host_label = ("host", host.partition("://")[2].partition("/")[0])
    for (method, code), count in client.attempts.items():
        labels = (("code", code), ("method", method), host_label)
        yield Sample("rest_client_requests_total", "Requests, by status code and method.", labels, count)
    for (method, code), count in client.retried.items():
        labels = (("code", code), ("verb", method), host_label)
        yield Sample("rest_client_request_retries_total", "Retries, by the previous status code.", labels, count)
    histograms = {
        "request_duration_seconds": ("Time until the response arrived.", client.durations),
        "rate_limiter_duration_seconds": ("Time that requests waited for the rate limiter.", client.throttling),
        "request_size_bytes": ("Size of the bodies of requests.", client.request_sizes),
        "response_size_bytes": ("Size of the bodies of responses.", client.response_sizes),
    }
    for name, (help_text, by_method) in histograms.items():
        for method, summary in by_method.items():
            yield Sample(f"rest_client_{name}", help_text, (("verb", method), host_label), summary)
    yield Sample("listwatch_rest_client_open_watches", "Open watches.", (host_label,), client.open_watches)


def _elector(elector: ElectorStatistics) -> Iterator[Sample]:
    labels = (("name", elector.lock),)
    yield Sample("leader_election_master_status", "1 while this candidate leads.", labels, int(elector.is_leader))
    help_text = "Renewals that had to read the lease first."
    yield Sample("leader_election_slowpath_total", help_text, labels, elector.slow_paths)


def _recorder(recorder: EventRecorderStatistics) -> Iterator[Sample]:
    component = ("component", recorder.component)
    yield Sample("listwatch_events_pending", "Events that are not yet written.", (component,), recorder.pending)
    for outcome in ("created", "patched", "counted", "filtered", "dropped", "failed"):
        labels = (component, ("outcome", outcome))
        yield Sample("listwatch_events_total", "Events, by outcome.", labels, getattr(recorder, outcome))


# --- samples to text --------------------------------------------------------------------------------------------------


def metrics_text(samples: Iterable[Sample]) -> str:
    """The samples in the Prometheus text format, version 0.0.4."""
    lines = [line for name, each in by_name(samples).items() for line in _family(name, each)]
    return "".join(f"{line}\n" for line in lines)


def _family(name: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {samples[0].help}"
    yield f"# TYPE {name} {_type(samples[0])}"
    for sample in samples:
        yield from _lines(sample)


def _type(sample: Sample) -> str:
    match sample.value:
        case HistogramSummary():
            return "histogram"
        case Total():
            return "summary"
        case _:
            return "counter" if is_counter(sample.name) else "gauge"


def _lines(sample: Sample) -> Iterator[str]:
    name, labels = sample.name, sample.labels
    match sample.value:
        case HistogramSummary(count, total, _, buckets, bounds):
            for bound, cumulative in zip(bounds, buckets, strict=True):
                yield f"{name}_bucket{_braced(*labels, ('le', bound_text(bound)))} {cumulative}"
            yield f"{name}_bucket{_braced(*labels, ('le', '+Inf'))} {count}"
            yield f"{name}_sum{_braced(*labels)} {total}"
            yield f"{name}_count{_braced(*labels)} {count}"
        case Total(count, total):
            yield f"{name}_sum{_braced(*labels)} {total}"
            yield f"{name}_count{_braced(*labels)} {count}"
        case value:
            yield f"{name}{_braced(*labels)} {value}"


@cache
def bound_text(bound: float) -> str:
    """A bound as Go writes it, so that the buckets have the same names as in client-go: 1e-08, 0.5, 1.048576e+06."""
    _, digits, exponent = Decimal(repr(bound)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if -4 <= power < 6:
        return f"{bound:.15g}"
    mantissa = ".".join(filter(None, (str(digits[0]), "".join(map(str, digits[1:])))))
    return f"{mantissa}e{power:+03d}"


def _braced(*labels: tuple[str, str]) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
