"""Runs several controllers: shared informers, leader election, probes, graceful shutdown.

    async with ClientSet(load_config()) as client:
        manager = Manager(client, leader_election="my-operator", health_port=8081)
        manager.add(Controller(reconcile, for_=Deployment, owns=[Pod]))
        await manager.run()

    probes ─ webhooks ─ informers of all controllers ─ [ leadership ─ workers ]   entered in this order, left in reverse

A replica that does not lead keeps its caches synced, so that it can take over at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeVar

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.clock import Clock, SuspendAwareClock, SystemClock, time_limit
from listwatch.controller.clusters.cluster import Cluster
from listwatch.controller.clusters.manager_clusters import ManagerClusters, check_client
from listwatch.controller.controller import Controller
from listwatch.controller.process.loop_watchdog import watched_loop
from listwatch.controller.process.probes import ProbeResponse, ProbeServer, run_checks
from listwatch.controller.process.signals import handling_stop_signals
from listwatch.controller.reports import ManagerStatistics, cluster_field
from listwatch.controller.sharding.sharded_work import ShardedWork, checked_options, end_margin
from listwatch.errors import SyncTimeoutError, UsageError
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.storage_options import EXCLUDED
from listwatch.inspector.components import InspectedCluster
from listwatch.inspector.options import InspectorOptions, options_from
from listwatch.inspector.snapshot import ManagerSnapshot
from listwatch.leaderelection.elector import LeaderElector
from listwatch.metrics.samples import TEXT_CONTENT_TYPE, metrics_text, samples_of
from listwatch.objects.object import Object
from listwatch.selectors import LabelSelectorLike
from listwatch.sharding.options import ShardingOptions
from listwatch.tasks.async_only import AsyncOnly
from listwatch.tasks.callers import SelfWaitError
from listwatch.tasks.cancellation import log_task_failure

if TYPE_CHECKING:
    from listwatch.inspector.inspector import Inspector
    from listwatch.webhooks.webhook_server import WebhookServer
    from listwatch.webhooks.webhooks import Webhooks

__all__ = ["Manager"]

C = TypeVar("C", bound=Controller)

_log = logging.getLogger("listwatch.controller")

_READY_INTERVAL = 0.05
"""Seconds between two checks of whether the manager is ready, which depends on many components."""


class Manager(AsyncOnly):
    """Runs controllers over shared informers, until it is stopped or one of them fails.

    `namespace`, `namespaces` or `namespace_selector` limit what the controllers watch; without them, all namespaces are
    watched. The selector matches the labels of namespaces at any time. Without a client, its controllers can only watch
    existing informers, for example of etcd; the caller runs those. `resync`, `drop_fields`, `compact`, `cache_dir` and
    `cache_exclude` are options of its SharedInformerFactory.

    Given a mapping of names to clients, it has several clusters, and all keys carry the name of their cluster, as
    `key.cluster`. `add_cluster` and `remove_cluster` change them at any time. `home` is the cluster with the Lease of a
    leader election and the configurations of webhooks. A cluster that cannot be reached does not delay the others.

    With `leader_election`, the name of a Lease, workers run only while this replica leads. The Lease is in
    `lease_namespace`; the default is the namespace of the client's configuration: the pod's own in a cluster, that of
    the context in a kubeconfig. For other options, pass a LeaderElector as `leader_elector` instead. Loss of leadership
    ends the manager with LeadershipLostError: restart the process, since its reconciles may have been interrupted.

    With `shards` and `shard_group`, all replicas work, each on its part of the objects: those whose uid, or namespace
    with `shard_by="namespace"`, is in one of its shards. No two replicas reconcile one object at a time. For other
    options, pass ShardingOptions as `shards`.

    With `health_port` it serves /healthz, /readyz and /metrics. When it stops, running reconciles have `grace_period`
    seconds to end, and then the lease is released. It is left to expire if a reconcile that cannot be cancelled, as one
    in a thread, still runs. A reconcile that blocks the event loop for `loop_stall_threshold` seconds is reported.

    With `inspect=True`, an address such as `"127.0.0.1:8090"` or InspectorOptions, it serves the inspector page, whose
    URL is logged once, with its token.
    """

    def __init__(
        self,
        client: ClientSet | DynamicClient | Mapping[str, ClientSet | DynamicClient] | None = None,
        *,
        home: str = "",
        namespace: str = "",
        namespaces: Sequence[str] = (),
        namespace_selector: LabelSelectorLike = None,
        leader_election: str = "",
        lease_namespace: str = "",
        leader_elector: LeaderElector | None = None,
        shards: int | ShardingOptions | None = None,
        shard_group: str = "",
        shard_by: str = "uid",
        shard_weight: float = 1.0,
        resync: float = 0.0,
        drop_fields: Sequence[str] = (),
        compact: bool | Collection[type[Object]] = False,
        cache_dir: str | PathLike[str] | None = None,
        cache_exclude: Collection[type | str] = EXCLUDED,
        health_port: int | None = None,
        health_host: str = "127.0.0.1",
        grace_period: float = 30.0,
        loop_stall_threshold: float = 1.0,
        inspect: bool | str | InspectorOptions = False,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        make_factory = partial(
            _make_factory,
            resync=resync,
            namespace=namespace,
            namespaces=namespaces,
            namespace_selector=namespace_selector,
            drop_fields=drop_fields,
            compact=compact,
            cache_dir=cache_dir,
            cache_exclude=cache_exclude,
            clock=self._clock,
        )
        self._clusters: ManagerClusters | None = None
        if isinstance(client, Mapping):
            if shards is not None:
                raise UsageError("shards= needs one client: a manager of several clusters cannot be sharded")
            self._clusters = ManagerClusters(client, home, make_factory, grace_period=grace_period, clock=self._clock)
            self._client = client[home] if home else None
        else:
            if client is not None:
                check_client(client, f"Manager({client!r})")
            if home:
                raise UsageError(f"home={home!r} needs several clusters: pass a mapping of their names to clients")
            self._client = client
        has_clusters = self._clusters is not None
        self._elector = _elector(
            self._client, leader_election, lease_namespace, leader_elector, self._clock, has_clusters=has_clusters
        )
        self._sharded = _sharded_work(
            self._client,
            checked_options(shards, shard_group, shard_by, shard_weight, [leader_election, leader_elector]),
            clock,
        )
        self._namespaces = () if namespace_selector else tuple(namespaces) or (namespace,)
        self._factory = None if self._client is None or has_clusters else make_factory(self._client)
        self._controllers: list[Controller] = []
        self._webhooks: WebhookServer | None = None
        self._health_checks: dict[str, Callable[[], object]] = {}
        self._ready_checks: dict[str, Callable[[], object]] = {}
        self._probes = self._make_probes(health_port, health_host)
        self._inspector_options = options_from(inspect)
        self._inspector: Inspector | None = None
        self._grace_period = grace_period
        self._loop_stall_threshold = loop_stall_threshold
        self._is_leading = False
        self._holds_lease = False
        self._has_started = False
        self._stop_requested = asyncio.Event()
        self._abort_requested = asyncio.Event()
        self._run_task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self._controllers) or "no controllers"
        return f"<Manager of {names}{', leading' if self._is_leading else ''}>"

    # --- controllers and checks --------------------------------------------------------------------------------------

    def add(self, controller: C) -> C:
        """Add a controller, and return it; before the manager is started."""
        if self._has_started:
            raise UsageError(f"cannot add controller {controller.name}: the manager was started already")
        if any(each.name == controller.name for each in self._controllers):
            raise UsageError(f"there is already a controller {controller.name}: pass this one another name=")
        if self._clusters is not None:
            self._clusters.controllers.append(controller._use_clusters())
        self._controllers.append(controller)
        return controller

    def add_webhooks(self, webhooks: Webhooks) -> None:
        """Serve these webhooks while the manager runs, also while another replica leads. Call it before the start.

        The manager is ready when API servers can call them, and not healthy once their certificate has expired.
        """
        from listwatch.webhooks.webhook_server import WebhookServer  # imports aiohttp's server

        if self._has_started:
            raise UsageError(f"cannot add {webhooks!r}: the manager was started already")
        if self._webhooks is not None:
            raise UsageError("the manager has webhooks already: declare all of them with one Webhooks")
        client = ClientSet(self._client.rest) if isinstance(self._client, DynamicClient) else self._client
        self._webhooks = WebhookServer(webhooks, client, clock=self._clock)

    # --- clusters ----------------------------------------------------------------------------------------------------

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters of a manager of several; none if it has one client."""
        return () if self._clusters is None else tuple(self._clusters)

    def cluster(self, name: str) -> Cluster:
        """One of several clusters; raises ClusterNotFoundError."""
        return self._several().get(name)

    async def add_cluster(self, name: str, client: ClientSet | DynamicClient) -> Cluster:
        """Add a cluster, at any time. If the manager runs, its informers start; this does not wait for their sync.

        The caller closes the client, after the manager has stopped or the cluster was removed.
        """
        return await self._several().add(name, client)

    async def remove_cluster(self, name: str) -> None:
        """Remove a cluster, at any time: afterwards, none of its keys is reconciled, and its informers have stopped.

        Keys that wait are dropped. Running reconciles have `grace_period` seconds to end, and are cancelled then. The
        objects of the cluster are not deleted, so their keys are not reconciled as those of deleted objects are. Keys
        in other clusters, to which key functions map these objects, are reconciled. If the caller is cancelled, the
        removal continues.
        """
        for controller in self._controllers:
            key = controller._workers.calling_key
            if key is not None and key.cluster == name:
                raise SelfWaitError(
                    f"a reconcile of controller {controller.name} called remove_cluster({name!r}) for its own cluster, "
                    "which waits until the reconcile ends: call it in another task or thread"
                )
        await self._several().remove(name)

    def _several(self) -> ManagerClusters:
        if self._clusters is None:
            raise UsageError("this manager has one client: for several clusters, pass it a mapping of names to clients")
        return self._clusters

    # --- checks ------------------------------------------------------------------------------------------------------

    def add_health_check(self, name: str, check: Callable[[], object]) -> None:
        """Make /healthz fail while this function, plain or async, raises: the program should be restarted."""
        self._health_checks[name] = check

    def add_ready_check(self, name: str, check: Callable[[], object]) -> None:
        """Make /readyz fail while this function, plain or async, raises."""
        self._ready_checks[name] = check

    # --- state -------------------------------------------------------------------------------------------------------

    @property
    def factory(self) -> SharedInformerFactory:
        """The informers of the controllers, for other uses of the same caches."""
        if self._clusters is not None:
            raise UsageError(
                "this manager has several clusters: read the factory of one, manager.cluster(name).factory"
            )
        if self._factory is None:
            raise UsageError("this manager has no client, and so no shared informers; pass client=")
        return self._factory

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """The controllers that were added."""
        return tuple(self._controllers)

    @property
    def is_leading(self) -> bool:
        """Whether workers that need leadership run; without leader election, whether the manager runs."""
        return self._is_leading

    @property
    def is_ready(self) -> bool:
        """Whether all caches are synced, the webhooks can be called, and the manager is not stopping."""
        if not self._has_started or self._stop_requested.is_set():
            return False
        if self._webhooks is not None and not self._webhooks.is_ready:
            return False
        if self._clusters is not None:
            return self._clusters.are_ready
        return all(each.is_ready for each in self._controllers)

    @property
    def health_port(self) -> int | None:
        """The port of the probes; with `health_port=0`, the selected port once it runs."""
        return None if self._probes is None else self._probes.port

    @property
    def webhook_port(self) -> int | None:
        """The port of the webhooks; with port 0, the selected port once the manager runs."""
        return None if self._webhooks is None else self._webhooks.port

    @property
    def inspector_url(self) -> str | None:
        """The URL of the inspector page, with its token, while the manager runs; None without `inspect=`."""
        return None if self._inspector is None else self._inspector.url

    def statistics(self) -> ManagerStatistics:
        """Counters and current state, also of all controllers and informers."""
        return ManagerStatistics(
            is_leading=self._is_leading,
            is_ready=self.is_ready,
            is_stopping=self._stop_requested.is_set(),
            controllers=tuple(each.statistics() for each in self._controllers),
            informers=() if self._factory is None else self._factory.statistics(),
            elector=None if self._elector is None else self._elector.statistics(),
            shards=None if self._sharded is None else self._sharded.statistics(),
            webhooks=None if self._webhooks is None else self._webhooks.statistics(),
            clusters=() if self._clusters is None else self._clusters.statistics(),
        )

    # --- running -----------------------------------------------------------------------------------------------------

    async def run(self, *, handle_signals: bool = True) -> None:
        """Run until stopped or cancelled. The first SIGTERM or SIGINT stops it; a second one ends the grace period."""
        self._check_not_started()
        self._has_started = True
        names = ", ".join(each.name for each in self._controllers) or "no controllers"
        _log.info("The manager of %s was started", names, extra={"controller": names})
        if not self._controllers and self._webhooks is None:
            _log.warning("The manager has no controllers, so it reconciles nothing: call add() before it is started")
        async with AsyncExitStack() as stack:
            stack.callback(lambda: _log.info("The manager of %s has stopped", names, extra={"controller": names}))
            stack.enter_context(handling_stop_signals(self.stop_soon) if handle_signals else nullcontext())
            stack.enter_context(watched_loop(self._report_stall, threshold=self._loop_stall_threshold))
            if self._probes is not None:
                await stack.enter_async_context(self._probes)
            if self._inspector_options is not None:
                await stack.enter_async_context(self._serving_inspector(self._inspector_options))
            if self._webhooks is not None:
                # Before the informers: a list may need a conversion.
                await stack.enter_async_context(self._webhooks)
            if self._clusters is not None:
                await stack.enter_async_context(self._watching_clusters(self._clusters))
                await self._work_until_stopped()
                return
            if self._factory is not None:
                await stack.enter_async_context(self._factory)
            for controller in self._controllers:
                if self._sharded is not None and controller.needs_leader:
                    controller._use_shards(self._sharded)
                controller._begin()
                await stack.enter_async_context(controller._opened(self._factory, self._namespaces, self._client))
            await self._work_until_stopped()

    @asynccontextmanager
    async def _watching_clusters(self, clusters: ManagerClusters) -> AsyncIterator[None]:
        for controller in self._controllers:
            controller._begin()
            controller._log_start()
        async with clusters.running(self._namespaces):
            yield

    def start(self) -> None:
        """Run in the background until `stop`, without signal handling; does nothing if it is running."""
        if self._run_task is None or self._run_task.done():
            self._check_not_started()
            self._run_task = asyncio.create_task(self.run(handle_signals=False), name="manager")
            self._run_task.add_done_callback(log_task_failure("listwatch.controller"))

    def stop_soon(self) -> None:
        """Request a stop without waiting for it; a second call ends the grace period."""
        if self._stop_requested.is_set():
            self._abort_requested.set()
        self._request_stop()

    async def stop(self) -> None:
        """Stop what `start` or `async with` started, and wait for it; raises the error of a run that failed.

        A reconcile cannot wait for its own end: it gets a UsageError. `stop_soon` does not wait.
        """
        self._check_may_wait("stop")
        self._request_stop()
        await self.wait_stopped()

    async def wait_stopped(self) -> None:
        """Wait until what `start` or `async with` started has ended; raises the error of a run that failed."""
        self._check_may_wait("wait_stopped")
        if self._run_task is not None:
            await asyncio.wait([self._run_task])
            self._run_task.result()

    async def wait_ready(self, *, timeout: float | None = None) -> None:
        """Wait until `is_ready`; raises SyncTimeoutError with the reasons, or the error of a run that failed."""
        self._check_may_wait("wait_ready")
        try:
            async with time_limit(self._clock, timeout):
                while not self.is_ready:
                    if self._run_task is not None and self._run_task.done():
                        self._run_task.result()
                        raise UsageError(f"{self!r} has stopped, and will not become ready")
                    await self._clock.sleep(_READY_INTERVAL)
        except TimeoutError:
            reasons = "; ".join((await self._readyz()).text.splitlines()[:-1])
            raise SyncTimeoutError(f"the manager was not ready within {timeout:g} s: {reasons}") from None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _request_stop(self) -> None:
        if self._has_started and not self._stop_requested.is_set():
            names = ", ".join(each.name for each in self._controllers) or "no controllers"
            message = "The manager of %s is stopping; running reconciles have %.0f s to end"
            _log.info(message, names, self._grace_period, extra={"controller": names})
        self._stop_requested.set()

    def _check_may_wait(self, method: str) -> None:
        for controller in self._controllers:
            if controller._workers.are_calling:
                raise SelfWaitError(
                    f"a reconcile of controller {controller.name} called {method}() of its manager, which waits until "
                    "the reconcile ends: call stop_soon(), or wait in another task or thread"
                )

    def _check_not_started(self) -> None:
        if self._has_started:
            raise UsageError(f"{self!r} was started before and runs only once: create a new one")

    async def _work_until_stopped(self) -> None:
        working = asyncio.create_task(self._work(), name="controllers")
        requested = asyncio.create_task(self._stop_requested.wait(), name="stop")
        try:
            await asyncio.wait([working, requested], return_when=asyncio.FIRST_COMPLETED)
            if not working.done() and self._sharded is not None:
                await self._leave_group(self._sharded, working)
            elif not working.done() and await self._finish_reconciles() and self._holds_lease:
                # It ends by itself, and must not be cancelled while it releases the lease.
                await asyncio.wait([working])
        finally:
            for task in (working, requested):
                task.cancel()
            await asyncio.wait([working, requested])
        if not working.cancelled():
            working.result()

    async def _work(self) -> None:
        leaders = [each for each in self._controllers if each.needs_leader]
        others = [each for each in self._controllers if not each.needs_leader]
        await _run_all([*(each._work() for each in others), self._lead(leaders)])

    async def _lead(self, controllers: Sequence[Controller]) -> None:
        try:
            async with nullcontext() if self._elector is None else self._elector.lead():
                self._holds_lease = True
                if self._sharded is None:
                    await self._work_as_leader(controllers)
                else:
                    await self._work_on_shards(self._sharded, controllers)
        finally:
            self._holds_lease = False

    async def _work_as_leader(self, controllers: Sequence[Controller]) -> None:
        self._is_leading = True
        try:
            await _run_all([*(each._work() for each in controllers), self._stop_requested.wait()])
        finally:
            self._is_leading = False
            if self._elector is not None and any(each._workers.has_unfinished_calls for each in controllers):
                self._elector.skip_release()

    async def _work_on_shards(self, sharded: ShardedWork, controllers: Sequence[Controller]) -> None:
        async def coordinate() -> None:
            await sharded.run()
            for controller in self._controllers:
                controller._workers.stop_taking()

        self._is_leading = True
        try:
            await _run_all([*(each._work() for each in controllers), coordinate()])
        finally:
            self._is_leading = False

    async def _leave_group(self, sharded: ShardedWork, working: asyncio.Task[None]) -> None:
        """Drain and release all shards. If some work cannot be stopped, the session is left to expire."""
        sharded.coordinator.leave()
        aborted = asyncio.create_task(self._abort_requested.wait(), name="abort")
        limit = end_margin(sharded.options, self._grace_period)
        try:
            await asyncio.wait([working, aborted], timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                sharded.coordinator.cancel_drains()
                await asyncio.wait([working], timeout=sharded.options.timing.cleanup + 5.0)
        finally:
            aborted.cancel()
            await asyncio.wait([aborted])
            if not working.done():
                sharded.coordinator.abandon()

    async def _finish_reconciles(self) -> bool:
        """Wait for running reconciles within the grace period; False if some have not ended."""
        for controller in self._controllers:
            controller._workers.stop_taking()
        finishing = asyncio.create_task(self._wait_finished(), name="finish")
        aborted = asyncio.create_task(self._abort_requested.wait(), name="abort")
        try:
            await asyncio.wait([finishing, aborted], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (finishing, aborted):
                task.cancel()
            await asyncio.wait([finishing, aborted])
        for controller in self._controllers:
            for key in controller._workers.keys_in_progress:
                _log.warning(
                    "Stopping: the reconcile of %s by %s has not ended and is cancelled",
                    key,
                    controller.name,
                    extra={"controller": controller.name, "key": str(key), **cluster_field(key)},
                )
        return not any(each.is_working for each in self._controllers)

    async def _wait_finished(self) -> None:
        deadline = self._clock.monotonic() + self._grace_period
        for controller in self._controllers:
            await controller._workers.wait_finished(max(deadline - self._clock.monotonic(), 0.001))

    def _report_stall(self, task: asyncio.Task[object] | None, location: str) -> None:
        for controller in self._controllers:
            controller._workers.report_stall(task, location)

    # --- inspection --------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _serving_inspector(self, options: InspectorOptions) -> AsyncIterator[None]:
        from listwatch.inspector.inspector import Inspector  # imports aiohttp's server

        async with Inspector(self, options=options, clock=self._clock) as self._inspector:
            # A warning, because it has to be seen in programs without logging set up, and gives access to all caches.
            shown = self._inspector.address if options.token else self._inspector.url
            _log.warning("The inspector serves the caches of this manager, read-only, at %s", shown)
            try:
                yield
            finally:
                self._inspector = None

    def _inspected(self) -> Iterator[object]:
        """What an inspector shows."""
        names = ", ".join(each.name for each in self._controllers)
        yield ManagerSnapshot(
            name=names, is_leading=self._is_leading, is_ready=self.is_ready, is_stopping=self._stop_requested.is_set()
        )
        yield from self._controllers
        yield from (each for each in (self._factory, self._elector, self._client) if each is not None)
        yield from (InspectedCluster(each.name, each.factory, each.client) for each in self.clusters)

    # --- probes ------------------------------------------------------------------------------------------------------

    def _make_probes(self, port: int | None, host: str) -> ProbeServer | None:
        if port is None:
            return None
        if type(port) is not int or not 0 <= port <= 65535:
            raise UsageError(f"health_port={port!r}: expected a port from 0 to 65535; 0 selects a free port")
        paths = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics}
        if self._sharded is not None:
            paths["/shards"] = self._shards
        return ProbeServer(paths, port=port, host=host)

    async def _healthz(self) -> ProbeResponse:
        checks = dict(self._health_checks)
        if self._elector is not None:
            checks["leader election"] = self._elector.check_health
        if self._sharded is not None:
            checks["shards"] = self._sharded.check_health
        if self._webhooks is not None:
            checks["webhooks"] = self._webhooks.check_health
        return await run_checks(checks)

    async def _readyz(self) -> ProbeResponse:
        checks: dict[str, Callable[[], object]] = {**self._ready_checks}
        checks |= {"caches": self._check_caches} if self._clusters is None else self._clusters.checks()
        checks["running"] = self._check_running
        if self._webhooks is not None:
            checks["webhooks"] = self._webhooks.check_ready
        return await run_checks(checks, notes=() if self._clusters is None else self._clusters.notes())

    def _check_caches(self) -> None:
        reasons = [reason for each in self._controllers if (reason := each.why_not_ready())]
        if reasons:
            raise UsageError("; ".join(reasons))

    def _check_running(self) -> None:
        if self._stop_requested.is_set():
            raise UsageError("the manager is stopping")

    async def _shards(self) -> ProbeResponse:
        assert self._sharded is not None
        return ProbeResponse(self._sharded.report(), content_type="application/json")

    async def _metrics(self) -> ProbeResponse:
        samples = [*samples_of(self.statistics())]
        if self._client is not None and self._clusters is None:
            rest = self._client.rest
            samples += samples_of(rest.statistics(), host=rest.config.base_url)
        text = metrics_text(samples)
        return ProbeResponse(text, content_type=TEXT_CONTENT_TYPE)


def _make_factory(client: ClientSet | DynamicClient, **options: Any) -> SharedInformerFactory:
    factory = SharedInformerFactory(client, **options)
    factory._starts_later = True
    return factory


def _sharded_work(
    client: ClientSet | DynamicClient | None, options: ShardingOptions | None, clock: Clock | None
) -> ShardedWork | None:
    if options is None:
        return None
    if client is None:
        raise UsageError("shards= needs a client, for the Leases of the shard group")
    # Neither a clock nor a transport of the caller can be used in another thread.
    in_thread = clock is None and not client.rest._has_own_transport
    return ShardedWork(client, options, clock=clock or SuspendAwareClock(), in_thread=in_thread)


def _elector(
    client: ClientSet | DynamicClient | None,
    name: str,
    namespace: str,
    elector: LeaderElector | None,
    clock: Clock,
    *,
    has_clusters: bool,
) -> LeaderElector | None:
    """Return the elector of a manager, made for the Lease with this name if it was not passed."""
    _check_election(name, namespace, elector)
    if not name:
        return elector
    if client is None and has_clusters:
        raise UsageError("leader_election= needs home=, the name of the cluster that has the Lease")
    if client is None:
        raise UsageError("leader_election= needs a client; pass another lock in a LeaderElector, as leader_elector=")
    return LeaderElector(client, name=name, namespace=namespace, clock=clock)


def _check_election(name: object, namespace: str, elector: object) -> None:
    if not isinstance(name, str):
        raise UsageError(f"leader_election={name!r}: expected the name of a Lease; pass an elector as leader_elector=")
    if name and elector is not None:
        raise UsageError("pass leader_election=, the name of a Lease, or leader_elector=, not both")
    if namespace and not name:
        raise UsageError(
            f"lease_namespace={namespace!r} has no effect without leader_election=, the name of the Lease; "
            "a LeaderElector has its own namespace="
        )


async def _run_all(coroutines: Iterable[Coroutine[object, object, object]]) -> None:
    """Run until all have ended; if one fails, cancel the others and raise its error, not an exception group."""
    tasks = [asyncio.create_task(each) for each in coroutines]
    if not tasks:
        return
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
