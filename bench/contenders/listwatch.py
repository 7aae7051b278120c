"""listwatch, asynchronous API."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import listwatch as lw
from bench.harness.contender import Cache, Client, ObjectReader, OnObject
from bench.replay.paths import NAME, NAMESPACE, VERSION, WIDGETS
from listwatch.api.options import ListOptions
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.informer import InformerStatistics
from listwatch.meta import Resource
from listwatch.models.core_v1 import ConfigMap, Pod, Secret
from listwatch.objects.object import Object

_WIDGETS = Resource(WIDGETS[0], WIDGETS[1], "Widget", WIDGETS[2], namespaced=True)
_INFORMED = {"pods": Pod, "configmaps": ConfigMap, "secrets": Secret, "widgets": _WIDGETS}


def _read_metadata(found: Object) -> Any:
    return found.name, found.namespace, found.labels


def _annotations(found: Object) -> Any:
    return found.metadata.annotations


def _read_all(pod: Pod) -> Any:
    managed = [(entry.manager, entry.fields) for entry in pod.metadata.managed_fields]
    containers = [(each.image, each.env, each.ports, each.resources) for each in pod.spec.containers]
    conditions = [each.type for each in pod.status.conditions]
    return managed, containers, conditions, pod.spec.node_name, pod.spec.volumes, pod.status.pod_ip


def _read_all_of_data(found: Any) -> Any:
    managed = [(entry.manager, entry.fields) for entry in found.metadata.managed_fields]
    return managed, list(found.data.items())


def _read_all_of_widget(found: lw.Unstructured) -> Any:
    managed = [(entry.manager, entry.fields) for entry in found.metadata.managed_fields]
    parts = [(each["name"], each["weight"], each["tags"]) for each in found["spec"]["parts"]]
    return managed, parts, found["status"]["phase"]


# Exports are imported on first use; import them here so that the import time is not counted as sync time.
_PRELOADED = (lw.ClientSet, lw.DynamicClient, lw.ListWatch, lw.SharedInformerFactory, AiohttpTransport)


def preload(*, compact: bool, protobuf: bool) -> None:
    """Import what a compact store and protobuf need, too, for the same reason."""
    if compact:
        importlib.import_module("listwatch.informer.packing.packed_store")
        importlib.import_module("zstandard")
    if protobuf:
        importlib.import_module("listwatch.api.protobuf_events")


READER = ObjectReader(_read_metadata, _read_all, _annotations)
OTHER_READERS = {
    "configmaps": ObjectReader(_read_metadata, _read_all_of_data, _annotations),
    "secrets": ObjectReader(_read_metadata, _read_all_of_data, _annotations),
    "widgets": ObjectReader(_read_metadata, _read_all_of_widget, _annotations),
}


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    async with lw.ClientSet(lw.ClientConfig(host=url)) as connected:
        all_pods, pods = connected.core_v1.pods(), connected.core_v1.pods(NAMESPACE)

        async def changes() -> AsyncGenerator[Any]:
            async with all_pods.watch(resource_version=VERSION) as events:
                async for event in events:
                    yield event.object

        yield Client(pods=all_pods.list, changes=changes, pod=lambda: pods.get(NAME))


def _nodes(pod: Pod) -> list[str]:
    return [pod.spec.node_name or ""]


def _informer_of(client: lw.ClientSet, way: str) -> lw.SharedIndexInformer[Pod]:
    """An informer that reads all pods in one way: a stream, one list from the server's cache, or pages."""

    def latest(options: ListOptions) -> ListOptions:
        # A server sends a list of any version, "0", unpaged.
        return replace(options, resource_version="") if options.resource_version == "0" else options

    if way == "pages":
        source = lw.ListWatch.from_client(client.rest, "pods", kind=Pod, modify_options=latest)
        return lw.SharedIndexInformer(source, Pod, streaming=False)
    return lw.SharedIndexInformer(client.core_v1.pods(), Pod, streaming=way == "stream")


@asynccontextmanager
async def informer(
    url: str,
    on_object: OnObject,
    resource: str = "pods",
    token: str = "",
    content_type: Any = "json",
    *,
    compact: bool = False,
    cache_dir: str | None = None,
    way: str = "",
    uncompressed: bool = False,
    index: bool = False,
) -> AsyncIterator[Cache]:
    config = lw.ClientConfig(
        host=url,
        token=token,
        insecure_skip_tls_verify=url.startswith("https"),
        content_type=content_type,
        disable_compression=uncompressed,
    )
    if way:
        async with lw.ClientSet(config) as connected, _informer_of(connected, way) as pods:
            pods.add_handler(on_add=on_object)
            await pods.wait_for_sync(timeout=600)
            yield Cache(keys=lambda: [(each.namespace, each.name) for each in pods.indexer.list()])
        return
    client = lw.DynamicClient if resource == WIDGETS[2] else lw.ClientSet
    options: dict[str, Any] = {"compact": compact, "cache_dir": cache_dir}
    async with client(config) as connected, lw.SharedInformerFactory(connected, **options) as factory:
        made = factory.informer(_INFORMED[resource], indexers={"node": _nodes} if index else None)
        made.informer.add_handler(on_add=on_object, on_update=lambda _old, new: on_object(new), on_delete=on_object)
        await factory.wait_for_sync(timeout=600)
        lister, indexer = made.lister, made.informer.indexer

        async def settle() -> None:
            while not _is_settled(made.informer.statistics()):  # noqa: ASYNC110  # of another component
                await asyncio.sleep(0.1)
            if compact or cache_dir:
                await asyncio.sleep(1)  # as long as client-go has after its garbage collection

        yield Cache(
            keys=lambda: [(each.namespace, each.name) for each in lister.list()],
            by_key=lambda namespace, name: indexer.get(f"{namespace}/{name}"),
            by_index=lambda namespace: lister.namespace(namespace).list(),
            by_label=lambda name, value: lister.list({name: value}),
            touch=lambda namespace, name: indexer.get(f"{namespace}/{name}").spec.node_name,
            settle=settle,
        )


def _is_settled(found: InformerStatistics) -> bool:
    """Whether all objects are compressed, and written to the file."""
    is_packed = found.compact is None or not found.compact.unpacked
    return is_packed and all(each.written >= found.objects for each in found.files)
