"""Decoding a list page of pods: listwatch beside other Python decoders.

`python -m bench.objects CONTENDER FILE COUNT` measures one decoder and prints its figures as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.harness.runner import Effort, Figures, compare_here
from bench.replay.pods import pod_list
from bench.report.report import Report
from bench.report.tables import Target, number, spread

DECODERS = ("listwatch", "orjson dicts", "json dicts", "lightkube")
FULLY_READ = "listwatch, every part touched"
TRACED = 500  # objects whose memory is traced, because tracemalloc is slow


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    count = min(20_000 if effort.full else 5_000, effort.max_objects)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "pods.json")
        page.write_bytes(pod_list(count))
        size = page.stat().st_size / count
        result = compare_here(
            "bench.objects",
            [*DECODERS, FULLY_READ],
            effort,
            rounds=effort.rounds(2, 5),
            arguments=[str(page), str(count)],
        )
    report = Report(
        "objects", f"a page of {count:,} pods, {size:,.0f} bytes each, into objects", comparisons={"": result}
    )
    columns = [spread("objects/s", "rate"), number("bytes per object beyond its JSON", "beside")]
    report.table("decoder", columns, result.rows, result.length)
    report.targets = _targets(result.rows)
    return report


def _targets(rows: Mapping[str, Figures]) -> list[Target]:
    if not {*DECODERS, FULLY_READ} <= rows.keys():
        return []
    ours, fully_read = rows["listwatch"], rows[FULLY_READ]
    return [
        Target("list page into objects, against orjson dicts", ours["rate"] / rows["orjson dicts"]["rate"], 8.0),
        Target("memory of an unread object beyond its JSON, against 1,200 bytes", ours["beside"] / 1200, most=1.0),
        # lightkube decodes every part when it parses the list.
        Target("every part read, against lightkube", fully_read["rate"] / rows["lightkube"]["rate"], 1.0),
    ]


# --- Decoders ---------------------------------------------------------------------------------------------------------


def _listwatch() -> Callable[[bytes], Any]:
    from listwatch.models.core_v1 import PodList

    return PodList.from_json


def _listwatch_fully_read() -> Callable[[bytes], Any]:
    from listwatch.models.core_v1 import PodList

    def read(page: bytes) -> Any:
        listed = PodList.from_json(page)
        for each in listed:
            _ = each.metadata, each.spec, each.status
            for entry in each.metadata.managed_fields:
                _ = entry.fields
        return listed

    return read


def _orjson() -> Callable[[bytes], Any]:
    import orjson

    return orjson.loads


def _json() -> Callable[[bytes], Any]:
    return json.loads


def _lightkube() -> Callable[[bytes], Any]:
    from lightkube.core.decoders import decode_list
    from lightkube.resources.core_v1 import Pod

    return lambda page: decode_list(page, Pod)


_CONTENDERS = {
    "listwatch": _listwatch,
    "orjson dicts": _orjson,
    "json dicts": _json,
    "lightkube": _lightkube,
    FULLY_READ: _listwatch_fully_read,
}


def _measure_one(read: Callable[[bytes], Any], page: bytes, count: int) -> Figures:
    few = pod_list(TRACED)
    read(few)  # warm-up: imports, decoders and caches
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        kept = read(page)
        best = min(best, time.perf_counter() - started)
        del kept
        gc.collect()
    tracemalloc.start()
    kept = read(few)
    gc.collect()
    held, _peak = tracemalloc.get_traced_memory()
    del kept
    return {"rate": count / best, "beside": (held - len(few)) / TRACED}


if __name__ == "__main__":
    contender, file, count = sys.argv[1:]
    print(json.dumps(_measure_one(_CONTENDERS[contender](), Path(file).read_bytes(), int(count))))
