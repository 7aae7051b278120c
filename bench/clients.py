"""Clients side by side, against one server that replays bytes: list, watch, and single GETs."""

from __future__ import annotations

from bench.limits import bare_gets, bare_sockets
from bench.replay import replaying
from bench.replay_paths import PLAYED
from bench.results import Report
from bench.runner import Effort, Figures, Race, race
from bench.tables import Promise, spread
from bench.the_field import OURS

FEW = 500  # for those who would need minutes for all; it does them no harm, a small heap is the faster one
IN_FLIGHT = 32

BLOCKING = "listwatch_blocking"
QUICK = (OURS, BLOCKING, "lightkube", "lightkube_async")
SLOW = ("kr8s", "kubernetes", "kubernetes_asyncio")
COLUMNS = (
    spread("list: pods/s", "list"),
    spread("every part", "list_fields"),
    spread("watch: events/s", "watch"),
    spread("every part", "watch_fields"),
    spread(f"GETs/s, {IN_FLIGHT} in flight", "gets"),
)


def report(effort: Effort) -> Report:
    """Measure all, and say what was promised."""
    count, rounds = min(20_000 if effort.full else 10_000, effort.most_objects), effort.rounds(2, 3)
    text = f"a list of {count:,} pods and a watch of {count:,} events; handlers read name, namespace and labels"
    notes = [f"{', '.join(SLOW)}: {FEW:,}, because of the time they take"]
    with replaying(count) as url:
        limit = _limit(url, count)
        result = race("bench.client_run", {name: _plan(url, count) for name in QUICK}, effort, rounds=rounds)
    with replaying(FEW) as url:
        slow = {name: _plan(url, FEW, requests=200) for name in SLOW}
        result.add(race("bench.client_run", slow, effort, rounds=effort.rounds(1, 3)))
    made = Report("clients", text, notes=notes, races={"": result})
    made.table("client", COLUMNS, {**result.rows, "bare socket": limit}, result.length)
    made.promises = _promises(result)
    return made


def _limit(url: str, count: int) -> Figures:
    gets = bare_gets(url, requests=8_000, in_flight=IN_FLIGHT)
    return {**bare_sockets(url, count=count, events=count), "gets": gets}


def _plan(url: str, count: int, *, requests: int = 1000) -> dict[str, object]:
    return {"url": url + PLAYED, "count": count, "requests": requests, "in_flight": IN_FLIGHT}


def _promises(result: Race) -> list[Promise]:
    rows = result.rows
    peers = [row for name, row in rows.items() if name not in (OURS, BLOCKING)]
    if not peers or OURS not in rows or BLOCKING not in rows:
        return []

    def ratio(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers if name in row)

    return [
        Promise("list, against the fastest other", ratio("list"), 4.0),
        Promise("watch, against the fastest other", ratio("watch"), 3.0),
        Promise("list with every part touched, against the fastest other", ratio("list_fields"), 1.0),
        Promise("watch with every part touched, against the fastest other", ratio("watch_fields"), 1.0),
        Promise(f"single GETs, {IN_FLIGHT} in flight, against the fastest other", ratio("gets"), 1.5),
        Promise("blocking list, against the async one", rows[BLOCKING]["list"] / rows[OURS]["list"], 1 / 1.3),
    ]
