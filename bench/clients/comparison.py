"""Clients without an informer: list, watch and single GETs, against the replay server."""

from __future__ import annotations

from bench.harness.contender_names import OURS
from bench.harness.runner import Comparison, Effort, Figures, compare
from bench.replay.bare_socket import bare_gets, bare_sockets
from bench.replay.paths import PLAYED
from bench.replay.replay_server import replaying
from bench.report.report import Report
from bench.report.tables import Target, spread

FEW = 500  # objects for slow clients, which would need minutes for all; a smaller heap only helps them
IN_FLIGHT = 32

BLOCKING = "listwatch_blocking"
FAST = (OURS, BLOCKING, "lightkube", "lightkube_async")
SLOW = ("kr8s", "kubernetes", "kubernetes_asyncio")
COLUMNS = (
    spread("list: pods/s", "list"),
    spread("every part", "list_fields"),
    spread("watch: events/s", "watch"),
    spread("every part", "watch_fields"),
    spread(f"GETs/s, {IN_FLIGHT} in flight", "gets"),
)


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    count, rounds = min(20_000 if effort.full else 10_000, effort.max_objects), effort.rounds(2, 3)
    text = f"a list of {count:,} pods and a watch of {count:,} events; handlers read name, namespace and labels"
    notes = [f"{', '.join(SLOW)}: measured with {FEW:,} objects, because they are slow"]
    with replaying(count) as url:
        limit = _limit(url, count)
        result = compare("bench.clients.run", {name: _plan(url, count) for name in FAST}, effort, rounds=rounds)
    with replaying(FEW) as url:
        slow = {name: _plan(url, FEW, requests=200) for name in SLOW}
        result.add(compare("bench.clients.run", slow, effort, rounds=effort.rounds(1, 3)))
    report = Report("clients", text, notes=notes, comparisons={"": result})
    report.table("client", COLUMNS, {**result.rows, "bare socket": limit}, result.length)
    report.targets = _targets(result)
    return report


def _limit(url: str, count: int) -> Figures:
    gets = bare_gets(url, requests=8_000, in_flight=IN_FLIGHT)
    return {**bare_sockets(url, count=count, events=count), "gets": gets}


def _plan(url: str, count: int, *, requests: int = 1000) -> dict[str, object]:
    return {"url": url + PLAYED, "count": count, "requests": requests, "in_flight": IN_FLIGHT}


def _targets(result: Comparison) -> list[Target]:
    rows = result.rows
    peers = [row for name, row in rows.items() if name not in (OURS, BLOCKING)]
    if not peers or OURS not in rows or BLOCKING not in rows:
        return []

    def ratio(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers if name in row)

    return [
        Target("list, against the fastest peer", ratio("list"), 4.0),
        Target("watch, against the fastest peer", ratio("watch"), 3.0),
        Target("list, every part read, against the fastest peer", ratio("list_fields"), 1.0),
        Target("watch, every part read, against the fastest peer", ratio("watch_fields"), 1.0),
        Target(f"single GETs, {IN_FLIGHT} in flight, against the fastest peer", ratio("gets"), 1.5),
        Target("blocking list, against the async list", rows[BLOCKING]["list"] / rows[OURS]["list"], 1 / 1.3),
    ]
