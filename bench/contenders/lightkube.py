"""lightkube's blocking client. It has no informer, so a thread lists and watches into a dict."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import lightkube
from lightkube import ALL_NS, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.resources.core_v1 import Pod

from bench.harness.contender import CAMEL_CASE_READER, Cache, Client, OnObject
from bench.harness.dict_cache import ThreadedDictCache
from bench.replay.paths import VERSION

READER = CAMEL_CASE_READER


def config(url: str) -> KubeConfig:
    return KubeConfig.from_one(cluster=Cluster(server=url), user=User(token="bench"))


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    connected = lightkube.Client(config(url), trust_env=False)

    async def pods() -> Iterable[Any]:
        return connected.list(Pod, namespace=ALL_NS)

    async def changes() -> AsyncGenerator[Any]:
        for _event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            yield pod

    yield Client(pods=pods, changes=changes)


@asynccontextmanager
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    connected = lightkube.Client(config(url), trust_env=False)
    cache = ThreadedDictCache(on_object, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

    def follow() -> None:
        cache.add_all(connected.list(Pod, namespace=ALL_NS))
        for event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            cache.apply(event, pod)

    threading.Thread(target=follow, daemon=True).start()
    yield await cache.wait_for_sync()
