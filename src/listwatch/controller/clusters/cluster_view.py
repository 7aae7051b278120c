"""One cluster as one controller sees it: its sources, its event recorder, and the reconciles of its keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, time_limit
from listwatch.controller.clusters.cluster_queues import ClusterQueues
from listwatch.controller.watching.sources import Sources
from listwatch.errors import ClusterNotFoundError, InformerStoppedError, SyncTimeoutError
from listwatch.events.recorder import EventRecorder
from listwatch.factory.factory import SharedInformerFactory
from listwatch.inspector.reconcile_history import ReconcileHistory
from listwatch.meta import ObjectKey
from listwatch.workqueue.queue import WorkQueue

__all__ = ["ClusterView", "Worker"]

_CANCELLATION_TIMEOUT = 5.0
"""How long cancelled reconciles may delay the removal of their cluster."""


class Worker(Protocol):
    """The queue and the workers of the controller."""

    @property
    def history(self) -> ReconcileHistory | None: ...
    def enqueue(self, keys: Iterable[ObjectKey], priority: int, after: float = 0.0, /) -> None: ...
    def work_on(self, queue: WorkQueue[ObjectKey], /) -> None: ...
    def forget_writes(self, matches: Callable[[ObjectKey], bool], /) -> None: ...
    def revoke(self, key: ObjectKey, error: Exception, /) -> None: ...
    def report_failure(self, error: BaseException, description: str, /) -> None: ...
    def report_trigger_failure(self, error: BaseException, description: str, /) -> None: ...


class ClusterView:
    """The changes of one cluster become keys of one controller, from `open` until `close`.

    Its keys have their own queue and workers, which start when all caches of this cluster have synced. So no cluster
    waits for another one.
    """

    def __init__(
        self,
        name: str,
        client: ClientSet,
        sources: Sources,
        recorder: EventRecorder | None,
        queues: ClusterQueues,
        worker: Worker,
        *,
        sync_timeout: float | None,
        clock: Clock,
    ) -> None:
        self.name = name
        self.client = client
        self.sources = sources
        self.recorder = recorder
        self._queues = queues
        self.queue = queues.open(name)
        self._worker = worker
        self._sync_timeout = sync_timeout
        self._clock = clock
        self._synced = asyncio.Event()
        self._synced_or_closed = asyncio.Event()
        self.is_late = False
        """Whether it has not synced within the timeout."""
        self.is_removed = False
        self._held: dict[ObjectKey, int] = {}
        """Keys of other clusters that are enqueued when the caches have synced, with their priorities."""
        self._running: set[ObjectKey] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._syncing: asyncio.Task[None] | None = None
        self.on_synced: Callable[[], None] = lambda: None

    def __repr__(self) -> str:
        state = "removed" if self.is_removed else "synced" if self.is_synced else "not synced"
        return f"<ClusterView of {self.name}, {state}>"

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    async def open(self, factory: SharedInformerFactory, namespaces: tuple[str, ...]) -> None:
        """Receive changes, and write recorded events."""
        if self.recorder is not None:
            await self.recorder.__aenter__()
        self.sources.open(
            factory,
            namespaces,
            enqueue=self._enqueue,
            report=self._worker.report_trigger_failure,
            history=self._worker.history,
        )
        self._syncing = asyncio.create_task(self._sync(), name=f"sync of cluster {self.name}")

    async def close(self) -> None:
        """Receive no further changes, and write the events that were recorded."""
        if self._syncing is not None:
            self._syncing.cancel()
            await asyncio.wait([self._syncing])
        self._synced_or_closed.set()
        await self.sources.close()
        if self.recorder is not None:
            await self.recorder.__aexit__(None, None, None)

    async def finish(self, grace_period: float) -> list[ObjectKey]:
        """Start no further reconcile, drop the waiting keys, and wait for those that run; the cluster is removed.

        After the grace period they are cancelled. Returns the keys of those that have not ended.
        """
        self.is_removed = True
        self._held.clear()
        self._queues.close(self.name)
        if not await self._wait_idle(grace_period):
            error = ClusterNotFoundError(f"the cluster {self.name} was removed")
            for key in [*self._running]:
                self._worker.revoke(key, error)
            await self._wait_idle(_CANCELLATION_TIMEOUT)
        self._worker.forget_writes(lambda key: key.cluster == self.name)
        return [*self._running]

    async def _wait_idle(self, timeout: float) -> bool:
        try:
            async with time_limit(self._clock, timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def keys_elsewhere(self) -> list[ObjectKey]:
        """The keys in other clusters to which key functions map the cached objects of this one."""
        found: dict[ObjectKey, None] = {}
        for source in self.sources.all:
            if source.role == "watched" and source.is_open:
                for item in source.informer.indexer.list():
                    found.update(dict.fromkeys(key for key in source._keys_of(item) if key.cluster != self.name))
        return [*found]

    # --- sync --------------------------------------------------------------------------------------------------------

    @property
    def is_synced(self) -> bool:
        return self._synced.is_set()

    async def wait_synced(self) -> None:
        """Wait until it has synced, or is closed."""
        await self._synced_or_closed.wait()

    async def _sync(self) -> None:
        while True:
            try:
                await self.sources.wait_for_sync(self._sync_timeout)
            except SyncTimeoutError as error:
                self.is_late = True
                self._worker.report_failure(error, f"the cluster {self.name} is not reconciled yet")
            except InformerStoppedError:
                return
            else:
                break
        self._synced.set()
        self._synced_or_closed.set()
        self._worker.work_on(self.queue)
        held, self._held = self._held, {}
        for key, priority in held.items():
            self._worker.enqueue([key], priority)
        self.on_synced()

    # --- keys --------------------------------------------------------------------------------------------------------

    def _enqueue(self, keys: Iterable[ObjectKey], priority: int) -> None:
        if self._synced.is_set():
            self._worker.enqueue(keys, priority)
            return
        for key in keys:
            if key.cluster == self.name:
                self._worker.enqueue([key], priority)
            else:
                self._held[key] = max(self._held.get(key, priority), priority)

    @contextmanager
    def reconciling(self, key: ObjectKey) -> Iterator[None]:
        """A removal of the cluster waits until this block is left."""
        self._running.add(key)
        self._idle.clear()
        try:
            yield
        finally:
            self._running.discard(key)
            if not self._running:
                self._idle.set()
