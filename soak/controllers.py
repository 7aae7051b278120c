"""A controller of many objects with failing reconciles, under faults: all objects must converge."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from random import Random

from listwatch.backoff import Backoff
from listwatch.client.resources.client_set import ClientSet
from listwatch.controller import Controller, Failure, Manager, Watch
from listwatch.errors import ListWatchError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ObjectMeta
from listwatch.server import APIServer
from listwatch.workqueue import ExponentialLimiter
from soak.fault_schedule import FaultSchedule
from soak.informers import Outcome
from soak.leak_check import LeakCheck

__all__ = ["ControllerRound"]

OBJECTS = 20_000
FAILING = 0.05
CONCURRENCY = 16
SYNC_TIMEOUT = 600.0
"""Seconds without faults in which all objects must converge."""
BACKOFF = Backoff(initial=0.05, factor=2.0, cap=1.0, jitter=1.0)


class InjectedError(Exception):
    """A failure that a reconcile raises on purpose."""


class ControllerRound:
    """Objects with a wanted value, a controller that sets it, and faults for a while."""

    def __init__(self, seed: int, *, seconds: float, objects: int = OBJECTS) -> None:
        self.seed = seed
        self._rng = Random(seed)
        self._seconds = seconds
        self._objects = objects
        self._running: Counter[ObjectKey] = Counter()
        self._failures: list[str] = []
        self._writes = 0

    async def run(self) -> Outcome:
        leak_check = LeakCheck()
        faults, reconciles = await self._run_under_faults()
        await asyncio.sleep(0)
        self._failures += [f"leaked: {each}" for each in leak_check.leaks()]
        return Outcome(self.seed, self._writes, reconciles, faults.history, self._failures)

    async def _run_under_faults(self) -> tuple[FaultSchedule, int]:
        async with APIServer() as server, ClientSet(server.config) as client:
            await self._create(client)
            informer = SharedIndexInformer(
                client.core_v1.configmaps("default"), ConfigMap, backoff=BACKOFF, on_problem=lambda _: None
            )
            manager = Manager(client)
            controller = manager.add(self._controller(client, informer))
            faults = FaultSchedule(server, self._rng, with_dropped_bookmarks=False)
            async with informer, manager:
                disturbing = [
                    asyncio.create_task(faults.run()),
                    asyncio.create_task(self._change_wanted_values(client)),
                ]
                await asyncio.sleep(self._seconds)
                for task in disturbing:
                    task.cancel()
                await asyncio.gather(*disturbing, return_exceptions=True)
                await self._check(client, controller)
            return faults, controller.statistics().durations.count

    def _controller(self, client: ClientSet, informer: SharedIndexInformer[ConfigMap]) -> Controller[ConfigMap]:
        async def reconcile(key: ObjectKey) -> None:
            self._running[key] += 1
            if self._running[key] > 1:
                self._failures.append(f"{key} was reconciled concurrently")
            try:
                await self._set_value(client, key, informer.indexer.get(key))
            finally:
                self._running[key] -= 1

        return Controller(
            reconcile,
            for_=Watch(informer),
            concurrency=CONCURRENCY,
            limiter=ExponentialLimiter(initial=0.005, cap=2.0),
            on_failure=self._expected,
        )

    async def _set_value(self, client: ClientSet, key: ObjectKey, item: ConfigMap | None) -> None:
        if self._rng.random() < FAILING:
            raise InjectedError
        if item is not None and item.data.get("has") != item.data["wants"]:
            changed = item.copy()
            changed.data["has"] = changed.data["wants"]
            await client.core_v1.configmaps(key.namespace).update(changed)
            self._writes += 1

    def _expected(self, failure: Failure) -> None:
        if not isinstance(failure.error, InjectedError | ListWatchError):
            self._failures.append(f"{failure.description}: {failure.error!r}")

    async def _create(self, client: ClientSet) -> None:
        names = iter(range(self._objects))

        async def create_some() -> None:
            for number in names:
                item = ConfigMap(metadata=ObjectMeta(name=f"c{number:05}"), data={"wants": "1"})
                await client.core_v1.configmaps("default").create(item)

        await asyncio.gather(*(create_some() for _ in range(CONCURRENCY)))

    async def _change_wanted_values(self, client: ClientSet) -> None:
        while True:
            name = f"c{self._rng.randrange(self._objects):05}"
            with suppress(ListWatchError):
                await client.core_v1.configmaps("default").patch(name, {"data": {"wants": str(self._rng.random())}})
            await asyncio.sleep(self._rng.random() * 0.02)

    async def _check(self, client: ClientSet, controller: Controller[ConfigMap]) -> None:
        try:
            async with asyncio.timeout(SYNC_TIMEOUT):
                while left := await self._count_unsatisfied(client):  # noqa: ASYNC110  # only the server has this state
                    await asyncio.sleep(0.5)
        except TimeoutError:
            self._failures.append(
                f"{left} objects do not have the wanted value after {SYNC_TIMEOUT:.0f} s: {controller!r}"
            )

    async def _count_unsatisfied(self, client: ClientSet) -> int:
        listed = await client.core_v1.configmaps("default").list()
        return sum(item.data.get("has") != item.data["wants"] for item in listed)
