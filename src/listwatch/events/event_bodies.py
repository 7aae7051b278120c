"""Events as the API reads them, of the core group and of events.k8s.io: what to create, and what to change."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from listwatch.events.correlation import Counted
from listwatch.events.correlation_series import Series
from listwatch.events.occurrence import Occurrence, Source

__all__ = ["LONGEST_NOTE", "core_body", "core_patch", "series_body", "series_patch"]

LONGEST_NOTE: Final = 1024
"""The bytes that events.k8s.io accepts in a note."""


def core_body(event: Counted, source: Source) -> dict[str, Any]:
    told = event.occurrence
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": _metadata(told, event.name),
            "involvedObject": told.regarding.tree(),
            "related": told.related.tree() if told.related else None,
            "type": told.type,
            "reason": told.reason,
            "action": told.action,
            "message": event.message,
            "count": event.count,
            "firstTimestamp": _second(event.first_at),
            "lastTimestamp": _second(told.at),
            "source": {"component": source.component},
            "reportingComponent": source.component,
            "reportingInstance": source.instance,
        }
    )


def core_patch(event: Counted) -> dict[str, Any]:
    return {"count": event.count, "lastTimestamp": _second(event.occurrence.at), "message": event.message}


def series_body(series: Series, source: Source) -> dict[str, Any]:
    told = series.occurrence
    return _without_empty(
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": _metadata(told, told.name),
            "eventTime": _microsecond(told.at),
            "regarding": told.regarding.tree(),
            "related": told.related.tree() if told.related else None,
            "type": told.type,
            "reason": told.reason,
            "action": told.action,
            "note": _shortened(told.message),
            "reportingController": source.component,
            "reportingInstance": source.instance,
            **(series_patch(series) if series.is_repeated else {}),
        }
    )


def series_patch(series: Series) -> dict[str, Any]:
    return {"series": {"count": series.count, "lastObservedTime": _microsecond(series.last_at)}}


def _metadata(told: Occurrence, name: str) -> dict[str, Any]:
    return _without_empty({"name": name, "namespace": told.regarding.home, "annotations": dict(told.annotations or {})})


def _without_empty(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tree.items() if value not in (None, "", {})}


def _second(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _microsecond(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _shortened(note: str) -> str:
    encoded = note.encode()
    if len(encoded) <= LONGEST_NOTE:
        return note
    return encoded[: LONGEST_NOTE - len("…".encode())].decode(errors="ignore") + "…"
