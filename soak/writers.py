"""Those who write while informers look on. What goes wrong for them is theirs: they just go on."""

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
    """Creates, changes and deletes config maps of a few names, so that many of them come again and again."""

    def __init__(self, client: ClientSet, places: list[str], dice: Random, *, names: int) -> None:
        self._client = client
        self._places = places
        self._dice = dice
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
            await asyncio.sleep(self._dice.random() * pause)

    async def _write(self) -> None:
        dice = self._dice
        config_maps = self._client.core_v1.configmaps(dice.choice(self._places))
        name = f"c{dice.randrange(self._names)}"
        match dice.randrange(6):
            case 0:
                await config_maps.delete(name)
            case 1:
                await config_maps.patch(name, {"metadata": {"labels": {"tier": dice.choice(TIERS)}}})
            case 2 | 3:
                await config_maps.patch(name, {"data": {"x": str(dice.random())}})
            case _:
                await config_maps.create(ConfigMap(metadata=ObjectMeta(name=name, labels={"tier": dice.choice(TIERS)})))
