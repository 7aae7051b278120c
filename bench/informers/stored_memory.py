"""Memory of cached pods: plain, compact, and compact with a file, beside client-go.

Two workloads: the pods of the other parts, of which many share templates, and pods with high entropy, which compress
badly.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from bench.harness.contender_names import GO, GO_LISTING, OURS, OURS_COMPACT, OURS_COMPACT_FILE, reference
from bench.harness.runner import Effort, compare
from bench.informers.informer_tables import kept
from bench.replay.paths import LISTS
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import Column, Target, number, times

COUNTS = {"pods": 100_000, "random-pods": 20_000}
TITLES = {"pods": "pods of 4.5 KB", "random-pods": "pods of 1 to 60 KB with high entropy"}
LIMITS = {"pods": 0.12, "random-pods": 0.3}
"""The largest share of the memory of client-go that a compact store may take."""
ANONYMOUS_LIMIT = 0.12
"""The same for the anonymous memory of a compact store with a file."""
TOUCHES = 5_000
NOTES = (
    "the growth of resident memory since the start of the informer, when the objects of the first list are compressed "
    "and written: of Python after gc.collect(), of client-go one second after runtime.GC()",
    "`anonymous` is without the pages of files, `mapped` only those, which the system can take back; `read` are the "
    "latter after the accesses to specs",
    "× is the ratio to client-go, where the reference is the better of its two ways to sync: a stream, or a list",
    "57 % of the bytes of the pods with high entropy are random, so that no compression makes them smaller than that",
    "`get` and the first access to the spec of objects in random order",
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    report = Report("memory", "memory of cached pods", notes=[*NOTES])
    for resource, usual in COUNTS.items():
        _measure(report, resource, min(usual, effort.max_objects), effort)
    return report


def _measure(report: Report, resource: str, count: int, effort: Effort) -> None:
    with replaying(count, resource) as url, tempfile.TemporaryDirectory() as folder:
        result = compare("bench.informers.run", _plans(url, count, folder), effort, rounds=effort.rounds(1, 3))
    report.comparisons[resource] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
        for name in ("settled_anonymous", "settled_mapped", "touched_mapped"):
            if name in row:
                row[f"kept_{name}"] = (row[name] - row[f"baseline_{name.partition('_')[2]}"]) / count
    go = reference(result.rows)
    columns: list[Column] = [
        number("B/object", "kept"),
        times("kept", go, ".2f"),
        number("anonymous", "kept_settled_anonymous"),
        number("mapped", "kept_settled_mapped"),
        number("read", "kept_touched_mapped"),
        number("peak MB", "peak", factor=1e-6),
        number("get and spec, µs: p50", "touch_p50", ".1f", factor=1e6),
        number("p99", "touch_p99", ".1f", factor=1e6),
    ]
    report.table("memory", columns, result.rows, f"{count:,} {TITLES[resource]}")
    report.targets = [*report.targets, *_targets(resource, count, result.rows)]


def _plans(url: str, count: int, folder: str) -> dict[str, dict[str, Any]]:
    plan = {"count": count, "events": 0, "fields": 0, "rates": [], "reads": 0.0, "relist": False}
    ours = plan | {"url": url, "touches": min(TOUCHES, count)}
    return {
        OURS: ours,
        OURS_COMPACT: ours | {"compact": True},
        OURS_COMPACT_FILE: ours | {"compact": True, "cache_dir": str(Path(folder) / "cache")},
        GO: plan | {"url": url},
        GO_LISTING: plan | {"url": url + LISTS},
    }


def _targets(resource: str, count: int, rows: Any) -> list[Target]:
    found, what, go = list[Target](), f"{count:,} {TITLES[resource]}", reference(rows)
    if OURS_COMPACT in rows and go:
        share = rows[OURS_COMPACT]["kept"] / go["kept"]
        found.append(Target(f"{what}: memory of a compact store, against client-go", share, most=LIMITS[resource]))
    if OURS_COMPACT_FILE in rows and go:
        share = rows[OURS_COMPACT_FILE]["kept_settled_anonymous"] / go["kept"]
        what_of_it = "anonymous memory of a compact store with a file"
        found.append(Target(f"{what}: {what_of_it}, against client-go", share, most=ANONYMOUS_LIMIT))
    if OURS_COMPACT in rows and resource == "pods":
        p50 = rows[OURS_COMPACT]["touch_p50"] / 20e-6
        found.append(Target(f"{what}: get and touch of a spec, compact, against 20 µs", p50, most=1.0))
    return found
