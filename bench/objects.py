"""From bytes to objects: a list page of 20,000 pods, by each way there is in Python.

Run as `python -m bench.objects CONTENDER FILE`, it measures one of them and prints its figures as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.pods import pod_list
from bench.runner import Figures, measure, print_table

COUNT = 20_000
SPLITTING = ("listwatch", "orjson dicts", "json dicts", "lightkube")
TOUCHING = ("listwatch, every field touched", "lightkube, every field touched")


def report() -> bool:
    """Measure all, print the table, and say whether the promises hold."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "pods.json")
        page.write_bytes(pod_list(COUNT))
        size = page.stat().st_size / COUNT
        print(f"objects: a page of {COUNT:,} pods, {size:,.0f} bytes each")
        rows = measure("bench.objects", [*SPLITTING, *TOUCHING], rounds=3, arguments=[str(page)])
    print_table(
        "way",
        {
            "objects/s": lambda row: f"{row['rate']:,.0f}",
            "kept per object, beyond its bytes": lambda row: f"{row['kept'] - size:,.0f} bytes",
        },
        rows,
    )
    return _promises(rows, size)


def _promises(rows: dict[str, Figures], size: float) -> bool:
    ours, touched = rows["listwatch"], rows[TOUCHING[0]]
    promises = {
        "list page into objects, against orjson dicts": (ours["rate"] / rows["orjson dicts"]["rate"], 8.0),
        "room beside the bytes: 1,200 over what an untouched object keeps": (1200 / (ours["kept"] - size), 1.0),
        "every field touched, against lightkube": (touched["rate"] / rows[TOUCHING[1]]["rate"], 1.0),
    }
    print()
    for promise, (ratio, least) in promises.items():
        print(f"  {promise}: {ratio:.1f} × (promised: {least:g})")
    return all(ratio >= least for ratio, least in promises.values())


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
    "listwatch, every field touched": _listwatch_touched,
    "lightkube, every field touched": _lightkube,
}


def _measure_one(read: Callable[[bytes], Any], page: bytes) -> Figures:
    read(page[:0] or pod_list(10))  # imports, decoders and caches are there before the clock runs
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        kept = read(page)
        best = min(best, time.perf_counter() - started)
        del kept
        gc.collect()
    tracemalloc.start()
    kept = read(page)
    gc.collect()
    held, _peak = tracemalloc.get_traced_memory()
    del kept
    return {"rate": COUNT / best, "kept": held / COUNT}


if __name__ == "__main__":
    contender, file = sys.argv[1:]
    print(json.dumps(_measure_one(_CONTENDERS[contender](), Path(file).read_bytes())))
