"""kopf's watch layer. It has no cache, so a task stores the objects in a dict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kopf._cogs.clients.auth import vault_var
from kopf._cogs.clients.watching import Bookmark, infinite_watch
from kopf._cogs.configs.configuration import OperatorSettings
from kopf._cogs.structs.credentials import ConnectionInfo, Vault
from kopf._cogs.structs.references import Resource

from bench.harness.contender import DICT_READER, OTHER_DICT_READERS, Cache, OnObject
from bench.harness.dict_cache import DictCache
from bench.replay.paths import WIDGETS

READER, OTHER_READERS = DICT_READER, OTHER_DICT_READERS


@asynccontextmanager
async def informer(url: str, on_object: OnObject, resource: str = "pods") -> AsyncIterator[Cache]:
    vault_var.set(Vault({"bench": ConnectionInfo(server=url)}))
    cache = DictCache(on_object, key=lambda pod: (pod["metadata"]["namespace"], pod["metadata"]["name"]))

    async def follow() -> None:
        watched = Resource(*(WIDGETS if resource == WIDGETS[2] else ("", "v1", resource)), namespaced=True)
        async for event in infinite_watch(settings=OperatorSettings(), resource=watched, namespace=None):
            if event is Bookmark.LISTED:
                cache.mark_synced()
            else:
                cache.apply(event["type"] or "ADDED", event["object"])

    async with cache.running(follow()) as reads:
        yield reads
