"""Informers against a real kube-apiserver: what it costs to sync, beside client-go with JSON and with protobuf."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bench.pods import pods
from bench.results import Report
from bench.runner import Figures, Promise, Race, race

OURS, GO, PROTOBUF = "listwatch", "client-go", "client-go, protobuf"
_WRITERS = 32


def report(*, full: bool = False) -> Report:
    """Measure all, and say what was promised."""
    from listwatch.errors import ListWatchError
    from listwatch.testing.real_api_server_thread import RealAPIServerThread

    count, rounds = (20_000, 5) if full else (5_000, 2)
    made = Report("real", f"informers of {count:,} pods on a real kube-apiserver, over TLS")
    try:
        server = RealAPIServerThread()
        with server:
            asyncio.run(_fill(server.config, count))
            result = race("bench.informer_run", _plans(server.url, server.token, count), rounds=rounds)
    except (ListWatchError, OSError) as error:
        made.notes.append(f"left out, because there is no kube-apiserver here; `make real` builds one ({error})")
        return made
    made.race = result
    made.table("to synced", _columns(count), result.rows)
    made.promises = _promises(result)
    return made


async def _fill(config: Any, count: int) -> None:
    """Create the pods, as a scheduler and a kubelet would leave them, but for their status."""
    import listwatch as lw
    from listwatch.models.core_v1 import Namespace, Pod

    async with lw.ClientSet(config) as client:
        waiting = iter(pods(count))

        async def write() -> None:
            for each in waiting:
                for name in ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"):
                    each["metadata"].pop(name, None)
                await client.core_v1.pods(each["metadata"]["namespace"]).create(Pod.from_dict(each))

        for number in range(50):
            await client.core_v1.namespaces().create(Namespace.from_dict({"metadata": {"name": f"team-{number}"}}))
        async with asyncio.TaskGroup() as group:
            for _ in range(_WRITERS):
                group.create_task(write())


def _plans(url: str, token: str, count: int) -> dict[str, dict[str, Any]]:
    nothing_more = {"events": 0, "rates": [], "seconds": 0, "reads": False, "relist": False}
    plan = {"url": url, "token": token, "count": count, **nothing_more}
    return {OURS: plan, GO: plan, PROTOBUF: plan | {"protobuf": True}}


def _columns(count: int) -> dict[str, Callable[[Figures], str]]:
    return {
        "objects/s": lambda row: f"{row['sync']:,.0f}",
        "CPU s": lambda row: f"{row['sync_cpu']:.2f}",
        "peak MB": lambda row: f"{row['peak'] / 1e6:.0f}",
        "KB/object": lambda row: f"{(row['settled'] - row['baseline']) / count / 1000:.1f}",
    }


def _promises(result: Race) -> list[Promise]:
    rows = result.rows
    if OURS not in rows or PROTOBUF not in rows:
        return []
    cost = rows[OURS]["sync_cpu"] / rows[PROTOBUF]["sync_cpu"]
    return [Promise("CPU to sync from a real kube-apiserver, against client-go with protobuf", cost, most=0.8)]
