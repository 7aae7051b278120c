"""What was promised of informers, in ratios to others in the same run. `informers.py` measures them."""

from __future__ import annotations

from collections.abc import Mapping

from bench.runner import Figures, Race
from bench.tables import Promise
from bench.the_field import OURS, OURS_LISTING, PEERS, reference

__all__ = ["promises", "scaling"]


def promises(count: int, rows: Mapping[str, Figures]) -> list[Promise]:
    """Those that can be judged by what was measured; none is about fewer than 10,000 objects."""
    if OURS not in rows:
        return [Promise(f"{count:,} pods: listwatch runs", 0.0, 1.0)]
    if count < 10_000:
        return []
    ours, go = rows[OURS], reference(rows)
    found = _against_others(count, rows)
    if go:
        found += _against_client_go(count, ours, go)
    if "reads_key" in ours:
        found.append(Promise(f"{count:,} pods: reads by key, against a million a second", ours["reads_key"] / 1e6, 1.0))
    both_ways = [ours, rows.get(OURS_LISTING, {})]
    longest = max(seconds for row in both_ways for name, seconds in row.items() if name.endswith("_stall_cpu"))
    found.append(Promise(f"{count:,} pods: longest stall of the event loop, against 50 ms", longest / 0.05, most=1.0))
    return found


def _against_client_go(count: int, ours: Figures, go: Figures) -> list[Promise]:
    def promise(what: str, found: float, **limit: float) -> Promise:
        return Promise(f"{count:,} pods: {what}, against client-go", found, **limit)

    promises = [
        promise("objects/s to synced", ours["sync"] / go["sync"], least=5.0),
        promise("events/s, metadata", ours["events"] / go["events"], least=10.0),
        promise("events/s, every part", ours["fields"] / go["fields"], least=3.0),
        promise("memory for each object", ours["kept"] / go["kept"], most=0.45),
        promise("peak memory", ours["peak"] / go["peak"], most=0.5),
    ]
    if "latency_1000_p99" in ours and "latency_1000_p99" in go:
        promises.append(promise("p99 at 1,000 events/s", ours["latency_1000_p99"] / go["latency_1000_p99"], most=2.0))
    return promises


def _against_others(count: int, rows: Mapping[str, Figures]) -> list[Promise]:
    peers = [row for name, row in rows.items() if name in PEERS]
    if not peers:
        return []

    def against(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers)

    return [
        Promise(f"{count:,} pods: objects/s to synced, against the fastest other in Python", against("sync"), 4.0),
        Promise(f"{count:,} pods: events/s, against the fastest other in Python", against("events"), 3.0),
    ]


def scaling(races: Mapping[str, Race]) -> list[Promise]:
    """The cost of one object does not grow with their number."""
    small, large = (races[count].rows.get(OURS) if count in races else None for count in ("10000", "100000"))
    if not small or not large:
        return []
    cost = (large["sync_cpu"] / 100_000) / (small["sync_cpu"] / 10_000)
    return [Promise("CPU for each of 100,000 objects, against each of 10,000", cost, most=1.3)]
