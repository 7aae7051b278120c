"""kubernetes_asyncio; it has no informer, so a task lists, keeps what came in a dict, and watches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kubernetes_asyncio import client as generated
from kubernetes_asyncio import watch

from bench.contender import PYTHON_MODELS, Cache, Client, See
from bench.loops import Store
from bench.replay_paths import NAME, NAMESPACE, VERSION

READING = PYTHON_MODELS


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    async with generated.ApiClient(generated.Configuration(host=url)) as connection:
        api = generated.CoreV1Api(connection)

        async def pods() -> Iterable[Any]:
            return (await api.list_pod_for_all_namespaces()).items

        async def changes() -> AsyncGenerator[Any]:
            options = {"resource_version": VERSION, "timeout_seconds": 600}
            async for event in watch.Watch().stream(api.list_pod_for_all_namespaces, **options):
                yield event["object"]

        yield Client(pods=pods, changes=changes, pod=lambda: api.read_namespaced_pod(NAME, NAMESPACE))


@asynccontextmanager
async def informer(url: str, see: See) -> AsyncIterator[Cache]:
    async with generated.ApiClient(generated.Configuration(host=url)) as connection:
        api = generated.CoreV1Api(connection)
        store = Store(see, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

        async def follow() -> None:
            store.fill((await api.list_pod_for_all_namespaces()).items)
            async for event in watch.Watch().stream(
                api.list_pod_for_all_namespaces, resource_version=VERSION, timeout_seconds=600
            ):
                store.change(event["type"], event["object"])

        async with store.following(follow()) as cache:
            yield cache
