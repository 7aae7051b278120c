"""Programs compared with client-go: informers of 20 kinds with three handlers each, and one with an index and a reader.

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
from bench.harness.contender_names import GO, GO_LISTING, OURS, OURS_COMPACT, events_for, reference
from bench.harness.measurements import detect_stalls, memory
from bench.harness.runner import Effort, Figures, compare
from bench.informers.informer_tables import kept, syncing, tables
from bench.replay.bare_socket import bare_sockets
from bench.replay.paths import LISTS, MIXED, WIDGETS
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import number, spread, times
from listwatch.meta import Resource

COUNT = 100_000
HANDLERS = 3
NOTES = (
    f"{len(MIXED)} custom resources with dynamic informers in one factory, {HANDLERS} handlers of each; objects of "
    "0.6 to 60 KB",
    "until all handlers have handled all objects",
    "with an index and a reader: an informer of pods with an index by node, which decodes each spec; during the "
    "events, the pods of one app are read by a label selector ten times a second",
)
INDEXED = 10_000


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    report = Report("mixed", "programs with informers of 20 kinds, and with an index and a reader", notes=[*NOTES])
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
    _measure_indexed(report, min(INDEXED, effort.max_objects), effort)
    return report


def _measure_indexed(report: Report, count: int, effort: Effort) -> None:
    """A typical informer: one index, one handler, and a reader with a selector."""
    with replaying(count) as url:
        limit = bare_sockets(url, count=count, events=events_for(OURS)[0])
        plans = {
            name: {
                "url": url + LISTS if name == GO_LISTING else url,
                "count": count,
                "events": events_for(name)[0],
                "fields": events_for(name)[1],
                "rates": [],
                "reads": 0.0,
                "relist": False,
                "index": True,
                "reader": 0.1,
            }
            for name in (OURS, GO, GO_LISTING)
        }
        result = compare("bench.informers.run", plans, effort, rounds=effort.rounds(2, 3))
    report.comparisons[f"indexed-{count}"] = result
    above = f"{count:,} pods with an index by node and a reader, {result.length}"
    tables(report, result.rows, limit, count=count, above=above)
    reading = [
        spread("p50 ms", "selected_p50", ".2f", factor=1e3),
        times("selected_p50", reference(result.rows), ".2f"),
        number("p99 ms", "selected_p99", ".2f", factor=1e3),
    ]
    report.table("reads by label during events", reading, result.rows)


async def run(plan: dict[str, Any]) -> Figures:
    """Sync all informers once."""
    figures: Figures = {}
    handled = 0
    informers: list[Any] = []

    def handle(item: lw.Unstructured) -> None:
        nonlocal handled
        handled += bool(item.name)

    async with lw.DynamicClient(lw.ClientConfig(host=plan["url"])) as client:
        factory = lw.SharedInformerFactory(client, compact=plan.get("compact", False))
        for name in plan["kinds"]:
            made = factory.informer(Resource(WIDGETS[0], WIDGETS[1], "Widget", name, namespaced=True))
            for _ in range(plan["handlers"]):
                made.informer.add_handler(on_add=handle)
            informers.append(made.informer)
        figures["baseline"] = memory("VmRSS")
        with detect_stalls() as detector:
            started, cpu = time.perf_counter(), time.process_time()
            async with factory:
                await factory.wait_for_sync(timeout=600)
                figures["sync"] = plan["count"] / (time.perf_counter() - started)
                figures["sync_cpu"] = time.process_time() - cpu
                figures["peak"] = memory("VmHWM")
                figures |= detector.longest("sync")
                while any(map(_has_unpacked, informers)):  # noqa: ASYNC110  # of other components
                    await asyncio.sleep(0.1)
                await asyncio.sleep(1)  # as long as client-go has after its garbage collection
                gc.collect()
                figures["settled"] = memory("VmRSS")
    if handled != plan["count"] * plan["handlers"]:
        raise SystemExit(f"{handled:,} objects were handled, expected {plan['count'] * plan['handlers']:,}")
    return figures


def _has_unpacked(informer: Any) -> bool:
    found = informer.statistics().compact
    return found is not None and found.unpacked > 0


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[2])))), flush=True)
