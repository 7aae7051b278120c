"""lightkube, blocking; it has no informer, so a thread lists, keeps what came in a dict, and watches."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import lightkube
from lightkube import ALL_NS, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.resources.core_v1 import Pod

from bench.contender import MODELS, Cache, Client, See
from bench.loops import ThreadedStore
from bench.replay_paths import VERSION

READING = MODELS


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
async def informer(url: str, see: See) -> AsyncIterator[Cache]:
    connected = lightkube.Client(config(url), trust_env=False)
    store = ThreadedStore(see, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))

    def follow() -> None:
        store.fill(connected.list(Pod, namespace=ALL_NS))
        for event, pod in connected.watch(Pod, namespace=ALL_NS, resource_version=VERSION):
            store.change(event, pod)

    threading.Thread(target=follow, daemon=True).start()
    yield await store.wait()
