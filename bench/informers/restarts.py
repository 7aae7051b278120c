"""Restarts of an informer with a persistent cache, until it has synced, next to its first start.

`python -m bench.informers.restarts PLAN` runs one start in a new process and prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from typing import Any

import listwatch as lw
from bench.harness.measurements import detect_stalls, memory
from bench.harness.runner import Effort, Figures, Row, compare_commands
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import Target, number, spread
from listwatch.client.transport.aiohttp_transport import AiohttpTransport

COUNT = 100_000
# Exports are imported on first use; import them here so that the import time is not counted.
_PRELOADED = (lw.ClientSet, lw.SharedInformerFactory, AiohttpTransport)
FORMS = {"plain": False, "compact": True}
NOTES = (
    "a new process each time; `start` lists everything and writes the file, `restart` reads it and resumes the watch",
    "seconds from the start of the informer, without imports, to `has_synced`, with one handler; they include the "
    "tenth of a second without events after which the watch is confirmed",
    "`handled`: seconds until the handler was called with all objects, which a restart does meanwhile and afterwards",
    "the replay server stands for a server that still has the version; it responds to the watch at once",
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    report = Report("restarts", "restarts of informers with a persistent cache", notes=[*NOTES])
    count = min(COUNT, effort.max_objects)
    rows: dict[str, Row] = {}
    with replaying(count) as url, tempfile.TemporaryDirectory() as folder:
        for form, compact in FORMS.items():
            plan = {"url": url, "count": count, "folder": folder, "compact": compact}
            for what in ("start", "restart"):
                command = [sys.executable, "-m", "bench.informers.restarts", json.dumps(plan)]
                rounds = 1 if what == "start" else effort.rounds(usual=2, full=3)
                result = compare_commands({f"{form}, {what}": command}, effort, rounds=rounds, left_out={})
                rows |= result.rows
                report.comparisons[f"{form}-{what}"] = result
    columns = [
        spread("seconds to synced", "synced", ".2f"),
        number("readable after s", "readable", ".2f"),
        number("handled after s", "handled", ".2f"),
        number("CPU s", "cpu", ".2f"),
        number("lists", "lists"),
        number("stall ms", "sync_stall", factor=1e3),
        number("MB", "grown", factor=1e-6),
    ]
    report.table("", columns, rows, above=f"{count:,} pods")
    report.targets = [
        Target(f"{count:,} pods: seconds of a restart until synced, {form}", rows[name]["synced"], most=0.8)
        for form in FORMS
        if (name := f"{form}, restart") in rows
    ]
    return report


async def run(plan: dict[str, Any]) -> Figures:
    """Start the informer once."""
    figures: Figures = {}
    async with lw.ClientSet(lw.ClientConfig(host=plan["url"])) as client:
        factory = lw.SharedInformerFactory(client, cache_dir=plan["folder"], compact=plan["compact"])
        informer = factory.core_v1.pods.informer
        informer.add_handler(on_add=lambda item: item.name)
        baseline = memory("VmRSS")
        with detect_stalls() as detector:
            started, cpu = time.perf_counter(), time.process_time()
            async with factory:
                await informer.wait_until_readable(timeout=600)
                figures["readable"] = time.perf_counter() - started
                await informer.wait_for_sync(timeout=600, handlers=[])
                figures["synced"] = time.perf_counter() - started
                await informer.wait_for_sync(timeout=600)
                figures["handled"] = time.perf_counter() - started
                figures["cpu"] = time.process_time() - cpu
                figures |= detector.longest("sync")
                figures["grown"] = memory("VmRSS") - baseline
                statistics = informer.statistics()
                figures["lists"] = statistics.sources[0].syncs
                if statistics.objects != plan["count"]:
                    raise SystemExit(f"the cache has {statistics.objects:,} objects, expected {plan['count']:,}")
    return figures


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.loads(sys.argv[1])))), flush=True)
