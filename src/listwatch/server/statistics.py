"""Figures of a server, as a value and as text for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Statistics", "metrics_text"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """The state of the server at one moment."""

    revision: int
    requests: int
    connections: int
    watches: int


def metrics_text(statistics: Statistics, objects: Mapping[str, int]) -> str:
    """Return the figures in the text format of Prometheus; `objects` are the numbers of objects by storage id."""
    lines = [
        *_metric("listwatch_server_requests_total", "counter", "Requests received.", statistics.requests),
        *_metric("listwatch_server_connections", "gauge", "Open connections.", statistics.connections),
        *_metric("listwatch_server_watches", "gauge", "Open watches.", statistics.watches),
        *_metric("listwatch_server_revision", "gauge", "The revision of the latest write.", statistics.revision),
        "# HELP apiserver_resource_objects The number of stored objects by resource.",
        "# TYPE apiserver_resource_objects gauge",
    ]
    for storage_id, count in sorted(objects.items()):
        group, _, plural = storage_id.rpartition("/")
        lines.append(f'apiserver_resource_objects{{group="{group}",resource="{plural}"}} {count}')
    return "\n".join([*lines, ""])


def _metric(name: str, kind: str, text: str, value: int) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"
    yield f"{name} {value}"
