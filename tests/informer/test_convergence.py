"""Under all network faults the store converges to the server's objects, and every handler sees valid histories."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from soak.history_checker import HistoryChecker
from soak.odd_objects import is_odd
from tests.informer.simulation import Faults, SimulatedServer
from tests.seeded_loop import run_seeded

from listwatch.cache.persistent.recovery import UnusableFileError, recover
from listwatch.informer.handlers import Change, ObjectAdded, ObjectDeleted, ObjectUpdated
from listwatch.informer.informer import Informer
from listwatch.informer.persistence.cache_key import cache_key, file_name
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.informer.storage_options import PackingPolicy, PersistenceOptions
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object import Object
from listwatch.testing.clocks import VirtualClock

RUNS = int(os.environ.get("LISTWATCH_SIMULATIONS", "40"))
QUIET = 1500.0
"""Seconds without faults in which every informer must sync: longer than two watches and any delay."""


MAX_REQUESTS = 60
"""How many requests a reflector may send in addition to one per second."""


POLICY = PackingPolicy(delay=0.5, batch=2, samples=3, min_samples=2)


FILES = PersistenceOptions(delay=0.3, sync_interval=60.0, min_records=10)


class CompactSharedInformer(SharedIndexInformer[ConfigMap]):
    """Packs even a few objects, and often replaces its files."""

    _packing_policy = POLICY
    _persistence = FILES


class CompactInformer(Informer[ConfigMap]):
    """Packs even a few objects, and often replaces its file."""

    _packing_policy = POLICY
    _persistence = FILES


def has_an_even_serial(item: ConfigMap) -> bool:
    return not is_odd(item) and int(item.data["serial"]) % 2 == 0


class Checker(HistoryChecker):
    """A checker that ignores the objects that the server does not have."""

    def on_add(self, item: Object) -> Awaitable[Any] | None:
        return None if is_odd(item) else super().on_add(item)

    def on_update(self, old: Object, new: Object) -> Awaitable[Any] | None:
        return None if is_odd(new) else super().on_update(old, new)

    def on_delete(self, item: Object) -> Awaitable[Any] | None:
        return None if is_odd(item) else super().on_delete(item)


@dataclass
class Observer:
    """A handler or reader, the objects that it accepts, and how to remove it."""

    checker: HistoryChecker
    accepts: Callable[[ConfigMap], bool]
    remove: Callable[[], object]


class Simulation:
    """One seeded run: an informer of one of three forms, under changing faults."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.clock = VirtualClock()
        self.form = self.rng.choice(["shared", "shared", "namespaces", "plain"])
        self.server = SimulatedServer(
            self.rng,
            self.clock,
            streams=self.rng.random() < 0.7,
            sends_end_bookmarks=self.rng.random() < 0.8,
            namespaces=("red", "blue") if self.form == "namespaces" else ("default",),
        )
        self.faults = Faults.some_names(self.rng) if self.rng.random() < 0.7 else None
        if self.rng.random() < 0.5:
            self.server.faults = self._random_faults()
        self.observers: list[Observer] = []
        self.folder: Path | None = None

    def _random_faults(self) -> Faults:
        return Faults.random(self.rng, self.faults)

    def run(self) -> None:
        run_seeded(self._run(), self.clock, self.seed)

    async def _run(self) -> None:
        informer = self._informer()
        async with informer:
            for _ in range(self.rng.randint(5, 60)):
                await self._step(informer)
            await self._check_at_rest(informer)
            for observer in self.observers:
                observer.remove()
        await asyncio.sleep(0)
        assert self.server.open_watches == 0, "a watch was left open"
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"

    def _informer(self) -> Any:
        options: dict[str, Any] = {
            "clock": self.clock,
            "random": self.rng,
            "resync": self.rng.choice([0.0, 30.0]),
            "compact": self.rng.random() < 0.5 if self.folder is None else self.is_compact,
            "cache_dir": self.folder,
            "on_problem": lambda problem: self.server.history.append(f"  problem: {problem.error}"),
        }
        if self.form == "plain":
            checker = Checker("the handler", self._behaviour())
            self.observers.append(Observer(checker, lambda _: True, lambda: None))
            return CompactInformer(self.server, ConfigMap, checker, **options)
        sources: Any = {namespace: self.server.within(namespace) for namespace in self.server.namespaces}
        informer = CompactSharedInformer(
            sources if self.form == "namespaces" else self.server,
            ConfigMap,
            streaming=self.rng.random() < 0.8,
            internal_error_window=self.rng.choice([0.0, 60.0]),
            **options,
        )
        self._add_handler(informer)
        return informer

    async def _step(self, informer: Any) -> None:
        match self.rng.randrange(12):
            case 0:
                self.server.faults = self._random_faults()
            case 1 if self.form != "plain":
                self._add_observer(informer)
            case 2 if len(self.observers) > 1:
                self.observers.pop(self.rng.randrange(len(self.observers))).remove()
            case 3 | 4:
                await self.clock.sleep(self.rng.random() * 20)
            case _:
                self.server.write()
                await self._pause()

    async def _pause(self) -> None:
        """Let other tasks run: for some iterations of the event loop, for some time, or not at all."""
        match self.rng.randrange(4):
            case 0:
                for _ in range(self.rng.randint(1, 20)):
                    await asyncio.sleep(0)
            case 1:
                await self.clock.sleep(self.rng.random() * 2)
            case 2:
                await asyncio.sleep(0)

    # --- handlers and readers ----------------------------------------------------------------------------------------

    def _add_observer(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        if self.rng.random() < 0.2:
            self._add_reader(informer)
        else:
            self._add_handler(informer)

    def _add_handler(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        accepts = self.rng.choice([None, None, has_an_even_serial])
        bound = self.rng.choice([None, None, 3])
        checker = Checker(f"checker {len(self.observers)}", self._behaviour(), sees_all=bound is None)
        registration = informer.add_handler(
            checker,
            filter=accepts,
            max_pending=bound,
            resync=self.rng.choice([None, 0.0, 7.0]),
            on_failure=_ignore,
        )
        self.observers.append(Observer(checker, accepts or (lambda _: True), registration.remove))

    def _add_reader(self, informer: SharedIndexInformer[ConfigMap]) -> None:
        checker = Checker(f"reader {len(self.observers)}")
        reading = asyncio.create_task(_read(informer, checker))
        self.observers.append(Observer(checker, lambda _: True, reading.cancel))

    def _behaviour(self) -> Callable[[], Any]:
        """A handler is fast, slow or very slow, and sometimes fails."""
        pause = self.rng.choice([0.0, 0.0, 3.0])

        def behave() -> Any:
            if self.rng.random() < 0.05:
                raise ValueError("a bug in a handler")
            return self.clock.sleep(self.rng.random() * pause) if self.rng.random() < 0.3 else None

        return behave

    # --- checks --------------------------------------------------------------------------------------------------

    async def _check_at_rest(self, informer: Any) -> None:
        self.server.faults = Faults()
        await self.clock.sleep(QUIET)
        self._check(informer)

    def _check(self, informer: Any) -> None:
        stored = {str(item.key): item.resource_version for item in informer.indexer.list() if not is_odd(item)}
        assert stored == self.server.state(), "the store differs from the server"
        assert informer.has_synced
        seconds, sources = self.clock.monotonic(), len(self.server.namespaces)
        assert self.server.requests <= sources * (MAX_REQUESTS + seconds), "a hot loop"
        for observer in self.observers:
            assert observer.checker.violations == []
            assert observer.checker.known == self.server.state(observer.accepts), observer.checker.name


class Restarted(Simulation):
    """One seeded run in which the program is restarted or killed repeatedly, and keeps its store in files."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_compact = self.rng.random() < 0.5

    def run(self) -> None:
        with TemporaryDirectory() as folder:
            self.folder = Path(folder) / "0"
            super().run()

    async def _run(self) -> None:
        for number in range(self.rng.randint(1, 4)):
            informer = self._informer()
            async with informer:
                if self.rng.random() < 0.5:
                    await self._check_at_rest(informer)  # before later changes, which could hide a difference
                    self.server.faults = self._random_faults()
                for _ in range(self.rng.randint(0, 30)):
                    await self._step(informer)
                is_killed = self.rng.random() < 0.5
                if is_killed:
                    self._keep_files(number + 1)
                violations = [each for observer in self.observers for each in observer.checker.violations]
                assert violations == []
            for observer in self.observers:
                observer.remove()
            self.observers.clear()
            self.server.history.append("killed" if is_killed else "stopped")
            self._check_files()
            for _ in range(self.rng.choice([0, 0, 3])):
                self.server.write()
        await super()._run()

    def _keep_files(self, number: int) -> None:
        """Continue with the files as they are now; the last write may be incomplete."""
        assert self.folder is not None
        killed, self.folder = self.folder, self.folder.with_name(str(number))
        if killed.exists():
            shutil.copytree(killed, self.folder)
        for file in sorted(self.folder.glob("*.cache")):
            if self.rng.random() < 0.3:
                os.truncate(file, max(file.stat().st_size - self.rng.randint(0, 300), 0))

    def _check_files(self) -> None:
        """Each file has exactly the objects that the server had at the version of the file."""
        assert self.folder is not None
        sources: dict[str, Any] = {f"{each}/": self.server.within(each) for each in self.server.namespaces}
        unknown = {*self.folder.glob("*.cache")}
        for prefix, source in sources.items() if self.form == "namespaces" else [("", self.server)]:
            key = cache_key(
                source._cache_identity(), ConfigMap, compact=self.is_compact, drop_fields=(), transform=None
            )
            file = self.folder / file_name(key)
            unknown.discard(file)
            content = file.read_bytes() if file.exists() else b""
            try:
                found = recover(content, len(content), key)
            except UnusableFileError:
                continue  # it is discarded
            stored = {each.cache_key: each.resource_version for each in found.contents.values() if not is_odd(each)}
            state = self.server.past_states[found.mark.resource_version]
            assert stored == {key: version for key, version in state.items() if key.startswith(prefix)}
        assert not unknown


class Stopped(Simulation):
    """One seeded run that is stopped in the middle."""

    async def _run(self) -> None:
        informer = self._informer()
        async with informer:
            for _ in range(self.rng.randint(0, 30)):
                await self._step(informer)
        for observer in self.observers:
            observer.remove()
        await asyncio.sleep(0)
        assert self.server.open_watches == 0, "a watch was left open"
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left behind"
        assert [violation for observer in self.observers for violation in observer.checker.violations] == []


async def _read(informer: SharedIndexInformer[ConfigMap], checker: HistoryChecker) -> None:
    async with aclosing(informer.changes()) as changes:
        async for change in changes:
            match change:
                case ObjectAdded(item):
                    checker.on_add(item)
                case ObjectUpdated(item, old):
                    checker.on_update(old, item)
                case ObjectDeleted(item):
                    checker.on_delete(item)


def _ignore(name: str, change: Change[ConfigMap], error: Exception) -> None:
    assert isinstance(error, ValueError)


def history_of(simulation: Simulation) -> tuple[list[str], float]:
    simulation.run()
    return simulation.server.history, simulation.clock.monotonic()


def test_a_simulation_does_not_depend_on_the_speed_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [history_of(kind(seed)) for seed in range(10) for kind in (Simulation, Restarted, Stopped)]
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda _: 1000 * time.monotonic())
    assert [history_of(kind(seed)) for seed in range(10) for kind in (Simulation, Restarted, Stopped)] == before


def play(simulation: Simulation, seed: int) -> None:
    try:
        simulation.run()
    except BaseException as error:
        error.add_note(f"seed {seed}, {simulation.form}:\n" + "\n".join(simulation.server.history[-60:]))
        raise


@example(120)  # lists without a version, after which an old list must not be accepted
@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=RUNS, deadline=None)
def test_the_store_converges_and_every_handler_saw_valid_histories(seed: int) -> None:
    play(Simulation(seed), seed)


@example(321)  # a watch after a list without a version, whose first events are in any order
@example(352)  # the last event of a batch has an older version than the others
@example(3659950)  # a source of one namespace sends an object of another, and its file is replaced twice
@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=RUNS, deadline=None)
def test_the_store_converges_when_the_program_is_restarted_or_killed_at_any_time(seed: int) -> None:
    play(Restarted(seed), seed)


@example(3184)  # a list without a version, and a watch that is cut
@example(283)  # a handler is added while a list is applied, and the informer is stopped before the end
@given(st.integers(min_value=0, max_value=2**32))
@settings(max_examples=RUNS, deadline=None)
def test_an_informer_can_be_stopped_at_any_time_without_leftovers(seed: int) -> None:
    play(Stopped(seed), seed)
