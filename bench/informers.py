"""Informers side by side, against one server that replays bytes: client-go's, ours, and whatever others have.

Where a library has no informer, it lists and watches into a dict (`loops.py`), which is less work than an informer has.
`informer_goals.py` says what was promised, and `other_kinds.py` measures what is no pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.informer_goals import promises, scaling
from bench.informer_tables import latency_tables, tables
from bench.limits import bare_latencies, bare_sockets
from bench.replay import replaying
from bench.replay_paths import LISTS
from bench.results import Report
from bench.runner import Effort, race
from bench.the_field import GO, GO_LISTING, OURS, OURS_LISTING, PEERS, SLOW, events_for

ALL = (OURS, OURS_LISTING, GO, GO_LISTING, *PEERS)
RELISTING = (OURS, OURS_LISTING, GO_LISTING, "kopf")
"""Those that list again when a watch has expired; the loops do not, and others do not get over it."""
TIMED = (OURS, GO_LISTING, "kopf")
"""Those whose latencies and reads are always measured; they do not depend on how somebody has synced."""
ALL_TIMED = tuple(name for name in ALL if name not in (OURS_LISTING, GO))
FEW_TIMED = ((10, 20), (1_000, 2_500), (10_000, 10_000))
"""So many events a second, and so many in all."""
MANY_TIMED = ((10, 30), (1_000, 5_000), (10_000, 30_000))


@dataclass(frozen=True)
class Size:
    """How much is measured at one number of objects."""

    count: int
    rounds: int
    contenders: tuple[str, ...]
    once: tuple[str, ...] = ()
    """Those that are in the first round only."""
    timed: tuple[str, ...] = TIMED
    rates: tuple[tuple[int, int], ...] = ()
    reads: float = 0.0
    """Seconds for each way of reading."""
    relisting: tuple[str, ...] = RELISTING
    syncing: tuple[str, ...] = ()
    """Those that do nothing else."""
    longer: int = 1
    """So many times the usual number of events."""


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
        (OURS, OURS_LISTING, GO, GO_LISTING, "lightkube", "kopf"),
        once=(OURS_LISTING, GO, "lightkube", "kopf"),
        syncing=(GO,),
        timed=(OURS, GO_LISTING),
        rates=FEW_TIMED[1:2],
        reads=0.5,
        relisting=(OURS, OURS_LISTING, GO_LISTING),
    ),
)
FULL = (
    Size(1_000, 3, ALL, once=SLOW, timed=ALL_TIMED, rates=MANY_TIMED, reads=1.0, longer=3),
    Size(10_000, 3, ALL, once=SLOW, timed=ALL_TIMED, rates=MANY_TIMED, reads=1.0, longer=3),
    Size(
        100_000,
        3,
        tuple(each for each in ALL if each != "kr8s"),
        once=SLOW,
        timed=(OURS, GO_LISTING, "lightkube_async", "kopf"),
        rates=MANY_TIMED,
        reads=1.0,
        relisting=(OURS, OURS_LISTING, GO, GO_LISTING, "kopf"),
        longer=3,
    ),
)
NOTES = (
    "figures are medians, ± half of the way from the least to the most of their rounds; × is the ratio to client-go, "
    "where the reference is the better of its two ways to sync: a stream, its default, or a list",
    "all are sent the same events, each as many as take it about a second",
    "memory is what is resident (RSS): of Python after gc.collect(), of client-go after runtime.GC() and a second; "
    "also, for each object, what is resident after debug.FreeOSMemory(), which programs do not call, and the heap",
    "stalls of the event loop are by the clock, and in brackets in time that its thread had the processor, of which "
    "other programs and other threads take nothing away; the promise is about the latter",
    "cloudcoil: its informer reads one page of at most 5,000 objects, so there is nothing to measure beyond, and "
    "calls no handler for what was there at first",
    "a list of any version (`resourceVersion=0`) comes in one piece, as from a real server, and others in the "
    "pages that are asked for",
)
USUAL_NOTES = (
    "only in `make bench-full`: kubernetes, kubernetes_asyncio, kr8s and lightkube_async beyond 1,000 objects; events "
    "of client-go that has streamed 100,000; latencies and reads at 1,000 objects, those of others, and at all rates "
    "at 100,000; spread at 1,000",
)
FULL_NOTES = (
    f"{', '.join(SLOW)}: one round, and no more than 1,000 events a second, because of the time they take",
    "kr8s: not at 100,000 objects, which would take 17 GB",
)


def report(effort: Effort) -> Report:
    """Measure all, and say what was promised."""
    timed = MANY_TIMED if effort.full else FEW_TIMED
    counts = ", ".join(f"{count:,} events at {rate:,} a second" for rate, count in timed)
    notes = [*NOTES, f"latencies are of {counts}; of a hundred events or fewer, p99 is the slowest"]
    notes += FULL_NOTES if effort.full else USUAL_NOTES
    made = Report("informers", "informers of pods: objects to synced, events to a handler, memory", notes=notes)
    for size in FULL if effort.full else USUAL:
        if size.count <= effort.most_objects:
            _measure(made, size, effort)
    made.promises = [*made.promises, *scaling(made.races)]
    return made


def _measure(made: Report, size: Size, effort: Effort) -> None:
    with replaying(size.count) as url:
        limit = bare_sockets(url, count=size.count, events=events_for(OURS)[0]) | bare_latencies(url, size.rates)
        result = race("bench.informer_run", _plans(size, url), effort, rounds=size.rounds, once=size.once)
    made.races[f"{size.count}"] = result
    tables(made, result.rows, limit, count=size.count, above=f"{size.count:,} pods, {result.length}")
    if size.rates:
        latency_tables(made, result.rows, limit, [rate for rate, _ in size.rates])
    made.promises = [*made.promises, *promises(size.count, result.rows)]


def _plans(size: Size, url: str) -> Mapping[str, dict[str, Any]]:
    return {name: _plan(size, url, name) for name in size.contenders if name != "cloudcoil" or size.count <= 5_000}


def _plan(size: Size, url: str, name: str) -> dict[str, Any]:
    events, fields = events_for(name) if name not in size.syncing else (0, 0)
    # Nobody who handles a tenth of the highest rate can be said to have a latency there, and they would take minutes.
    rates = [(rate, count) for rate, count in size.rates if name not in SLOW or rate < 10_000]
    return {
        "url": url + LISTS if name in (OURS_LISTING, GO_LISTING) else url,
        "count": size.count,
        "events": events * size.longer,
        "fields": fields * size.longer,
        "rates": rates if name in size.timed else [],
        "reads": size.reads if name in size.timed else 0.0,
        "relist": name in size.relisting,
    }
