"""Informers against a real kube-apiserver: what it costs to sync, beside client-go with JSON and with protobuf."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from bench.informer_tables import kept, syncing
from bench.pods import pods
from bench.results import Report
from bench.runner import Effort, Figures, Race, race
from bench.tables import Promise
from bench.the_field import GO, OURS, PROTOBUF

Plans = dict[str, dict[str, Any]]

_WRITERS = 32
_WRITTEN_BY_SERVER = ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation")
NOTES = (
    "× is the ratio to client-go with protobuf; both ways of client-go stream, which is its default, and so do we",
    "of the client only; the server is the same for all, and runs on the same machine",
    "a real server writes fewer events a second than any of these handle, so these are measured from the replay",
)
USUAL_NOTES = ("1,000 and 100,000 pods: only in `make bench-full`",)
_ROOM = "--quota-backend-bytes=8589934592"  # for etcd: 100,000 pods and their past do not fit into its default


def report(effort: Effort) -> Report:
    """Measure all, and say what was promised."""
    from listwatch.errors import ListWatchError
    from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread

    counts = (1_000, 10_000, 100_000) if effort.full else (10_000,)
    notes = [*NOTES] if effort.full else [*NOTES, *USUAL_NOTES]
    made = Report("real", "informers of pods on a real kube-apiserver, over TLS", notes=notes)
    try:
        with RealAPIServerThread(RealAPIServer(etcd_flags=[_ROOM])) as server:
            written = 0
            for count in counts:
                if count <= effort.most_objects:
                    asyncio.run(_fill(server.config, range(written, count)))
                    written = count
                    _measure(made, _plans(server.url, server.token, count), count, effort)
    except (ListWatchError, OSError) as error:
        made.notes.append(f"left out, because there is no kube-apiserver here; `make real` builds one ({error})")
    return made


def _measure(made: Report, plans: Plans, count: int, effort: Effort) -> None:
    result = race("bench.informer_run", plans, effort, rounds=3)
    made.races[f"{count}"] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
    best: Figures = result.rows.get(PROTOBUF) or {}
    made.table("to synced", syncing(best), result.rows, f"{count:,} pods, {result.length}")
    made.promises = [*made.promises, *_promises(count, result)]


async def _fill(config: Any, numbers: range) -> None:
    """Create the pods, and leave them as a scheduler and the nodes would."""
    import listwatch as lw
    from listwatch.models.core_v1 import Namespace

    async with lw.ClientSet(config) as client:
        waiting = iter(pods(numbers.stop)[numbers.start :])
        if not numbers.start:
            for number in range(50):
                await client.core_v1.namespaces().create(Namespace.from_dict({"metadata": {"name": f"team-{number}"}}))
        async with asyncio.TaskGroup() as group:
            for _ in range(_WRITERS):
                group.create_task(_write(client, waiting))


async def _write(client: Any, waiting: Iterator[dict[str, Any]]) -> None:
    from listwatch.models.core_v1 import Pod

    for each in waiting:
        for name in _WRITTEN_BY_SERVER:
            each["metadata"].pop(name, None)
        in_namespace = client.core_v1.pods(each["metadata"]["namespace"])
        pod = await in_namespace.create(Pod.from_dict(each), field_manager="kube-controller-manager")
        status = pod.to_dict() | {"status": each["status"]}
        await in_namespace.update_status(Pod.from_dict(status), field_manager="kubelet")


def _plans(url: str, token: str, count: int) -> Plans:
    nothing_more = {"events": 0, "fields": 0, "rates": [], "reads": 0.0, "relist": False}
    plan = {"url": url, "token": token, "count": count, **nothing_more}
    return {OURS: plan, GO: plan, PROTOBUF: plan | {"protobuf": True}}


def _promises(count: int, result: Race) -> list[Promise]:
    rows = result.rows
    if count < 10_000 or OURS not in rows or PROTOBUF not in rows:
        return []
    cost = rows[OURS]["sync_cpu"] / rows[PROTOBUF]["sync_cpu"]
    what = f"{count:,} pods: CPU to sync from a real kube-apiserver, against client-go with protobuf"
    return [Promise(what, cost, most=0.8)]
