"""Copies ConfigMaps from a hub cluster to all member clusters, which join and leave while the manager runs."""

import asyncio
from contextlib import AsyncExitStack

import listwatch as lw
from listwatch.controller import ClusterChange
from listwatch.models.core_v1 import ConfigMap
from listwatch.server import APIServer

HUB = "hub"
COPY = "example.com/copy"


def original_of(copy: ConfigMap) -> lw.ObjectKey:
    """A change of a copy in a member cluster reconciles the original, which is in the hub."""
    return copy.key.in_cluster(HUB)


async def reconcile(key: lw.ObjectKey, context: lw.ReconcileContext[ConfigMap]) -> None:
    original = context.get()
    for name in context.clusters:
        if name != HUB:
            await copy_to(context.in_cluster(name), key, original)


async def copy_to(member: lw.ReconcileContext[ConfigMap], key: lw.ObjectKey, original: ConfigMap | None) -> None:
    copy = member.indexer(ConfigMap).get(key)  # a cache has the objects of one cluster, and ignores that of the key
    copies = member.client.core_v1.configmaps(key.namespace)
    if original is None:
        if copy is not None:
            await copies.delete(key.name)
    elif copy is None or copy.data != original.data:
        metadata = lw.ObjectMeta(name=key.name, namespace=key.namespace, labels={COPY: "true"})
        await copies.apply(ConfigMap(metadata=metadata, data=dict(original.data)), field_manager="copier", force=True)


def new_manager(hub: lw.ClientSet) -> lw.Manager:
    manager = lw.Manager({HUB: hub}, home=HUB, leader_election="copier")
    copies = lw.Watch(ConfigMap, keys=original_of, label_selector=COPY, clusters=lambda name: name != HUB)
    originals = lw.Watch(ConfigMap, label_selector="example.com/copied", clusters=[HUB])
    manager.add(lw.Controller(reconcile, for_=originals, watches=[copies, ClusterChange()], name="copier"))
    return manager


async def copied_to(client: lw.ClientSet, text: str) -> None:
    """Wait until a cluster has a copy with this text."""
    await lw.wait_for(client.core_v1.configmaps("default"), "motd", f"jsonpath={{.data.text}}={text}", timeout=30)


async def main() -> None:
    async with AsyncExitStack() as stack:
        # Three servers in this process. Real clusters have clients with lw.load_config(context="...").
        servers = {name: await stack.enter_async_context(APIServer()) for name in (HUB, "eu", "us")}
        clients = {name: await stack.enter_async_context(lw.ClientSet(each.config)) for name, each in servers.items()}
        originals = clients[HUB].core_v1.configmaps("default")
        metadata = lw.ObjectMeta(name="motd", labels={"example.com/copied": "true"})
        await originals.create(ConfigMap(metadata=metadata, data={"text": "hello"}))

        manager = await stack.enter_async_context(new_manager(clients[HUB]))
        for name in ("eu", "us"):
            await manager.add_cluster(name, clients[name])
            await copied_to(clients[name], "hello")
            print(f"{name} has the copy")

        await clients["eu"].core_v1.configmaps("default").patch("motd", {"data": {"text": "changed in eu"}})
        await copied_to(clients["eu"], "hello")
        print("eu was repaired")

        await manager.remove_cluster("us")
        await originals.patch("motd", {"data": {"text": "bye"}})
        await copied_to(clients["eu"], "bye")
        left = await clients["us"].core_v1.configmaps("default").get("motd")
        print(f"eu says bye, us still says {left.data['text']}")


if __name__ == "__main__":
    asyncio.run(main())
