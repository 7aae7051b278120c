"""Clients side by side, against one server that replays bytes (`replay.py`): list, watch, and single GETs.

Run as `python -m bench.clients CONTENDER URL COUNT`, it measures one of them and prints its figures as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.replay import NAME, NAMESPACE, VERSION, bare_sockets, replaying
from bench.runner import Figures, measure, missing, print_table

COUNT = 20_000
FEW = 2_000  # for those who would need minutes for all; it does them no harm, a small heap is the faster one
REQUESTS, IN_FLIGHT = 2_000, 32
TURNS, ENOUGH = 2, 3.0  # the best of so many turns, or of as many as fit into so many seconds

OURS, BLOCKING = "listwatch", "listwatch, blocking"
QUICK = (OURS, BLOCKING, "lightkube", "lightkube, async")
SLOW = ("kubernetes", "kubernetes_asyncio")
WITHOUT_LOOP = (BLOCKING, "lightkube", "kubernetes")
COLUMNS = {
    "list": "list: pods/s",
    "list, all": "every field",
    "watch": "watch: events/s",
    "watch, all": "every field ",
    "gets": f"GETs/s, {IN_FLIGHT} in flight",
}


def report() -> bool:
    """Measure all, print the table, and say whether the promises hold."""
    print(
        f"clients: a list of {COUNT:,} pods and a watch of {COUNT:,} events; handlers read name, namespace and labels"
    )
    print(f"({' and '.join(SLOW)}: {FEW:,}, because of the time they take)")
    with replaying(COUNT) as url:
        limit = bare_sockets(url, count=COUNT, requests=4 * REQUESTS, in_flight=IN_FLIGHT)
        rows = measure("bench.clients", QUICK, rounds=2, arguments=[url, str(COUNT)])
    with replaying(FEW) as url:
        rows |= measure("bench.clients", SLOW, rounds=2, arguments=[url, str(FEW)])
    print_table("client", {title: _cell(name) for name, title in COLUMNS.items()}, rows | {"the server's limit": limit})
    peers = {name: rows[name] for name in rows if name not in (OURS, BLOCKING)}
    if missing(rows, [OURS, BLOCKING]) or not peers:
        return False
    return _promises(rows, peers)


def _cell(name: str) -> Callable[[Figures], str]:
    return lambda row: f"{row[name]:,.0f}" if name in row else "–"


def _promises(rows: dict[str, Figures], peers: dict[str, Figures]) -> bool:
    def ratio(name: str) -> float:
        return rows[OURS][name] / max(row[name] for row in peers.values() if name in row)

    promises = {
        "list, against the fastest other": (ratio("list"), 4.0),
        "watch, against the fastest other": (ratio("watch"), 3.0),
        "list with every field touched": (ratio("list, all"), 1.0),
        "watch with every field touched": (ratio("watch, all"), 1.0),
        f"single GETs, {IN_FLIGHT} in flight": (ratio("gets"), 1.5),
        "blocking list, against the async one": (rows[BLOCKING]["list"] / rows[OURS]["list"], 1 / 1.3),
    }
    print()
    for promise, (found, least) in promises.items():
        print(f"  {promise}: {found:.2f} × (promised: {least:.2g})")
    return all(found >= least for found, least in promises.values())


# --- What a contender can do ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Client:
    """One library, as its own documentation uses it; whoever takes no part in a discipline leaves it out."""

    pods: Callable[[], Awaitable[Iterable[Any]]]
    changes: Callable[[], AsyncGenerator[Any]] | None = None
    pod: Callable[[], Awaitable[Any]] | None = None
    glance: Callable[[Any], Any]
    touch: Callable[[Any], Any]


def _glance(pod: Any) -> Any:
    metadata = pod.metadata
    return metadata.name, metadata.namespace, metadata.labels


def _touch(pod: Any) -> Any:
    return pod.metadata, pod.spec, pod.status


def _glance_at_object(pod: Any) -> Any:
    return pod.name, pod.namespace, pod.labels


def _touch_ours(pod: Any) -> Any:
    for entry in pod.metadata.managed_fields:
        _ = entry.fields
    return pod.spec, pod.status


def _touch_raw(pod: Any) -> Any:
    raw = pod.raw
    return raw["metadata"], raw["spec"], raw["status"]


# --- The contenders ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _listwatch(url: str) -> AsyncIterator[Client]:
    import listwatch as lw

    async with lw.ClientSet(lw.ClientConfig(host=url)) as client:
        everywhere, here = client.core_v1.pods(), client.core_v1.pods(NAMESPACE)

        async def changes() -> AsyncGenerator[Any]:
            async with everywhere.watch(resource_version=VERSION) as events:
                async for event in events:
                    yield event.object

        yield Client(
            pods=everywhere.list,
            changes=changes,
            pod=lambda: here.get(NAME),
            glance=_glance_at_object,
            touch=_touch_ours,
        )


@asynccontextmanager
async def _listwatch_blocking(url: str) -> AsyncIterator[Client]:
    import listwatch as lw
    from listwatch import blocking

    with blocking.ClientSet(lw.ClientConfig(host=url)) as client:

        async def pods() -> Iterable[Any]:
            return client.core_v1.pods().list()

        yield Client(pods=pods, glance=_glance_at_object, touch=_touch_ours)


@asynccontextmanager
async def _lightkube(url: str) -> AsyncIterator[Client]:
    import lightkube
    from lightkube import ALL_NS, KubeConfig
    from lightkube.config.models import Cluster, User
    from lightkube.resources.core_v1 import Pod

    client = lightkube.Client(
        KubeConfig.from_one(cluster=Cluster(server=url), user=User(token="bench")), trust_env=False
    )

    async def pods() -> Iterable[Any]:
        return client.list(Pod, namespace=ALL_NS)

    async def changes() -> AsyncGenerator[Any]:
        for _event, pod in client.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            yield pod

    yield Client(pods=pods, changes=changes, glance=_glance, touch=_touch)


@asynccontextmanager
async def _lightkube_async(url: str) -> AsyncIterator[Client]:
    from lightkube import ALL_NS, AsyncClient, KubeConfig
    from lightkube.config.models import Cluster, User
    from lightkube.resources.core_v1 import Pod

    client = AsyncClient(KubeConfig.from_one(cluster=Cluster(server=url), user=User(token="bench")), trust_env=False)

    async def pods() -> Iterable[Any]:
        return [pod async for pod in client.list(Pod, namespace=ALL_NS)]

    async def changes() -> AsyncGenerator[Any]:
        async for _event, pod in client.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            yield pod

    yield Client(
        pods=pods,
        changes=changes,
        pod=lambda: client.get(Pod, NAME, namespace=NAMESPACE),
        glance=_glance,
        touch=_touch,
    )
    await client.close()


@asynccontextmanager
async def _kr8s(url: str) -> AsyncIterator[Client]:
    import kr8s.asyncio
    from kr8s.asyncio.objects import Pod

    api = await kr8s.asyncio.api(url=url)

    async def pods() -> Iterable[Any]:
        return [pod async for pod in api.get(Pod, namespace=kr8s.ALL)]

    async def changes() -> AsyncGenerator[Any]:
        async for _event, pod in api.watch(Pod, namespace=kr8s.ALL, since=VERSION):
            yield pod

    async def pod() -> Any:
        # Pod.get lists with a field selector; a refresh is the single GET there is.
        found = await Pod({"metadata": {"name": NAME, "namespace": NAMESPACE}}, api=api)
        await found.refresh()
        return found

    yield Client(pods=pods, changes=changes, pod=pod, glance=_glance_at_object, touch=_touch_raw)


@asynccontextmanager
async def _kubernetes(url: str) -> AsyncIterator[Client]:
    from kubernetes import client, watch

    api = client.CoreV1Api(client.ApiClient(client.Configuration(host=url)))

    async def pods() -> Iterable[Any]:
        return api.list_pod_for_all_namespaces().items

    async def changes() -> AsyncGenerator[Any]:
        for event in watch.Watch().stream(
            api.list_pod_for_all_namespaces, resource_version=VERSION, timeout_seconds=600
        ):
            yield event["object"]

    yield Client(pods=pods, changes=changes, glance=_glance, touch=_touch)


@asynccontextmanager
async def _kubernetes_asyncio(url: str) -> AsyncIterator[Client]:
    from kubernetes_asyncio import client, watch

    async with client.ApiClient(client.Configuration(host=url)) as connection:
        api = client.CoreV1Api(connection)

        async def pods() -> Iterable[Any]:
            return (await api.list_pod_for_all_namespaces()).items

        async def changes() -> AsyncGenerator[Any]:
            options = {"resource_version": VERSION, "timeout_seconds": 600}
            async for event in watch.Watch().stream(api.list_pod_for_all_namespaces, **options):
                yield event["object"]

        yield Client(
            pods=pods,
            changes=changes,
            pod=lambda: api.read_namespaced_pod(NAME, NAMESPACE),
            glance=_glance,
            touch=_touch,
        )


_CONTENDERS: dict[str, Callable[[str], AbstractAsyncContextManager[Client]]] = {
    OURS: _listwatch,
    BLOCKING: _listwatch_blocking,
    "lightkube": _lightkube,
    "lightkube, async": _lightkube_async,
    "kr8s": _kr8s,
    "kubernetes": _kubernetes,
    "kubernetes_asyncio": _kubernetes_asyncio,
}


# --- One contender ----------------------------------------------------------------------------------------------------


async def _measure_one(client: Client, count: int) -> Figures:
    figures: Figures = {}
    for suffix, handle in {"": client.glance, ", all": client.touch}.items():
        figures["list" + suffix] = await _best(partial(_list, client, handle, count))
        if client.changes is not None:
            figures["watch" + suffix] = await _best(partial(_watch, client.changes, handle, count))
    if client.pod is not None:
        figures["gets"] = await _best(partial(_get_often, client.pod, client.glance))
    return figures


async def _best(measured: Callable[[], Awaitable[float]]) -> float:
    """The best rate of a few turns; the first also pays for what is made once."""
    best, deadline = 0.0, time.perf_counter() + ENOUGH
    for _ in range(TURNS):
        gc.collect()
        best = max(best, await measured())
        if time.perf_counter() > deadline:
            break
    return best


async def _list(client: Client, handle: Callable[[Any], Any], expected: int) -> float:
    started, count = time.perf_counter(), 0
    for pod in await client.pods():
        handle(pod)
        count += 1
    return _rate(started, count, expected)


async def _watch(changes: Callable[[], AsyncGenerator[Any]], handle: Callable[[Any], Any], expected: int) -> float:
    started, count = time.perf_counter(), 0
    async with aclosing(changes()) as pods:
        async for pod in pods:
            handle(pod)
            count += 1
            if count == expected:  # most of them would watch again
                break
        return _rate(started, count, expected)


async def _get_often(get: Callable[[], Awaitable[Any]], handle: Callable[[Any], Any]) -> float:
    turns = iter(range(REQUESTS))

    async def ask() -> None:
        for _ in turns:
            handle(await get())

    started = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(IN_FLIGHT)))
    return REQUESTS / (time.perf_counter() - started)


def _rate(started: float, count: int, expected: int) -> float:
    seconds = time.perf_counter() - started
    if count != expected:
        raise SystemExit(f"{count:,} came, not {expected:,}")
    return count / seconds


async def _main(contender: str, url: str, count: str) -> None:
    async with _CONTENDERS[contender](url) as client:
        print(json.dumps(await _measure_one(client, int(count))))


def _run_without_loop(main: Coroutine[Any, Any, None]) -> None:
    """Run what never suspends; our blocking face refuses to hold up an event loop, and the others need none."""
    try:
        main.send(None)
    except StopIteration:
        return
    raise RuntimeError("a blocking contender has waited for an event loop")


if __name__ == "__main__":
    run = _run_without_loop if sys.argv[1] in WITHOUT_LOOP else asyncio.run
    run(_main(*sys.argv[1:]))
