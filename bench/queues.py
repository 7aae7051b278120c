"""Work queues side by side, and how long it takes from a write to the function that reconciles it."""

from __future__ import annotations

from collections.abc import Mapping

from bench.replay import replaying
from bench.results import Report
from bench.runner import Effort, Figures, race
from bench.tables import Promise, number, spread, times
from bench.the_field import GO, OURS

_COUNT = 2_000  # more than are written in a second, so that no two writes to an object meet in the queue
_RATES = (100, 1_000)


def report(effort: Effort) -> Report:
    """Measure all, and say what was promised."""
    text = f"work queues: items through the queue, and {_RATES[0]} and {_RATES[1]:,} writes a second to `reconcile`"
    notes = ["cloudcoil, kopf and the clients have no work queue of their own that could be used alone"]
    made = Report("queues", text, notes=notes)
    rounds, seconds = effort.rounds(2, 5), 5.0 if effort.full else 1.5
    for rate in _RATES:
        with replaying(_COUNT) as url:
            plan = {"url": url, "queue": True, "items": 100_000, "rate": rate, "seconds": seconds}
            made.races[f"{rate}"] = race("bench.queue_run", {OURS: plan, GO: plan}, effort, rounds=rounds)
    _tables(made, made.races[f"{_RATES[0]}"].rows)
    made.promises = [
        Promise(f"p99 from write to reconcile at {rate} a second, against client-go", _ratio(result.rows), most=2.0)
        for rate, result in made.races.items()
        if OURS in result.rows and GO in result.rows
    ]
    return made


def _tables(made: Report, rows: Mapping[str, Figures]) -> None:
    go = rows.get(GO, {})
    queueing = [spread("items/s", "items"), times("items", go, ".2f"), number("µs CPU", "items_cpu", ".2f", factor=1e6)]
    queueing += [spread("adds/s of what is there", "repeated"), times("repeated", go, ".2f")]
    made.table("work queue", queueing, rows, made.races[f"{_RATES[0]}"].length)
    for rate, result in made.races.items():
        reconciling = [
            number("p50 ms", "reconcile_p50", ".2f", factor=1e3),
            spread("p99 ms", "reconcile_p99", ".2f", factor=1e3),
            times("reconcile_p99", result.rows.get(GO, {}), ".2f"),
            number("p99.9 ms", "reconcile_p999", ".2f", factor=1e3),
            number("µs CPU", "reconcile_cpu", factor=1e6),
        ]
        made.table(f"write to reconcile, {int(rate):,}/s", reconciling, result.rows)


def _ratio(rows: Mapping[str, Figures]) -> float:
    return rows[OURS]["reconcile_p99"] / rows[GO]["reconcile_p99"]
