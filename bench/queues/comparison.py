"""Work queues: items through the queue, and the time from a write to `reconcile`."""

from __future__ import annotations

from collections.abc import Mapping

from bench.harness.contender_names import GO, OURS
from bench.harness.runner import Effort, Figures, compare
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import Target, number, spread, times

_COUNT = 2_000  # more than the writes in a second, so that two writes to an object do not meet in the queue
_RATES = (100, 1_000)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    text = f"work queues: items through the queue, and {_RATES[0]} and {_RATES[1]:,} writes a second to `reconcile`"
    notes = ["cloudcoil, kopf and the clients have no work queue that can be used alone"]
    report = Report("queues", text, notes=notes)
    rounds, seconds = effort.rounds(2, 5), 5.0 if effort.full else 1.5
    for rate in _RATES:
        with replaying(_COUNT) as url:
            plan = {"url": url, "queue": True, "items": 100_000, "rate": rate, "seconds": seconds}
            report.comparisons[f"{rate}"] = compare("bench.queues.run", {OURS: plan, GO: plan}, effort, rounds=rounds)
    _tables(report, report.comparisons[f"{_RATES[0]}"].rows)
    report.targets = [
        Target(f"p99 from write to reconcile at {rate} a second, against client-go", _ratio(result.rows), most=2.0)
        for rate, result in report.comparisons.items()
        if OURS in result.rows and GO in result.rows
    ]
    rows = [result.rows for result in report.comparisons.values() if OURS in result.rows and GO in result.rows]
    if rows:
        share = max(each[OURS]["items"] for each in rows) / max(each[GO]["items"] for each in rows)
        report.targets.append(Target("items/s through the queue, against client-go", share, least=0.4))
    return report


def _tables(report: Report, rows: Mapping[str, Figures]) -> None:
    go = rows.get(GO, {})
    queueing = [spread("items/s", "items"), times("items", go, ".2f"), number("µs CPU", "items_cpu", ".2f", factor=1e6)]
    queueing += [spread("adds/s of queued items", "repeated"), times("repeated", go, ".2f")]
    report.table("work queue", queueing, rows, report.comparisons[f"{_RATES[0]}"].length)
    for rate, result in report.comparisons.items():
        reconciling = [
            number("p50 ms", "reconcile_p50", ".2f", factor=1e3),
            spread("p99 ms", "reconcile_p99", ".2f", factor=1e3),
            times("reconcile_p99", result.rows.get(GO, {}), ".2f"),
            number("p99.9 ms", "reconcile_p999", ".2f", factor=1e3),
            number("µs CPU", "reconcile_cpu", factor=1e6),
        ]
        report.table(f"write to reconcile, {int(rate):,}/s", reconciling, result.rows)


def _ratio(rows: Mapping[str, Figures]) -> float:
    return rows[OURS]["reconcile_p99"] / rows[GO]["reconcile_p99"]
