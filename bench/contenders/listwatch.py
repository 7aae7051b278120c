"""listwatch itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import listwatch as lw
from bench.contender import Cache, Client, Reading, See
from bench.replay_paths import NAME, NAMESPACE, VERSION
from listwatch.client.transport import AiohttpTransport
from listwatch.models.core_v1 import Pod


def _glance(pod: Pod) -> Any:
    return pod.name, pod.namespace, pod.labels


def _touch(pod: Pod) -> Any:
    managed = [(entry.manager, entry.fields) for entry in pod.metadata.managed_fields]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.node_name, pod.spec.volumes, pod.status.pod_ip


# Names are imported when they are first used, and this is not to be counted as the work of an informer.
_USED = (lw.ClientSet, lw.SharedInformerFactory, AiohttpTransport)

READING = Reading(_glance, _touch, lambda pod: pod.metadata.annotations)


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    async with lw.ClientSet(lw.ClientConfig(host=url)) as connected:
        everywhere, here = connected.core_v1.pods(), connected.core_v1.pods(NAMESPACE)

        async def changes() -> AsyncGenerator[Any]:
            async with everywhere.watch(resource_version=VERSION) as events:
                async for event in events:
                    yield event.object

        yield Client(pods=everywhere.list, changes=changes, pod=lambda: here.get(NAME))


@asynccontextmanager
async def informer(url: str, see: See, token: str = "") -> AsyncIterator[Cache]:
    config = lw.ClientConfig(host=url, token=token, insecure_skip_tls_verify=url.startswith("https"))
    async with lw.ClientSet(config) as connected, lw.SharedInformerFactory(connected) as factory:
        pods = factory.core_v1.pods
        pods.informer.add_handler(on_add=see, on_update=lambda _old, new: see(new), on_delete=see)
        await factory.wait_for_sync(timeout=600)
        lister, indexer = pods.lister, pods.informer.indexer
        yield Cache(
            keys=lambda: [(pod.namespace, pod.name) for pod in lister.list()],
            by_key=lambda namespace, name: indexer.get(f"{namespace}/{name}"),
            by_index=lambda namespace: lister.namespace(namespace).list(),
            by_label=lambda name, value: lister.list({name: value}),
        )
