"""The layer of kopf that lists and watches; it keeps nothing, so a task keeps what came in a dict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kopf._cogs.clients.auth import vault_var
from kopf._cogs.clients.watching import Bookmark, infinite_watch
from kopf._cogs.configs.configuration import OperatorSettings
from kopf._cogs.structs.credentials import ConnectionInfo, Vault
from kopf._cogs.structs.references import Resource

from bench.contender import DICTS, OTHER_DICTS, Cache, See
from bench.loops import Store
from bench.replay_paths import WIDGETS

READING, OTHERS = DICTS, OTHER_DICTS


@asynccontextmanager
async def informer(url: str, see: See, resource: str = "pods") -> AsyncIterator[Cache]:
    vault_var.set(Vault({"bench": ConnectionInfo(server=url)}))
    store = Store(see, key=lambda pod: (pod["metadata"]["namespace"], pod["metadata"]["name"]))

    async def follow() -> None:
        watched = Resource(*(WIDGETS if resource == WIDGETS[2] else ("", "v1", resource)), namespaced=True)
        async for event in infinite_watch(settings=OperatorSettings(), resource=watched, namespace=None):
            if event is Bookmark.LISTED:
                store.filled()
            else:
                store.change(event["type"] or "ADDED", event["object"])

    async with store.following(follow()) as cache:
        yield cache
