"""cloudcoil. Its informer calls no handler for the initial objects and reads only one page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from cloudcoil.client import Config  # must come first: its packages import each other
from cloudcoil.client._api_client import AsyncAPIClient
from cloudcoil.models.kubernetes.core.v1 import Pod

# isort: split
from cloudcoil.caching._informer import AsyncInformer
from cloudcoil.caching._types import InformerOptions

from bench.harness.contender import SNAKE_CASE_READER, Cache, OnObject

READER = SNAKE_CASE_READER
PAGE_SIZE = 5000


@asynccontextmanager
async def informer(url: str, on_object: OnObject) -> AsyncIterator[Cache]:
    config = Config(server=url)
    connected = AsyncAPIClient(
        api_version="v1",
        kind=Pod,
        resource="pods",
        namespaced=True,
        subresources=[],
        default_namespace="default",
        client=config.async_client,
    )
    made = AsyncInformer(connected, InformerOptions(all_namespaces=True, page_size=PAGE_SIZE))

    async def added(pod: Any) -> None:
        on_object(pod)

    async def updated(_old: Any, new: Any) -> None:
        on_object(new)

    made.on_add(added)
    made.on_update(updated)
    await asyncio.sleep(0)
    await made._start()
    await made._wait_for_sync(600.0)
    yield Cache(
        keys=lambda: [(pod.metadata.namespace, pod.metadata.name) for pod in made.list()],
        by_key=lambda namespace, name: made.get(name, namespace),
        by_label=lambda name, value: made.list(label_selector=f"{name}={value}"),
    )
    await made._stop()
