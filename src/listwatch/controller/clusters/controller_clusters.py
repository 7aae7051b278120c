"""The clusters of a manager as one controller sees them: a view for each, found by the cluster of a key."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, time_limit
from listwatch.controller.clusters.cluster_queues import ClusterQueues
from listwatch.controller.clusters.cluster_view import ClusterView, Worker
from listwatch.controller.watching.sources import Source, Sources, keys_from
from listwatch.controller.watching.watches import ClusterChange
from listwatch.errors import BadKeyError, ClusterNotFoundError, InformerStoppedError, SyncTimeoutError
from listwatch.events.recorder import EventRecorder, EventRecorderStatistics
from listwatch.factory.factory import SharedInformerFactory
from listwatch.inspector.reconcile_history import Trigger
from listwatch.logs.folded_log import FoldedLog
from listwatch.meta import ObjectKey
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.rate_limiters import ItemLimiter

__all__ = ["ControllerClusters"]

_log = logging.getLogger("listwatch.controller")


class ControllerClusters:
    """The views of one controller on the clusters of its manager, which are added and removed at run time."""

    def __init__(
        self,
        controller: str,
        make_sources: Callable[[str], Sources],
        make_recorder: Callable[[ClientSet], EventRecorder] | None,
        worker: Worker,
        *,
        limiter: ItemLimiter[ObjectKey] | None = None,
        changes: Sequence[ClusterChange] = (),
        sync_timeout: float | None,
        clock: Clock,
    ) -> None:
        """`make_sources` is called with the name of a cluster, `make_recorder` with its client."""
        self._controller = controller
        self._make_sources = make_sources
        self._make_recorder = make_recorder
        self._worker = worker
        self._changes = changes
        self._sync_timeout = sync_timeout
        self._clock = clock
        self._views: dict[str, ClusterView] = {}
        self._past_events: list[EventRecorderStatistics] = []
        self._is_open = False
        self._opened_or_closed = asyncio.Event()
        self._log = FoldedLog(_log, clock)
        self.queues = ClusterQueues(name=controller, limiter=limiter, clock=clock, on_unknown=self._drop)

    # --- clusters ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """The clusters that are there at the start were added."""
        self._is_open = True
        self._opened_or_closed.set()
        self.queues.begin()

    def end(self) -> None:
        """The manager has stopped: make `wait_for_sync` raise."""
        self._is_open = False
        self._opened_or_closed.set()

    async def add(
        self, name: str, client: ClientSet, factory: SharedInformerFactory, namespaces: tuple[str, ...]
    ) -> ClusterView:
        """Open a view on a cluster."""
        recorder = None if self._make_recorder is None else self._make_recorder(client)
        sources = self._make_sources(name)
        view = ClusterView(
            name,
            client,
            sources,
            recorder,
            self.queues,
            self._worker,
            sync_timeout=self._sync_timeout,
            clock=self._clock,
        )
        view.on_synced = partial(self.notify_change, name)
        try:
            await view.open(factory, namespaces)
        except BaseException:
            self.queues.close(name)
            await view.close()
            raise
        self._views[name] = view
        return view

    def ready_queues(self) -> list[WorkQueue[ObjectKey]]:
        """The queues of the clusters that have synced."""
        return [self._views[name].queue for name in self.synced]

    async def close(self, view: ClusterView) -> None:
        """Close a view, of a cluster that was removed or of a manager that stops."""
        await view.close()
        self.queues.close(view.name)
        if self._views.get(view.name) is view:
            del self._views[view.name]
        if view.recorder is not None:
            self._past_events = [_sum([*self._past_events, view.recorder.statistics()])]

    def notify_change(self, name: str) -> None:
        """Enqueue the keys that are reconciled when a cluster has synced or was removed."""
        for change in self._changes:
            try:
                keys = self.checked(keys_from(change.keys(name))) if change.keys else self.keys()
            except BaseException as error:  # noqa: BLE001  # user code; SystemExit would end the event loop
                self._worker.report_trigger_failure(error, f"the keys for the change of the cluster {name} failed")
            else:
                if self._worker.history is not None:
                    self._worker.history.note(keys, Trigger(f"change of cluster {name}"))
                self._worker.enqueue(keys, LOW_PRIORITY)

    def view(self, name: str) -> ClusterView:
        """The view on a cluster; raises ClusterNotFoundError."""
        view = self._views.get(name)
        if view is None or view.is_removed:
            known = ", ".join(self._views) or "none"
            raise ClusterNotFoundError(
                f"controller {self._controller}: there is no cluster {name!r}; clusters: {known}"
            )
        return view

    def own_view(self, key: ObjectKey) -> ClusterView:
        """The view of a key that is being reconciled, also while its cluster is being removed."""
        return self._views[key.cluster]

    @property
    def synced(self) -> tuple[str, ...]:
        """The names of the clusters whose caches have synced."""
        return tuple(name for name, view in self._views.items() if view.is_synced and not view.is_removed)

    def sources_of(self, server: str) -> list[Source]:
        """The sources that cache the objects of a server."""
        views = [*self._views.values()]  # called in any thread
        return [source for view in views if view.client.rest.config.base_url == server for source in view.sources.all]

    @property
    def sources(self) -> list[Source]:
        return [source for view in [*self._views.values()] for source in view.sources.all]

    # --- keys --------------------------------------------------------------------------------------------------------

    def enqueue(self, keys: Iterable[ObjectKey], priority: int) -> None:
        """Reconcile these keys."""
        self._worker.enqueue(keys, priority)

    def view_of(self, key: ObjectKey) -> ClusterView:
        """The view on the cluster of a key; raises BadKeyError for a key without cluster."""
        return self.view(self.checked([key])[0].cluster)

    def checked(self, keys: Iterable[ObjectKey]) -> list[ObjectKey]:
        """The same keys; raises BadKeyError for one without cluster."""
        found = [*keys]
        for key in found:
            if not key.cluster:
                raise BadKeyError(
                    f"{str(key)!r} has no cluster, but the manager of controller {self._controller} has several: "
                    "pass key.in_cluster(name)",
                    text=str(key),
                )
        return found

    def keys(self) -> list[ObjectKey]:
        """All cached keys of the controller's kind in synced clusters."""
        cached = {name: self._views[name].sources.keys() for name in self.synced}
        return [ObjectKey.parse(key).in_cluster(name) for name, keys in cached.items() for key in keys]

    @contextmanager
    def reconciling(self, key: ObjectKey) -> Iterator[bool]:
        """Count one reconcile; gives False if the cluster of the key is being removed."""
        view = self._views.get(key.cluster)
        if view is None or view.is_removed:
            yield False
        else:
            with view.reconciling(key):
                yield True

    def _drop(self, key: ObjectKey) -> None:
        fields = {"controller": self._controller, "key": str(key), "cluster": key.cluster}
        message = "Controller %s: %s was dropped, because the manager has no cluster %s"
        self._log.log(logging.WARNING, key.cluster, message, self._controller, key, key.cluster, fields=fields)

    # --- sync --------------------------------------------------------------------------------------------------------

    @property
    def are_synced(self) -> bool:
        return self._is_open and all(view.is_synced for view in self._views.values())

    def why_not_ready(self) -> str | None:
        """Why a cluster has not synced; None once all have."""
        if not self._is_open:
            return f"{self._controller}: the controller was not started"
        waiting = [view for view in self._views.values() if not view.is_synced]
        return next(filter(None, (view.sources.why_not_ready() for view in waiting)), None)

    async def wait_for_sync(self, timeout: float | None) -> None:
        """Wait until all clusters have synced, except those that are removed meanwhile; raises SyncTimeoutError."""
        try:
            async with time_limit(self._clock, timeout):
                await self._opened_or_closed.wait()
                for view in [*self._views.values()]:
                    await view.wait_synced()
                if not self._is_open:
                    raise InformerStoppedError(f"the manager of controller {self._controller} has stopped")
        except TimeoutError:
            message = f"controller {self._controller} has not synced within {timeout} s: {self.why_not_ready()}"
            raise SyncTimeoutError(message) from None

    # --- statistics --------------------------------------------------------------------------------------------------

    def event_statistics(self) -> EventRecorderStatistics | None:
        """The sum of the statistics of all event recorders, also of removed clusters; None if there is none."""
        recorders = [view.recorder for view in [*self._views.values()] if view.recorder is not None]
        found = [*self._past_events, *(each.statistics() for each in recorders)]
        return _sum(found) if found else None


def _sum(statistics: list[EventRecorderStatistics]) -> EventRecorderStatistics:
    counters = [each.name for each in fields(EventRecorderStatistics) if each.name != "component"]
    totals = {name: sum(getattr(each, name) for each in statistics) for name in counters}
    return EventRecorderStatistics(component=statistics[0].component, **totals)
