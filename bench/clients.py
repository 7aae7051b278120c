"""Clients side by side, against one server that replays bytes: list, watch, and single GETs."""

from __future__ import annotations

from collections.abc import Callable

from bench.limits import bare_sockets
from bench.replay import replaying
from bench.replay_paths import PLAYED
from bench.results import Report
from bench.runner import Figures, Promise, Race, race

COUNT = 20_000
FEW = 500  # for those who would need minutes for all; it does them no harm, a small heap is the faster one
IN_FLIGHT = 32

OURS, BLOCKING = "listwatch", "listwatch_blocking"
QUICK = (OURS, BLOCKING, "lightkube", "lightkube_async")
SLOW = ("kr8s", "kubernetes", "kubernetes_asyncio")
COLUMNS = {
    "list": "list: pods/s",
    "list_fields": "every field",
    "watch": "watch: events/s",
    "watch_fields": "every field ",
    "gets": f"GETs/s, {IN_FLIGHT} in flight",
}


def report(*, full: bool = False) -> Report:
    """Measure all, and say what was promised."""
    rounds = 5 if full else 2
    text = f"a list of {COUNT:,} pods and a watch of {COUNT:,} events; handlers read name, namespace and labels"
    notes = [f"{', '.join(SLOW)}: {FEW:,}, because of the time they take"]
    with replaying(COUNT) as url:
        limit = bare_sockets(url, count=COUNT, events=COUNT, in_flight=IN_FLIGHT)
        result = race("bench.client_run", {name: _plan(url, COUNT) for name in QUICK}, rounds=rounds)
    with replaying(FEW) as url:
        slow = race("bench.client_run", {name: _plan(url, FEW, requests=500) for name in SLOW}, rounds=rounds // 2)
    for part in ("rows", "spread", "missing"):
        getattr(result, part).update(getattr(slow, part))
    made = Report("clients", text, notes=notes, race=result)
    made.table("client", {title: _cell(name) for name, title in COLUMNS.items()}, result.rows | {"bare socket": limit})
    made.promises = _promises(result)
    return made


def _plan(url: str, count: int, *, requests: int = 2000) -> dict[str, object]:
    return {"url": url + PLAYED, "count": count, "requests": requests, "in_flight": IN_FLIGHT}


def _cell(name: str) -> Callable[[Figures], str]:
    return lambda row: f"{row[name]:,.0f}" if name in row else "–"


def _promises(result: Race) -> list[Promise]:
    rows = result.rows
    peers = [row for name, row in rows.items() if name not in (OURS, BLOCKING)]

    def ratio(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers if name in row)

    return [
        Promise("list, against the fastest other", ratio("list"), 4.0),
        Promise("watch, against the fastest other", ratio("watch"), 3.0),
        Promise("list with every field touched, against the fastest other", ratio("list_fields"), 1.0),
        Promise("watch with every field touched, against the fastest other", ratio("watch_fields"), 1.0),
        Promise(f"single GETs, {IN_FLIGHT} in flight, against the fastest other", ratio("gets"), 1.5),
        Promise("blocking list, against the async one", rows[BLOCKING]["list"] / rows[OURS]["list"], 1 / 1.3),
    ]
