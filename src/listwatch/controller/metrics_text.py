"""The numbers of controllers as Prometheus reads them, under the names that dashboards for controllers know.

`manager` gives them out at /metrics. Buckets are those of the work queue's durations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from listwatch.controller.reports import ControllerStatistics
from listwatch.workqueue.durations import BOUNDS, DurationSummary

__all__ = ["metrics_text"]


class _Family(NamedTuple):
    name: str
    kind: str
    about: str
    samples: list[str]

    def text(self) -> str:
        return "\n".join([f"# HELP {self.name} {self.about}", f"# TYPE {self.name} {self.kind}", *self.samples])


def metrics_text(controllers: Iterable[ControllerStatistics], *, is_leading: bool) -> str:
    """All of them, in the text format of version 0.0.4."""
    every = list(controllers)
    families = [
        _Family("leader_election_master_status", "gauge", "Whether this replica leads.", [_status(is_leading)]),
        *_reconciles(every),
        *_queues(every),
    ]
    return "\n".join([*(each.text() for each in families), ""])


def _status(is_leading: bool) -> str:  # noqa: FBT001  # its only argument
    return f"leader_election_master_status {int(is_leading)}"


def _reconciles(controllers: list[ControllerStatistics]) -> Iterator[_Family]:
    name = "controller_runtime_reconcile_total"
    samples = [
        f'{name}{{controller="{_quoted(each.name)}",result="{result}"}} {count}'
        for each in controllers
        for result, count in (
            ("success", each.succeeded - each.requeued),
            ("requeue_after", each.requeued),
            ("error", each.failed + each.gave_up),
        )
    ]
    yield _Family(name, "counter", "Reconciles by what came of them.", samples)
    numbers = {
        "controller_runtime_terminal_reconcile_errors_total": (
            "counter",
            "Reconciles that gave up.",
            "gave_up",
        ),
        "controller_runtime_active_workers": ("gauge", "Workers that reconcile now.", "running"),
        "controller_runtime_max_concurrent_reconciles": ("gauge", "Workers that there are.", "concurrency"),
    }
    for name, (kind, about, field) in numbers.items():
        samples = [f'{name}{{controller="{_quoted(each.name)}"}} {getattr(each, field)}' for each in controllers]
        yield _Family(name, kind, about, samples)
    name = "controller_runtime_reconcile_time_seconds"
    samples = [
        line for each in controllers for line in _histogram(name, f'controller="{_quoted(each.name)}"', each.durations)
    ]
    yield _Family(name, "histogram", "How long reconciles took.", samples)


def _queues(controllers: list[ControllerStatistics]) -> Iterator[_Family]:
    numbers = {
        "workqueue_depth": ("gauge", "Keys that wait.", "depth"),
        "workqueue_adds_total": ("counter", "Keys that were added.", "adds"),
        "workqueue_retries_total": ("counter", "Keys that were added for later.", "retries"),
        "workqueue_unfinished_work_seconds": ("gauge", "Seconds of work under way.", "unfinished"),
        "workqueue_longest_running_processor_seconds": (
            "gauge",
            "Seconds of the longest.",
            "longest_running",
        ),
    }
    for name, (kind, about, field) in numbers.items():
        samples = [f'{name}{{name="{_quoted(each.name)}"}} {getattr(each.queue, field)}' for each in controllers]
        yield _Family(name, kind, about, samples)
    for field, about in (("queue_duration", "How long keys waited."), ("work_duration", "How long keys were in work.")):
        name = f"workqueue_{field}_seconds"
        samples = [
            line
            for each in controllers
            for line in _histogram(name, f'name="{_quoted(each.name)}"', getattr(each.queue, field))
        ]
        yield _Family(name, "histogram", about, samples)


def _histogram(name: str, label: str, durations: DurationSummary) -> Iterator[str]:
    for bound, count in zip(BOUNDS, durations.buckets, strict=True):
        yield f'{name}_bucket{{{label},le="{bound:g}"}} {count}'
    yield f'{name}_bucket{{{label},le="+Inf"}} {durations.count}'
    yield f"{name}_sum{{{label}}} {durations.total}"
    yield f"{name}_count{{{label}}} {durations.count}"


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
