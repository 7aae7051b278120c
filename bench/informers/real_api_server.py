"""Informers of pods on a real kube-apiserver: the cost of a sync, beside client-go with JSON and with protobuf."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from bench.harness.contender_names import GO, OURS, OURS_PROTOBUF, PROTOBUF
from bench.harness.runner import Comparison, Effort, Figures, compare
from bench.informers.informer_tables import kept, syncing
from bench.replay.pods import pods
from bench.report.report import Report
from bench.report.tables import Target

Plans = dict[str, dict[str, Any]]

_WRITERS = 32
_WRITTEN_BY_SERVER = ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation")
NOTES = (
    "× is the ratio to client-go with protobuf; all contenders sync from a stream",
    "figures are those of the client; the server is the same for all and runs on the same machine",
    "a real server sends fewer events a second than any contender handles, so events are measured with the replay "
    "server only",
)
USUAL_NOTES = ("only in `make bench-full`: 1,000 and 100,000 pods",)
_QUOTA = "--quota-backend-bytes=8589934592"  # 100,000 pods and their revisions exceed etcd's default quota


def measure(effort: Effort) -> Report:
    """Run the part and return its report."""
    from listwatch.errors import ListWatchError
    from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread

    counts = (1_000, 10_000, 100_000) if effort.full else (10_000,)
    notes = [*NOTES] if effort.full else [*NOTES, *USUAL_NOTES]
    report = Report("real", "informers of pods on a real kube-apiserver, over TLS", notes=notes)
    try:
        with RealAPIServerThread(RealAPIServer(etcd_flags=[_QUOTA])) as server:
            written = 0
            for count in counts:
                if count <= effort.max_objects:
                    asyncio.run(_fill(server.config, range(written, count)))
                    written = count
                    _measure(report, _plans(server.url, server.token, count), count, effort)
    except (ListWatchError, OSError) as error:
        report.notes.append(f"skipped: no kube-apiserver binary found; `make real` builds one ({error})")
    return report


def _measure(report: Report, plans: Plans, count: int, effort: Effort) -> None:
    result = compare("bench.informers.run", plans, effort, rounds=3)
    report.comparisons[f"{count}"] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
    best: Figures = result.rows.get(PROTOBUF) or {}
    report.table("to synced", syncing(best), result.rows, f"{count:,} pods, {result.length}")
    report.targets = [*report.targets, *_targets(count, result)]


async def _fill(config: Any, numbers: range) -> None:
    """Create the pods, with the status that the scheduler and the kubelets would write."""
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
    sync_only = {"events": 0, "fields": 0, "rates": [], "reads": 0.0, "relist": False}
    plan = {"url": url, "token": token, "count": count, **sync_only}
    ours = plan | {"content_type": "protobuf"}
    return {OURS: plan, OURS_PROTOBUF: ours, GO: plan, PROTOBUF: plan | {"protobuf": True}}


def _targets(count: int, result: Comparison) -> list[Target]:
    rows = result.rows
    if count < 10_000 or OURS not in rows or PROTOBUF not in rows:
        return []
    cost = rows[OURS]["sync_cpu"] / rows[PROTOBUF]["sync_cpu"]
    what = f"{count:,} pods: CPU to sync from a real kube-apiserver, against client-go with protobuf"
    targets = [Target(what, cost, most=0.8)]
    if OURS_PROTOBUF in rows:
        against = "with protobuf, against client-go with protobuf"
        ours, theirs = rows[OURS_PROTOBUF], rows[PROTOBUF]
        targets += [
            Target(f"{count:,} pods: objects/s to synced, {against}", ours["sync"] / theirs["sync"], least=1.0),
            Target(f"{count:,} pods: CPU to sync, {against}", ours["sync_cpu"] / theirs["sync_cpu"], most=0.4),
        ]
    return targets
