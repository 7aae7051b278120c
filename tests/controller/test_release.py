"""Stopped informers and controllers are freed, although the event loop keeps the contexts of cancelled timers."""

from __future__ import annotations

import asyncio
import gc
import weakref

import listwatch as lw
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer


async def test_a_stopped_informer_is_freed_with_its_cache() -> None:
    async def use(client: lw.ClientSet) -> weakref.ref[lw.SharedIndexInformer[ConfigMap]]:
        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap)
        async with informer:
            await informer.wait_for_sync(10)
        return weakref.ref(informer)

    async with APIServer() as server, lw.ClientSet(server.config) as client:
        used = await use(client)
        await asyncio.sleep(0)
        gc.collect()
        assert used() is None


async def test_a_stopped_controller_that_has_written_is_freed_with_its_caches() -> None:
    async def use(client: lw.ClientSet) -> weakref.ref[lw.Controller[ConfigMap]]:
        written = asyncio.Event()

        async def reconcile(key: lw.ObjectKey) -> None:
            await client.core_v1.configmaps("default").patch(key.name, {"data": {"seen": "yes"}})
            written.set()

        informer = lw.SharedIndexInformer(client.core_v1.configmaps("default"), ConfigMap)
        controller = lw.Controller(reconcile, for_=informer)
        manager = lw.Manager(client)
        manager.add(controller)
        async with informer, manager:
            await written.wait()
        return weakref.ref(controller)

    async with APIServer() as server, lw.ClientSet(server.config) as client:
        await client.core_v1.configmaps("default").create(ConfigMap(metadata=ObjectMeta(name="a")))
        used = await use(client)
        await asyncio.sleep(0)
        gc.collect()
        assert used() is None
