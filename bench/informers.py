"""Informers side by side, against one server that replays bytes: client-go's, ours, and whatever others have.

Where a library has no informer, it lists and watches into a dict (`loops.py`), which is less work than an informer has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.limits import bare_sockets
from bench.replay import replaying
from bench.replay_paths import LISTS
from bench.results import Report
from bench.runner import Figures, Promise, Race, race

OURS, GO, GO_LISTING = "listwatch", "client-go", "client-go, list"
PEERS = ("lightkube", "lightkube_async", "kopf", "kubernetes", "cloudcoil", "kubernetes_asyncio", "kr8s")
SLOW = ("kubernetes", "cloudcoil", "kubernetes_asyncio", "kr8s")
RELISTING = (OURS, GO_LISTING, "kopf")
"""Those that list again when a watch has expired; the loops do not, and others take very long."""
TIMED = (OURS, GO, "kopf")
"""Those whose latencies and reads are measured."""
RATES = (10, 1_000, 10_000)


@dataclass(frozen=True)
class Size:
    """How much is measured at one number of objects."""

    count: int
    rounds: int
    contenders: tuple[str, ...]
    events: int
    seconds: float = 0.0
    """For each rate of events and way of reading; 0 leaves latencies and reads out."""


USUAL = (
    Size(1_000, 1, (OURS, GO, GO_LISTING, *PEERS), events=1_000),
    Size(10_000, 2, (OURS, GO, GO_LISTING, "lightkube_async", "kopf"), events=5_000, seconds=0.5),
    Size(100_000, 1, (OURS, GO_LISTING, "kopf"), events=10_000),
)
FULL = (
    Size(1_000, 7, (OURS, GO, GO_LISTING, *PEERS), events=2_000, seconds=2.0),
    Size(10_000, 5, (OURS, GO, GO_LISTING, *PEERS), events=20_000, seconds=5.0),
    Size(100_000, 3, (OURS, GO, GO_LISTING, "lightkube", "lightkube_async", "kopf"), events=50_000, seconds=5.0),
)
NOTES = (
    "the reference is the faster of client-go's two ways to sync: a stream, its default, or a list",
    "memory is what is resident: of client-go after runtime.GC() and a second; its heap stands beside it",
    "kubernetes, kubernetes_asyncio, kr8s: 1,000 objects only, unless asked for all; they would take minutes",
    "client-go streaming 100,000 objects: only when asked for all; it takes more than twice as long as listing them",
    "cloudcoil: its informer reads one page of at most 5,000 objects, so there is nothing to measure beyond",
)


def report(*, full: bool = False) -> Report:
    """Measure all, and say what was promised."""
    made = Report("informers", "informers of pods: objects to synced, events to a handler, memory", notes=list(NOTES))
    for size in FULL if full else USUAL:
        with replaying(size.count) as url:
            limit = bare_sockets(url, count=size.count, events=size.events)
            result = race("bench.informer_run", _plans(size, url), rounds=size.rounds)
        made.races[f"{size.count}"] = result
        _tables(made, size, result, limit)
        made.promises = [*made.promises, *_promises(size.count, result)]
    made.promises = [*made.promises, *_scaling(made.races)]
    return made


def _plans(size: Size, url: str) -> dict[str, dict[str, Any]]:
    def plan(name: str) -> dict[str, Any]:
        return {
            "url": url + LISTS if name == GO_LISTING else url,
            "count": size.count,
            "events": min(size.events, 300) if name in SLOW else size.events,
            "rates": RATES if size.seconds and name in TIMED else [],
            "seconds": size.seconds,
            "reads": bool(size.seconds) and name in TIMED,
            "relist": name in RELISTING and (name in (OURS, GO_LISTING) or size.count < 100_000),
        }

    return {name: plan(name) for name in size.contenders if name != "cloudcoil" or size.count <= 5_000}


# --- Tables -----------------------------------------------------------------------------------------------------------


def _tables(made: Report, size: Size, result: Race, limit: Figures) -> None:
    count, rows = size.count, result.rows
    reference = _reference(rows)
    columns = {
        "objects/s": _rate("sync"),
        "× client-go": lambda row: _times(row, reference, "sync"),
        "CPU s": _number("sync_cpu", 1, ".2f"),
        "peak MB": _number("peak", 1e-6, ".0f"),
        "KB/object": lambda row: f"{_kept(row, count) / 1000:.1f}" if "settled" in row else "–",
        "heap": lambda row: f"{row['heap'] / count / 1000:.1f}" if "heap" in row else "–",
        "stall ms": _number("sync_stall", 1e3, ".0f"),
        "relist s": _number("relist", 1, ".2f"),
        "import ms": _number("import", 1e3, ".0f"),
    }
    bare = {"bare socket": {"sync": limit["stream"], "events": limit["watch"]}}
    made.table("to synced", columns, rows | bare, f"{count:,} pods, median of {size.rounds}")
    made.table(
        "events",
        {
            "events/s": _rate("events"),
            "× client-go": lambda row: _times(row, reference, "events"),
            "µs CPU": _number("events_cpu", 1e6, ".0f"),
            "stall ms": _number("events_stall", 1e3, ".0f"),
            "every field": _rate("fields"),
            "× client-go ": lambda row: _times(row, reference, "fields"),
            "µs CPU ": _number("fields_cpu", 1e6, ".0f"),
        },
        rows | bare,
    )
    if size.seconds:
        _latency_tables(made, rows)


def _latency_tables(made: Report, rows: Mapping[str, Figures]) -> None:
    parts = {"p50": "p50", "p99": "p99", "p999": "p99.9"}
    measured = {name: row for name, row in rows.items() if f"latency_{RATES[0]}_p50" in row}
    latencies = {
        f"{rate:,}/s {title}": _number(f"latency_{rate}_{part}", 1e3, ".2f")
        for rate in RATES
        for part, title in parts.items()
    }
    made.table("latency, ms", latencies, measured)
    made.table(
        "reads/s while writes go on", {way: _rate(f"reads_{way}") for way in ("key", "index", "selector")}, measured
    )


def _rate(name: str) -> Callable[[Figures], str]:
    return _number(name, 1, ",.0f")


def _number(name: str, factor: float, style: str) -> Callable[[Figures], str]:
    return lambda row: format(row[name] * factor, style) if name in row else "–"


def _times(row: Figures, reference: Figures, name: str) -> str:
    return f"{row[name] / reference[name]:.1f}" if name in row and name in reference else "–"


def _kept(row: Figures, count: int) -> float:
    """Bytes resident for each object."""
    return (row["settled"] - row["baseline"]) / count


def _reference(rows: Mapping[str, Figures]) -> Figures:
    """client-go at its best: it syncs faster from a list, and streams by default."""
    found = [rows[name] for name in (GO, GO_LISTING) if name in rows]
    if not found:
        return {}
    best = dict(found[0])
    for name in ("sync", "events", "fields"):
        best[name] = max(row[name] for row in found)
    for name in ("settled", "peak", "sync_cpu"):
        best[name] = min(row[name] for row in found)
    return best


# --- Promises ---------------------------------------------------------------------------------------------------------


def _promises(count: int, result: Race) -> list[Promise]:
    rows = result.rows
    if OURS not in rows:
        return [Promise(f"{count:,} pods: listwatch runs", 0.0, 1.0)]
    ours, go = rows[OURS], _reference(rows)
    found = _against_others(count, rows)
    if count < 10_000:
        return found
    if go:
        found += _against_client_go(count, ours, go)
    if "reads_key" in ours:
        found.append(Promise(f"{count:,} pods: reads by key, against a million a second", ours["reads_key"] / 1e6, 1.0))
    longest = max(ours["sync_stall"], ours["events_stall"])
    found.append(Promise(f"{count:,} pods: longest stall of the event loop, against 50 ms", longest / 0.05, most=1.0))
    return found


def _against_client_go(count: int, ours: Figures, go: Figures) -> list[Promise]:
    def promise(what: str, found: float, **limit: float) -> Promise:
        return Promise(f"{count:,} pods: {what}, against client-go", found, **limit)

    promises = [
        promise("objects/s to synced", ours["sync"] / go["sync"], least=5.0),
        promise("events/s, metadata", ours["events"] / go["events"], least=10.0),
        promise("events/s, every field", ours["fields"] / go["fields"], least=3.0),
        promise("memory for each object", _kept(ours, count) / _kept(go, count), most=0.45),
        promise("peak memory", ours["peak"] / go["peak"], most=0.5),
    ]
    if "latency_1000_p99" in ours and "latency_1000_p99" in go:
        promises.append(promise("p99 at 1,000 events/s", ours["latency_1000_p99"] / go["latency_1000_p99"], most=2.0))
    return promises


def _against_others(count: int, rows: Mapping[str, Figures]) -> list[Promise]:
    peers = [row for name, row in rows.items() if name in PEERS]
    if not peers or count < 10_000:
        return []

    def against(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers)

    return [
        Promise(f"{count:,} pods: objects/s to synced, against the fastest other in Python", against("sync"), 4.0),
        Promise(f"{count:,} pods: events/s, against the fastest other in Python", against("events"), 3.0),
    ]


def _scaling(races: Mapping[str, Race]) -> list[Promise]:
    """The cost of one object does not grow with their number."""
    small, large = (races[count].rows.get(OURS) if count in races else None for count in ("10000", "100000"))
    if not small or not large:
        return []
    cost = (large["sync_cpu"] / 100_000) / (small["sync_cpu"] / 10_000)
    return [Promise("CPU for each of 100,000 objects, against each of 10,000", cost, most=1.3)]
