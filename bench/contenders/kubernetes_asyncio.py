"""kubernetes_asyncio. It has no informer, so a task lists and watches into a dict."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kubernetes_asyncio import client as generated
from kubernetes_asyncio import watch

from bench.harness.contender import SNAKE_CASE_READER, Cache, Client, OnObject
from bench.harness.dict_cache import DictCache
from bench.replay.paths import NAME, NAMESPACE, VERSION

READER = SNAKE_CASE_READER


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
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    async with generated.ApiClient(generated.Configuration(host=url)) as connection:
        api = generated.CoreV1Api(connection)
        cache = DictCache(on_object, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

        async def follow() -> None:
            cache.add_all((await api.list_pod_for_all_namespaces()).items)
            async for event in watch.Watch().stream(
                api.list_pod_for_all_namespaces, resource_version=VERSION, timeout_seconds=600
            ):
                cache.apply(event["type"], event["object"])

        async with cache.running(follow()) as reads:
            yield reads
