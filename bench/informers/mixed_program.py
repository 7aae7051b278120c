"""A program with many informers: 20 kinds, 100,000 objects, three handlers of each kind, beside client-go.

`python -m bench.informers.mixed_program CONTENDER PLAN` runs the one of listwatch and prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from typing import Any

import listwatch as lw
from bench.harness.contender_names import GO, GO_LISTING, OURS, OURS_COMPACT, reference
from bench.harness.measurements import detect_stalls, memory
from bench.harness.runner import Effort, Figures, compare
from bench.informers.informer_tables import kept, syncing
from bench.replay.paths import LISTS, MIXED, WIDGETS
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import number
from listwatch.meta import Resource

COUNT = 100_000
HANDLERS = 3
NOTES = (
    f"{len(MIXED)} custom resources with dynamic informers in one factory, {HANDLERS} handlers of each; objects of "
    "0.6 to 60 KB",
    "until all handlers have handled all objects",
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    report = Report("mixed", "a program with informers of 20 kinds", notes=[*NOTES])
    each = min(COUNT, effort.max_objects) // len(MIXED)
    count = each * len(MIXED)
    with replaying(each, *MIXED) as url:
        plan: dict[str, Any] = {"url": url, "count": count, "kinds": MIXED, "handlers": HANDLERS}
        listing = plan | {"url": url + LISTS}
        plans = {OURS: plan, OURS_COMPACT: plan | {"compact": True}, GO: plan, GO_LISTING: listing}
        result = compare("bench.informers.mixed_program", plans, effort, rounds=effort.rounds(1, 3))
    report.comparisons[f"{count}"] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
    columns = [*syncing(reference(result.rows)), number("stall ms", "sync_stall", factor=1e3)]
    report.table("to synced", columns, result.rows, f"{count:,} objects of {len(MIXED)} kinds, {result.length}")
    return report


async def run(plan: dict[str, Any]) -> Figures:
    """Sync all informers once."""
    figures: Figures = {}
    handled = 0

    def handle(item: lw.Unstructured) -> None:
        nonlocal handled
        handled += bool(item.name)

    async with lw.DynamicClient(lw.ClientConfig(host=plan["url"])) as client:
        factory = lw.SharedInformerFactory(client, compact=plan.get("compact", False))
        for name in plan["kinds"]:
            made = factory.informer(Resource(WIDGETS[0], WIDGETS[1], "Widget", name, namespaced=True))
            for _ in range(plan["handlers"]):
                made.informer.add_handler(on_add=handle)
        figures["baseline"] = memory("VmRSS")
        with detect_stalls() as detector:
            started, cpu = time.perf_counter(), time.process_time()
            async with factory:
                await factory.wait_for_sync(timeout=600)
                figures["sync"] = plan["count"] / (time.perf_counter() - started)
                figures["sync_cpu"] = time.process_time() - cpu
                figures["peak"] = memory("VmHWM")
                figures |= detector.longest("sync")
                await asyncio.sleep(1)  # as long as client-go has after its garbage collection
                gc.collect()
                figures["settled"] = memory("VmRSS")
    if handled != plan["count"] * plan["handlers"]:
        raise SystemExit(f"{handled:,} objects were handled, expected {plan['count'] * plan['handlers']:,}")
    return figures


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[2])))), flush=True)
