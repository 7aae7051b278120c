"""lightkube's asynchronous client. It has no informer, so a task lists and watches into a dict."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from lightkube import ALL_NS, AsyncClient
from lightkube.resources.core_v1 import Pod

from bench.contenders.lightkube import config
from bench.harness.contender import CAMEL_CASE_READER, Cache, Client, OnObject
from bench.harness.dict_cache import DictCache
from bench.replay.paths import NAME, NAMESPACE, VERSION

READER = CAMEL_CASE_READER


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    connected = AsyncClient(config(url), trust_env=False)

    async def pods() -> Iterable[Any]:
        return [pod async for pod in connected.list(Pod, namespace=ALL_NS)]

    async def changes() -> AsyncGenerator[Any]:
        async for _event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            yield pod

    yield Client(pods=pods, changes=changes, pod=lambda: connected.get(Pod, NAME, namespace=NAMESPACE))
    await connected.close()


@asynccontextmanager
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    connected = AsyncClient(config(url), trust_env=False)
    cache = DictCache(on_object, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

    async def follow() -> None:
        cache.add_all([pod async for pod in connected.list(Pod, namespace=ALL_NS)])
        async for event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            cache.apply(event, pod)

    async with cache.running(follow()) as reads:
        yield reads
