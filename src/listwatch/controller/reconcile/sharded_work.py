"""The work of a sharded manager: which keys its workers may take, and what happens when shards come and go.

coordinator ─▶ gained ─▶ caches catch up ─▶ ready: keys are enqueued and taken ─▶ draining ─▶ lost
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from listwatch.client.resources.client_set import ClientSet
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.write_guard import guarding_writes
from listwatch.clock import Clock
from listwatch.controller.reconcile.shard_statistics import ShardStatistics
from listwatch.controller.watching.sources import Sources
from listwatch.errors import ListWatchError, UsageError, WaitTimeoutError
from listwatch.informer.shared_informer import AnyInformer
from listwatch.informer.validation import resource_of
from listwatch.keyed import Cached
from listwatch.meta import ObjectKey, is_newer
from listwatch.sharding.coordinator import ShardCoordinator
from listwatch.sharding.options import ShardingOptions
from listwatch.sharding.replica_actions import Action, CancelShard, Prefetch, StopAll
from listwatch.sharding.shard_events import ShardDraining, ShardGained, ShardLost, ShardReady
from listwatch.workqueue.queue import LOW_PRIORITY

__all__ = ["ControllerShards", "ShardedWork"]

_IDLE_WATCH = 1.0
"""Seconds after which the watch of a resource counts as idle: only a bookmark would advance it."""
_RETRY_DELAY = 1.0
_END_MARGIN = 15.0


class ControllerShards:
    """The shards as one controller sees them: which keys are its own, and which of them are being reconciled."""

    def __init__(self, work: ShardedWork, sources: Sources) -> None:
        self._work = work
        self._sources = sources
        self.running: dict[ObjectKey, tuple[int, int]] = {}
        self.cancel: Callable[[ObjectKey], None]
        self.enqueue: Callable[[list[ObjectKey], int], None]

    def shard_of(self, key: ObjectKey) -> int | None:
        """The shard of a key; None for a key without a cached object, if objects are assigned by uid."""
        space = self._work.space
        if space.by == "namespace":
            return space.shard_of(key.namespace)
        found: Cached | None = self._sources.main.indexer._find(key)
        return None if found is None else space.shard_of_object(found)

    def accepts(self, key: ObjectKey) -> bool:
        """Whether this replica reconciles the key now."""
        shard = self.shard_of(key)
        return shard is not None and self._work.token_of(shard) is not None

    @contextmanager
    def reconciling(self, key: ObjectKey) -> Iterator[bool]:
        """Guard the writes of one reconcile; gives False if the key belongs to another replica."""
        shard = self.shard_of(key)
        token = None if shard is None else self._work.token_of(shard)
        if shard is None or token is None:
            yield False
            return
        self.running[key] = shard, token
        check = self._work.coordinator.validity.check
        try:
            with guarding_writes(lambda request: check(shard, token, request.describe())):
                yield True
        finally:
            del self.running[key]
            self._work.reconcile_ended(shard)

    def keys(self, shards: frozenset[int]) -> list[ObjectKey]:
        """The keys of some shards, of all cached objects: what a restart would enqueue."""
        found: dict[ObjectKey, None] = {}
        for source in self._sources.all:
            for item in source.informer.indexer.list():
                found.update(dict.fromkeys(key for key in source._keys_of(item) if self.shard_of(key) in shards))
        return [*found]

    @property
    def informers(self) -> list[AnyInformer]:
        return [source.informer for source in self._sources.all]

    def check(self) -> None:
        """Refuse a cluster-scoped kind that is assigned by namespace: all its objects would be in one shard."""
        resource = resource_of(self._sources.main.kind)
        if self._work.space.by == "namespace" and resource is not None and not resource.namespaced:
            raise UsageError(
                f"{resource.kind} is cluster-scoped, so all its objects would be in one shard: pass shard_by='uid'"
            )


class ShardedWork:
    """Connects the coordinator of a replica to the controllers of its manager."""

    def __init__(self, client: ClientSet | DynamicClient, options: ShardingOptions, *, clock: Clock) -> None:
        from listwatch.models.coordination_v1 import Lease

        assert Lease.resource is not None
        self.options = options
        self.space = options.config.space
        self._clock = clock
        self._controllers: list[ControllerShards] = []
        self._ready: dict[int, int] = {}
        self._draining: dict[int, int] = {}
        self._gained: list[ShardGained] = []
        self._catching_up: asyncio.Task[None] | None = None
        self._stopping = ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._wait_synced: Callable[[], object] | None = None
        self.coordinator = ShardCoordinator(
            ResourceClient(client.rest, Lease, Lease.resource),
            options,
            namespace=options.namespace or client.rest.config.namespace or "default",
            clock=clock,
            on_action=self._do,
        )

    def add(self, sources: Sources) -> ControllerShards:
        shards = ControllerShards(self, sources)
        self._controllers.append(shards)
        return shards

    async def run(self) -> None:
        """Take part in the group until it has been left; in the end, nothing is owned."""
        for each in self._controllers:
            each.check()
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
        if self._stopping and not self._running():
            self._report_stopped(self._stopping)

    # --- instructions of the coordinator -----------------------------------------------------------------------------

    def _do(self, action: Action) -> None:
        match action:
            case Prefetch():
                self._start(self._prefetch())
            case ShardGained():
                self._gained.append(action)
                if self._catching_up is None or self._catching_up.done():
                    self._catching_up = self._start(self._catch_up())
            case ShardReady(shard=shard, token=token):
                self._ready[shard] = token
            case ShardDraining(shard=shard, token=token):
                self._ready.pop(shard, None)
                self._draining[shard] = token
                self._check_drained(shard)
            case CancelShard(shard=shard):
                self._cancel(shard)
            case ShardLost(shard=shard, reason=reason):
                self._ready.pop(shard, None)
                self._draining.pop(shard, None)
                if reason != "released":
                    self._cancel(shard)
            case StopAll(session=session):
                self._stopping = session
                self._ready.clear()
                self._draining.clear()
                if self._running():
                    self._start(self._stop_at_the_latest(session))
                else:
                    self._report_stopped(session)

    def _start(self, coroutine: object) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(coroutine, name="shards")  # type: ignore[arg-type]  # a coroutine
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
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
            # Without versions, the next owner waits for a consistent list.
            asyncio.get_running_loop().call_soon(self.coordinator.drained, shard, token, None)

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

    async def _prefetch(self) -> None:
        for informer in self._informers():
            await informer.wait_for_sync(handlers=())
        self.coordinator.prefetched()

    async def _catch_up(self) -> None:
        """Wait until the caches contain all writes of the earlier owners, for all shards gained so far."""
        while self._gained:
            gained, self._gained = self._gained, []
            for informer in self._informers():
                await self._catch_up_with(informer)
            for each in gained:
                self.coordinator.caught_up(each.shard, each.token, None)
            shards = frozenset(each.shard for each in gained if self._ready.get(each.shard) == each.token)
            for controller in self._controllers:
                controller.enqueue(controller.keys(shards), LOW_PRIORITY)

    async def _catch_up_with(self, informer: AnyInformer) -> None:
        await informer.wait_for_sync(handlers=())
        for pipeline in informer._pipelines:
            source = pipeline.reflector._source
            while True:
                try:
                    # A consistent list, sent after the claims succeeded, is not older than the writes before them.
                    page = await source.list(limit=1)
                    await informer.wait_until(page.resource_version, _IDLE_WATCH, namespace=pipeline.scope)
                except WaitTimeoutError:
                    if await self._has_everything(informer, pipeline.scope, source):
                        break
                except ListWatchError:
                    await self._clock.sleep(_RETRY_DELAY)
                else:
                    break

    async def _has_everything(self, informer: AnyInformer, scope: str | None, source: object) -> bool:
        """Whether the cache contains a consistent list: an idle watch reports its version only once a minute."""
        try:
            listed = await source.list(limit=0)  # type: ignore[attr-defined]  # a ListerWatcher
        except ListWatchError:
            return False
        versions = {item.cache_key: item.resource_version for item in listed}
        for key, version in versions.items():
            found = informer.indexer.get(key)
            if found is None or is_newer(version, found.resource_version):
                return False
        in_scope = (item for item in informer.indexer.list() if not scope or item.cache_key.startswith(f"{scope}/"))
        return all(
            item.cache_key in versions or is_newer(item.resource_version, listed.resource_version) for item in in_scope
        )

    def statistics(self) -> ShardStatistics:
        """Counters and current state."""
        state = self.coordinator.state
        own = state.ownership
        phases = [each.phase for each in own.owned.values()]
        return ShardStatistics(
            group=self.options.group,
            phase=state.phase.value,
            states={
                "owned": phases.count("working"),
                "catching_up": phases.count("catching-up"),
                "draining": phases.count("draining") + phases.count("releasing"),
            },
            wanted=len(own.wanted),
            gains={str(reason): count for reason, count in own.claims.items()},
            sessions_lost=state.sessions_lost,
            fences=dict(own.fences),
            claim_conflicts=own.claim_conflicts,
            writes_refused=self.coordinator.validity.refused,
            unowned_seconds=own.last_gap,
        )

    # --- reports -----------------------------------------------------------------------------------------------------

    def report(self) -> str:
        """Replicas, shards and moves as JSON, for /shards."""
        state = self.coordinator.state
        view, objects = state.view, self._objects()
        generation = 0 if view.config is None else view.config.generation
        shards = [
            {
                "shard": shard,
                "range": str(self.space.range_of(shard)),
                "holder": record.identity if record.holder else "",
                "session": record.holder,
                "since": None if record.acquired is None else record.acquired.isoformat(),
                "token": record.token,
                "objects": objects.get(shard, 0),
                "state": self._state_of(shard),
            }
            for shard, record in sorted(view.shards_of(generation).items())
        ]
        replicas = [
            {
                "identity": each.identity,
                "session": each.session,
                "state": each.state,
                "weight": each.weight,
                "shards": sum(record.holder == each.session for record in view.shards_of(generation).values()),
                "renewed": None if each.renewed is None else each.renewed.isoformat(),
            }
            for each in sorted(view.sessions.values(), key=lambda each: each.identity)
        ]
        moves = [
            {"shard": each.shard, "from": each.previous, "to": each.owner, "reason": each.reason, "token": each.token}
            for each in view.moves
        ]
        value = {
            "group": self.options.group,
            "configuration": json.loads(state.config.text),
            "replica": state.identity,
            "phase": state.phase.value,
            "session": state.session,
            "wanted": sorted(state.ownership.wanted),
            "owned": sorted(state.ownership.owned),
            "replicas": replicas,
            "shards": shards,
            "moves": moves,
        }
        return json.dumps(value, indent=1) + "\n"

    def _state_of(self, shard: int) -> str:
        own = self.coordinator.state.ownership.owned.get(shard)
        return "" if own is None else own.phase

    def _objects(self) -> dict[int, int]:
        counts: dict[int, int] = {}
        for controller in self._controllers:
            for item in controller._sources.main.indexer.list():
                shard = self.space.shard_of_object(item)
                counts[shard] = counts.get(shard, 0) + 1
        return counts


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
