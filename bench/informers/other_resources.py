"""Informers of other resources than pods: configmaps, secrets with data, and a custom resource.

Both client-go and listwatch use a typed informer for the first two and a dynamic one for the last.
"""

from __future__ import annotations

from bench.harness.contender_names import GO_LISTING, OURS, events_for
from bench.harness.runner import Effort, compare
from bench.informers.informer_tables import tables
from bench.replay.bare_socket import bare_sockets
from bench.replay.paths import LISTS
from bench.replay.replay_server import replaying
from bench.report.report import Report

TITLES = {"configmaps": "configmaps", "secrets": "secrets", "widgets": "custom resources"}
USUAL = {10_000: 1}
FULL = {1_000: 3, 10_000: 3, 100_000: 1}
"""Rounds by number of objects."""
NOTES = ("client-go syncs from a list, the faster of its two ways", "columns as in the tables of pods")
USUAL_NOTES = ("only in `make bench-full`: kopf's watch layer, and other numbers of objects",)


def measure(effort: Effort) -> Report:
    """Run the part and return its report; it has no targets."""
    notes = [*NOTES] if effort.full else [*NOTES, *USUAL_NOTES]
    report = Report("kinds", "informers of configmaps, secrets and custom resources of 0.6 to 60 KB", notes=notes)
    for count, rounds in (FULL if effort.full else USUAL).items():
        if count <= effort.max_objects:
            for resource in TITLES:
                _measure(report, resource, count, effort, rounds=rounds)
    return report


def _measure(report: Report, resource: str, count: int, effort: Effort, *, rounds: int) -> None:
    contenders = (OURS, GO_LISTING, "kopf") if effort.full else (OURS, GO_LISTING)
    with replaying(count, resource) as url:
        limit = bare_sockets(url, count=count, events=events_for(OURS)[1], resource=resource)
        plans = {name: _plan(name, url, resource, count) for name in contenders}
        result = compare("bench.informers.run", plans, effort, rounds=rounds)
    report.comparisons[f"{resource}-{count}"] = result
    tables(report, result.rows, limit, count=count, above=f"{count:,} {TITLES[resource]}, {result.length}")


def _plan(name: str, url: str, resource: str, count: int) -> dict[str, object]:
    events, fields = events_for(name)
    sync_and_events_only = {"rates": [], "reads": 0.0, "relist": False}
    where = {"url": url + LISTS if name == GO_LISTING else url, "resource": resource}
    return {**where, "count": count, "events": events // 2, "fields": fields // 2, **sync_and_events_only}
