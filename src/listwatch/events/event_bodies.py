"""The request bodies of events, for the core group and for events.k8s.io: objects to create, and patches."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from listwatch.events.correlation import CountedEvent
from listwatch.events.correlation_series import Series
from listwatch.events.occurrence import Occurrence, Source

__all__ = ["MAX_NOTE_LENGTH", "core_body", "core_patch", "series_body", "series_patch"]

MAX_NOTE_LENGTH: Final = 1024
"""The maximum length of a note in events.k8s.io, in bytes."""


def core_body(event: CountedEvent, source: Source) -> dict[str, object]:
    occurrence = event.occurrence
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": _metadata(occurrence, event.name),
            "involvedObject": occurrence.regarding.tree(),
            "related": occurrence.related.tree() if occurrence.related else None,
            "type": occurrence.type,
            "reason": occurrence.reason,
            "action": occurrence.action,
            "message": event.message,
            "count": event.count,
            "firstTimestamp": _second(event.first_at),
            "lastTimestamp": _second(occurrence.at),
            "source": {"component": source.component},
            "reportingComponent": source.component,
            "reportingInstance": source.instance,
        }
    )


def core_patch(event: CountedEvent) -> dict[str, object]:
    return {"count": event.count, "lastTimestamp": _second(event.occurrence.at), "message": event.message}


def series_body(series: Series, source: Source) -> dict[str, object]:
    occurrence = series.occurrence
    return _without_empty(
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": _metadata(occurrence, occurrence.name),
            "eventTime": _microsecond(occurrence.at),
            "regarding": occurrence.regarding.tree(),
            "related": occurrence.related.tree() if occurrence.related else None,
            "type": occurrence.type,
            "reason": occurrence.reason,
            "action": occurrence.action,
            "note": _truncated(occurrence.message),
            "reportingController": source.component,
            "reportingInstance": source.instance,
            **(series_patch(series) if series.is_repeated else {}),
        }
    )


def series_patch(series: Series) -> dict[str, object]:
    return {"series": {"count": series.count, "lastObservedTime": _microsecond(series.last_at)}}


def _metadata(occurrence: Occurrence, name: str) -> dict[str, object]:
    return _without_empty(
        {
            "name": name,
            "namespace": occurrence.regarding.event_namespace,
            "annotations": dict(occurrence.annotations or {}),
        }
    )


def _without_empty(tree: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in tree.items() if value not in (None, "", {})}


def _second(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _microsecond(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _truncated(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= MAX_NOTE_LENGTH:
        return note
    return encoded[: MAX_NOTE_LENGTH - len("…".encode())].decode(errors="ignore") + "…"
