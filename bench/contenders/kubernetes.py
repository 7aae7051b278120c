"""The official Python client and its informer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kubernetes import client as official
from kubernetes import watch
from kubernetes.informer import SharedInformer

from bench.harness.contender import SNAKE_CASE_READER, Cache, Client, OnObject
from bench.replay.paths import VERSION

READER = SNAKE_CASE_READER


def _api(url: str) -> official.CoreV1Api:
    return official.CoreV1Api(official.ApiClient(official.Configuration(host=url)))


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    api = _api(url)

    async def pods() -> Iterable[Any]:
        return api.list_pod_for_all_namespaces().items

    async def changes() -> AsyncGenerator[Any]:
        options = {"resource_version": VERSION, "timeout_seconds": 600}
        for event in watch.Watch().stream(api.list_pod_for_all_namespaces, **options):
            yield event["object"]

    yield Client(pods=pods, changes=changes)


@asynccontextmanager
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    made = SharedInformer(_api(url).list_pod_for_all_namespaces)
    for event in ("ADDED", "MODIFIED", "DELETED"):
        made.add_event_handler(event, on_object)
    made.start()
    # It has no has_synced; the version is set after the last handler call.
    while made._resource_version is None:  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0.005)
    cache = made.cache
    yield Cache(
        keys=lambda: [(pod.metadata.namespace, pod.metadata.name) for pod in cache.list()],
        by_key=lambda namespace, name: cache.get_by_key(f"{namespace}/{name}"),
    )
