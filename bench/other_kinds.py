"""Informers of what is no pod: configmaps, secrets with data, and a custom resource. `kinds.py` makes the objects.

client-go has a typed informer for the first two and a dynamic one for the last, and so have we.
"""

from __future__ import annotations

from bench.informer_tables import tables
from bench.limits import bare_sockets
from bench.replay import replaying
from bench.replay_paths import LISTS
from bench.results import Report
from bench.runner import Effort, race
from bench.the_field import GO_LISTING, OURS, events_for

RESOURCES = {"configmaps": "configmaps", "secrets": "secrets", "widgets": "custom resources"}
USUAL = {10_000: 1}
FULL = {1_000: 3, 10_000: 3, 100_000: 1}
"""At so many objects so many rounds."""
NOTES = ("client-go reads a list, which is the faster of its two ways", "columns as in the tables of pods")
USUAL_NOTES = ("kopf's watch layer, and other numbers of objects: only in `make bench-full`",)


def report(effort: Effort) -> Report:
    """Measure all; nothing was promised."""
    notes = [*NOTES] if effort.full else [*NOTES, *USUAL_NOTES]
    made = Report("kinds", "informers of configmaps, secrets and custom resources of 0.6 to 60 KB", notes=notes)
    for count, rounds in (FULL if effort.full else USUAL).items():
        if count <= effort.most_objects:
            for resource in RESOURCES:
                _measure(made, resource, count, effort, rounds=rounds)
    return made


def _measure(made: Report, resource: str, count: int, effort: Effort, *, rounds: int) -> None:
    contenders = (OURS, GO_LISTING, "kopf") if effort.full else (OURS, GO_LISTING)
    with replaying(count, resource) as url:
        limit = bare_sockets(url, count=count, events=events_for(OURS)[1], resource=resource)
        plans = {name: _plan(name, url, resource, count) for name in contenders}
        result = race("bench.informer_run", plans, effort, rounds=rounds)
    made.races[f"{resource}-{count}"] = result
    tables(made, result.rows, limit, count=count, above=f"{count:,} {RESOURCES[resource]}, {result.length}")


def _plan(name: str, url: str, resource: str, count: int) -> dict[str, object]:
    events, fields = events_for(name)
    nothing_more = {"rates": [], "reads": 0.0, "relist": False}
    where = {"url": url + LISTS if name == GO_LISTING else url, "resource": resource}
    return {**where, "count": count, "events": events // 2, "fields": fields // 2, **nothing_more}
