"""`listwatch demo`: an informer on the embedded API server, while pods are created, updated and deleted."""

from __future__ import annotations

import asyncio

import click

from listwatch.cli.running import run_async
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.models.core_v1 import Container, Pod, PodSpec
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer

__all__ = ["command", "demo"]


@click.command()
def command() -> None:
    """Run an informer against an embedded API server and print what it sees."""
    run_async(demo())


async def demo() -> None:
    """Run the demo; it ends by itself."""
    async with APIServer() as server, ClientSet(server.config) as client:
        print(f"API server listening on {server.url}")
        pods = client.core_v1.pods("default")
        await pods.create(_pod("old-pod"))
        informer = SharedIndexInformer(pods, Pod, indexers={"node": lambda pod: [pod.spec.node_name or ""]})
        informer.add_handler(
            on_add=lambda pod: print(f"ADDED {pod.name}"),
            on_update=lambda old, new: print(f"MODIFIED {new.name}"),
            on_delete=lambda pod: print(f"DELETED {pod.name}"),
        )
        async with informer:
            await informer.wait_for_sync(timeout=10)
            print(f"cache synced: {len(informer.indexer)} pod")
            await _create_update_delete(pods, informer)


async def _create_update_delete(pods: ResourceClient[Pod], informer: SharedIndexInformer[Pod]) -> None:
    """Create, update and delete a pod, and wait for the cache after each write."""
    pod = await pods.create(_pod("test-pod"))
    await informer.wait_until(pod.resource_version, timeout=10)
    pod = pod.copy()
    pod.metadata.labels["tier"] = "front"
    pod = await pods.update(pod)
    await informer.wait_until(pod.resource_version, timeout=10)
    print(f"pods on node-1, from the cache: {[each.name for each in informer.indexer.by_index('node', 'node-1')]}")
    async with asyncio.timeout(10):
        async for change in informer.changes():
            if change.type == "ADDED" and change.object.name == "test-pod":
                await pods.delete("test-pod", grace_period_seconds=0)
            if change.type == "DELETED":
                break


def _pod(name: str) -> Pod:
    container = Container(name="web", image="nginx:1.29")
    return Pod(metadata=ObjectMeta(name=name), spec=PodSpec(node_name="node-1", containers=[container]))
