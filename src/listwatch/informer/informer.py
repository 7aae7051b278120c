"""The plain informer: one source, one store, one handler, which is called directly.

There is no backlog: while the handler runs, the store is not updated. `SharedIndexInformer` is for all other uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from os import PathLike
from random import Random
from types import TracebackType
from typing import ClassVar, Generic, Self, TypeVar

from listwatch.backoff import REFLECTOR_BACKOFF, Backoff
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import InformerStoppedError, SyncTimeoutError
from listwatch.informer.handlers import Change, Handler, HandlerFunctions
from listwatch.informer.informer_cache import CacheClasses, CacheOptions, InformerCache
from listwatch.informer.lifecycle_log import LifecycleLog
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.informer.reflector.problems import Problem, guarded_reporter
from listwatch.informer.reflector.reflector import MIN_WATCH, ReflectorOptions, ReflectorStatistics
from listwatch.informer.storage_options import EXCLUDED, PackingPolicy, PersistenceOptions
from listwatch.informer.validation import check_number, check_source, namespaced_kind
from listwatch.keyed import Cached
from listwatch.tasks.async_only import AsyncOnly
from listwatch.tasks.callers import Caller, SelfWaitError, is_caller
from listwatch.tasks.cancellation import cancel_and_wait, cancelled_wait, log_task_failure, until_cancelled
from listwatch.tasks.cooperative import TimeSlice

__all__ = ["Informer"]

T = TypeVar("T", bound=Cached)


class Informer(AsyncOnly, Generic[T]):
    """Keeps an indexed store synced with a source, and calls one handler for each change, in order.

    Exceptions of the handler are passed to `on_problem`. The other options are those of `SharedIndexInformer`.
    """

    _how_to_start: ClassVar[str] = "write `async with informer:`"
    _packing_policy: ClassVar[PackingPolicy] = PackingPolicy()
    _persistence: ClassVar[PersistenceOptions] = PersistenceOptions()

    def __init__(
        self,
        source: ListerWatcher[T],
        kind: type[T],
        handler: Handler[T] | HandlerFunctions[T],
        *,
        resync: float = 0.0,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Callable[[T], T] | None = None,
        drop_fields: Sequence[str] = (),
        compact: bool = False,
        cache_dir: str | PathLike[str] | None = None,
        cache_exclude: Collection[type | str] = EXCLUDED,
        page_size: int | None = None,
        streaming: bool = True,
        min_watch: float = MIN_WATCH,
        backoff: Backoff = REFLECTOR_BACKOFF,
        internal_error_window: float = 0.0,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        check_source(source, kind)
        check_number(resync, "resync must be a number of seconds")
        self.name = kind.__name__
        self._clock = clock or SystemClock()
        self._handler = HandlerFunctions.of(handler)
        self._lifecycle = LifecycleLog(self.name, self._clock)
        self._resync = resync
        self._settled = asyncio.Event()
        """Set when the store has synced, or when the informer has stopped before that."""
        self._cache: InformerCache[T] = InformerCache(
            kind,
            self.name,
            CacheOptions(
                indexers=indexers or {},
                transform=transform,
                drop_fields=drop_fields,
                compact=compact,
                cache_dir=cache_dir,
                cache_exclude=cache_exclude,
                reading=ReflectorOptions(
                    page_size=page_size,
                    streaming=streaming,
                    min_watch=min_watch,
                    backoff=backoff,
                    internal_error_window=internal_error_window,
                    clock=self._clock,
                    random=random,
                ),
            ),
            CacheClasses(Indexer, None, self._packing_policy, self._persistence),
            clock=self._clock,
            on_problem=guarded_reporter(on_problem, self._clock),
            repeats_unchanged=True,
        )
        self._pipeline = self._cache.add(None, source)
        self.indexer: Indexer[T] = self._cache.indexer
        self.indexer._namespaced_kind = namespaced_kind(kind, [source])
        self._main: asyncio.Task[None] | None = None
        self._processing: Caller | None = None
        """The task that calls the handler."""
        self._has_started = self._is_stopped = False

    def __repr__(self) -> str:
        state = "stopped" if self._is_stopped else "synced" if self.has_synced else "not synced"
        return f"<Informer of {self.name}, {state}: {len(self.indexer)} @{self.indexer.resource_version}>"

    @property
    def has_synced(self) -> bool:
        """True once all objects of the first list have been handled."""
        return self._pipeline.fifo.has_synced

    @property
    def stale_since(self) -> datetime | None:
        """When the objects of the store were last known to be those of the server, if they are not confirmed yet.

        They were then read from the file in `cache_dir`.
        """
        return self._pipeline.stale_since

    @property
    def last_sync_resource_version(self) -> str:
        """The version of the last list or event that was received; empty before the first list."""
        return self._pipeline.reflector.last_sync_resource_version

    def statistics(self) -> ReflectorStatistics:
        """Counters and current state of the source."""
        return self._pipeline.reflector.statistics()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError, and UsageError in the handler, which it waits for."""
        if self._is_called_by_handler and not self._settled.is_set():
            raise SelfWaitError(
                f"the handler of the informer of {self.name} called wait_for_sync(), which waits for the handler: "
                "return from the handler, or wait in another task or thread"
            )
        try:
            async with time_limit(self._clock, timeout):
                await self._settled.wait()
        except TimeoutError:
            reflector = self._pipeline.reflector.statistics()
            not_started = f"it was not started; {self._how_to_start}"
            reason = reflector.last_error or ("no response yet" if self._has_started else not_started)
            raise SyncTimeoutError(
                f"the informer of {self.name} did not sync within {timeout} s: {reason}",
                attempts=reflector.failures_in_a_row,
                last_error=reflector.last_error,
            ) from None
        if not self.has_synced:
            raise InformerStoppedError(f"the informer of {self.name} stopped before it had synced")

    @property
    def _is_called_by_handler(self) -> bool:
        return is_caller(self._processing)

    async def run(self) -> None:
        """Keep the store synced until cancelled."""
        if self._has_started:
            raise InformerStoppedError(
                f"the informer of {self.name} was already started; create a new one to run again"
            )
        self._has_started = True
        self._lifecycle.started()
        try:
            async with asyncio.TaskGroup() as group:
                self._cache.start(group)
                group.create_task(self._process(), name=f"informer of {self.name}")
                if self._resync > 0:
                    group.create_task(self._run_resyncs(), name=f"resync of {self.name}")
                await until_cancelled(then=self._stop)
        finally:
            await self._cache.close()

    async def __aenter__(self) -> Self:
        self._main = asyncio.create_task(self.run(), name=f"informer {self.name}")
        self._main.add_done_callback(log_task_failure("listwatch.informer"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._main is not None
        try:
            await cancel_and_wait(self._main)
        finally:
            self._stop()  # again: a task that is cancelled before its first step does not call it

    def _stop(self) -> None:
        self._is_stopped = True
        self._lifecycle.stopped(len(self.indexer))
        self._settled.set()

    async def _process(self) -> None:
        self._processing = asyncio.current_task()
        time_slice, fifo = TimeSlice(), self._pipeline.fifo
        while True:
            await self._cache.ready.wait()
            self._cache.ready.clear()
            while batch := fifo.pop_batch():
                for changes in self._pipeline.apply(batch):
                    for change in changes:
                        await self._handle(change)
                        if self._is_stopped:
                            return
                        await time_slice.checkpoint()
                    await time_slice.checkpoint()
                self._cache.batch_applied()
                self._pipeline.batch_applied()
                fifo.processed(batch)
                if fifo.has_synced and not self._settled.is_set():
                    self._lifecycle.synced(len(self.indexer), [self._pipeline.reflector._listed_by])
                    self._settled.set()

    async def _handle(self, change: Change[T]) -> None:
        try:
            awaitable = self._handler(change)
            if awaitable is not None:
                await awaitable
        except Exception as error:  # noqa: BLE001  # user code; other changes follow
            self._cache.report(error)
        except asyncio.CancelledError as error:
            self._cache.report(cancelled_wait("the handler", error))

    async def _run_resyncs(self) -> None:
        await self._settled.wait()
        while True:
            await self._clock.sleep(self._resync)
            self._pipeline.fifo.resync()
