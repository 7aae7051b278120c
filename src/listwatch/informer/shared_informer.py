"""One watch, one store, many handlers: what most programs use.

source ─▶ Reflector ─▶ DeltaFIFO ─▶ Processor: Indexer first, then ─▶ a Listener for each handler

async with informer:
    await informer.wait_for_sync(timeout=30)
    informer.indexer.get("default/web-0")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from random import Random
from types import TracebackType
from typing import Any, ClassVar, Generic, Self, TypeVar

from listwatch.backoff import REFLECTOR_BACKOFF, Backoff
from listwatch.cache import deltas
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.cache.keys import NAMESPACE, namespace_of
from listwatch.cache.lister import Lister
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.cooperative import TimeSlice
from listwatch.errors import InformerStoppedError, SyncTimeoutError, UsageError, WaitTimeoutError
from listwatch.informer.audience import Audience
from listwatch.informer.cancellation import cancel_and_wait, log_end, until_cancelled
from listwatch.informer.handlers import Change, Handler, HandlerFunctions
from listwatch.informer.lane import Lane
from listwatch.informer.list_watch import ListerWatcher, by_namespace
from listwatch.informer.listener import Listener, ListenerStatistics, Overflow, Reader
from listwatch.informer.mutation_detector import MutationDetector
from listwatch.informer.reflector import MIN_WATCH, Problem, ReflectorStatistics, reporter
from listwatch.informer.registration import HandlerRegistration
from listwatch.informer.validation import check_number
from listwatch.informer.version_waits import VersionWaits, oldest
from listwatch.meta import GroupResource, Resource
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
    resource: Resource | None
    """What it informs about, as far as its kind knows."""


class SharedIndexInformer(Generic[T]):
    """Keeps an indexed store equal to what a source holds, and tells any number of handlers what changed.

    The states of an object that a handler sees are some of those it had, in their order; the store is already in the
    state that a handler is told of, or in a later one. Handlers are independent: each is called for one change after
    another, at its own pace. Cached objects are shared: `copy()` before a change.

    It runs once: `async with informer`, or `await informer.run()` until cancelled or stopped. `source` may be a mapping
    from namespaces to sources, which then fill one store. `on_problem` sees every error, and none of them ends it.

    `page_size`, `streaming`, `min_watch`, `backoff` and `internal_error_window` say how the source is read: how many
    objects at a time, whether as a stream where that can be had, how long a watch lasts at least, how long to wait
    after a failure, and for how many seconds internal errors of a server are taken for passing.
    """

    indexer_type: ClassVar[type[Indexer[Any]]] = Indexer
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
        backoff: Backoff = REFLECTOR_BACKOFF,
        internal_error_window: float = 0.0,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        sources = by_namespace(source, kind)
        check_number(resync, "resync is a number of seconds")
        self.name = name or (str(kind.resource.group_resource) if kind.resource else kind.__name__)
        self.kind = kind
        self.indexer: Indexer[T] = self.indexer_type(
            indexers={NAMESPACE: namespace_of, **(indexers or {})},
            on_failure=lambda _name, _key, error: self._report(error),
        )
        self.lister: Lister[T] = Lister(
            self.indexer, kind.resource.group_resource if kind.resource else GroupResource("", self.name)
        )
        self._resync = resync
        self._report_to = reporter(on_problem)
        self._clock = clock or SystemClock()
        self._ready = asyncio.Event()
        self._lanes = [
            Lane(
                each,
                kind,
                self.indexer,
                scope=scope,
                transform=transform,
                on_ready=self._ready.set,
                report=self._report_to,
                name=self.name if scope is None else f"{self.name} in {scope}",
                page_size=page_size,
                streaming=streaming,
                min_watch=min_watch,
                backoff=backoff,
                internal_error_window=internal_error_window,
                clock=self._clock,
                random=random,
            )
            for scope, each in sources
        ]
        self._detector: MutationDetector[T] | None = MutationDetector.from_environment(self._report)
        self._audience: Audience[T] = Audience(self.indexer.list, self._clock, self._report)
        self._tasks: dict[Listener[T], asyncio.Task[None]] = {}
        self._has_synced = False
        self._settled = asyncio.Event()
        """Set when it has synced, or stopped before that."""
        self._version_waits = VersionWaits()
        self._group: asyncio.TaskGroup | None = None
        self._is_stopped = False
        self._main: asyncio.Task[None] | None = None

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
        listener = self.listener_type(
            HandlerFunctions.of(handler, on_add=on_add, on_update=on_update, on_delete=on_delete),
            accepts=filter,
            resync=self._resync_period(resync),
            max_pending=max_pending,
            overflow=overflow,
            on_failure=on_failure,
        )
        self._audience.join(listener, then=partial(self._start, listener))
        return HandlerRegistration(
            listener,
            leave=self._audience.leave,
            wait_ended=self._wait_ended,
            wait_for_sync=self.wait_for_sync,
        )

    def _resync_period(self, asked: float | None) -> float:
        if self._is_stopped:
            raise InformerStoppedError(f"cannot add a handler to the informer of {self.name}: it has stopped already")
        period = self._resync if asked is None else asked
        check_number(period, "resync is a number of seconds")
        return max(period, MIN_RESYNC) if period > 0 else 0.0

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

    async def changes(
        self,
        *,
        filter: Callable[[T], bool] | None = None,  # it is what it does
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> AsyncGenerator[Change[T], None]:
        """All that is there, then every change, for as long as they are read and the informer runs.

        The options are those of `add_handler`. A change counts as handled when the next one is asked for.
        """
        reader = self._add_reader(accepts=filter, resync=resync, max_pending=max_pending, overflow=overflow)
        try:
            async with aclosing(reader.changes()) as changes:
                async for change in changes:
                    yield change
                    reader.was_handled(change)
        finally:
            self._remove_reader(reader)

    def _add_reader(self, *, resync: float | None = None, **options: Any) -> Reader[T]:
        """Somebody who takes changes himself, as `changes()` does; to be removed in the end."""
        reader: Reader[T] = Reader(resync=self._resync_period(resync), **options)
        self._audience.join(reader, then=lambda: None)
        return reader

    def _remove_reader(self, reader: Reader[T]) -> None:
        self._audience.leave(reader)

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
                for listener in self._audience if handlers is None else [each._listener for each in handlers]:
                    await listener.caught_up.wait()
        except TimeoutError:
            raise self._sync_timeout(timeout) from None
        if self._is_stopped and not self.has_synced:
            raise InformerStoppedError(f"the informer of {self.name} stopped before it had synced")

    def why_not_synced(self) -> str | None:
        """What a program should know while it waits; None once there is nothing to wait for."""
        slow = [each.name for each in self._audience if not each.caught_up.is_set()]
        if self._has_synced:
            return f"{self.name}: the store is filled, but not handled yet by {', '.join(slow)}" if slow else None
        if self._main is None:
            return f"{self.name}: it was not started; start it, or enter it with a `with` block"
        if self.last_error is not None:
            return f"{self.name}: {self.failed_attempts} failed tries, the last one: {self.last_error}"
        return f"{self.name}: no answer yet"

    @property
    def last_error(self) -> Exception | None:
        """What keeps it from being in step just now."""
        return next((error for lane in self._lanes if (error := lane.reflector.statistics().last_error)), None)

    @property
    def failed_attempts(self) -> int:
        """How often in a row it could not be read."""
        return max(lane.reflector.statistics().failures_in_a_row for lane in self._lanes)

    def _sync_timeout(self, timeout: float | None) -> SyncTimeoutError:
        message = f"not in step within {timeout} s: {self.why_not_synced()}"
        return SyncTimeoutError(message, attempts=self.failed_attempts, last_error=self.last_error)

    async def wait_until(
        self, resource_version: str, timeout: float | None = None, *, namespace: str | None = None
    ) -> None:
        """Wait until the store is as new as a version, as that of a write of one's own; raises WaitTimeoutError.

        Of several namespaces, a quiet one may take a minute to say that it has come so far: name the one that matters.
        """
        lanes = self._lanes if namespace is None or len(self._lanes) == 1 else [self._lane_of(namespace)]

        def present() -> str:
            return oldest([lane.resource_version for lane in lanes])

        try:
            async with time_limit(self._clock, timeout):
                await self._version_waits.wait(resource_version, present)
        except TimeoutError:
            at = present() or "nothing"
            raise WaitTimeoutError(
                f"the cache of {self.name} is at {at} and did not reach {resource_version} within {timeout} s"
            ) from None

    def _lane_of(self, namespace: str) -> Lane[T]:
        for lane in self._lanes:
            if lane.scope == namespace:
                return lane
        raise UsageError(f"the informer of {self.name} does not look at the namespace {namespace!r}")

    def statistics(self) -> InformerStatistics:
        return InformerStatistics(
            name=self.name,
            objects=len(self.indexer),
            resource_version=self.indexer.resource_version,
            has_synced=self.has_synced,
            queued=sum(len(lane.fifo) for lane in self._lanes),
            sources=tuple(lane.reflector.statistics() for lane in self._lanes),
            handlers=tuple(listener.statistics() for listener in self._audience),
            resource=self.kind.resource,
        )

    # --- running -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the store in step until cancelled, or until `stop`."""
        if self._main is not None or self._is_stopped:
            raise self._runs_once()
        try:
            await asyncio.wait([self._begin()])
        finally:
            await self.stop()

    def start(self) -> None:
        """Run in the background until `stop`; starting what runs does nothing."""
        if self._is_stopped:
            raise self._runs_once()
        if self._main is None:
            self._begin().add_done_callback(log_end("listwatch.informer"))

    def _begin(self) -> asyncio.Task[None]:
        self._main = asyncio.create_task(self._work(), name=f"informer {self.name}")
        return self._main

    async def _work(self) -> None:
        try:
            async with asyncio.TaskGroup() as self._group:
                for lane in self._lanes:
                    self._group.create_task(lane.reflector.run(), name=f"reflector of {lane.reflector.name}")
                self._group.create_task(self._process(), name=f"informer of {self.name}")
                self._group.create_task(self._audience.run_resyncs(self._begin_resync), name=f"resync of {self.name}")
                if self._detector is not None:
                    self._group.create_task(self._detector.run(self._clock), name=f"mutation detector of {self.name}")
                for listener in self._audience:
                    self._start(listener)
                await until_cancelled(then=self._stop)
        finally:
            self._stop()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _runs_once(self) -> InformerStoppedError:
        return InformerStoppedError(f"the informer of {self.name} runs once, and did so already; make a new one")

    async def stop(self) -> None:
        """End it, however it was begun, and wait for that. It stays stopped; its store can be read."""
        if self._main is not None:
            await cancel_and_wait(self._main)
        self._stop()  # once more: a task that was cancelled before its first step never came to it

    def _stop(self) -> None:
        self._is_stopped = True
        self._group = None
        self._audience.close()
        self._settled.set()
        self._version_waits.fail(InformerStoppedError(f"the informer of {self.name} has stopped"))

    async def _process(self) -> None:
        time_slice = TimeSlice()
        while True:
            await self._ready.wait()
            self._ready.clear()
            for lane in self._lanes:
                while batch := lane.fifo.pop_batch():
                    await self._process_batch(lane, batch)
                    await time_slice.checkpoint()

    async def _process_batch(self, lane: Lane[T], batch: Sequence[Any]) -> None:
        self._audience.begins()
        tell = self._teller_of(batch[0])
        for changes in lane.processor.process(batch):
            if changes:
                tell(changes)
            if len(batch) == 1:
                # A whole state comes alone, in slices: let others have a turn in between.
                await asyncio.sleep(0)
        # Not when this is cancelled: who came meanwhile would join what is being stopped.
        self._audience.ends()
        lane.fifo.processed(batch)
        self._after_batch()

    def _teller_of(self, delta: object) -> Callable[[list[Change[T]]], None]:
        if isinstance(delta, deltas.SyncAllDelta):
            return partial(self._audience.tell_each, self._audience.take_due())
        return self._tell

    def _tell(self, changes: list[Change[T]]) -> None:
        if self._detector is not None:
            self._detector.remember(changes)
        self._audience.tell(changes)

    def _after_batch(self) -> None:
        if len(self._lanes) > 1:
            # As new as a whole is what its oldest part is.
            self.indexer.bookmark(oldest([lane.resource_version for lane in self._lanes]))
        if not self.has_synced and all(lane.fifo.has_synced for lane in self._lanes):
            self._has_synced = True
            self._settled.set()
            self._audience.is_fed()
        self._version_waits.check()

    def _begin_resync(self) -> None:
        if self.has_synced:
            self._lanes[0].fifo.resync()

    # --- the handlers' side --------------------------------------------------------------------------------------

    def _start(self, listener: Listener[T]) -> None:
        if self._group is not None:
            task = self._group.create_task(listener.run(), name=f"handler {listener.name} of {self.name}")
            self._tasks[listener] = task
            task.add_done_callback(lambda _: self._tasks.pop(listener, None))

    async def _wait_ended(self, listener: Listener[T]) -> None:
        if (task := self._tasks.get(listener)) is not None:
            await asyncio.wait([task])

    # --- what went wrong -----------------------------------------------------------------------------------------

    def _report(self, error: Exception) -> None:
        self._report_to(Problem(self.name, error, 0, 0.0))
