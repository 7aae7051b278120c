"""Writes the speed figures of `bench/results` into README.md and docs/speed.md, between the comments that mark them.

    python -m tools.readme_figures            write them
    python -m tools.readme_figures --check    fail if the files show other figures

Run it after `make bench`. A test compares the files with the committed results.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["FILES", "figures", "insert", "server_figures"]

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- figures from bench/results: begin -->", "<!-- figures: end -->"
OBJECTS, FEWER_OBJECTS, MORE_OBJECTS = "10000", "1000", "100000"
OURS, GO, GO_LIST = "listwatch", "client-go", "client-go, list"
COMPACT = "listwatch, compact"
PROTOBUF, PROTOBUF_LIST = ", protobuf", ", protobuf, list"
WAYS = {
    "JSON, stream (the default)": ("listwatch", "JSON, stream"),
    "JSON, list": ("listwatch, list", "JSON, list"),
    "JSON, pages": ("listwatch, pages", "JSON, pages"),
    "protobuf, stream": ("listwatch, protobuf", "protobuf, stream"),
    "protobuf, list": ("listwatch, protobuf, list", "protobuf, list"),
    "protobuf, pages": ("listwatch, protobuf, pages", "protobuf, pages"),
}
"""The contender of each way to sync, and its row among the clients at once."""
PARTS = ("informers", "memory", "million", "queues", "real", "restarts")
OTHERS = ("kopf", "lightkube", "kubernetes", "kr8s")

Row = Mapping[str, float]


def figures(folder: Path) -> str:
    """The table, the sentences below it, and where they were measured, as Markdown."""
    informers = _read(folder, "informers")
    rows = {count: race["rows"] for count, race in informers["races"].items()}
    slower = f"{_smallest(folder, rows[MORE_OBJECTS])} {_where_others_are_faster(folder, rows[OBJECTS])}"
    parts = [
        _table(rows),
        _wrapped(f"¹ {int(FEWER_OBJECTS):,} pods. {_at_scale(rows[MORE_OBJECTS])} {slower}"),
        _wrapped(_measured_on(informers, _dates(folder))),
    ]
    return "\n\n".join(parts)


def server_figures(folder: Path) -> str:
    """What each way to sync costs a real kube-apiserver, as a Markdown table."""
    races = _read(folder, "real")["races"]
    rows, load = races[OBJECTS]["rows"], races[f"load-{OBJECTS}"]["rows"]
    lines = [
        "| | time | CPU of the client | CPU of the server | ten clients: CPU of the server | its memory grows by |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for way, (contender, at_once) in WAYS.items():
        one, ten = rows[contender], load[at_once]
        per_pod = [1 / one["sync"], one["sync_cpu"] / int(OBJECTS), one["server_cpu"] / int(OBJECTS)]
        per_pod.append(ten["server_cpu"] / int(OBJECTS) / 10)
        cells = [f"{1e6 * seconds:,.0f}" for seconds in per_pod]
        lines.append(f"| {way} | {' | '.join(cells)} | {ten['server_grown'] / 1e6:,.0f} MB |")
    return "\n".join(lines)


def insert(readme: str, text: str) -> str:
    """README.md, or docs/speed.md, with this text between the two comments."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the file needs the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 130, break_long_words=False, break_on_hyphens=False)


def _table(rows: Mapping[str, Mapping[str, Row]]) -> str:
    lines = [
        f"| an informer of {int(OBJECTS):,} pods | objects/s to synced | events/s to a handler "
        "| events/s, every field read | memory per object |",
        "| --- | --: | --: | --: | --: |",
    ]
    for name in (OURS, GO, *OTHERS):
        count = OBJECTS if name in rows[OBJECTS] else FEWER_OBJECTS
        row = _best(rows[count]) if name == GO else rows[count][name]
        label = f"**{name}**" if name == OURS else name if count == OBJECTS else f"{name} ¹"
        cells = [f"{row[measure]:,.0f}" for measure in ("sync", "events", "fields")] + [f"{row['kept'] / 1000:.1f} KB"]
        lines.append(f"| {label} | {' | '.join(f'**{cell}**' if name == OURS else cell for cell in cells)} |")
    return "\n".join(lines)


def _at_scale(rows: Mapping[str, Row]) -> str:
    ours, go = rows[OURS], _best(rows)
    return (
        f"With {int(MORE_OBJECTS):,} pods, listwatch syncs {_times(ours['sync'], go['sync'])} as many objects "
        f"per second as client-go, delivers {_times(ours['events'], go['events'])} as many events, and peaks at "
        f"{ours['peak'] / 1e6:,.0f} MB instead of {go['peak'] / 1e6:,.0f} MB."
    )


def _smallest(folder: Path, rows: Mapping[str, Row]) -> str:
    """A sentence about compact and persistent caches."""
    memory = _read(folder, "memory")["races"]["pods"]["rows"]
    compact, go = memory[COMPACT]["kept"], _best(rows)["kept"]  # of a stream, where client-go keeps less
    restart = _read(folder, "restarts")["races"]["plain-restart"]["rows"]["plain, restart"]["synced"]
    (million,) = _read(folder, "million")["races"]["1000000"]["rows"].values()
    return (
        f"A compact cache takes {compact / 1000:.1f} KB per pod, {compact / go:.2f} of client-go's; a million pods "
        f"peak at {million['peak'] / 1e6:,.0f} MB (`make bench PART=million`); a restart with 100,000 pods in a file "
        f"takes {restart:.1f} s."
    )


def _where_others_are_faster(folder: Path, rows: Mapping[str, Row]) -> str:
    """Sentences about what client-go does faster; empty if there is nothing."""
    ours, go = rows[OURS], _best(rows)
    found: list[str] = []
    real = _read(folder, "real")["races"][OBJECTS]["rows"]
    theirs, mine = (max((real[n + way] for way in (PROTOBUF, PROTOBUF_LIST)), key=_rate) for n in (GO, OURS))
    if _is_faster(theirs, "sync", than=mine):
        cost, ratio = _times(theirs["sync_cpu"], mine["sync_cpu"]), _times(_rate(theirs), _rate(mine))
        found.append(
            f"with protobuf it syncs {ratio} as many objects per second from a real kube-apiserver as listwatch with "
            f"protobuf, at {cost} the CPU time"
        )
    queues = _read(folder, "queues")["races"]["100"]["rows"]
    if _is_faster(queues[GO], "items", than=queues[OURS]):
        found.append(
            f"its work queue processes {_times(queues[GO]['items'], queues[OURS]['items'])} as many items per second"
        )
    reads = [
        f"{_times(go[measure], ours[measure])} as fast {how}"
        for measure, how in (("reads_key", "by key"), ("reads_selector", "by selector"))
        if _is_faster(go, measure, than=ours)
    ]
    if reads:
        found.append(f"it reads its cache {' and '.join(reads)}")
    return f"Where client-go is faster: {'; '.join(found)}." if found else ""


def _dates(folder: Path) -> str:
    """When the parts were measured, from the first date to the last."""
    dates = sorted({_read(folder, part)["date"] for part in PARTS})
    return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def _measured_on(results: Mapping[str, Any], dates: str) -> str:
    versions: dict[str, str] = results["versions"]
    tools = ", ".join(f"{name} {versions[name].removeprefix('v')}" for name in (GO, *OTHERS))
    return (
        f"`{results['command']}`, {dates}: {results['machine']}, {results['python']}, "
        f"{results['go'].split()[0].replace('go', 'Go ')}; {tools}. "
        "Pods of about 4 KB in JSON; client-go as a list or a stream, whichever is better for it. "
        "[All figures](bench/results), [how they are measured](bench/README.md)."
    )


def _best(rows: Mapping[str, Row]) -> dict[str, float]:
    """client-go's better figure of its two ways to sync, for each measure."""
    found = [rows[name] for name in (GO, GO_LIST) if name in rows]
    more_is_better = {"sync", "events", "fields", "reads_key", "reads_selector"}
    measures = {measure for row in found for measure in row}
    return {
        measure: (max if measure in more_is_better else min)(row[measure] for row in found if measure in row)
        for measure in measures
    }


def _rate(row: Row) -> float:
    return row["sync"]


def _is_faster(row: Row, measure: str, *, than: Row) -> bool:
    return row[measure] > 1.05 * than[measure]  # smaller differences are noise


def _times(one: float, other: float) -> str:
    ratio = one / other
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times"


def _read(folder: Path, part: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / f"{part}.json").read_text())
    return content


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the files show other figures")
    is_check = parser.parse_args().check
    differs = False
    for name, made in FILES.items():
        before = (ROOT / name).read_text()
        after = insert(before, made(ROOT / "bench" / "results"))
        if is_check and before != after:
            print(f"{name} shows other figures than bench/results: run python -m tools.readme_figures", file=sys.stderr)
            differs = True
        elif not is_check:
            (ROOT / name).write_text(after)
    return int(differs)


FILES: Mapping[str, Callable[[Path], str]] = {"README.md": figures, "docs/speed.md": server_figures}

if __name__ == "__main__":
    raise SystemExit(main())
