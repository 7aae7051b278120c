"""Informers over real HTTP, under faults: in the end each store equals a fresh list, and every story was legal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from listwatch.backoff import Backoff
from listwatch.client.resources.client_set import ClientSet
from listwatch.informer.handlers import ObjectAdded, ObjectUpdated
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer
from soak.leftovers import Leftovers
from soak.weather import Weather
from soak.witness import Witness
from soak.writers import Writer

__all__ = ["InformerRound", "Outcome"]

PLACES = ["red", "blue", "green"]
MARK = "mark"
PATIENCE = 90.0
"""Seconds of good weather in which every informer must come into step."""
BACKOFF = Backoff(initial=0.05, factor=2.0, cap=1.0, jitter=1.0)


@dataclass(frozen=True)
class Outcome:
    """What one round was like, and what was wrong in the end."""

    seed: int
    writes: int
    told: int
    weather: list[str]
    wrong: list[str]


@dataclass
class Observed:
    """One informer, and those who hear of it."""

    name: str
    informer: SharedIndexInformer[Any]
    fresh: Callable[[], Awaitable[Any]]
    places: list[str]
    handlers: list[tuple[Witness, HandlerRegistration[Any]]] = field(default_factory=list)
    readers: list[Witness] = field(default_factory=list)
    told: int = 0
    """How many changes were told to those who are gone."""

    @property
    def witnesses(self) -> list[Witness]:
        return [*(witness for witness, _ in self.handlers), *self.readers]

    @staticmethod
    def versions(items: Any) -> dict[str, str]:
        return {str(item.key): item.resource_version for item in items}


class InformerRound:
    """Some informers, writers and bad weather for a while, and then a look at what came of it."""

    def __init__(self, seed: int, *, seconds: float, with_silence: bool = True, writers: int = 4) -> None:
        self.seed = seed
        self._dice = Random(seed)
        self._seconds = seconds
        self._with_silence = with_silence
        self._writers = writers
        self._everybody: list[Observed] = []
        self._wrong: list[str] = []
        self._numbers = count(1)

    async def run(self) -> Outcome:
        leftovers = Leftovers()
        weather, writers = await self._live()
        told = sum(each.told + sum(witness.told for witness in each.witnesses) for each in self._everybody)
        self._everybody.clear()
        await asyncio.sleep(0)
        self._wrong += [f"left behind: {each}" for each in leftovers.found()]
        return Outcome(self.seed, sum(each.writes for each in writers), told, weather.history, self._wrong)

    async def _live(self) -> tuple[Weather, list[Writer]]:
        async with APIServer() as server, ClientSet(server.config) as client, AsyncExitStack() as running:
            for place in PLACES:
                await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=place)))
            self._everybody = self._observed(client)
            for each in self._everybody:
                self._add_handler(each)
                await running.enter_async_context(each.informer)
            weather = Weather(server, self._dice, with_silence=self._with_silence)
            writers = [
                Writer(client, PLACES, Random(f"{self.seed}/{number}"), names=40) for number in range(self._writers)
            ]
            async with asyncio.TaskGroup() as group:
                reading = [group.create_task(self._read(each)) for each in self._everybody[:2]]
                storm = [group.create_task(weather.run()), group.create_task(self._come_and_go())]
                storm += [group.create_task(writer.run(pause=0.02)) for writer in writers]
                await asyncio.sleep(self._seconds)
                await _end(storm)
                await self._check(client)
                await _end(reading)
        return weather, writers

    def _observed(self, client: ClientSet) -> list[Observed]:
        everywhere = client.core_v1.configmaps()
        front = everywhere.selecting(label_selector="tier=front")
        by_field = everywhere.selecting(field_selector="metadata.namespace=red")
        dynamic = client.dynamic.resource("v1", "ConfigMap").namespace("blue")
        metadata = client.metadata.resource(ConfigMap)
        several = {place: client.core_v1.configmaps(place) for place in PLACES}
        kinds: list[tuple[str, Any, type[Any], Any, list[str]]] = [
            ("everything", everywhere, ConfigMap, everywhere.list, PLACES),
            ("by label", front, ConfigMap, front.list, PLACES),
            ("by field", by_field, ConfigMap, by_field.list, ["red"]),
            ("dynamic", dynamic, Unstructured, dynamic.list, ["blue"]),
            ("metadata", metadata, PartialObjectMetadata, metadata.list, PLACES),
            ("several namespaces", several, ConfigMap, everywhere.list, PLACES),
            ("in pages", everywhere, ConfigMap, everywhere.list, PLACES),
        ]
        return [
            Observed(
                name,
                SharedIndexInformer(
                    source,
                    kind,
                    name=name,
                    resync=self._dice.choice([0.0, 1.0]),
                    streaming=name != "in pages",
                    page_size=20 if name == "in pages" else None,
                    backoff=BACKOFF,
                    on_problem=lambda _: None,
                ),
                fresh,
                places,
            )
            for name, source, kind, fresh, places in kinds
        ]

    # --- handlers ------------------------------------------------------------------------------------------------

    def _add_handler(self, each: Observed) -> None:
        bound = self._dice.choice([None, None, 50])
        witness = Witness(f"{each.name}, handler {next(self._numbers)}", self._trouble(), sees_all=bound is None)
        registration = each.informer.add_handler(witness, max_pending=bound, on_failure=_expected)
        each.handlers.append((witness, registration))

    def _trouble(self) -> Callable[[], Awaitable[Any] | None]:
        """Handlers are quick, slow, or fail now and then."""
        dice = Random(self._dice.random())

        def fail() -> None:
            if dice.random() < 0.1:
                raise ValueError("a handler's own mistake")

        def dawdle() -> Awaitable[None]:
            return asyncio.sleep(dice.random() * 0.01)

        return self._dice.choice([lambda: None, fail, dawdle])

    async def _come_and_go(self) -> None:
        while True:
            await asyncio.sleep(self._dice.random())
            each = self._dice.choice(self._everybody)
            if len(each.handlers) > 2:
                witness, registration = each.handlers.pop(0)
                await registration.wait_removed()
                each.told += witness.told
                self._wrong += witness.mistakes
            self._add_handler(each)

    async def _read(self, each: Observed) -> None:
        """Read changes in a loop, as a handler that is called by nobody."""
        witness = Witness(f"{each.name}, changes()")
        each.readers.append(witness)
        async with aclosing(each.informer.changes()) as changes:
            async for change in changes:
                match change:
                    case ObjectAdded(item):
                        witness.on_add(item)
                    case ObjectUpdated(item, old):
                        witness.on_update(old, item)
                    case _:
                        witness.on_delete(change.object)

    # --- in the end ----------------------------------------------------------------------------------------------

    async def _check(self, client: ClientSet) -> None:
        marks = {}
        for place in PLACES:
            written = await client.core_v1.configmaps(place).create(
                ConfigMap(metadata=ObjectMeta(name=MARK, labels={"tier": "front"}))
            )
            marks[place] = written.resource_version
        for each in self._everybody:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._compare(each, marks)
            except TimeoutError:
                why = each.informer.why_not_synced() or "some handler was not told of the last write"
                self._wrong.append(f"{each.name}: not in step after {PATIENCE:.0f} s: {why}")

    async def _compare(self, each: Observed, marks: dict[str, str]) -> None:
        for place in each.places:
            await each.informer.wait_until(marks[place], namespace=place)
            for witness in each.witnesses:
                await witness.wait_told(f"{place}/{MARK}", marks[place])
        expected = each.versions((await each.fresh()).items)
        if each.versions(each.informer.indexer.list()) != expected:
            self._wrong.append(f"{each.name}: the store differs from a fresh list")
        for witness in each.witnesses:
            self._wrong += witness.mistakes
            if witness.known != expected:
                self._wrong.append(f"{witness.name}: it knows of other objects than a fresh list")


def _expected(name: str, change: object, error: Exception) -> None:
    assert isinstance(error, ValueError), f"{name} failed on {change}: {error!r}"


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
