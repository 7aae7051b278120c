"""One watch, one store, many handlers: what most programs use.

source ─▶ Reflector ─▶ DeltaFIFO ─▶ Processor: Indexer first, then ─▶ a Listener for each handler

async with informer:
    await informer.wait_for_sync(timeout=30)
    informer.indexer.get("default/web-0")
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from listwatch.cache import deltas
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.indexer import NAMESPACE, Indexer, IndexFunction, namespace_of
from listwatch.cache.lister import Lister
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import InformerStoppedError, SyncTimeoutError, WaitTimeoutError
from listwatch.informer.handlers import Added, Change, Deleted, Handler, HandlerFunctions, Updated
from listwatch.informer.list_watch import ListerWatcher
from listwatch.informer.listener import Listener, ListenerStatistics, Overflow
from listwatch.informer.mutation_detector import MutationDetector
from listwatch.informer.processing import Processor
from listwatch.informer.reflector import MIN_WATCH, Problem, Reflector, ReflectorStatistics, log_problem
from listwatch.meta import GroupResource, is_newer
from listwatch.objects.object import Object

__all__ = ["HandlerRegistration", "InformerStatistics", "SharedIndexInformer"]

T = TypeVar("T", bound=Object)
F = TypeVar("F", bound=Callable[..., Any])

MIN_RESYNC = 1.0


@dataclass(frozen=True, slots=True)
class InformerStatistics:
    """What an informer holds and how it and its handlers are doing."""

    name: str
    objects: int
    resource_version: str
    has_synced: bool
    queued: int
    sources: tuple[ReflectorStatistics, ...]
    handlers: tuple[ListenerStatistics, ...]


class HandlerRegistration(Generic[T]):
    """One handler at one informer; each registration has a backlog and a sync state of its own."""

    def __init__(self, informer: SharedIndexInformer[T], listener: Listener[T]) -> None:
        self._informer = informer
        self._listener = listener

    @property
    def has_synced(self) -> bool:
        """True once the handler has handled all that was there when it came."""
        return self._listener.caught_up.is_set()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError."""
        await self._informer.wait_for_sync(timeout, handlers=[self])

    def remove(self) -> None:
        """Tell the handler nothing more; a call under way goes on to its end. Removing twice does nothing."""
        self._informer._remove(self._listener)

    async def wait_removed(self) -> None:
        """Remove the handler and wait for the call under way. Not to be awaited by the handler itself."""
        self.remove()
        await self._informer._wait_ended(self._listener)

    def statistics(self) -> ListenerStatistics:
        return self._listener.statistics()


@dataclass(slots=True)
class _Lane(Generic[T]):
    """One source on its way into the store."""

    fifo: DeltaFIFO[T]
    reflector: Reflector[T]
    processor: Processor[T]


class SharedIndexInformer(Generic[T]):
    """Keeps an indexed store equal to what a source holds, and tells any number of handlers what changed.

    The states of an object that a handler sees are some of those it had, in their order; the store is already in the
    state that a handler is told of, or in a later one. Handlers are independent: each is called for one change after
    another, at its own pace. Cached objects are shared: `copy()` before a change.

    It runs once: `async with informer`, or `await informer.run()` until cancelled. `source` may be a mapping from
    namespaces to their sources, which then fill one store. `on_problem` sees every error, and none of them ends it.
    """

    listener_type: ClassVar[type[Listener[Any]]] = Listener

    def __init__(
        self,
        source: ListerWatcher[T] | Mapping[str, ListerWatcher[T]],
        kind: type[T],
        *,
        resync: float = 0.0,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Callable[[T], T] | None = None,
        name: str = "",
        page_size: int | None = None,
        streaming: bool = True,
        min_watch: float = MIN_WATCH,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self.name = name or (str(kind.resource.group_resource) if kind.resource else kind.__name__)
        self.kind = kind
        self.indexer: Indexer[T] = Indexer(
            indexers={NAMESPACE: namespace_of, **(indexers or {})}, on_failure=self._index_failed
        )
        self.lister: Lister[T] = Lister(
            self.indexer, kind.resource.group_resource if kind.resource else GroupResource("", self.name)
        )
        self._resync = resync
        self._on_problem = on_problem
        self._clock = clock or SystemClock()
        self._ready = asyncio.Event()
        self._lanes = [
            self._lane(
                each,
                scope,
                transform,
                name=self.name if scope is None else f"{self.name} in {scope}",
                page_size=page_size,
                streaming=streaming,
                min_watch=min_watch,
                random=random,
            )
            for scope, each in (source.items() if isinstance(source, Mapping) else [(None, source)])
        ]
        self._detector: MutationDetector[T] | None = MutationDetector.from_environment(self._report)
        self._listeners: list[Listener[T]] = []
        self._joining: list[Listener[T]] = []
        self._tasks: dict[Listener[T], asyncio.Task[None]] = {}
        self._is_telling = False
        self._has_synced = False
        self._settled = asyncio.Event()
        """Set when it has synced, or stopped before that."""
        self._version_waiters: list[tuple[str, asyncio.Future[None]]] = []
        self._resync_changed = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None
        self._has_started = self._is_stopped = False
        self._main: asyncio.Task[None] | None = None

    def _lane(
        self,
        source: ListerWatcher[T],
        scope: str | None,
        transform: Callable[[T], T] | None,
        **options: Any,
    ) -> _Lane[T]:
        fifo: DeltaFIFO[T] = DeltaFIFO(
            transform=transform, on_ready=self._ready.set, on_dropped=lambda _, error: self._report(error)
        )
        reflector = Reflector(source, self.kind, fifo, on_problem=self._on_problem, clock=self._clock, **options)
        return _Lane(fifo, reflector, Processor(self.indexer, scope=scope))

    def __repr__(self) -> str:
        doing = "stopped" if self._is_stopped else "in step" if self._has_synced else "not in step"
        return f"<SharedIndexInformer of {self.name}, {doing}: {len(self.indexer)} @{self.indexer.resource_version}>"

    # --- handlers ------------------------------------------------------------------------------------------------

    def add_handler(
        self,
        handler: Handler[T] | None = None,
        *,
        on_add: Callable[..., Any] | None = None,
        on_update: Callable[..., Any] | None = None,
        on_delete: Callable[..., Any] | None = None,
        filter: Callable[[T], bool] | None = None,  # it is what it does
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
        on_failure: Callable[[str, Change[T], Exception], None] | None = None,
    ) -> HandlerRegistration[T]:
        """Call these with every change from now on, and first with all that is there already.

        `resync` tells everything again each so many seconds, as updates; without it the informer's own counts.
        """
        if self._is_stopped:
            raise InformerStoppedError(f"cannot add a handler to the informer of {self.name}: it has stopped already")
        functions = (
            HandlerFunctions.of(handler)
            if handler is not None
            else HandlerFunctions(on_add=on_add, on_update=on_update, on_delete=on_delete)
        )
        period = self._resync if resync is None else resync
        listener = self.listener_type(
            functions,
            accepts=filter,
            resync=max(period, MIN_RESYNC) if period > 0 else 0.0,
            max_pending=max_pending,
            overflow=overflow,
            on_failure=on_failure,
        )
        if self._is_telling:
            self._joining.append(listener)
        else:
            self._join(listener)
        return HandlerRegistration(self, listener)

    def on_add(self, function: F) -> F:
        """`@informer.on_add`: call this function with every new object."""
        self.add_handler(on_add=function)
        return function

    def on_update(self, function: F) -> F:
        """`@informer.on_update`: call this function with the old and the new state of every changed object."""
        self.add_handler(on_update=function)
        return function

    def on_delete(self, function: F) -> F:
        """`@informer.on_delete`: call this function with the last state of every object that is gone."""
        self.add_handler(on_delete=function)
        return function

    async def changes(self) -> AsyncIterator[Change[T]]:
        """All that is there, then every change, for as long as they are read."""
        backlog: deque[Change[T]] = deque()
        awake = asyncio.Event()

        def take(change: Change[T]) -> None:
            backlog.append(change)
            awake.set()

        registration = self._add_taker(take)
        try:
            while True:
                await awake.wait()
                awake.clear()
                while backlog:
                    yield backlog.popleft()
        finally:
            registration.remove()

    def _add_taker(self, take: Callable[[Change[T]], None]) -> HandlerRegistration[T]:
        return self.add_handler(
            on_add=lambda item, is_initial: take(Added(item, is_initial)),
            on_update=lambda old, new: take(Updated(new, old)),
            on_delete=lambda item, final_state_known: take(Deleted(item, final_state_known)),
        )

    # --- waiting -------------------------------------------------------------------------------------------------

    @property
    def has_synced(self) -> bool:
        """True once the store holds what the source held when it was first read."""
        return self._has_synced

    @property
    def is_stopped(self) -> bool:
        return self._is_stopped

    async def wait_for_sync(
        self, timeout: float | None = None, *, handlers: Sequence[HandlerRegistration[T]] | None = None
    ) -> None:
        """Wait until the store is filled and all handlers have handled that; raises SyncTimeoutError that says why."""
        try:
            async with time_limit(self._clock, timeout):
                await self._settled.wait()
                listeners = [*self._listeners, *self._joining] if handlers is None else [h._listener for h in handlers]
                for listener in listeners:
                    await listener.caught_up.wait()
        except TimeoutError:
            raise self._sync_timeout(timeout) from None
        if self._is_stopped and not self.has_synced:
            raise InformerStoppedError(f"the informer of {self.name} stopped before it had synced")

    def why_not_synced(self) -> str | None:
        """What a program should know while it waits; None once there is nothing to wait for."""
        slow = [each.name for each in self._listeners if not each.caught_up.is_set()]
        if self._has_synced:
            return f"{self.name}: the store is filled, but not handled yet by {', '.join(slow)}" if slow else None
        if not self._has_started:
            return f"{self.name}: it was not started; use `async with informer`, or run it"
        if self.last_error is not None:
            return f"{self.name}: {self._attempts} failed tries, the last one: {self.last_error}"
        return f"{self.name}: no answer yet"

    @property
    def last_error(self) -> Exception | None:
        """What keeps it from being in step just now."""
        return next((error for lane in self._lanes if (error := lane.reflector.statistics().last_error)), None)

    @property
    def _attempts(self) -> int:
        return max(lane.reflector.statistics().failures_in_a_row for lane in self._lanes)

    def _sync_timeout(self, timeout: float | None) -> SyncTimeoutError:
        message = f"not in step within {timeout} s: {self.why_not_synced()}"
        return SyncTimeoutError(message, attempts=self._attempts, last_error=self.last_error)

    async def wait_until(self, resource_version: str, timeout: float | None = None) -> None:
        """Wait until the store is as new as a version, as that of a write of one's own; raises WaitTimeoutError."""
        if self._has_reached(resource_version):
            return
        reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (resource_version, reached)
        self._version_waiters.append(entry)
        try:
            async with time_limit(self._clock, timeout):
                await reached
        except TimeoutError:
            present = self.indexer.resource_version or "nothing"
            raise WaitTimeoutError(
                f"the cache of {self.name} is at {present} and did not reach {resource_version} within {timeout} s"
            ) from None
        finally:
            if entry in self._version_waiters:
                self._version_waiters.remove(entry)

    def _has_reached(self, resource_version: str) -> bool:
        present = self.indexer.resource_version
        return bool(present) and present != "0" and not is_newer(resource_version, present)

    def statistics(self) -> InformerStatistics:
        return InformerStatistics(
            name=self.name,
            objects=len(self.indexer),
            resource_version=self.indexer.resource_version,
            has_synced=self.has_synced,
            queued=sum(len(lane.fifo) for lane in self._lanes),
            sources=tuple(lane.reflector.statistics() for lane in self._lanes),
            handlers=tuple(listener.statistics() for listener in self._listeners),
        )

    # --- running -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the store in step until cancelled."""
        if self._has_started:
            raise InformerStoppedError(f"the informer of {self.name} runs once: it was started before; make a new one")
        self._has_started = True
        try:
            async with asyncio.TaskGroup() as self._group:
                for lane in self._lanes:
                    self._group.create_task(lane.reflector.run(), name=f"reflector of {lane.reflector.name}")
                self._group.create_task(self._process(), name=f"informer of {self.name}")
                self._group.create_task(self._resync_handlers(), name=f"resync of {self.name}")
                if self._detector is not None:
                    self._group.create_task(self._detector.run(self._clock), name=f"mutation detector of {self.name}")
                for listener in self._listeners:
                    self._start(listener)
        finally:
            self._stop()

    def start(self) -> None:
        """Run in the background until `stop`; starting what runs does nothing."""
        if self._main is None:
            self._main = asyncio.create_task(self.run(), name=f"informer {self.name}")

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """End what `start` or `async with` began, and wait for that. It stays stopped; its store can be read."""
        if self._main is not None:
            self._main.cancel()
            await asyncio.gather(self._main, return_exceptions=True)
        self._stop()  # once more: a task that was cancelled before its first step never came to it

    def _stop(self) -> None:
        self._is_stopped = True
        self._group = None
        for listener in self._listeners:
            listener.close()
        self._settled.set()
        for _, reached in self._version_waiters:
            if not reached.done():
                reached.set_exception(InformerStoppedError(f"the informer of {self.name} has stopped"))

    async def _process(self) -> None:
        while True:
            await self._ready.wait()
            self._ready.clear()
            for lane in self._lanes:
                while batch := lane.fifo.pop_batch():
                    await self._process_batch(lane, batch)

    async def _process_batch(self, lane: _Lane[T], batch: Sequence[Any]) -> None:
        self._is_telling = True
        try:
            for changes in lane.processor.process(batch):
                self._tell(changes)
                if len(batch) == 1:
                    # A whole state comes alone, in slices: let others have a turn in between.
                    await asyncio.sleep(0)
        finally:
            self._is_telling = False
        lane.fifo.processed(batch)
        self._after(batch)

    def _after(self, batch: Sequence[Any]) -> None:
        if not self.has_synced and all(lane.fifo.has_synced for lane in self._lanes):
            self._has_synced = True
            self._settled.set()
            for listener in self._listeners:
                listener.is_fed()
        if any(isinstance(delta, deltas.Sync) for delta in batch):
            for listener in self._listeners:
                listener.is_syncing = False
        joining, self._joining = self._joining, []
        for listener in joining:
            self._join(listener)
        for version, reached in self._version_waiters:
            if not reached.done() and self._has_reached(version):
                reached.set_result(None)

    def _tell(self, changes: list[Change[T]]) -> None:
        if not changes:
            return
        if self._detector is not None:
            self._detector.remember(changes)
        news = [each for each in changes if not _is_repeated(each)]
        for listener in self._listeners:
            listener.tell(changes if listener.is_syncing else news)

    # --- the handlers' side --------------------------------------------------------------------------------------

    def _join(self, listener: Listener[T]) -> None:
        self._listeners.append(listener)
        listener.next_resync = self._clock.monotonic() + listener.resync_period
        listener.tell([Added(item, is_initial=True) for item in self.indexer.list()])
        if self.has_synced:
            listener.is_fed()
        self._resync_changed.set()
        if self._group is not None:
            self._start(listener)

    def _start(self, listener: Listener[T]) -> None:
        assert self._group is not None
        self._tasks[listener] = self._group.create_task(listener.run(), name=f"handler {listener.name} of {self.name}")

    def _remove(self, listener: Listener[T]) -> None:
        for listeners in (self._listeners, self._joining):
            if listener in listeners:
                listeners.remove(listener)
        listener.close()

    async def _wait_ended(self, listener: Listener[T]) -> None:
        task = self._tasks.pop(listener, None)
        if task is not None:
            await asyncio.wait([task])

    async def _resync_handlers(self) -> None:
        """Mark those whose time has come, and tell everything again to them."""
        while True:
            due = [each.next_resync for each in self._listeners if each.resync_period]
            if not due:
                self._resync_changed.clear()
                await self._resync_changed.wait()
                continue
            await self._clock.sleep(max(min(due) - self._clock.monotonic(), 0.0))
            # A clock may wake a sleeper a rounding error early.
            now = self._clock.monotonic() + 1e-6
            marked = [each for each in self._listeners if each.resync_period and each.next_resync <= now]
            for listener in marked:
                listener.is_syncing = True
                listener.next_resync = now + listener.resync_period
            if marked and self.has_synced:
                for lane in self._lanes:
                    lane.fifo.resync()

    # --- what went wrong -----------------------------------------------------------------------------------------

    def _index_failed(self, name: str, key: str, error: Exception) -> None:
        self._report(RuntimeError(f"the index function {name!r} failed on {self.name} {key}: {error!r}"))

    def _report(self, error: Exception) -> None:
        (self._on_problem or log_problem)(Problem(self.name, error, 0, 0.0))


def _is_repeated(change: Change[Any]) -> bool:
    return isinstance(change, Updated) and change.old.resource_version == change.object.resource_version
