"""Informers over real HTTP, under faults: in the end each store equals a fresh list, and every history was valid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any

from listwatch.backoff import Backoff
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.rest_client import RESTClient
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.informer.handlers import ObjectAdded, ObjectUpdated
from listwatch.informer.shared_informer import HandlerRegistration, SharedIndexInformer
from listwatch.models.core_v1 import ConfigMap, Namespace
from listwatch.objects.metadata import ObjectMeta
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured
from listwatch.server import APIServer
from soak.fault_schedule import FaultSchedule
from soak.history_checker import HistoryChecker
from soak.leak_check import LeakCheck
from soak.odd_objects import is_odd
from soak.tampering_transport import TamperingTransport
from soak.writers import Writer

__all__ = ["InformerRound", "Outcome"]

NAMESPACES = ["red", "blue", "green"]
MARK = "mark"
NAMES = 40
MAX_RETRY_AFTER = 2.0
SYNC_TIMEOUT = 90.0
"""Seconds without faults in which every informer must sync."""
BACKOFF = Backoff(initial=0.05, factor=2.0, cap=1.0, jitter=1.0)


@dataclass(frozen=True)
class Outcome:
    """The numbers of one round, and its failures."""

    seed: int
    writes: int
    notifications: int
    faults: list[str]
    failures: list[str]


@dataclass
class Observed:
    """One informer, and its handlers and readers."""

    name: str
    informer: SharedIndexInformer[Any]
    fresh: Callable[[], Awaitable[Any]]
    namespaces: list[str]
    handlers: list[tuple[HistoryChecker, HandlerRegistration[Any]]] = field(default_factory=list)
    readers: list[HistoryChecker] = field(default_factory=list)
    notifications: int = 0
    """The number of changes that removed handlers have received."""

    @property
    def checkers(self) -> list[HistoryChecker]:
        return [*(checker for checker, _ in self.handlers), *self.readers]

    @staticmethod
    def versions(items: Any) -> dict[str, str]:
        return {str(item.key): item.resource_version for item in items if not is_odd(item)}


class InformerRound:
    """Runs informers and writers under faults for a while, then compares the results."""

    def __init__(self, seed: int, *, seconds: float, with_dropped_bookmarks: bool = True, writers: int = 4) -> None:
        self.seed = seed
        self._rng = Random(seed)
        self._seconds = seconds
        self._with_dropped_bookmarks = with_dropped_bookmarks
        self._writers = writers
        self._all_observed: list[Observed] = []
        self._failures: list[str] = []
        self._numbers = count(1)

    async def run(self) -> Outcome:
        leak_check = LeakCheck()
        faults, writers = await self._run_under_faults()
        notifications = sum(
            each.notifications + sum(checker.notifications for checker in each.checkers) for each in self._all_observed
        )
        self._all_observed.clear()
        await asyncio.sleep(0)
        self._failures += [f"leaked: {each}" for each in leak_check.leaks()]
        return Outcome(self.seed, sum(each.writes for each in writers), notifications, faults.history, self._failures)

    async def _run_under_faults(self) -> tuple[FaultSchedule, list[Writer]]:
        async with APIServer() as server, ClientSet(server.config) as client, AsyncExitStack() as running:
            # Informers read through a transport that tampers with responses; writers and checks do not.
            config = replace(server.config, max_retry_after=MAX_RETRY_AFTER)
            names = [f"c{number}" for number in range(NAMES)]
            transport = TamperingTransport(
                AiohttpTransport(config), Random(self.seed), names=names, namespaces=NAMESPACES
            )
            tampered = ClientSet(await running.enter_async_context(RESTClient(config, transport=transport)))
            for namespace in NAMESPACES:
                await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=namespace)))
            self._all_observed = self._observed(tampered, client)
            for each in self._all_observed:
                self._add_handler(each)
                await running.enter_async_context(each.informer)
            faults = FaultSchedule(
                server, self._rng, with_dropped_bookmarks=self._with_dropped_bookmarks, transport=transport
            )
            writers = [
                Writer(client, NAMESPACES, Random(f"{self.seed}/{number}"), names=NAMES)
                for number in range(self._writers)
            ]
            async with asyncio.TaskGroup() as group:
                reading = [group.create_task(self._read(each)) for each in self._all_observed[:2]]
                disturbing = [group.create_task(faults.run()), group.create_task(self._exchange_handlers())]
                disturbing += [group.create_task(writer.run(pause=0.02)) for writer in writers]
                await asyncio.sleep(self._seconds)
                await _end(disturbing)
                await self._check(client)
                await _end(reading)
        return faults, writers

    def _observed(self, tampered: ClientSet, client: ClientSet) -> list[Observed]:
        def config_maps(client: ClientSet) -> Any:
            return client.core_v1.configmaps()

        def front(client: ClientSet) -> Any:
            return config_maps(client).selecting(label_selector="tier=front")

        def by_field(client: ClientSet) -> Any:
            return config_maps(client).selecting(field_selector="metadata.namespace=red")

        def dynamic(client: ClientSet) -> Any:
            return client.dynamic.resource("v1", "ConfigMap").namespace("blue")

        def metadata(client: ClientSet) -> Any:
            return client.metadata.resource(ConfigMap)

        several = {namespace: tampered.core_v1.configmaps(namespace) for namespace in NAMESPACES}
        kinds: list[tuple[str, Any, type[Any], Any, list[str]]] = [
            ("all namespaces", config_maps(tampered), ConfigMap, config_maps(client).list, NAMESPACES),
            ("by label", front(tampered), ConfigMap, front(client).list, NAMESPACES),
            ("by field", by_field(tampered), ConfigMap, by_field(client).list, ["red"]),
            ("dynamic", dynamic(tampered), Unstructured, dynamic(client).list, ["blue"]),
            ("metadata", metadata(tampered), PartialObjectMetadata, metadata(client).list, NAMESPACES),
            ("several namespaces", several, ConfigMap, config_maps(client).list, NAMESPACES),
            ("in pages", config_maps(tampered), ConfigMap, config_maps(client).list, NAMESPACES),
        ]
        return [
            Observed(
                name,
                SharedIndexInformer(
                    source,
                    kind,
                    name=name,
                    resync=self._rng.choice([0.0, 1.0]),
                    streaming=name != "in pages",
                    page_size=20 if name == "in pages" else None,
                    backoff=BACKOFF,
                    on_problem=lambda _: None,
                ),
                fresh,
                namespaces,
            )
            for name, source, kind, fresh, namespaces in kinds
        ]

    # --- handlers ------------------------------------------------------------------------------------------------

    def _add_handler(self, each: Observed) -> None:
        bound = self._rng.choice([None, None, 50])
        checker = HistoryChecker(
            f"{each.name}, handler {next(self._numbers)}", self._behaviour(), sees_all=bound is None
        )
        registration = each.informer.add_handler(
            checker, filter=lambda item: not is_odd(item), max_pending=bound, on_failure=_expected
        )
        each.handlers.append((checker, registration))

    def _behaviour(self) -> Callable[[], Awaitable[Any] | None]:
        """A handler is fast, slow, or sometimes fails."""
        rng = Random(self._rng.random())

        def fail() -> None:
            if rng.random() < 0.1:
                raise ValueError("a bug in a handler")

        def sleep_briefly() -> Awaitable[None]:
            return asyncio.sleep(rng.random() * 0.01)

        return self._rng.choice([lambda: None, fail, sleep_briefly])

    async def _exchange_handlers(self) -> None:
        while True:
            await asyncio.sleep(self._rng.random())
            each = self._rng.choice(self._all_observed)
            if len(each.handlers) > 2:
                checker, registration = each.handlers.pop(0)
                await registration.wait_removed()
                each.notifications += checker.notifications
                self._failures += checker.violations
            self._add_handler(each)

    async def _read(self, each: Observed) -> None:
        """Read changes in a loop."""
        checker = HistoryChecker(f"{each.name}, changes()")
        each.readers.append(checker)
        async with aclosing(each.informer.changes(filter=lambda item: not is_odd(item))) as changes:
            async for change in changes:
                match change:
                    case ObjectAdded(item):
                        checker.on_add(item)
                    case ObjectUpdated(item, old):
                        checker.on_update(old, item)
                    case _:
                        checker.on_delete(change.object)

    # --- checks ----------------------------------------------------------------------------------------------

    async def _check(self, client: ClientSet) -> None:
        marks = {}
        for namespace in NAMESPACES:
            written = await client.core_v1.configmaps(namespace).create(
                ConfigMap(metadata=ObjectMeta(name=MARK, labels={"tier": "front"}))
            )
            marks[namespace] = written.resource_version
        for each in self._all_observed:
            try:
                async with asyncio.timeout(SYNC_TIMEOUT):
                    await self._compare(each, marks)
            except TimeoutError:
                why = each.informer.why_not_synced() or "a handler has not received the last write"
                self._failures.append(f"{each.name}: not synced after {SYNC_TIMEOUT:.0f} s: {why}")

    async def _compare(self, each: Observed, marks: dict[str, str]) -> None:
        for namespace in each.namespaces:
            await each.informer.wait_until(marks[namespace], namespace=namespace)
            for checker in each.checkers:
                await checker.wait_notified(f"{namespace}/{MARK}", marks[namespace])
        expected = each.versions((await each.fresh()).items)
        if each.versions(each.informer.indexer.list()) != expected:
            self._failures.append(f"{each.name}: the store differs from a fresh list")
        for checker in each.checkers:
            self._failures += checker.violations
            if checker.known != expected:
                self._failures.append(f"{checker.name}: its notifications differ from a fresh list")


def _expected(name: str, change: object, error: Exception) -> None:
    assert isinstance(error, ValueError), f"{name} failed on {change}: {error!r}"


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
