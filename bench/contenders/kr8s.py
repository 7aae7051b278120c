"""kr8s. It has no informer, so a task lists and watches into a dict."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import kr8s.asyncio
from kr8s.asyncio.objects import Pod

from bench.harness.contender import DICT_READER, Cache, Client, ObjectReader, OnObject
from bench.harness.dict_cache import DictCache
from bench.replay.paths import NAME, NAMESPACE, VERSION


def _read_metadata(pod: Any) -> Any:
    return pod.name, pod.namespace, pod.labels


READER = ObjectReader(
    _read_metadata, lambda pod: DICT_READER.read_all(pod.raw), lambda pod: DICT_READER.annotations(pod.raw)
)


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    api = await kr8s.asyncio.api(url=url)

    async def pods() -> Iterable[Any]:
        return [pod async for pod in api.get(Pod, namespace=kr8s.ALL)]

    async def changes() -> AsyncGenerator[Any]:
        async for _event, pod in api.watch(Pod, namespace=kr8s.ALL, since=VERSION):
            yield pod

    async def pod() -> Any:
        # Pod.get lists with a field selector; only refresh sends a single GET.
        found = await Pod({"metadata": {"name": NAME, "namespace": NAMESPACE}}, api=api)
        await found.refresh()
        return found

    yield Client(pods=pods, changes=changes, pod=pod)


@asynccontextmanager
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    api = await kr8s.asyncio.api(url=url)
    cache = DictCache(on_object, key=lambda pod: (pod.namespace, pod.name))

    async def follow() -> None:
        cache.add_all([pod async for pod in api.get(Pod, namespace=kr8s.ALL)])
        async for event, pod in api.watch(Pod, namespace=kr8s.ALL, since=VERSION):
            cache.apply(event, pod)

    async with cache.running(follow()) as reads:
        yield reads
