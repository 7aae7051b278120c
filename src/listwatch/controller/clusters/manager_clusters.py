"""The clusters of a manager: adds and removes them, also while it runs.

add ─▶ informers start ─▶ synced: keys are reconciled ─▶ remove: reconciles end ─▶ informers stop ─▶ removed
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.rest.base_client import BaseClient
from listwatch.clock import Clock
from listwatch.controller.clusters.cluster import Cluster
from listwatch.controller.clusters.cluster_statistics import ClusterStatistics
from listwatch.controller.clusters.controller_clusters import ControllerClusters
from listwatch.errors import ClusterNotFoundError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.meta import ClusterKey, ObjectKey
from listwatch.tasks.cancellation import log_task_failure
from listwatch.workqueue.queue import LOW_PRIORITY

__all__ = ["ManagerClusters", "check_client"]

_log = logging.getLogger("listwatch.controller")

MakeFactory = Callable[[ClientSet | DynamicClient], SharedInformerFactory]


class ManagerClusters:
    """The clusters of one manager, by name. A cluster that is not reachable does not delay the others."""

    def __init__(
        self,
        clients: Mapping[str, ClientSet | DynamicClient],
        home: str,
        make_factory: MakeFactory,
        *,
        grace_period: float,
        clock: Clock,
    ) -> None:
        self._make_factory = make_factory
        self._grace_period = grace_period
        self._clock = clock
        self._clusters: dict[str, Cluster] = {}
        self.controllers: list[ControllerClusters] = []
        self._namespaces: tuple[str, ...] = ("",)
        self._is_running = self._has_ended = False
        self.home = home
        for name, client in clients.items():
            self._register(name, client)
        if home and home not in self._clusters:
            known = ", ".join(map(repr, self._clusters)) or "none"
            raise UsageError(f"home={home!r} is not one of the clusters; clusters: {known}")

    def __iter__(self) -> Iterator[Cluster]:
        return iter([*self._clusters.values()])

    def get(self, name: str) -> Cluster:
        """The cluster of this name; raises ClusterNotFoundError."""
        if name not in self._clusters:
            known = ", ".join(map(repr, self._clusters)) or "none"
            raise ClusterNotFoundError(f"the manager has no cluster {name!r}; clusters: {known}")
        return self._clusters[name]

    # --- adding and removing -----------------------------------------------------------------------------------------

    async def add(self, name: str, client: ClientSet | DynamicClient) -> Cluster:
        """Add a cluster; if the manager runs, its informers start."""
        if self._has_ended:
            raise UsageError(f"cannot add the cluster {name}: the manager has stopped")
        cluster = self._register(name, client)
        if self._is_running:
            cluster._is_initial = False
            await self._open(cluster)
        return cluster

    def _register(self, name: str, client: ClientSet | DynamicClient) -> Cluster:
        ClusterKey("", "", name)  # raises BadKeyError
        check_client(client, f"the client of the cluster {name} is {client!r}")
        if name in self._clusters:
            raise UsageError(f"the manager has a cluster {name!r} already: remove it first, or use another name")
        factory = self._make_factory(client)
        factory._cluster = name
        client_set = client if isinstance(client, ClientSet) else ClientSet(client.rest)
        cluster = self._clusters[name] = Cluster(name, client_set, factory, clock=self._clock)
        return cluster

    async def _open(self, cluster: Cluster) -> None:
        """Start the informers of all controllers, without waiting for their sync."""
        fields = {"cluster": cluster.name}
        _log.info("The cluster %s was added: %s", cluster.name, cluster.client.rest.config.base_url, extra=fields)
        try:
            async with cluster._lock:
                if cluster._removed.is_set():  # while those before it were opened
                    return
                cluster.factory.start()
                for controller in self.controllers:
                    view = await controller.add(cluster.name, cluster.client, cluster.factory, self._namespaces)
                    cluster._views.append(view)
                cluster._opened.set()
        except BaseException:
            await self._close(cluster)
            raise

    async def remove(self, name: str) -> None:
        """Remove a cluster: end its reconciles, stop its informers, and enqueue keys that depend on its objects.

        If the caller is cancelled, the removal continues: a cluster of which a part has ended could not be used.
        """
        cluster = self.get(name)
        if name == self.home:
            raise UsageError(f"cannot remove the cluster {name}: it is the home cluster of the manager")
        if cluster._removal is not None:
            raise ClusterNotFoundError(f"the cluster {name} is being removed already")
        cluster._removal = asyncio.create_task(self._remove(cluster), name=f"removal of cluster {name}")
        try:
            await asyncio.shield(cluster._removal)
        except asyncio.CancelledError:
            cluster._removal.add_done_callback(log_task_failure("listwatch.controller"))
            raise

    async def _remove(self, cluster: Cluster) -> None:
        name = cluster.name
        keys: list[tuple[ControllerClusters, list[ObjectKey]]] = []
        endings = await asyncio.gather(*(view.finish(self._grace_period) for view in cluster._views))
        if unfinished := [str(key) for ending in endings for key in ending]:
            message = "The cluster %s is removed, although these reconciles have not ended: %s"
            _log.warning(message, name, ", ".join(unfinished), extra={"cluster": name})
        if self._is_running:
            views = zip(self.controllers, cluster._views, strict=False)
            keys = [(controller, view.keys_elsewhere()) for controller, view in views]
        await self._close(cluster)
        for controller, found in keys:
            controller.enqueue(found, LOW_PRIORITY)
            controller.notify_change(name)

    async def _close(self, cluster: Cluster) -> None:
        async with cluster._lock:
            if cluster._removed.is_set():
                return
            cluster._removed.set()
            try:
                for controller, view in zip(self.controllers, cluster._views, strict=False):
                    await controller.close(view)
            finally:
                await cluster.factory.stop()
                self._clusters.pop(cluster.name, None)
        _log.info("The cluster %s was removed", cluster.name, extra={"cluster": cluster.name})

    @asynccontextmanager
    async def running(self, namespaces: tuple[str, ...]) -> AsyncIterator[None]:
        """Watch all clusters within this block, those that are added meanwhile included."""
        self._namespaces = namespaces
        self._is_running = True
        try:
            for cluster in self:
                await self._open(cluster)
            for controller in self.controllers:
                controller.begin()
            yield
        finally:
            self._is_running, self._has_ended = False, True
            for controller in self.controllers:
                controller.end()
            await asyncio.gather(*(self._end(cluster) for cluster in self))

    async def _end(self, cluster: Cluster) -> None:
        await self._close(cluster)
        if cluster._removal is not None:
            await asyncio.wait([cluster._removal])

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def are_ready(self) -> bool:
        return all(cluster.is_synced for cluster in self if self._is_required(cluster))

    def _is_required(self, cluster: Cluster) -> bool:
        """Whether readiness waits for a cluster: it was there at the start, and is the home cluster or not late."""
        if cluster.name == self.home:
            return True
        return cluster._is_initial and not any(view.is_late for view in cluster._views)

    def checks(self) -> dict[str, Callable[[], None]]:
        """A check for each cluster that readiness waits for."""
        return {f"cluster {each.name}": partial(_check, each) for each in self if self._is_required(each)}

    def notes(self) -> list[str]:
        """A line for each other cluster."""
        others = [each for each in self if not self._is_required(each)]
        return [
            f"[+] cluster {each.name}" if each.is_synced else f"[!] cluster {each.name}: {each.why_not_synced()}"
            for each in others
        ]

    def statistics(self) -> tuple[ClusterStatistics, ...]:
        return tuple(cluster._statistics() for cluster in self)


def _check(cluster: Cluster) -> None:
    if reason := cluster.why_not_synced():
        raise UsageError(reason)


def check_client(client: object, what: str) -> None:
    """Raise UsageError unless this is a client that finds the sources of kinds."""
    if not (isinstance(client, BaseClient) and callable(getattr(client, "source", None))):
        raise UsageError(f"{what}: expected a ClientSet or a DynamicClient")
