"""One cluster of a manager of several clusters."""

from __future__ import annotations

import asyncio

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, time_limit
from listwatch.controller.clusters.cluster_statistics import ClusterStatistics
from listwatch.controller.clusters.cluster_view import ClusterView
from listwatch.errors import ClusterNotFoundError, SyncTimeoutError
from listwatch.factory.factory import SharedInformerFactory

__all__ = ["Cluster"]


class Cluster:
    """One cluster of a manager: its client, its shared informers, and whether its objects are reconciled.

    It has synced when the caches of all controllers contain its objects. Clusters sync independently of each other.
    """

    def __init__(self, name: str, client: ClientSet, factory: SharedInformerFactory, *, clock: Clock) -> None:
        self._name = name
        self._client = client
        self._factory = factory
        self._clock = clock
        self._views: list[ClusterView] = []
        self._opened = asyncio.Event()
        self._removed = asyncio.Event()
        self._removal: asyncio.Task[None] | None = None
        self._is_initial = True
        self._lock = asyncio.Lock()

    def __repr__(self) -> str:
        state = "removed" if self._removed.is_set() else "synced" if self.is_synced else "not synced"
        return f"<Cluster {self._name}, {state}>"

    @property
    def name(self) -> str:
        """Its name in the manager."""
        return self._name

    @property
    def client(self) -> ClientSet:
        """Its client; `client.dynamic` reaches kinds without a model."""
        return self._client

    @property
    def factory(self) -> SharedInformerFactory:
        """The informers of the controllers in this cluster, for other uses of the same caches."""
        return self._factory

    @property
    def is_synced(self) -> bool:
        """Whether the caches of all controllers contain its objects."""
        is_open = self._opened.is_set() and not self._removed.is_set()
        return is_open and all(view.is_synced for view in self._views)

    def why_not_synced(self) -> str | None:
        """Why it has not synced; None once it has."""
        if self._removed.is_set():
            return f"the cluster {self._name} was removed"
        if not self._opened.is_set():
            return "the manager was not started"
        waiting = [view for view in self._views if not view.is_synced]
        if not waiting:
            return None
        return next(filter(None, (view.sources.why_not_ready() for view in waiting)), "its keys are not enqueued yet")

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until it has synced; raises SyncTimeoutError, or ClusterNotFoundError if it is removed meanwhile."""
        syncing = asyncio.create_task(self._sync())
        removed = asyncio.create_task(self._removed.wait())
        try:
            async with time_limit(self._clock, timeout):
                await asyncio.wait([syncing, removed], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            message = f"the cluster {self._name} has not synced within {timeout} s: {self.why_not_synced()}"
            raise SyncTimeoutError(message) from None
        finally:
            for task in (syncing, removed):
                task.cancel()
            await asyncio.wait([syncing, removed])
        if not self.is_synced:
            raise ClusterNotFoundError(f"the cluster {self._name} was removed before it had synced")

    async def _sync(self) -> None:
        await self._opened.wait()
        for view in self._views:
            await view.wait_synced()

    def _statistics(self) -> ClusterStatistics:
        rest = self._client.rest
        return ClusterStatistics(
            name=self._name,
            is_synced=self.is_synced,
            informers=self._factory.statistics(),
            client=rest.statistics(),
            server=rest.config.base_url,
            queues=tuple(view.queue.statistics() for view in self._views),
        )
