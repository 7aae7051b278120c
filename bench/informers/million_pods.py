"""A million pods in the compact store of one process: time, CPU, and the memory at the peak and when settled."""

from __future__ import annotations

from dataclasses import replace

from bench.harness.contender_names import OURS_COMPACT
from bench.harness.runner import Effort, compare
from bench.informers.informer_tables import kept
from bench.replay.many_pods import streaming_pods
from bench.report.report import Report
from bench.report.tables import Column, Target, number

COUNT = 1_000_000
LIMIT = 1.5e9
NOTES = (
    "the pods of the other parts, of 4.5 KB, with other names, uids and versions; the server generates the stream "
    "while it is read, which takes about as long as the informer does on the other core",
    "memory of the whole process: at the peak, and when all objects are compressed",
    "`get` and the first access to the spec of objects in random order",
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    report = Report("million", "a million pods in one compact store", notes=[*NOTES])
    count = min(COUNT, effort.max_objects)
    plan = {"count": count, "events": 0, "fields": 0, "rates": [], "reads": 0.0, "relist": False}
    more = {"compact": True, "touches": min(5_000, count), "stalls": True}
    patient = replace(effort, full=True)  # it may take longer than the other parts
    with streaming_pods(count) as url:
        result = compare("bench.informers.run", {OURS_COMPACT: {"url": url, **plan, **more}}, patient, rounds=1)
    report.comparisons[f"{count}"] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
    columns: list[Column] = [
        ("seconds", lambda row: f"{count / row['sync']:.0f}"),
        number("objects/s", "sync"),
        number("CPU s", "sync_cpu", ".1f"),
        number("peak MB", "peak", factor=1e-6),
        number("settled MB", "settled", factor=1e-6),
        number("B/object", "kept"),
        number("stall ms", "sync_stall", factor=1e3),
        number("CPU ms", "sync_stall_cpu", factor=1e3),
        number("get and spec, µs: p50", "touch_p50", ".1f", factor=1e6),
        number("p99", "touch_p99", ".1f", factor=1e6),
    ]
    report.table("", columns, result.rows, f"{count:,} pods")
    report.targets = [
        Target(f"{count:,} pods: memory {when}, against 1.5 GB", row[name] / LIMIT, most=1.0)
        for row in result.rows.values()
        for when, name in (("at the peak", "peak"), ("when settled", "settled"))
    ]
    return report
