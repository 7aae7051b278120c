"""Reconciles the objects of one kind: calls a function with the key of every object that changed.

    change ─▶ Source ─▶ keys ─▶ WorkQueue ─▶ worker ─▶ reconcile(key)
                                   ▲                        │
                                   └── requeue or retry ────┘

    controller = Controller(reconcile, for_=Deployment, owns=[Pod], client=client)
    await controller.run()

`manager.py` runs several controllers, with leader election.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Generic, Self

from listwatch.cache.indexer import Indexer
from listwatch.cache.lister import Lister
from listwatch.client.resources.client_set import ClientSet
from listwatch.client.rest.base_client import BaseClient
from listwatch.clock import Clock, SystemClock
from listwatch.controller.clusters.controller_clusters import ControllerClusters
from listwatch.controller.inspection import controller_snapshot
from listwatch.controller.process.loop_watchdog import watched_loop
from listwatch.controller.reconcile.context import Reconcile, ReconcileContext, ReconcileForm
from listwatch.controller.reconcile.workers import Workers
from listwatch.controller.reports import ControllerStatistics, Failure, FailureReporter
from listwatch.controller.sharding.cache_part import CachePart
from listwatch.controller.sharding.sharded_work import ShardedWork
from listwatch.controller.watching.sources import Role, Source, Sources, key_from, keys_from
from listwatch.controller.watching.watches import (
    AnyShardKey,
    ClusterChange,
    Clusters,
    Every,
    K,
    KeyLike,
    Kind,
    T,
    Watch,
    Watched,
    as_watch,
    check_clusters,
)
from listwatch.errors import UsageError
from listwatch.events.recorder import EventRecorder
from listwatch.factory.factory import SharedInformerFactory, SourceMaker, checked_namespaces
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.inspector.components import InspectedController
from listwatch.inspector.reconcile_history import ReconcileHistory, Trigger
from listwatch.inspector.redaction import Redactor
from listwatch.inspector.snapshot import ControllerSnapshot
from listwatch.meta import ObjectKey
from listwatch.tasks.async_only import AsyncOnly
from listwatch.tasks.callers import SelfWaitError
from listwatch.tasks.cancellation import log_task_failure
from listwatch.workqueue.queue import LOW_PRIORITY, WorkQueue
from listwatch.workqueue.queue_state import check_delay
from listwatch.workqueue.rate_limiters import ItemLimiter

__all__ = ["Controller"]

_log = logging.getLogger("listwatch.controller")


class Controller(AsyncOnly, Generic[T]):
    """Calls `reconcile` with the key of every object that may need work; never concurrently for the same key.

    `for_`, `owns` and `watches` select the objects whose changes are reconciled: model classes, (apiVersion, kind)
    pairs, informers, or a `Watch` with options; `watches` also takes `Every`, a timer, and `ClusterChange`.

    `reconcile` is a function of `(key)` or `(key, context)`, or an object with such a `reconcile` method; see
    `ReconcileContext`. An async function runs in the event loop, a plain function in a thread. It returns None, or the
    seconds after which to reconcile the key again. After an exception the key is retried with backoff; after
    PermanentError it is not. After `timeout` seconds it is cancelled. A key is not reconciled again before the caches
    contain what its last reconcile wrote, or `own_writes_timeout` seconds have passed.

    `namespace` and `namespaces` limit what is watched, and so do `clusters` in a manager of several: their names, or a
    function that returns whether a name is one of them. A controller runs once: in a Manager, or alone with a `client`,
    as `async with controller` or `await controller.run()`. When it stops, running reconciles have `grace_period`
    seconds to end. A reconcile that blocks the event loop for `loop_stall_threshold` seconds is reported. Failures go
    to `on_failure`, or to the log.
    """

    def __init__(
        self,
        reconcile: Reconcile[T],
        *,
        for_: Kind[T] | None = None,
        owns: Sequence[Watched] = (),
        watches: Sequence[Watch | Every | ClusterChange] = (),
        clusters: Clusters | None = None,
        name: str = "",
        concurrency: int = 4,
        timeout: float | None = 300.0,
        client: SourceMaker | None = None,
        namespace: str = "",
        namespaces: Sequence[str] = (),
        resync: float = 0.0,
        limiter: ItemLimiter[ObjectKey] | None = None,
        sync_timeout: float | None = 120.0,
        own_writes_timeout: float = 30.0,
        grace_period: float = 30.0,
        needs_leader: bool = True,
        loop_stall_threshold: float = 1.0,
        on_failure: Callable[[Failure], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        if namespace and namespaces:
            raise UsageError("pass either namespace= or namespaces=, not both")
        form = ReconcileForm.of(reconcile)
        self.name = name or (form.name if for_ is None else str(as_watch(for_, "for_")))
        self.needs_leader = needs_leader
        self._clock = clock or SystemClock()
        self._client = client
        self._namespaces = checked_namespaces(namespaces) or ((namespace,) if namespace else ())
        self._resync = resync
        self._sync_timeout = sync_timeout
        self._grace_period = grace_period
        self._loop_stall_threshold = loop_stall_threshold
        self._takes_context = form.takes_context
        self._client_set: ClientSet | None = None
        self._recorder: EventRecorder | None = None
        check_clusters(clusters)
        self._selected_clusters = clusters
        self._make_sources = partial(Sources, for_, owns, watches, name=self.name, clock=self._clock, clusters=clusters)
        self._sources = self._make_sources()
        self._clusters: ControllerClusters | None = None
        self._limiter = limiter
        self._queue: WorkQueue[ObjectKey] = WorkQueue(name=self.name, limiter=limiter, clock=self._clock)
        self._workers = Workers(
            form,
            self._queue,
            self._make_context,
            sources=self._sources_of,
            concurrency=concurrency,
            timeout=timeout,
            own_writes_timeout=own_writes_timeout,
            report=FailureReporter(self.name, on_failure, clock=self._clock),
            clock=self._clock,
        )
        self._run_task: asyncio.Task[None] | None = None
        self._work_task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        state = "stopping" if self._workers.stopping.is_set() else "working" if self.is_working else "not working"
        running = len(self._workers.keys_in_progress)
        return f"<Controller {self.name}, {state}: {len(self._queue)} queued, {running} in progress>"

    # --- keys and caches ---------------------------------------------------------------------------------------------

    def enqueue(self, key: KeyLike, *, after: float = 0.0, priority: int = 0) -> None:
        """Reconcile a key, now or after some seconds; from any thread."""
        check_delay(key, after)
        keys = [key_from(key)]
        self._workers.enqueue(keys if self._clusters is None else self._clusters.checked(keys), priority, after)

    def get(self, key: KeyLike) -> T | None:
        """The cached object of a key, of the kind `for_`; None if it does not exist."""
        wanted = key_from(key)
        sources = self._sources if self._clusters is None else self._clusters.view_of(wanted).sources
        found: T | None = sources.main.indexer.get(wanted)
        return found

    def informer(self, kind: Kind[K], *, cluster: str = "") -> SharedIndexInformer[K]:
        """The informer of a watched kind; in a manager of several clusters, that of the given one."""
        if self._clusters is not None:
            return self._clusters.view(cluster).sources.informer(kind)
        if cluster:
            raise UsageError(f"cluster={cluster!r}: controller {self.name} is not in a Manager of several clusters")
        return self._sources.informer(kind)

    def lister(self, kind: Kind[K], *, cluster: str = "") -> Lister[K]:
        """The cached objects of a watched kind, by name, namespace and selector."""
        return self.informer(kind, cluster=cluster).lister

    def indexer(self, kind: Kind[K], *, cluster: str = "") -> Indexer[K]:
        """The cached objects of a watched kind, by key and by index."""
        return self.informer(kind, cluster=cluster).indexer

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def is_working(self) -> bool:
        """Whether its workers run: the caches are synced and, if it needs to, this replica leads."""
        return self._workers.is_running

    @property
    def is_ready(self) -> bool:
        """Whether its caches are synced; a replica that does not lead can be ready."""
        return self._sources.are_synced if self._clusters is None else self._clusters.are_synced

    def why_not_ready(self) -> str | None:
        """Why it is not ready; None once it is."""
        return (self._clusters or self._sources).why_not_ready()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until the caches are synced and the keys of all existing objects queued; raises SyncTimeoutError."""
        await (self._clusters or self._sources).wait_for_sync(timeout)

    def statistics(self) -> ControllerStatistics:
        """Counters and current state."""
        if self._clusters is not None:
            return self._workers.statistics(self._clusters.event_statistics())
        return self._workers.statistics(None if self._recorder is None else self._recorder.statistics())

    # --- running alone -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Watch and reconcile until cancelled, or until `stop`."""
        self._begin()
        factory = None
        async with AsyncExitStack() as stack:
            stack.callback(self._sources.end_waiting)
            stack.enter_context(watched_loop(self._report_stall, threshold=self._loop_stall_threshold))
            if self._client is not None:
                factory = SharedInformerFactory(self._client, resync=self._resync, clock=self._clock)
                await stack.enter_async_context(factory)
            await stack.enter_async_context(self._opened(factory, ("",)))
            await self._work_until_stopped()

    async def _work_until_stopped(self) -> None:
        self._work_task = asyncio.create_task(self._work(), name=f"workers of {self.name}")
        try:
            await asyncio.wait([self._work_task])
        finally:
            self._work_task.cancel()
            await asyncio.wait([self._work_task])
        if not self._work_task.cancelled():
            self._work_task.result()

    def start(self) -> None:
        """Run in the background until `stop`; does nothing if it is running."""
        if self._run_task is None or self._run_task.done():
            self._check_not_started()
            self._run_task = asyncio.create_task(self.run(), name=f"controller {self.name}")
            self._run_task.add_done_callback(log_task_failure("listwatch.controller"))

    async def stop(self) -> None:
        """Take no further key, and cancel the reconciles that have not ended after `grace_period` seconds.

        A controller in a manager is stopped by the manager. Its own reconcile cannot wait for the end: it gets a
        UsageError.
        """
        running = self._work_task or self._run_task
        if running is None:
            return
        if self._workers.are_calling:
            raise SelfWaitError(
                f"a reconcile of controller {self.name} called stop(), which waits until the reconcile ends: "
                "call it in another task or thread"
            )
        self._workers.stop_taking()
        await self._workers.wait_finished(self._grace_period)
        running.cancel()
        await asyncio.wait([self._run_task or running])
        if self._run_task is not None and not self._run_task.cancelled():
            self._run_task.result()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # --- steps of a run; a manager calls them as well ----------------------------------------------------------------

    def _begin(self) -> None:
        """Start its only run, in this event loop."""
        self._check_not_started()
        self._workers.use_running_loop()

    def _check_not_started(self) -> None:
        if self._workers.has_loop or self._workers.stopping.is_set():
            raise UsageError(f"controller {self.name} was started before and runs only once: create a new one")

    @asynccontextmanager
    async def _opened(
        self,
        factory: SharedInformerFactory | None,
        namespaces: tuple[str, ...],
        client: SourceMaker | None = None,
    ) -> AsyncIterator[None]:
        """Receive changes, and write recorded events, within this block."""
        self._log_start()
        self._check_without_clusters()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._sources.close)
            self._client_set = _client_set_of(self._client or client)
            if self._takes_context and self._client_set is not None:
                self._recorder = self._make_recorder(self._client_set)
                await stack.enter_async_context(self._recorder)
            self._sources.open(
                factory,
                self._namespaces or namespaces,
                enqueue=self._workers.enqueue,
                report=self._workers.report_trigger_failure,
                history=self._workers.history,
                part_of=self._part_of,
            )
            yield

    def _log_start(self) -> None:
        _log.info("Controller %s was started and waits for its caches", self.name, extra={"controller": self.name})
        if not self._sources.all and not self._sources.timers:
            _log.warning(
                "Controller %s watches nothing: pass for_=, owns= or watches=; it reconciles only keys of enqueue()",
                self.name,
                extra={"controller": self.name},
            )

    async def _work(self) -> None:
        """Wait for the caches, then reconcile, until cancelled or until no further key is taken."""
        # Each of several clusters has its own caches: its keys wait for these, and no other keys do.
        if self._clusters is None and not await _run_unless(
            self._workers.stopping, self.wait_for_sync(self._sync_timeout)
        ):
            return
        timers = [asyncio.create_task(self._run_timer(each)) for each in self._sources.timers]
        try:
            await self._workers.run()
        finally:
            for timer in timers:
                timer.cancel()
            if timers:
                await asyncio.wait(timers)

    async def _run_timer(self, timer: Every) -> None:
        while True:
            await self._clock.sleep(timer.interval)
            try:
                keys = self._timer_keys(timer)
                if self._workers.history is not None:
                    self._workers.history.note(keys, Trigger(f"timer of {timer.interval:g} s"))
                self._workers.enqueue(keys, LOW_PRIORITY)
            except BaseException as error:  # noqa: BLE001  # a plain function of the user: this is no cancellation
                self._workers.report_trigger_failure(error, f"the timer of {timer.interval} s failed")

    def _timer_keys(self, timer: Every) -> list[ObjectKey]:
        if self._clusters is None:
            return keys_from(timer.keys() if timer.keys else self._sources.keys())
        return self._clusters.checked(keys_from(timer.keys())) if timer.keys else self._clusters.keys()

    def _report_stall(self, task: asyncio.Task[object] | None, location: str) -> None:
        self._workers.report_stall(task, location)

    # --- inspection --------------------------------------------------------------------------------------------------

    def _inspected(self) -> Iterator[object]:
        """What an inspector shows; from now on, reconciles are recorded, if the controller was not started yet."""
        if self._workers.history is None:
            self._workers.history = ReconcileHistory(self._clock)
        yield InspectedController(self.name, self._snapshot, self._workers.history)
        sources = self._sources.all if self._clusters is None else self._clusters.sources
        yield from (source.informer for source in sources if source.is_open)
        if (client := _client_set_of(self._client)) is not None:
            yield client

    def _snapshot(self, redactor: Redactor) -> ControllerSnapshot:
        assert self._workers.history is not None
        return controller_snapshot(
            self.statistics(),
            self._workers.history,
            redactor,
            is_working=self.is_working,
            needs_leader=self.needs_leader,
            why_not_ready=self.why_not_ready(),
            watches=[str(source.watch) for source in self._sources.all],
        )

    # --- shards ------------------------------------------------------------------------------------------------------

    def _part_of(self, role: Role, shard_key: AnyShardKey | None) -> CachePart | None:
        """The part of the objects that this replica caches; None for all."""
        return None if self._workers.shards is None else self._workers.shards.part_of(role, shard_key)

    def _use_shards(self, work: ShardedWork) -> None:
        """Reconcile only the keys of the shards of this replica."""
        shards = self._workers.shards = work.add(self._sources)
        shards.cancel = self._workers.revoke
        shards.enqueue = self._workers.enqueue
        shards.queue_statistics = self._queue.statistics
        shards.waiting = self._queue._waiting_items

    # --- several clusters --------------------------------------------------------------------------------------------

    def _use_clusters(self) -> ControllerClusters:
        """Watch the clusters that a manager adds, instead of one client."""
        if self._client is not None:
            raise UsageError(f"controller {self.name} has client=, but its manager has several clusters: leave it out")
        for source in self._sources.all:
            if isinstance(source.watch.of, SharedIndexInformer):
                raise UsageError(
                    f"controller {self.name} watches an existing informer of {source.watch}, which belongs to none of "
                    "the manager's clusters: watch the kind instead"
                )
        self._clusters = ControllerClusters(
            self.name,
            lambda cluster: self._make_sources(cluster=cluster),
            self._make_recorder if self._takes_context else None,
            self._workers,
            limiter=self._limiter,
            changes=self._sources.cluster_changes,
            sync_timeout=self._sync_timeout,
            clock=self._clock,
        )
        self._queue = self._clusters.queues
        self._workers.use_clusters(self._clusters, self._clusters.queues)
        return self._clusters

    def _check_without_clusters(self) -> None:
        watches = [source.watch for source in self._sources.all]
        is_selective = self._selected_clusters is not None or bool(self._sources.cluster_changes)
        if is_selective or any(each.clusters is not None or each.cluster_keys for each in watches):
            raise UsageError(
                f"controller {self.name} selects clusters, but has only one: pass Manager a mapping of names to clients"
            )

    def _sources_of(self, server: str) -> list[Source]:
        """The sources that cache the objects of a server; with one cluster, that is not compared."""
        return self._sources.all if self._clusters is None else self._clusters.sources_of(server)

    # --- contexts ----------------------------------------------------------------------------------------------------

    def _make_context(self, key: ObjectKey, attempt: int) -> ReconcileContext[T]:
        if self._clusters is not None:
            view = self._clusters.own_view(key)
            return ReconcileContext(
                key,
                controller=self.name,
                attempt=attempt,
                sources=view.sources,
                client=view.client,
                recorder=view.recorder,
                clusters=self._clusters,
            )
        return ReconcileContext(
            key,
            controller=self.name,
            attempt=attempt,
            sources=self._sources,
            client=self._client_set,
            recorder=self._recorder,
            fencing_token=self._workers.token_of(key),
        )

    def _make_recorder(self, client: ClientSet) -> EventRecorder:
        return EventRecorder(client.core_v1.events(), component=self.name, clock=self._clock)


def _client_set_of(client: object) -> ClientSet | None:
    """A ClientSet over the connections of a client; None for a source of another kind."""
    if isinstance(client, ClientSet):
        return client
    return ClientSet(client.rest) if isinstance(client, BaseClient) else None


async def _run_unless(cancelled: asyncio.Event, coroutine: Coroutine[object, object, object]) -> bool:
    """Run the coroutine until it ends, which returns True, or cancel it when the event is set, which returns False."""
    running, waiting = asyncio.create_task(coroutine), asyncio.create_task(cancelled.wait())
    try:
        await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (running, waiting):
            task.cancel()
        await asyncio.wait([running, waiting])
    if not running.cancelled():
        running.result()
    return not running.cancelled()
