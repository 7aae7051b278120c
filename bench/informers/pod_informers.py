"""Informers of pods: listwatch, client-go and the Python peers, against the replay server.

A library without an informer lists and watches into a dict (`dict_cache.py`), which is less work than an informer does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.harness.contender_names import GO, GO_LISTING, OURS, OURS_COMPACT, OURS_LISTING, PEERS, SLOW, events_for
from bench.harness.runner import Effort, compare
from bench.informers.informer_tables import latency_tables, tables
from bench.informers.targets import informer_targets, scaling_targets
from bench.replay.bare_socket import bare_latencies, bare_sockets
from bench.replay.paths import LISTS
from bench.replay.replay_server import replaying
from bench.report.report import Report

ALL = (OURS, OURS_LISTING, OURS_COMPACT, GO, GO_LISTING, *PEERS)
RELISTING = (OURS, OURS_LISTING, OURS_COMPACT, GO_LISTING, "kopf")
"""The contenders that relist when a watch expires; the dict caches do not, and others do not recover."""
TIMED = (OURS, GO_LISTING, "kopf")
"""The contenders whose latencies and reads are always measured; these do not depend on the way of syncing."""
ALL_TIMED = tuple(name for name in ALL if name not in (OURS_LISTING, OURS_COMPACT, GO))
FAST = tuple(name for name in ALL if name not in SLOW)
FEW_TIMED = ((10, 20), (1_000, 2_500), (10_000, 10_000))
"""Pairs of events per second and the total number of events."""
MANY_TIMED = ((10, 30), (1_000, 5_000), (10_000, 30_000))


@dataclass(frozen=True)
class Size:
    """What is measured at one number of objects."""

    count: int
    rounds: int
    contenders: tuple[str, ...]
    once: tuple[str, ...] = ()
    """Contenders that run in the first round only."""
    timed: tuple[str, ...] = TIMED
    rates: tuple[tuple[int, int], ...] = ()
    reads: float = 0.0
    """Seconds per way of reading."""
    relisting: tuple[str, ...] = RELISTING
    syncing: tuple[str, ...] = ()
    """Contenders that only sync."""
    longer: int = 1
    """Factor on the usual number of events."""


USUAL = (
    Size(1_000, 1, ALL),
    Size(
        10_000,
        2,
        (OURS, OURS_LISTING, GO, GO_LISTING, "lightkube", "kopf"),
        once=(OURS_LISTING, GO, "lightkube"),
        rates=FEW_TIMED,
        reads=0.5,
    ),
    Size(
        100_000,
        2,
        (OURS, OURS_LISTING, OURS_COMPACT, GO, GO_LISTING, "lightkube", "kopf"),
        once=(OURS_LISTING, GO, "lightkube", "kopf"),
        syncing=(GO,),
        timed=(OURS, GO_LISTING),
        rates=FEW_TIMED[1:2],
        reads=0.5,
        relisting=(OURS, OURS_LISTING, OURS_COMPACT, GO_LISTING),
    ),
)
FULL = (
    Size(1_000, 3, ALL, once=SLOW, timed=ALL_TIMED, rates=MANY_TIMED, reads=1.0, longer=3),
    Size(10_000, 3, FAST, timed=ALL_TIMED, rates=MANY_TIMED, reads=1.0, longer=3),
    Size(
        100_000,
        3,
        FAST,
        timed=(OURS, GO_LISTING, "lightkube_async", "kopf"),
        rates=MANY_TIMED,
        reads=1.0,
        relisting=(OURS, OURS_LISTING, OURS_COMPACT, GO, GO_LISTING, "kopf"),
        longer=3,
    ),
)
NOTES = (
    "figures are medians, ± half of the range between the minimum and the maximum of the rounds; × is the ratio to "
    "client-go, where the reference is the better of its two ways to sync: a stream, its default, or a list",
    "all contenders receive the same events, each as many as it handles in about a second",
    "memory is resident memory (RSS): of Python after gc.collect(), of client-go one second after runtime.GC(); "
    "also, per object, the RSS after debug.FreeOSMemory(), which programs do not call, and the heap",
    "stalls of the event loop are wall-clock time, and in brackets CPU time of its thread, which excludes other "
    "programs and threads; the target applies to the latter",
    "cloudcoil: its informer calls no handler for the initial objects",
    "a list of any version (`resourceVersion=0`) is sent unpaged, as by a real server; other lists are sent in the "
    "requested pages",
)
USUAL_NOTES = (
    "only in `make bench-full`: lightkube_async beyond 1,000 objects; events "
    "of client-go after it streamed 100,000 objects; latencies and reads at 1,000 objects, of the other contenders, "
    "and at all rates at 100,000; spread at 1,000",
)
FULL_NOTES = (
    f"{', '.join(SLOW)}: one round, only 1,000 objects, and at most 1,000 events a second, because they are slow",
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    timed = MANY_TIMED if effort.full else FEW_TIMED
    counts = ", ".join(f"{count:,} events at {rate:,} a second" for rate, count in timed)
    notes = [*NOTES, f"latencies: {counts}; with a hundred events or fewer, p99 is the slowest event"]
    notes += FULL_NOTES if effort.full else USUAL_NOTES
    report = Report("informers", "informers of pods: objects to synced, events to a handler, memory", notes=notes)
    for size in FULL if effort.full else USUAL:
        if size.count <= effort.max_objects:
            _measure(report, size, effort)
    report.targets = [*report.targets, *scaling_targets(report.comparisons)]
    return report


def _measure(report: Report, size: Size, effort: Effort) -> None:
    with replaying(size.count) as url:
        limit = bare_sockets(url, count=size.count, events=events_for(OURS)[0]) | bare_latencies(url, size.rates)
        result = compare("bench.informers.run", _plans(size, url), effort, rounds=size.rounds, once=size.once)
    report.comparisons[f"{size.count}"] = result
    tables(report, result.rows, limit, count=size.count, above=f"{size.count:,} pods, {result.length}")
    if size.rates:
        latency_tables(report, result.rows, limit, [rate for rate, _ in size.rates])
    report.targets = [*report.targets, *informer_targets(size.count, result.rows)]


def _plans(size: Size, url: str) -> Mapping[str, dict[str, Any]]:
    return {name: _plan(size, url, name) for name in size.contenders}


def _plan(size: Size, url: str, name: str) -> dict[str, Any]:
    events, fields = events_for(name) if name not in size.syncing else (0, 0)
    # At the highest rate slow contenders fall behind by minutes, so that a latency means nothing.
    rates = [(rate, count) for rate, count in size.rates if name not in SLOW or rate < 10_000]
    return {
        "url": url + LISTS if name in (OURS_LISTING, GO_LISTING) else url,
        "count": size.count,
        "events": events * size.longer,
        "fields": fields * size.longer,
        "rates": rates if name in size.timed else [],
        "reads": size.reads if name in size.timed else 0.0,
        "relist": name in size.relisting,
        "compact": name == OURS_COMPACT,
    }
