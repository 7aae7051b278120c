"""From bytes to objects: a list page of pods, by each way there is in Python.

Run as `python -m bench.objects CONTENDER FILE COUNT`, it measures one of them and prints its figures as JSON.
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

from bench.pods import pod_list
from bench.results import Report
from bench.runner import Effort, Figures, race_here
from bench.tables import Promise, number, spread

SPLITTING = ("listwatch", "orjson dicts", "json dicts", "lightkube")
TOUCHED = "listwatch, every part touched"
TRACED = 500  # objects whose memory is counted, which takes long


def report(effort: Effort) -> Report:
    """Measure all, and say what was promised."""
    count = min(20_000 if effort.full else 5_000, effort.most_objects)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "pods.json")
        page.write_bytes(pod_list(count))
        size = page.stat().st_size / count
        result = race_here(
            "bench.objects",
            [*SPLITTING, TOUCHED],
            effort,
            rounds=effort.rounds(2, 5),
            arguments=[str(page), str(count)],
        )
    made = Report("objects", f"a page of {count:,} pods, {size:,.0f} bytes each, into objects", races={"": result})
    columns = [spread("objects/s", "rate"), number("bytes kept per object, beyond its own", "beside")]
    made.table("way", columns, result.rows, result.length)
    made.promises = _promises(result.rows)
    return made


def _promises(rows: Mapping[str, Figures]) -> list[Promise]:
    if not {*SPLITTING, TOUCHED} <= rows.keys():
        return []
    ours, touched = rows["listwatch"], rows[TOUCHED]
    return [
        Promise("list page into objects, against orjson dicts", ours["rate"] / rows["orjson dicts"]["rate"], 8.0),
        Promise("bytes that an untouched object keeps beside its own, against 1,200", ours["beside"] / 1200, most=1.0),
        # Which decodes everything at once, whether somebody looks at it or not.
        Promise("every part touched, against lightkube", touched["rate"] / rows["lightkube"]["rate"], 1.0),
    ]


# --- one contender ------------------------------------------------------------------------------------------------


def _listwatch() -> Callable[[bytes], Any]:
    from listwatch.models.core_v1 import PodList

    return PodList.from_json


def _listwatch_touched() -> Callable[[bytes], Any]:
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
    TOUCHED: _listwatch_touched,
}


def _measure_one(read: Callable[[bytes], Any], page: bytes, count: int) -> Figures:
    few = pod_list(TRACED)
    read(few)  # imports, decoders and caches are there before the clock runs
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
