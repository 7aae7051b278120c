"""Work queues side by side, and how long it takes from a write to the function that reconciles it."""

from __future__ import annotations

from collections.abc import Callable

from bench.replay import replaying
from bench.results import Report
from bench.runner import Promise, race

OURS, GO = "listwatch", "client-go"
_COUNT = 2_000  # more than are written in a second, so that no two writes to an object meet in the queue
_RATES = (100, 1_000)
_LATENCIES = ("reconcile_p50", "reconcile_p99")


def report(*, full: bool = False) -> Report:
    """Measure all, and say what was promised."""
    latencies: dict[str, dict[str, float]] = {}
    made = Report(
        "queues",
        f"work queues: items through the queue, and {_RATES[0]} and {_RATES[1]:,} writes a second to `reconcile`",
        notes=["cloudcoil, kopf and the clients have no work queue of their own that could be used alone"],
    )
    for rate in _RATES:
        with replaying(_COUNT) as url:
            plan = {"url": url, "queue": True, "items": 100_000, "rate": rate, "seconds": 1.5}
            made.race = race("bench.queue_run", {OURS: plan, GO: plan}, rounds=5 if full else 2)
        for name, row in made.race.rows.items():
            latencies.setdefault(name, {}).update({f"{key}_{rate}": row[key] for key in _LATENCIES})
    for name, row in made.race.rows.items():
        row |= latencies.get(name, {})
    columns = {
        "items/s": lambda row: f"{row['items']:,.0f}",
        "adds/s of what is there": lambda row: f"{row['repeated']:,.0f}",
        **{f"{rate:,}/s: p50 ms": _milliseconds(f"reconcile_p50_{rate}") for rate in _RATES},
        **{f"{rate:,}/s: p99 ms": _milliseconds(f"reconcile_p99_{rate}") for rate in _RATES},
    }
    made.table("work queue", columns, made.race.rows)
    rows = made.race.rows
    if OURS in rows and GO in rows:
        made.promises = [
            Promise(
                f"p99 from write to reconcile at {rate:,} a second, against client-go", _ratio(rows, rate), most=2.0
            )
            for rate in _RATES
        ]
    return made


def _milliseconds(name: str) -> Callable[[dict[str, float]], str]:
    return lambda row: f"{row[name] * 1e3:.2f}"


def _ratio(rows: dict[str, dict[str, float]], rate: int) -> float:
    return rows[OURS][f"reconcile_p99_{rate}"] / rows[GO][f"reconcile_p99_{rate}"]
