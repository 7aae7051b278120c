"""Concurrent writers that create, change, delete and recreate the same objects."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from random import Random

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import AlreadyExistsError, NotFoundError
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta

OBJECTS = 2000
WRITERS = 8
TIERS = ("front", "back", "none")
EXTRA = 0.45
"""The number of additional writes per object."""


class Storm:
    """Creates two thousand ConfigMaps in several namespaces, and changes some of them."""

    def __init__(self, client: ClientSet, namespaces: list[str], *, at_half_time: Callable[[], None]) -> None:
        self._client = client
        self._namespaces = namespaces
        self._at_half_time = at_half_time
        self._created = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as writers:
            for number in range(WRITERS):
                writers.create_task(self._write(Random(number), range(number, OBJECTS, WRITERS)))

    async def _write(self, dice: Random, numbers: range) -> None:
        for number in numbers:
            await self._create(number, dice)
            self._created += 1
            if self._created == OBJECTS // 2:
                self._at_half_time()
            if dice.random() < EXTRA:
                await self._change(dice.randrange(number + 1), dice)

    async def _create(self, number: int, dice: Random) -> None:
        metadata = ObjectMeta(name=f"c{number}", labels={"tier": dice.choice(TIERS)})
        with suppress(AlreadyExistsError):  # another writer may have recreated it
            await self._client.core_v1.configmaps(self._namespace(number)).create(ConfigMap(metadata=metadata))

    async def _change(self, number: int, dice: Random) -> None:
        config_maps, name = self._client.core_v1.configmaps(self._namespace(number)), f"c{number}"
        with suppress(NotFoundError):  # another writer may have deleted it
            match dice.randrange(4):
                case 0:
                    await config_maps.delete(name)
                case 1:
                    await config_maps.delete(name)
                    await self._create(number, dice)
                case 2:
                    await config_maps.patch(name, {"metadata": {"labels": {"tier": dice.choice(TIERS)}}})
                case _:
                    await config_maps.patch(name, {"data": {"x": str(dice.random())}})

    def _namespace(self, number: int) -> str:
        return self._namespaces[number % len(self._namespaces)]
