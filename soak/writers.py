"""Clients that write while informers watch. Failed writes are ignored."""

from __future__ import annotations

import asyncio
from random import Random

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import ListWatchError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta

__all__ = ["Writer"]

TIERS = ("front", "back")


class Writer:
    """Creates, changes and deletes config maps of a few names, so that many are deleted and created again."""

    def __init__(self, client: ClientSet, namespaces: list[str], rng: Random, *, names: int) -> None:
        self._client = client
        self._namespaces = namespaces
        self._rng = rng
        self._names = names
        self.writes = 0

    async def run(self, pause: float) -> None:
        """Write until cancelled."""
        while True:
            try:
                await self._write()
                self.writes += 1
            except ListWatchError:
                pass
            await asyncio.sleep(self._rng.random() * pause)

    async def _write(self) -> None:
        rng = self._rng
        config_maps = self._client.core_v1.configmaps(rng.choice(self._namespaces))
        name = f"c{rng.randrange(self._names)}"
        match rng.randrange(6):
            case 0:
                await config_maps.delete(name)
            case 1:
                await config_maps.patch(name, {"metadata": {"labels": {"tier": rng.choice(TIERS)}}})
            case 2 | 3:
                await config_maps.patch(name, {"data": {"x": str(rng.random())}})
            case _:
                await config_maps.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"tier": rng.choice(TIERS)})))
