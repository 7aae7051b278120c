"""What an inspector shows of a controller."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from listwatch.controller.reports import ControllerStatistics
from listwatch.inspector.components import queue_snapshot
from listwatch.inspector.reconcile_history import ReconcileHistory
from listwatch.inspector.redaction import Redactor
from listwatch.inspector.snapshot import ControllerSnapshot, ReconcileSnapshot

__all__ = ["controller_snapshot"]

_RECENT = 25


def controller_snapshot(
    statistics: ControllerStatistics,
    history: ReconcileHistory,
    redactor: Redactor,
    *,
    is_working: bool,
    needs_leader: bool,
    why_not_ready: str | None,
    watches: Iterable[str],
) -> ControllerSnapshot:
    """The state of a controller, and its last reconciles."""
    failure = statistics.last_failure
    return ControllerSnapshot(
        name=statistics.name,
        is_working=is_working,
        needs_leader=needs_leader,
        why_not_ready=redactor(why_not_ready or ""),
        watches=[*watches],
        concurrency=statistics.concurrency,
        running=statistics.running,
        succeeded=statistics.succeeded,
        requeued=statistics.requeued,
        failed=statistics.failed,
        gave_up=statistics.gave_up,
        timed_out=statistics.timed_out,
        stale=statistics.stale,
        loop_stalls=statistics.loop_stalls,
        mean_duration=statistics.durations.mean,
        longest_duration=statistics.durations.largest,
        last_failure="" if failure is None else redactor(f"{failure.description}: {failure.error}"),
        queue=queue_snapshot(statistics.queue),
        recent=[*_recent(history, redactor)],
    )


def _recent(history: ReconcileHistory, redactor: Redactor) -> Iterator[ReconcileSnapshot]:
    for record in history.recent(_RECENT):
        snapshot = record.snapshot()
        yield msgspec.structs.replace(snapshot, error=redactor(snapshot.error)) if snapshot.error else snapshot
