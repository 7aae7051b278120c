"""Six columns of cached pods into an Arrow table: `lister.to_arrow` compared with plain Python.

`python -m bench.arrow CONTENDER FILE` measures one contender and prints its figures as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness.runner import Effort, Figures, compare_here
from bench.replay.pods import pod
from bench.report.report import Report
from bench.report.tables import Target, number, spread

OURS, PLAIN, FASTER = "listwatch to_arrow", "json.loads", "orjson.loads"
COLUMNS = {
    "namespace": "metadata.namespace",
    "name": "metadata.name",
    "app": "metadata.labels.app",
    "node": "spec.nodeName",
    "image": "spec.containers[0].image",
    "phase": "status.phase",
}


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    count = min(100_000 if effort.full else 20_000, effort.max_objects)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pods.jsonl")
        size = _write_pods(file, count) / count
        result = compare_here(
            "bench.arrow", [OURS, PLAIN, FASTER], effort, rounds=effort.rounds(2, 5), arguments=[str(file)]
        )
    report = Report(
        "arrow",
        f"{count:,} cached pods, {size:,.0f} bytes each, into an Arrow table of {len(COLUMNS)} columns",
        comparisons={"": result},
    )
    if len({row["contents"] for row in result.rows.values()}) > 1:
        raise AssertionError(f"the tables differ: {result.rows}")
    report.notes.append("all tables are equal")
    columns = [
        spread("CPU seconds", "cpu", ".2f"),
        spread("seconds", "seconds", ".2f"),
        number("µs per object", "cpu", ".1f", factor=1e6 / count),
    ]
    report.table("contender", columns, result.rows, result.length)
    if {OURS, PLAIN} <= result.rows.keys():
        ratio = result.rows[PLAIN]["cpu"] / result.rows[OURS]["cpu"]
        report.targets = [Target("table of six columns, against json.loads", ratio, 1.0)]
    return report


def _write_pods(file: Path, count: int) -> int:
    """Write one pod on each line; return the size of all."""
    rng, size = random.Random(1), 0
    with file.open("wb") as lines:
        for index in range(count):
            size += lines.write(json.dumps(pod(index, rng), separators=(",", ":")).encode() + b"\n")
    return size - count


# --- Contenders -------------------------------------------------------------------------------------------------------


def _listwatch(received: list[bytes]) -> Callable[[], Any]:
    from listwatch import Indexer, Lister
    from listwatch.meta import GroupResource
    from listwatch.models.core_v1 import Pod

    indexer: Indexer[Pod] = Indexer()
    indexer.replace([Pod.from_wire(each) for each in received], "1")
    lister = Lister(indexer, GroupResource("", "pods"))
    return lambda: lister.to_arrow(COLUMNS)


def _plain(received: list[bytes], loads: Callable[[bytes], Any]) -> Callable[[], Any]:
    import pyarrow

    def table() -> Any:
        rows = [_row(loads(each)) for each in received]
        return pyarrow.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))

    return table


def _row(tree: dict[str, Any]) -> tuple[str | None, ...]:
    metadata, spec = tree["metadata"], tree["spec"]
    return (
        metadata["namespace"],
        metadata["name"],
        metadata["labels"].get("app"),
        spec.get("nodeName"),
        spec["containers"][0]["image"],
        tree["status"]["phase"],
    )


def _make(contender: str, received: list[bytes]) -> Callable[[], Any]:
    if contender == OURS:
        return _listwatch(received)
    if contender == PLAIN:
        return _plain(received, json.loads)
    import orjson

    return _plain(received, orjson.loads)


def _measure_one(contender: str, received: list[bytes]) -> Figures:
    make = _make(contender, received)
    _make(contender, received[:100])()  # warm-up: imports and decoders
    started, cpu = time.perf_counter(), time.process_time()
    table = make()
    figures = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
    rows = sorted(zip(*table.to_pydict().values(), strict=True), key=lambda row: row[:2])
    return {**figures, "contents": float(zlib.crc32(json.dumps([table.column_names, rows]).encode()))}


if __name__ == "__main__":
    print(json.dumps(_measure_one(sys.argv[1], Path(sys.argv[2]).read_bytes().splitlines())))
