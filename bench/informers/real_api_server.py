"""Informers of pods on a real kube-apiserver: the cost of a sync for the client and for the server, beside client-go.

Each way to sync is measured: a stream, one list from the server's cache, and pages; in JSON and in protobuf.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from bench.harness.contender_names import (
    GO,
    GO_LISTING,
    OURS,
    OURS_LISTING,
    OURS_PAGES,
    OURS_PROTOBUF,
    OURS_PROTOBUF_LISTING,
    OURS_PROTOBUF_PAGES,
    OURS_UNCOMPRESSED,
    PROTOBUF,
    PROTOBUF_LISTING,
)
from bench.harness.runner import Comparison, Effort, Figures, compare
from bench.informers.informer_tables import kept, syncing
from bench.informers.server_load import measure_load
from bench.replay.pods import pods
from bench.report.report import Report
from bench.report.tables import Column, Target, number, spread

Plans = dict[str, dict[str, Any]]

_WRITERS = 32
_WRITTEN_BY_SERVER = ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation")
NOTES = (
    "× is the ratio to the better of client-go's two ways with protobuf; all sync from a stream, except those named "
    "`list`, which read one list from the server's cache, and `pages`, which read pages of 500",
    "the server is the same for all and runs on the same machine; its CPU time is that of kube-apiserver from the "
    "start of the informer to a second after it has synced, and its memory grows from that before the sync to the peak",
    "clients ask for compressed responses, as client-go does, and the server compresses lists and pages",
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
                    _measure(report, _plans(server.url, server.token, server.pid, count), count, effort)
            if written:
                measure_load(report, server, written)
            report.notes.append(asyncio.run(_compression_of_watches(server.config)))
    except (ListWatchError, OSError) as error:
        report.notes.append(f"skipped: no kube-apiserver binary found; `make real` builds one ({error})")
    return report


def _measure(report: Report, plans: Plans, count: int, effort: Effort) -> None:
    result = compare("bench.informers.run", plans, effort, rounds=3)
    report.comparisons[f"{count}"] = result
    for row in result.rows.values():
        row["kept"] = kept(row, count)
    best = _best_protobuf(result.rows)
    report.table("to synced", syncing(best), result.rows, f"{count:,} pods, {result.length}")
    per_pod: list[Column] = [
        ("µs", lambda row: f"{1e6 / row['sync']:,.0f}"),
        number("µs CPU of the client", "sync_cpu", factor=1e6 / count),
        spread("µs CPU of the server", "server_cpu", factor=1e6 / count),
        number("server MB grown", "server_grown", factor=1e-6),
    ]
    report.table("per pod", per_pod, result.rows)
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


async def _compression_of_watches(config: Any) -> str:
    """Watch with `Accept-Encoding: gzip`, and return whether the response is compressed."""
    import aiohttp

    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {config.token}"}) as session:
        url = f"{config.host}/api/v1/pods?watch=true&resourceVersion=0&timeoutSeconds=1"
        async with session.get(url, ssl=False, headers={"Accept-Encoding": "gzip"}) as response:
            found = response.headers.get("Content-Encoding")
    return f"watches with `Accept-Encoding: gzip`: {f'the server sends {found}' if found else 'sent uncompressed'}"


def _plans(url: str, token: str, server: int, count: int) -> Plans:
    sync_only = {"events": 0, "fields": 0, "rates": [], "reads": 0.0, "relist": False}
    plan = {"url": url, "token": token, "server": server, "count": count, **sync_only}
    ours, go = {"content_type": "protobuf"}, {"protobuf": True}
    return {
        OURS: plan | {"way": "stream"},
        OURS_LISTING: plan | {"way": "list"},
        OURS_UNCOMPRESSED: plan | {"way": "list", "uncompressed": True},
        OURS_PAGES: plan | {"way": "pages"},
        OURS_PROTOBUF: plan | {"way": "stream"} | ours,
        OURS_PROTOBUF_LISTING: plan | {"way": "list"} | ours,
        OURS_PROTOBUF_PAGES: plan | {"way": "pages"} | ours,
        GO: plan,
        GO_LISTING: plan | {"way": "list"},
        PROTOBUF: plan | go,
        PROTOBUF_LISTING: plan | {"way": "list"} | go,
    }


def _best_protobuf(rows: Mapping[str, Figures]) -> Figures:
    """client-go's better figure of its two ways with protobuf."""
    found = [rows[name] for name in (PROTOBUF, PROTOBUF_LISTING) if name in rows]
    names = set(found[0]) if found else set()
    return {name: (max if name == "sync" else min)(row[name] for row in found) for name in names}


def _targets(count: int, result: Comparison) -> list[Target]:
    rows, best = result.rows, _best_protobuf(result.rows)
    if count < 10_000 or OURS not in rows or not best:
        return []
    json_ways = [rows[name] for name in (OURS, OURS_LISTING) if name in rows]
    cost = min(row["sync_cpu"] for row in json_ways) / best["sync_cpu"]
    what = f"{count:,} pods: CPU to sync from a real kube-apiserver, against client-go with protobuf"
    targets = [Target(what, cost, most=0.8)]
    if OURS_PROTOBUF in rows and PROTOBUF in rows:
        both = "with protobuf, a stream, against client-go with its defaults and protobuf"
        ours, go = rows[OURS_PROTOBUF], rows[PROTOBUF]
        targets += [
            Target(f"{count:,} pods: objects/s to synced, {both}", ours["sync"] / go["sync"], least=1.0),
            Target(f"{count:,} pods: CPU to sync, {both}", ours["sync_cpu"] / go["sync_cpu"], most=0.4),
        ]
    if found := [rows[name] for name in (OURS_PROTOBUF, OURS_PROTOBUF_LISTING) if name in rows]:
        against = "with protobuf, against client-go with protobuf, the better way of each"
        rate = max(row["sync"] for row in found) / best["sync"]
        cost = min(row["sync_cpu"] for row in found) / best["sync_cpu"]
        targets += [
            Target(f"{count:,} pods: objects/s to synced, {against}", rate, least=1.0),
            Target(f"{count:,} pods: CPU to sync, {against}", cost, most=0.4),
        ]
    return targets
