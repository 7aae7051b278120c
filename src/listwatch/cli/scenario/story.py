"""The acts of the demo: a rollout, a deleted pod, an update, a cut watch, a compaction, and a burst of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from listwatch.backoff import Backoff
from listwatch.cli.scenario.observer import Act, Observer
from listwatch.cli.scenario.workload import NAMESPACE, Workload
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.clock import Clock
from listwatch.informer.handlers import HandlerFunctions
from listwatch.informer.reflector.reflector import ReflectorStatistics
from listwatch.informer.shared_informer import AnyInformer, SharedIndexInformer
from listwatch.models.apps_v1 import Deployment, ReplicaSet
from listwatch.models.core_v1 import Pod
from listwatch.objects.object import Object
from listwatch.server import APIServer, CutStream, Fault, HoldEvents, Refuse

__all__ = ["ACTS", "BY_OWNER", "Stage", "Summary"]

BY_OWNER = "owner"
"""The index by the uid of the controlling owner."""

# Shorter than in programs, so that the story is not interrupted for long.
_BACKOFF = Backoff(initial=0.4, factor=1.5, cap=1.0, jitter=0.2)
_SLOW = 0.015
"""Seconds that the slow handler takes for each change."""
_BURST = 120
_IMAGES = ("web:1.0", "web:1.1", "web:1.2")

ACTS = (
    Act(
        "List, then watch", "The reflector reads all that exists as one stream; on the same connection, events follow."
    ),
    Act(
        "Rollout", "A Deployment starts four pods. Each step of each pod is one event, from the socket to the handlers."
    ),
    Act("Deletion", "A pod is deleted: handlers receive its last state. The ReplicaSet creates another pod."),
    Act("Rolling update", "A new image: the pods of a new ReplicaSet replace the old ones, one by one."),
    Act(
        "Cut connection",
        "The watch is cut. It resumes from the last version: no event is lost, nothing is listed again.",
    ),
    Act(
        "Compaction", "The server drops its history during an outage: 410. A relist finds what changed, and only that."
    ),
    Act(
        "Burst",
        f"{_BURST} events arrive at once. One handler is slow: its backlog grows, and the others do not wait.",
        6,
    ),
)


@dataclass(frozen=True, slots=True)
class Summary:
    """What was seen during one story."""

    seconds: float
    events: int
    lists: int
    watches: int
    relist_reasons: tuple[Exception, ...]
    interruptions: tuple[Exception, ...]
    notifications: tuple[tuple[str, int], ...]
    """How many changes each handler was notified of."""
    peak_backlog: int
    objects: int
    differences: tuple[str, ...]
    """Objects whose version in a store differs from that on the server."""


class Stage:
    """The server, the informers and the handlers of the story."""

    def __init__(self, server: APIServer, client: ClientSet, *, clock: Clock, speed: float, seed: int = 7) -> None:
        self.server = server
        self.client = client
        self.observer = Observer(ACTS, clock)
        self._clock = clock
        self._speed = speed
        self._random = Random(seed)
        self.pods = self._informer(client.core_v1.pods(NAMESPACE), Pod)
        self.replica_sets = self._informer(client.apps_v1.replicasets(NAMESPACE), ReplicaSet)
        self.deployments = self._informer(client.apps_v1.deployments(NAMESPACE), Deployment)
        self.workload = self._workload("web")

    def _informer(self, source: object, kind: type[Object]) -> AnyInformer:
        informer: AnyInformer = SharedIndexInformer(
            source,  # type: ignore[arg-type]  # a client of that kind
            kind,
            indexers={BY_OWNER: _owner_uids},
            backoff=_BACKOFF,
            on_problem=self.observer.report,
            clock=self._clock,
        )
        informer.add_handler(self.observer)
        return informer

    def _workload(self, name: str) -> Workload:
        return Workload(self.client, name, replicas=4, pause=self.pause, random=self._random)

    @property
    def informers(self) -> tuple[AnyInformer, ...]:
        return self.deployments, self.replica_sets, self.pods

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the informers within this block."""
        self.pods.add_handler(HandlerFunctions(on_add=_count, on_update=_count_update, name="metrics"))
        self.pods.add_handler(HandlerFunctions(on_add=self._report, on_update=self._report_update, name="slow report"))
        async with AsyncExitStack() as stack:
            for informer in self.informers:
                await stack.enter_async_context(informer)
            yield

    async def _report(self, _item: Object) -> None:
        await self._clock.sleep(_SLOW)

    async def _report_update(self, _old: Object, _new: Object) -> None:
        await self._clock.sleep(_SLOW)

    async def pause(self, seconds: float) -> None:
        """Wait, so that a reader can follow."""
        await self._clock.sleep(seconds / self._speed)

    def sample(self) -> None:
        """Record rates and backlogs; called several times per second."""
        statistics = [each.statistics() for each in self.informers]
        events = sum(source.events for each in statistics for source in each.sources)
        backlog = max(handler.pending for each in statistics for handler in each.handlers)
        self.observer.sample(events=events, backlog=backlog)

    # --- the acts ----------------------------------------------------------------------------------------------------

    async def play(self, *, before_act: Callable[[Act], None], again: bool = False) -> None:
        """Play the acts once, with the informers running; the first one, their start, cannot be played again."""
        acts: Sequence[Callable[[], Awaitable[None]]] = (
            self._sync,
            partial(self.workload.start, _IMAGES[0]),
            self._delete_a_pod,
            partial(self.workload.update, _IMAGES[1]),
            self._cut_the_watch,
            self._compact,
            self._burst,
        )
        for number, (act, run) in enumerate(zip(ACTS, acts, strict=True)):
            if again and run == self._sync:
                continue
            self.observer.current = number
            before_act(act)
            await run()
            await self.pause(0.9)

    async def reset(self) -> None:
        """Delete the Deployment and all that it owns, so that the story can be played again."""
        await self.workload.remove()
        await self._until(lambda: not len(self.deployments.indexer) and len(self.pods.indexer) == 1)
        self.workload = self._workload("web")
        await self.pause(1.0)

    async def prepare(self) -> None:
        """Create a pod that exists before the informers start."""
        spec = {"nodeName": "node-a", "containers": [{"name": "db", "image": "db:16"}]}
        pods = self.client.core_v1.pods(NAMESPACE)
        await pods.create({"metadata": {"name": "db-0", "labels": {"app": "db"}}, "spec": spec})
        await pods.patch("db-0", {"status": {"phase": "Running"}}, subresource="status")

    async def _sync(self) -> None:
        for informer in self.informers:
            await informer.wait_for_sync(timeout=30)
        await self.pause(0.6)

    async def _delete_a_pod(self) -> None:
        await self.workload.stop_pod(self.workload.pods[1])
        await self.pause(0.8)
        await self.workload.add_pod(_IMAGES[0])

    async def _cut_the_watch(self) -> None:
        watches = self._source.watches
        cut = self.server.faults.add(Fault(CutStream(), verb="watch", resource="pods", times=1))
        await self.workload.touch(3)  # during the interruption
        await self._until(lambda: self._source.watches > watches and self._source.is_watching)
        self.server.faults.remove(cut)
        await self.pause(0.5)

    async def _compact(self) -> None:
        syncs = self._source.syncs
        outage = self.server.faults.add(Fault(Refuse(), verb="watch", resource="pods"))
        cut = self.server.faults.add(Fault(CutStream(), verb="watch", resource="pods", times=1))
        lost, image = self.workload.pods[0], _IMAGES[1]
        await self.workload.stop_pod(lost)
        await self.workload.add_pod(image)
        self.server.compact()
        await self.pause(0.4)
        for fault in (outage, cut):
            self.server.faults.remove(fault)
        await self._until(lambda: self._source.syncs > syncs and self._source.is_watching)
        await self.pause(0.5)

    async def _burst(self) -> None:
        # The server is in this process and shares its processor: events that are held back arrive at full speed.
        held = self.server.faults.add(Fault(HoldEvents(), verb="watch", resource="pods"))
        events = self._source.events
        await self.workload.touch(_BURST)
        self.server.faults.remove(held)
        await self._until(lambda: self._source.events >= events + _BURST)
        await self._until(lambda: all(not each.pending for each in self.pods.statistics().handlers))

    @property
    def _source(self) -> ReflectorStatistics:
        return self.pods.statistics().sources[0]

    async def _until(self, condition: Callable[[], bool]) -> None:
        # Not a deadline of the story: a demo that waits forever would explain nothing.
        async with asyncio.timeout(60):
            while not condition():
                await self._clock.sleep(0.02)

    # --- the end -----------------------------------------------------------------------------------------------------

    async def summary(self) -> Summary:
        """Compare the stores with the server, and count what was seen."""
        self.sample()
        sources = [source for informer in self.informers for source in informer.statistics().sources]
        handled = {each.name: each.handled for each in self.pods.statistics().handlers}
        handled[type(self.observer).__name__] = sum(self.observer.counts.values())  # of all informers
        return Summary(
            seconds=self.observer.seconds,
            events=sum(each.events for each in sources),
            lists=sum(each.syncs for each in sources),
            watches=sum(each.watches for each in sources),
            relist_reasons=tuple(self.observer.relist_reasons),
            interruptions=tuple(self.observer.interruptions),
            notifications=tuple(handled.items()),
            peak_backlog=self.observer.peak_backlog,
            objects=sum(len(each.indexer) for each in self.informers),
            differences=tuple(await self._differences()),
        )

    async def _differences(self) -> list[str]:
        """The differences between the stores and the server that remain after the last events have arrived."""
        for _ in range(100):
            if not (found := await self._compare()):
                return []
            await self._clock.sleep(0.05)
        return found

    async def _compare(self) -> list[str]:
        found = []
        clients: tuple[ResourceClient[Any], ...] = (
            self.client.apps_v1.deployments(NAMESPACE),
            self.client.apps_v1.replicasets(NAMESPACE),
            self.client.core_v1.pods(NAMESPACE),
        )
        for informer, client in zip(self.informers, clients, strict=True):
            served = {(each.name, each.resource_version) for each in await client.list()}
            stored = {(each.name, each.resource_version) for each in informer.indexer}
            found += [f"{informer.name} {name} @{version}" for name, version in sorted(served ^ stored)]
        return found


def _owner_uids(item: Object) -> list[str]:
    return [each.uid for each in item.metadata.owner_references]


def _count(_item: Object) -> None:
    """Do nothing: a handler that is as fast as a counter."""


def _count_update(_old: Object, _new: Object) -> None:
    """Do nothing."""
