"""Work queues side by side, and how long it takes from a write to the function that reconciles it."""

from __future__ import annotations

from bench.replay import replaying
from bench.results import Report
from bench.runner import Promise, race

OURS, GO = "listwatch", "client-go"
_COUNT = 2_000  # more than are written in a second, so that no two writes to an object meet in the queue
_RATE = 1_000


def report(*, full: bool = False) -> Report:
    """Measure all, and say what was promised."""
    made = Report(
        "queues",
        f"work queues: items through the queue, and {_RATE:,} writes a second to `reconcile`",
        notes=["cloudcoil, kopf and the clients have no work queue of their own that could be used alone"],
    )
    with replaying(_COUNT) as url:
        plan = {"url": url, "queue": True, "items": 100_000, "rate": _RATE, "seconds": 1.5}
        made.race = race("bench.queue_run", {OURS: plan, GO: plan}, rounds=5 if full else 2)
    columns = {
        "items/s": lambda row: f"{row['items']:,.0f}",
        "adds/s of what is there": lambda row: f"{row['repeated']:,.0f}",
        "write to reconcile p50 ms": lambda row: f"{row['reconcile_p50'] * 1e3:.2f}",
        "p99 ms": lambda row: f"{row['reconcile_p99'] * 1e3:.2f}",
    }
    made.table("work queue", columns, made.race.rows)
    rows = made.race.rows
    if OURS in rows and GO in rows:
        late = rows[OURS]["reconcile_p99"] / rows[GO]["reconcile_p99"]
        made.promises = [Promise("p99 from write to reconcile, against client-go", late, most=2.0)]
    return made
