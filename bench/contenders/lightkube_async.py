"""lightkube's asynchronous client; it has no informer, so a task lists, keeps what came in a dict, and watches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from lightkube import ALL_NS, AsyncClient
from lightkube.resources.core_v1 import Pod

from bench.contender import MODELS, Cache, Client, See
from bench.contenders.lightkube import config
from bench.loops import Store
from bench.replay_paths import NAME, NAMESPACE, VERSION

READING = MODELS


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
async def informer(url: str, see: See) -> AsyncIterator[Cache]:
    connected = AsyncClient(config(url), trust_env=False)
    store = Store(see, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

    async def follow() -> None:
        store.fill([pod async for pod in connected.list(Pod, namespace=ALL_NS)])
        async for event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            store.change(event, pod)

    async with store.following(follow()) as cache:
        yield cache
