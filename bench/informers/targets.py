"""The performance targets of informers: ratios to other contenders in the same run."""

from __future__ import annotations

from collections.abc import Mapping

from bench.harness.contender_names import OURS, OURS_COMPACT, OURS_LISTING, PEERS, reference
from bench.harness.runner import Comparison, Figures
from bench.report.tables import Target

__all__ = ["informer_targets", "scaling_targets"]


def informer_targets(count: int, rows: Mapping[str, Figures]) -> list[Target]:
    """The targets at a number of objects for which figures exist; there are none below 10,000 objects."""
    if OURS not in rows:
        return [Target(f"{count:,} pods: listwatch runs", 0.0, 1.0)]
    if count < 10_000:
        return []
    ours, go = rows[OURS], reference(rows)
    found = _against_others(count, rows)
    if go:
        found += _against_client_go(count, ours, go)
    if "reads_key" in ours:
        found.append(Target(f"{count:,} pods: reads by key, against a million a second", ours["reads_key"] / 1e6, 1.0))
    if OURS_COMPACT in rows:
        found += _of_compact_store(count, rows[OURS_COMPACT], ours, go)
    found += [
        Target(f"{count:,} pods: relist of unchanged objects, against the first list, {name}", ratio, least=3.0)
        for name in (OURS, OURS_LISTING, OURS_COMPACT)
        if (row := rows.get(name)) and "relist" in row and (ratio := count / row["sync"] / row["relist"])
    ]
    both_ways = [ours, rows.get(OURS_LISTING, {})]
    longest = max(seconds for row in both_ways for name, seconds in row.items() if name.endswith("_stall_cpu"))
    found.append(Target(f"{count:,} pods: longest stall of the event loop, against 25 ms", longest / 0.025, most=1.0))
    return found


def _against_client_go(count: int, ours: Figures, go: Figures) -> list[Target]:
    def target(what: str, found: float, **limit: float) -> Target:
        return Target(f"{count:,} pods: {what}, against client-go", found, **limit)

    targets = [
        target("objects/s to synced", ours["sync"] / go["sync"], least=7.5),
        target("events/s, metadata", ours["events"] / go["events"], least=20.0),
        target("events/s, every part", ours["fields"] / go["fields"], least=3.0),
        target("memory per object", ours["kept"] / go["kept"], most=0.45),
        target("peak memory", ours["peak"] / go["peak"], most=0.5),
    ]
    if "latency_1000_p99" in ours and "latency_1000_p99" in go:
        targets.append(target("p99 at 1,000 events/s", ours["latency_1000_p99"] / go["latency_1000_p99"], most=2.0))
    return targets


def _of_compact_store(count: int, compact: Figures, plain: Figures, go: Figures) -> list[Target]:
    events = compact["events"] / plain["events"]
    found = [Target(f"{count:,} pods: events/s of a compact store, against a plain one", events, least=0.8)]
    if go:
        memory = compact["kept"] / go["kept"]
        found.append(
            Target(f"{count:,} pods: memory per object of a compact store, against client-go", memory, most=0.12)
        )
    return found


def _against_others(count: int, rows: Mapping[str, Figures]) -> list[Target]:
    peers = [row for name, row in rows.items() if name in PEERS]
    if not peers:
        return []

    def against(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers)

    return [
        Target(f"{count:,} pods: objects/s to synced, against the fastest Python peer", against("sync"), 4.0),
        Target(f"{count:,} pods: events/s, against the fastest Python peer", against("events"), 3.0),
        Target(f"{count:,} pods: events/s, every part, against the fastest Python peer", against("fields"), 1.3),
    ]


def scaling_targets(comparisons: Mapping[str, Comparison]) -> list[Target]:
    """The cost per object must not grow with the number of objects."""
    small, large = (
        comparisons[count].rows.get(OURS) if count in comparisons else None for count in ("10000", "100000")
    )
    if not small or not large:
        return []
    cost = (large["sync_cpu"] / 100_000) / (small["sync_cpu"] / 10_000)
    return [Target("CPU per object at 100,000 objects, against 10,000", cost, most=1.3)]
