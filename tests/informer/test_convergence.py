"""Whatever happens on the network, the store ends up equal to what the server holds, and every handler saw a story."""

from __future__ import annotations

import asyncio
import os
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.informer.simulation import SimulatedServer, Weather

from listwatch.informer.handlers import Change
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap
from listwatch.testing.clocks import VirtualClock

RUNS = int(os.environ.get("LISTWATCH_SIMULATIONS", "100"))
QUIET = 1500.0
"""Seconds of good weather in which every informer must come into step: longer than two watches, and any delay."""


class Witness:
    """A handler that checks each change against the ones before: added once, versions never back, gone once."""

    def __init__(self, dice: Random, name: str) -> None:
        self.dice = dice
        self.name = name
        self.known: dict[str, int] = {}
        self.mistakes: list[str] = []

    def on_add(self, item: ConfigMap) -> Any:
        if str(item.key) in self.known:
            self.mistakes.append(f"{self.name}: {item!r} was added twice")
        self.known[str(item.key)] = int(item.resource_version)
        return self._trouble()

    def on_update(self, old: ConfigMap, new: ConfigMap) -> Any:
        before = self.known.get(str(new.key))
        if before is None:
            self.mistakes.append(f"{self.name}: {new!r} was updated before it was added")
        elif int(old.resource_version) != before or int(new.resource_version) < before:
            self.mistakes.append(f"{self.name}: from {old!r} to {new!r}, after version {before}")
        self.known[str(new.key)] = int(new.resource_version)
        return self._trouble()

    def on_delete(self, item: ConfigMap) -> Any:
        before = self.known.pop(str(item.key), None)
        if before is None:
            self.mistakes.append(f"{self.name}: {item!r} was deleted without being known")
        elif int(item.resource_version) < before:
            self.mistakes.append(f"{self.name}: {item!r} was deleted in a state before {before}")
        return self._trouble()

    def _trouble(self) -> Any:
        if self.dice.random() < 0.05:
            raise ValueError("a mistake in a handler")
        return asyncio.sleep(0) if self.dice.random() < 0.3 else None


class Simulation:
    """One seeded run."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.clock = VirtualClock()
        self.server = SimulatedServer(
            self.dice, self.clock, streams=self.dice.random() < 0.7, marks=self.dice.random() < 0.8
        )
        self.witnesses: list[Witness] = []
        self.registrations: list[HandlerRegistration[ConfigMap]] = []

    def run(self) -> None:
        self.clock.run(self._run())

    async def _run(self) -> None:
        informer = SharedIndexInformer(
            self.server,
            ConfigMap,
            clock=self.clock,
            random=self.dice,
            resync=self.dice.choice([0.0, 30.0]),
            on_problem=lambda problem: self.server.history.append(f"  problem: {problem.error}"),
        )
        self._add_witness(informer)
        async with informer:
            for _ in range(self.dice.randint(5, 60)):
                await self._step(informer)
            self.server.weather = Weather()
            await self.clock.sleep(QUIET)
            self._check(informer)
        assert self.server.open_watches == 0, "a watch was left open"
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"

    async def _step(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        match self.dice.randrange(12):
            case 0:
                self.server.weather = Weather.random(self.dice)
            case 1:
                self._add_witness(informer)
            case 2 if len(self.registrations) > 1:
                place = self.dice.randrange(1, len(self.registrations))
                self.registrations.pop(place).remove()
                self.witnesses.pop(place)
            case 3 | 4:
                await self.clock.sleep(self.dice.random() * 20)
            case _:
                self.server.write()
                if self.dice.random() < 0.5:
                    await asyncio.sleep(0)

    def _add_witness(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        witness = Witness(self.dice, f"witness {len(self.witnesses)}")
        self.witnesses.append(witness)
        self.registrations.append(informer.add_handler(witness, on_failure=_ignore))

    def _check(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        expected = self.server.state()
        held = {str(item.key): item.resource_version for item in informer.indexer.list()}
        assert held == expected, "the store differs from the server"
        assert informer.has_synced
        for witness in self.witnesses:
            assert witness.mistakes == []
            assert {key: str(version) for key, version in witness.known.items()} == expected, witness.name


def _ignore(name: str, change: Change[ConfigMap], error: Exception) -> None:
    assert isinstance(error, ValueError)


@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=RUNS, deadline=None)
def test_the_store_converges_and_every_handler_saw_a_legal_story(seed: int) -> None:
    simulation = Simulation(seed)
    try:
        simulation.run()
    except BaseException as error:
        error.add_note(f"seed {seed}:\n" + "\n".join(simulation.server.history[-60:]))
        raise
