"""The work of a sharded manager: which keys its workers may take, and what happens when shards come and go.

coordinator ─▶ gained ─▶ caches catch up ─▶ ready: keys are enqueued and taken ─▶ draining ─▶ lost
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.clock import Clock
from listwatch.controller.sharding.controller_shards import ControllerShards
from listwatch.controller.sharding.released_versions import ReleasedVersions
from listwatch.controller.sharding.shard_loads import ShardLoads
from listwatch.controller.sharding.shard_report import shard_report
from listwatch.controller.sharding.shard_statistics import ShardStatistics
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.controller.watching.sources import Sources
from listwatch.errors import ForbiddenError, ListWatchError, ShardLostError, UsageError
from listwatch.informer.shared_informer import AnyInformer
from listwatch.meta import ObjectKey
from listwatch.sharding.coordinator import ShardCoordinator
from listwatch.sharding.coordinator_thread import CoordinatorThread
from listwatch.sharding.namespace_shares import uneven_shares
from listwatch.sharding.options import ShardingOptions
from listwatch.sharding.protocol.replica_actions import Action, CancelShard, Prefetch, StopAll
from listwatch.sharding.protocol.shard_events import ShardDraining, ShardGained, ShardLost, ShardReady
from listwatch.sharding.validity import SessionValidity
from listwatch.tasks.cancellation import log_task_failure
from listwatch.workqueue.queue import LOW_PRIORITY

__all__ = ["ShardedWork"]

_log = logging.getLogger("listwatch.sharding")

_END_MARGIN = 15.0
_STUCK_INTERVAL = 60.0
_NARROW_DELAY = 60.0


class ShardedWork:
    """Connects the coordinator of a replica to the controllers of its manager."""

    def __init__(
        self, client: ClientSet | DynamicClient, options: ShardingOptions, *, clock: Clock, in_thread: bool = True
    ) -> None:
        """`in_thread`: the coordinator has its own thread and connections."""
        self.options = options
        self.space = options.config.space
        self._clock = clock
        self._controllers: list[ControllerShards] = []
        self._ready: dict[int, int] = {}
        self._draining: dict[int, int] = {}
        self._stuck: set[int] = set()
        self._entering: set[int] = set()
        self._gained: list[ShardGained] = []
        self._catching_up: asyncio.Task[None] | None = None
        self._stopping = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._prefetching: asyncio.Task[None] | None = None
        self._lost: dict[tuple[int, int], float] = {}
        """When shards were lost that had running reconciles, by shard and token."""
        self._owned: frozenset[int] = frozenset()
        self.caches = ShardedCaches(self.space, self._informers, clock=clock, read_path=options.read_path)
        self._loads = ShardLoads(self.caches, self._controllers, clock=clock, retry_period=options.timing.retry_period)
        self._versions = ReleasedVersions()
        self._narrowing: asyncio.Task[None] | None = None
        self.part_of = self.caches.part_of
        self._namespaces = MetadataClient(client.rest).resource("namespaces")
        self.coordinator = self._make_coordinator(client, in_thread=in_thread)

    def _make_coordinator(
        self, client: ClientSet | DynamicClient, *, in_thread: bool
    ) -> ShardCoordinator | CoordinatorThread:
        from listwatch.models.coordination_v1 import Lease

        assert Lease.resource is not None
        options, config = self.options, client.rest.config
        namespace = options.namespace or config.namespace or "default"
        if in_thread:
            return CoordinatorThread(config, options, namespace=namespace, clock=self._clock, on_action=self._do)
        leases = ResourceClient(client.rest, Lease, Lease.resource)
        return ShardCoordinator(leases, options, namespace=namespace, clock=self._clock, on_action=self._do)

    @property
    def validity(self) -> SessionValidity:
        return self.coordinator.validity

    def add(self, sources: Sources) -> ControllerShards:
        shards = ControllerShards(self, sources)
        self._controllers.append(shards)
        return shards

    async def run(self) -> None:
        """Take part in the group until it has been left; in the end, nothing is owned."""
        for each in self._controllers:
            each.check()
        self._start(self._loads.run(self.coordinator.report_load, lambda: self._owned))
        if self.space.by == "namespace":
            self._start(self._check_shares())
        try:
            await self.coordinator.run()
        finally:
            self._ready.clear()
            for task in [*self._tasks]:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def token_of(self, shard: int) -> int | None:
        """The token of a shard whose objects may be reconciled now."""
        token = self._ready.get(shard)
        return token if token is not None and self.coordinator.validity.token_of(shard) == token else None

    def reconcile_ended(self, shard: int) -> None:
        self._check_drained(shard)
        if not self._running():
            self._lost.clear()
            if self._stopping:
                self._report_stopped(self._stopping)

    def record_write(self, shard: int, resource: str, version: str) -> None:
        """A reconcile of the shard wrote an object; from any thread. The version is empty if it is not known."""
        self._versions.record(shard, resource, version)

    # --- instructions of the coordinator -----------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        match action:
            case Prefetch(shards=shards):
                if self._prefetching is not None:
                    self._prefetching.cancel()
                self._prefetching = self._start(self._prefetch(shards))
            case ShardGained():
                self._owned |= {action.shard}
                self._versions.gain(action.shard, action.token, action.released_versions)
                self.caches.set_shards(self.caches.shards | {action.shard})
                self._gained.append(action)
                if self._catching_up is None or self._catching_up.done():
                    self._catching_up = self._start(self._catch_up())
            case ShardReady(shard=shard, token=token):
                self._ready[shard] = token
                if not self._entering:
                    asyncio.get_running_loop().call_soon(self._enqueue_entering)
                self._entering.add(shard)
            case ShardDraining(shard=shard, token=token):
                self._ready.pop(shard, None)
                self._draining[shard] = token
                self._check_drained(shard)
            case CancelShard(shard=shard, token=token):
                self._cancel(shard)
                self._start(self._report_stuck(shard, token))
            case ShardLost(shard=shard, token=token, reason=reason):
                if self._running(shard):
                    self._lost[shard, token] = self._clock.monotonic()
                self._ready.pop(shard, None)
                self._draining.pop(shard, None)
                self._owned -= {shard}
                if reason != "released":
                    self._cancel(shard)
                self._versions.take(shard)
                if reason != "session":  # the next session probably gets some of the same shards
                    self.caches.set_shards(self.caches.shards - {shard})
                    if self._narrowing is None or self._narrowing.done():
                        self._narrowing = self._start(self._narrow())
                for each in self._controllers:
                    each.forget(shard)
            case StopAll(session=session):
                self._stopping = session
                self._ready.clear()
                self._draining.clear()
                if self._running():
                    self._start(self._stop_at_the_latest(session))
                else:
                    self._report_stopped(session)

    def _start(self, coroutine: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(coroutine, name="shards")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(log_task_failure("listwatch.sharding"))
        return task

    def _running(self, shard: int | None = None) -> list[tuple[ControllerShards, ObjectKey]]:
        return [
            (each, key)
            for each in self._controllers
            for key, (running, _) in each.running.items()
            if shard is None or running == shard
        ]

    def _cancel(self, shard: int) -> None:
        for each, key in self._running(shard):
            each.cancel(key)

    def _check_drained(self, shard: int) -> None:
        token = self._draining.get(shard)
        if token is not None and not self._running(shard):
            del self._draining[shard]
            # For a resource without a version, the next owner waits for a consistent list.
            versions = self._versions.take(shard)
            asyncio.get_running_loop().call_soon(self.coordinator.drained, shard, token, versions)

    async def _report_stuck(self, shard: int, token: int) -> None:
        """Log that the reconciles of a shard cannot be cancelled: it stays with this replica until they end."""
        await self._clock.sleep(self.options.timing.cleanup)
        try:
            while self._draining.get(shard) == token:
                self._stuck.add(shard)
                keys = ", ".join(str(key) for _, key in self._running(shard))
                message = "Shard group %s: shard %d cannot move, because these reconciles do not end: %s"
                _log.warning(message, self.options.group, shard, keys, extra={"group": self.options.group})
                await self._clock.sleep(_STUCK_INTERVAL)
        finally:
            self._stuck.discard(shard)

    async def _stop_at_the_latest(self, session: str) -> None:
        for each, key in self._running():
            each.cancel(key)
        await self._clock.sleep(self.options.timing.cleanup)
        if self._stopping == session:
            self._report_stopped(session)

    def _report_stopped(self, session: str) -> None:
        self._stopping = ""
        is_clean = not self._running()
        asyncio.get_running_loop().call_soon(lambda: self.coordinator.stopped(session, is_clean=is_clean))

    # --- caches ------------------------------------------------------------------------------------------------------

    def _informers(self) -> list[AnyInformer]:
        return [*{id(informer): informer for each in self._controllers for informer in each.informers}.values()]

    async def _prefetch(self, shards: frozenset[int]) -> None:
        """Fill the caches with the shards that this replica will own, and keep them until it had time to get them."""
        self.caches.set_shards(self._owned | shards)
        await self.caches.catch_up(dict.fromkeys(shards))
        self.coordinator.prefetched()
        # Others may have joined meanwhile: keep only what it still should own, until it had time to get that.
        timing = self.options.timing
        ends = self._clock.monotonic() + timing.lease_duration + timing.settle + timing.grace_period + timing.cleanup
        while self._clock.monotonic() < ends and not self.caches.shards <= self._owned:
            await self._clock.sleep(max(timing.settle, timing.retry_period))
            self.caches.set_shards(self._owned | (self.caches.shards & self.coordinator.state.ownership.wanted))
        self.caches.set_shards(self._owned)

    async def _catch_up(self) -> None:
        """Wait until the caches contain all writes of the earlier owners, for all shards gained so far."""
        while self._gained:
            gained, self._gained = self._gained, []
            reached = await self.caches.catch_up({each.shard: each.released_versions for each in gained})
            for each in gained:
                self._versions.catch_up(each.shard, each.token, reached[each.shard])
                self.coordinator.caught_up(each.shard, each.token, reached[each.shard])

    async def _narrow(self) -> None:
        """Stop requesting events of lost shards; after a delay, since more shards may be lost."""
        await self._clock.sleep(_NARROW_DELAY)
        self.caches.narrow()

    def _enqueue_entering(self) -> None:
        """Enqueue all objects of the shards that became ready: the timers and retries of their last owner are lost."""
        shards = frozenset(shard for shard in self._entering if shard in self._ready)
        self._entering.clear()
        for controller in self._controllers:
            controller.enqueue(controller.keys(shards), LOW_PRIORITY, 0.0)

    def statistics(self) -> ShardStatistics:
        """Counters and current state."""
        state = self.coordinator.state
        own = state.ownership
        phases = [each.phase for each in [*own.owned.values()]]  # the thread of the coordinator changes it
        return ShardStatistics(
            group=self.options.group,
            phase=state.phase.value,
            states={
                "owned": phases.count("working"),
                "catching_up": phases.count("catching-up"),
                "draining": phases.count("draining") + phases.count("releasing") - len(self._stuck),
                "stuck": len(self._stuck),
            },
            wanted=len(own.wanted),
            gains={str(reason): count for reason, count in own.claims.items()},
            sessions_lost=state.sessions_lost,
            fences=dict(own.fences),
            claim_conflicts=own.claim_conflicts,
            writes_refused=self.coordinator.validity.refused,
            unowned_seconds=own.last_gap,
            view_age=max(self._clock.monotonic() - state.view.received_at, 0.0) if state.view.is_listed else 0.0,
            read_paths=self.caches.paths(),
            foreign_events=self.caches.dropped(),
            objects=tuple(count for shard, count in self.caches.counts().items() if shard in self._owned),
            load=self._loads.last,
        )

    # --- reports -----------------------------------------------------------------------------------------------------

    def report(self) -> str:
        """Replicas, shards and moves as JSON, for /shards."""
        queues = [each.queue_statistics() for each in self._controllers]
        return shard_report(
            self.options.group, self.coordinator.state, self.caches, queues, self._waiting(), self._loads.last
        )

    def _waiting(self) -> dict[int, list[tuple[float, str]]]:
        """By shard, the keys that wait in the queues, and for how many seconds."""
        found: dict[int, list[tuple[float, str]]] = {}
        for each in self._controllers:
            for key, seconds in each.waiting():
                if (shard := each.shard_of(key)) is not None:
                    found.setdefault(shard, []).append((seconds, str(key)))
        return found

    def check_health(self) -> None:
        """Raise if a reconcile of a shard that was lost still runs after a whole lease duration."""
        limit = self._clock.monotonic() - self.options.timing.lease_duration
        for each in self._controllers:
            for key, (shard, token) in each.running.items():
                if self._lost.get((shard, token), limit) < limit:
                    raise ShardLostError(
                        f"the reconcile of {key} has not ended, although its shard {shard} (token {token}) was lost "
                        f"more than {self.options.timing.lease_duration:g} s ago; it can write nothing"
                    )

    async def _check_shares(self) -> None:
        """Warn if one replica has much more than its share of the namespaces, when shards have moved; once."""
        view, timing, checked = self.coordinator.state.view, self.options.timing, dict[int, str]()
        while True:
            await self._clock.sleep(max(2 * timing.settle, timing.retry_period))
            owners = {shard: record.identity for shard, record in view.copy_shards().items() if record.holder}
            if owners == checked or len(owners) < self.space.count:
                continue
            try:
                names = [each.name for each in await self._namespaces.list()]
            except ForbiddenError:
                return  # it is only advice
            except ListWatchError:
                continue
            checked = owners
            if text := uneven_shares(self.space, names, owners):
                _log.warning("Shard group %s: %s", self.options.group, text, extra={"group": self.options.group})
                return


def end_margin(options: ShardingOptions, grace_period: float) -> float:
    """How long leaving a group may take."""
    return max(grace_period, options.timing.grace_period) + options.timing.cleanup + _END_MARGIN


def checked_options(
    shards: int | ShardingOptions | None, group: str, by: str, weight: float, exclusive: Sequence[object]
) -> ShardingOptions | None:
    """The options of a manager; None if it is not sharded."""
    if shards is None:
        if group:
            raise UsageError(f"shard_group={group!r} has no effect without shards=, the number of shards")
        return None
    if any(exclusive):
        raise UsageError("pass shards= or leader election, not both: each replica of a sharded manager works")
    if isinstance(shards, ShardingOptions):
        return shards
    if not group:
        raise UsageError("shards= needs shard_group=, the name that all replicas of this program share")
    if by not in ("uid", "namespace"):
        raise UsageError(f"shard_by={by!r}: expected 'uid' or 'namespace'")
    return ShardingOptions(group=group, shards=shards, by="uid" if by == "uid" else "namespace", weight=weight)
