"""kr8s; it has no informer, so a task lists, keeps what came in a dict, and watches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import kr8s.asyncio
from kr8s.asyncio.objects import Pod

from bench.contender import DICTS, Cache, Client, Reading, See
from bench.loops import Store
from bench.replay_paths import NAME, NAMESPACE, VERSION


def _glance(pod: Any) -> Any:
    return pod.name, pod.namespace, pod.labels


READING = Reading(_glance, lambda pod: DICTS.touch(pod.raw), lambda pod: DICTS.annotations(pod.raw))


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
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

    yield Client(pods=pods, changes=changes, pod=pod)


@asynccontextmanager
async def informer(url: str, see: See) -> AsyncIterator[Cache]:
    api = await kr8s.asyncio.api(url=url)
    store = Store(see, key=lambda pod: (pod.namespace, pod.name))

    async def follow() -> None:
        store.fill([pod async for pod in api.get(Pod, namespace=kr8s.ALL)])
        async for event, pod in api.watch(Pod, namespace=kr8s.ALL, since=VERSION):
            store.change(event, pod)

    async with store.following(follow()) as cache:
        yield cache
