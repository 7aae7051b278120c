"""One watch, one store, many handlers: the informer that most programs use.

source ─▶ Reflector ─▶ DeltaFIFO ─▶ SharedProcessor: Indexer first, then ─▶ one Listener per handler

async with informer:
    await informer.wait_for_sync(timeout=30)
    informer.indexer.get("default/web-0")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from os import PathLike
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from listwatch.backoff import REFLECTOR_BACKOFF, Backoff
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.cache.keys import NAMESPACE, namespace_of
from listwatch.cache.lister import Lister
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import InformerStoppedError, SyncTimeoutError, UsageError, WaitTimeoutError
from listwatch.informer.handlers import (
    AddFunction,
    Change,
    DeleteFunction,
    EvictFunction,
    Handler,
    HandlerFunctions,
    UpdateFunction,
)
from listwatch.informer.informer_cache import CacheClasses, CacheOptions, InformerCache
from listwatch.informer.informer_statistics import InformerStatistics
from listwatch.informer.lifecycle_log import LifecycleLog
from listwatch.informer.listener import (
    HandlerRegistration,
    Listener,
    Overflow,
    Reader,
    check_may_wait_for_sync,
)
from listwatch.informer.mutation_detector import MutationDetector
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.informer.reflector.problems import Problem, guarded_reporter
from listwatch.informer.reflector.reflector import MIN_WATCH, ReflectorOptions
from listwatch.informer.shared_processor import SharedProcessor, SourcePipeline
from listwatch.informer.storage_options import EXCLUDED, PackingPolicy, PersistenceOptions
from listwatch.informer.validation import check_number, check_source, namespaced_kind, resource_of
from listwatch.informer.version_waits import oldest
from listwatch.keyed import Cached
from listwatch.meta import GroupResource
from listwatch.tasks.async_only import AsyncOnly
from listwatch.tasks.callers import SelfWaitError
from listwatch.tasks.cancellation import cancel_and_wait, log_task_failure, until_cancelled
from listwatch.wording import counted

if TYPE_CHECKING:
    from listwatch.cache.compact.packed_indexer import PackedIndexer

__all__ = ["AnyInformer", "FollowedSources", "HandlerRegistration", "SharedIndexInformer"]

T = TypeVar("T", bound=Cached)
R = TypeVar("R")

MIN_RESYNC = 1.0


class SharedIndexInformer(AsyncOnly, Generic[T]):
    """Keeps an indexed store synced with a source, and notifies any number of handlers of each change.

    A handler sees a subsequence of the states that an object had, in their order; the store already contains the
    state that a handler is notified of, or a later one. Handlers are independent: each one is called for one change
    after another, at its own pace. Cached objects are shared: `copy()` one to change it.

    It runs once: `async with informer`, or `await informer.run()` until it is cancelled or stopped. `source` may be a
    mapping from namespaces to sources, which then fill one store; others can be added and removed. `on_problem`
    receives every error; none of them ends the informer.

    `page_size`, `streaming`, `min_watch`, `backoff` and `internal_error_window` determine how the source is read: the
    size of the pages of a list, whether the first list is streamed if the server supports it, the minimum duration of
    a watch (less than 300 s counts as 300 s), the delay after a failure, and for how many seconds a watch is retried
    after internal server errors.

    `drop_fields` are paths of fields that are not stored, such as `metadata.managedFields`. `compact=True` keeps the
    objects compressed, in about a fifth of the memory if they are similar; it needs the extra `compact`.

    `cache_dir` is a folder for a file that keeps the objects across restarts: after one, the store is read from it and
    the watch is resumed without a list. `cache_exclude` are kinds and resources that are not written, by default
    Secrets.
    """

    _indexer_type: ClassVar[type[Indexer[Any]]] = Indexer
    _packed_indexer_type: ClassVar[type[PackedIndexer[Any]] | None] = None
    _packing_policy: ClassVar[PackingPolicy] = PackingPolicy()
    _persistence: ClassVar[PersistenceOptions] = PersistenceOptions()
    _listener_type: ClassVar[type[Listener[Any]]] = Listener
    _how_to_start: ClassVar[str] = "write `async with informer:`, or call `informer.start()` in the event loop"

    def __init__(
        self,
        source: ListerWatcher[T] | Mapping[str, ListerWatcher[T]],
        kind: type[T],
        *,
        resync: float = 0.0,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        transform: Callable[[T], T] | None = None,
        drop_fields: Sequence[str] = (),
        compact: bool = False,
        cache_dir: str | PathLike[str] | None = None,
        cache_exclude: Collection[type | str] = EXCLUDED,
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
        sources = [*_by_namespace(source, kind)]
        check_number(resync, "resync must be a number of seconds")
        resource = resource_of(kind)
        self.name = name or (str(resource.group_resource) if resource else kind.__name__)
        self.kind = kind
        self._resync = resync
        self._clock = clock or SystemClock()
        self._on_problem = guarded_reporter(on_problem, self._clock)
        self._lifecycle = LifecycleLog(self.name, self._clock)
        self._cache = self._make_cache(
            CacheOptions(
                indexers={NAMESPACE: namespace_of, **(indexers or {})},
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
        )
        for scope, each in sources:
            self._cache.add(scope, each)
        self._pipelines = self._cache.pipelines
        self.indexer: Indexer[T] = self._cache.indexer
        self.indexer._namespaced_kind = namespaced_kind(kind, [each for _, each in sources])
        self.lister: Lister[T] = Lister(
            self.indexer, resource.group_resource if resource else GroupResource("", self.name)
        )
        self._detector: MutationDetector[T] | None = MutationDetector.from_environment(self._cache.report)
        self._processor: SharedProcessor[T] = self._make_processor()
        self._processor.awaits_sources = isinstance(source, FollowedSources)
        self._tasks: dict[Listener[T], asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._is_stopped = False
        self._main: asyncio.Task[None] | None = None

    _cluster = ""
    """The name of the cluster of its objects, set by the factory of a manager of several clusters."""

    @property
    def _name_in_cluster(self) -> str:
        """Its name without that of the cluster."""
        return self.name.removeprefix(f"{self._cluster}/") if self._cluster else self.name

    def _make_cache(self, options: CacheOptions[T]) -> InformerCache[T]:
        classes = CacheClasses(self._indexer_type, self._packed_indexer_type, self._packing_policy, self._persistence)
        return InformerCache(
            self.kind,
            self.name,
            options,
            classes,
            clock=self._clock,
            on_problem=self._on_problem,
            backlog=lambda: self._processor.backlog,
        )

    def _make_processor(self) -> SharedProcessor[T]:
        return SharedProcessor(
            self.indexer,
            self._pipelines,
            ready=self._cache.ready,
            clock=self._clock,
            report=self._cache.report,
            on_synced=self._log_synced,
            on_applied=self._cache.batch_applied,
            detector=self._detector,
            damaged=self._cache.damaged,
            # The detector finds what a handler has changed in the parts.
            new_releaser=(lambda _: None) if self._detector else self._cache.new_releaser,
        )

    def __repr__(self) -> str:
        state = "stopped" if self._is_stopped else "synced" if self.has_synced else "not synced"
        return f"<SharedIndexInformer of {self.name}, {state}: {len(self.indexer)} @{self.indexer.resource_version}>"

    # --- handlers ------------------------------------------------------------------------------------------------

    def add_handler(
        self,
        handler: Handler[T] | HandlerFunctions[T] | None = None,
        *,
        on_add: AddFunction[T] | None = None,
        on_update: UpdateFunction[T] | None = None,
        on_delete: DeleteFunction[T] | None = None,
        on_evict: EvictFunction[T] | None = None,
        filter: Callable[[T], bool] | None = None,  # the usual name for this
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
        on_failure: Callable[[str, Change[T], Exception], None] | None = None,
    ) -> HandlerRegistration[T]:
        """Call these functions, plain or async, for every object of the store, and then for every change.

        `on_evict` gets objects that leave the cache of a sharded replica with their shard. `filter` selects the objects
        to handle. All objects are repeated as updates every `resync` seconds; None uses
        the informer's period. If more than `max_pending` changes are pending, they are coalesced into one per object,
        or only logged with `overflow="report"`. `on_failure` receives the name of the handler, the change and the
        exception; without it, failures are logged.
        """
        listener = self._listener_type(
            HandlerFunctions.of(handler, on_add=on_add, on_update=on_update, on_delete=on_delete, on_evict=on_evict),
            accepts=filter,
            resync=self._resync_period(resync),
            max_pending=max_pending,
            overflow=overflow,
            on_failure=on_failure,
        )
        self._processor.add(listener, on_added=partial(self._start, listener))
        return HandlerRegistration(
            listener,
            remove=self._processor.remove,
            wait_ended=self._wait_ended,
            wait_for_sync=self.wait_for_sync,
        )

    def _resync_period(self, requested: float | None) -> float:
        if self._is_stopped:
            raise InformerStoppedError(f"cannot add a handler to the informer of {self.name}: it has stopped")
        period = self._resync if requested is None else requested
        check_number(period, "resync must be a number of seconds")
        return max(period, MIN_RESYNC) if period > 0 else 0.0

    def on_add(self, function: Callable[[T], R]) -> Callable[[T], R]:
        """Add a handler, as a decorator: `@informer.on_add` calls the function with every new object."""
        self.add_handler(on_add=function)
        return function

    def on_update(self, function: Callable[[T, T], R]) -> Callable[[T, T], R]:
        """Add a handler, as a decorator: the function gets the old and the new state of every changed object."""
        self.add_handler(on_update=function)
        return function

    def on_delete(self, function: Callable[[T], R]) -> Callable[[T], R]:
        """Add a handler, as a decorator: the function gets the last state of every deleted object."""
        self.add_handler(on_delete=function)
        return function

    async def changes(
        self,
        *,
        filter: Callable[[T], bool] | None = None,  # the usual name for this
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> AsyncGenerator[Change[T], None]:
        """Yield all objects of the store as additions, then every change, until the informer stops.

        The options are those of `add_handler`. A change counts as handled when the next one is requested.
        """
        reader = self._add_reader(accepts=filter, resync=resync, max_pending=max_pending, overflow=overflow)
        try:
            async with aclosing(reader.changes()) as changes:
                async for change in changes:
                    yield change
                    reader.was_handled(change)
        finally:
            self._remove_reader(reader)

    def _add_reader(
        self,
        *,
        accepts: Callable[[T], bool] | None = None,
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> Reader[T]:
        """Return a listener from which the caller takes changes itself; it must be removed in the end."""
        period = self._resync_period(resync)
        reader: Reader[T] = Reader(accepts=accepts, resync=period, max_pending=max_pending, overflow=overflow)
        self._processor.add(reader, on_added=lambda: None)
        return reader

    def _remove_reader(self, reader: Reader[T]) -> None:
        self._processor.remove(reader)

    # --- sources -------------------------------------------------------------------------------------------------

    def add_source(self, namespace: str, source: ListerWatcher[T]) -> None:
        """Add the source of another namespace; handlers are notified of its objects as initial additions.

        Only for an informer that was created with a mapping of sources.
        """
        check_source(source, self.kind)
        if self._is_stopped:
            raise InformerStoppedError(f"cannot add a source to the informer of {self.name}: it has stopped")
        if any(each.scope is None for each in self._pipelines):
            raise UsageError(
                f"cannot add a namespace to the informer of {self.name}: it has one source for all of them; create it "
                "with a mapping of namespaces to sources"
            )
        if any(each.scope == namespace for each in self._pipelines):
            raise UsageError(f"the informer of {self.name} has a source for the namespace {namespace!r} already")
        self._cache.add(namespace, source)

    async def remove_source(self, namespace: str) -> None:
        """Remove the source of a namespace, and wait until its objects have left the store.

        Handlers are notified of deletions, with `final_state_known=False`: the objects may still exist on the server.
        """
        pipeline = self._pipeline_of(namespace)
        if self._group is None:
            raise UsageError(f"cannot remove a source of the informer of {self.name}: it does not run")
        await self._cache.stop(pipeline)
        pipeline.fifo.remove_all()
        await pipeline.removed.wait()
        self._cache.release(pipeline)

    def _watches_namespace(self, namespace: str) -> bool:
        return any(each.scope in (None, namespace) for each in self._pipelines)

    def _complete_sources(self) -> None:
        """Let the store count as synced when the sources that were added have been listed."""
        self._processor.awaits_sources = False
        self._processor.check_synced()

    # --- waiting -------------------------------------------------------------------------------------------------

    @property
    def has_synced(self) -> bool:
        """True once the store contains the first list of every source."""
        return self._processor.has_synced

    @property
    def stale_since(self) -> datetime | None:
        """When the objects of the store were last known to be those of the server, if that is not now.

        With `cache_dir`, the objects of a file can be read before the server has confirmed them; `has_synced` is False
        until then. None if there are no such objects.
        """
        found = [each.stale_since for each in self._pipelines]
        return min((each for each in found if each is not None), default=None)

    async def wait_until_readable(self, timeout: float | None = None) -> bool:
        """Wait until the store has synced, or its objects were read from files; return whether it has synced.

        If it has not, the objects are those of `stale_since`. Raises WaitTimeoutError.
        """
        try:
            async with time_limit(self._clock, timeout):
                await self._processor.readable.wait()
        except TimeoutError:
            message = f"the cache of {self.name} cannot be read within {timeout} s: {self.why_not_synced()}"
            raise WaitTimeoutError(message) from None
        if self._is_stopped and not self.has_synced and self.stale_since is None:
            raise InformerStoppedError(f"the informer of {self.name} stopped before its cache could be read")
        return self.has_synced

    @property
    def is_stopped(self) -> bool:
        """True once the informer was stopped, or has failed; its store can still be read."""
        return self._is_stopped

    async def wait_for_sync(
        self, timeout: float | None = None, *, handlers: Sequence[HandlerRegistration[T]] | None = None
    ) -> None:
        """Wait until the store has synced and all handlers have handled it; raises SyncTimeoutError with the reason.

        A handler that has not handled all initial objects cannot wait for itself: it gets a UsageError.
        """
        await self._check_may_wait_for_sync(handlers)
        try:
            async with time_limit(self._clock, timeout):
                await self._processor.settled.wait()
                for listener in self._processor if handlers is None else [each._listener for each in handlers]:
                    await listener.caught_up.wait()
        except TimeoutError:
            raise self._sync_timeout(timeout) from None
        if self._is_stopped and not self.has_synced:
            raise InformerStoppedError(f"the informer of {self.name} stopped before it had synced")

    async def _check_may_wait_for_sync(self, handlers: Sequence[HandlerRegistration[T]] | None = None) -> None:
        await check_may_wait_for_sync([*self._processor] if handlers is None else [each._listener for each in handlers])

    def why_not_synced(self) -> str | None:
        """Return why `wait_for_sync` would wait; None if the store and all handlers have synced."""
        slow = [each.name for each in self._processor if not each.caught_up.is_set()]
        if self.has_synced:
            return (
                f"{self.name}: the store has synced, but these handlers have not: {', '.join(slow)}" if slow else None
            )
        if self._main is None:
            return f"{self.name}: the informer was not started; {self._how_to_start}"
        if self.last_error is not None:
            return f"{self.name}: {counted(self.failed_attempts, 'failed attempt')}, the last one: {self.last_error}"
        if self._processor.awaits_sources:
            return f"{self.name}: the namespaces are not known yet"
        return f"{self.name}: no response yet"

    @property
    def last_error(self) -> Exception | None:
        """The error of the last request, if it failed."""
        return next((error for each in self._pipelines if (error := each.reflector.statistics().last_error)), None)

    @property
    def failed_attempts(self) -> int:
        """The number of requests that have failed in a row."""
        return max((each.reflector.statistics().failures_in_a_row for each in self._pipelines), default=0)

    def _sync_timeout(self, timeout: float | None) -> SyncTimeoutError:
        message = f"not synced within {timeout} s: {self.why_not_synced()}"
        return SyncTimeoutError(message, attempts=self.failed_attempts, last_error=self.last_error)

    async def wait_until(
        self, resource_version: str, timeout: float | None = None, *, namespace: str | None = None
    ) -> None:
        """Wait until the store has reached a version, for example that of an own write; raises WaitTimeoutError.

        With several namespaces, pass the namespace of the write: the watch of an idle namespace reports its version
        only about once a minute.
        """
        all_of_them = namespace is None or len(self._pipelines) == 1
        pipelines = self._pipelines if all_of_them else [self._pipeline_of(namespace)]

        def current() -> str:
            return oldest([each.resource_version for each in pipelines])

        try:
            async with time_limit(self._clock, timeout):
                await self._processor.version_waits.wait(resource_version, current)
        except TimeoutError:
            raise WaitTimeoutError(
                f"the cache of {self.name} did not reach version {resource_version} within {timeout} s; "
                f"it has reached {current() or 'none'}"
            ) from None

    def _pipeline_of(self, namespace: str | None) -> SourcePipeline[T]:
        for pipeline in self._pipelines:
            if pipeline.scope == namespace:
                return pipeline
        raise UsageError(f"the informer of {self.name} does not watch the namespace {namespace!r}")

    def statistics(self) -> InformerStatistics:
        """Counters and current state, also of the sources and the handlers."""
        sources = tuple(each.reflector.statistics() for each in self._pipelines)
        contacts = [each.last_contact for each in sources if each.last_contact is not None]
        return InformerStatistics(
            name=self.name,
            objects=len(self.indexer),
            resource_version=self.indexer.resource_version,
            has_synced=self.has_synced,
            is_watching=all(each.is_watching for each in sources),
            last_contact=min(contacts, default=None) if len(contacts) == len(sources) else None,
            queued=sum(len(each.fifo) for each in self._pipelines),
            sources=sources,
            handlers=tuple(listener.statistics() for listener in self._processor),
            resource=resource_of(self.kind),
            processing=self._processor.durations.summary(),
            compact=self._cache.packer.statistics() if self._cache.packer else None,
            stale_since=self.stale_since,
            files=tuple(each.persister.statistics() for each in self._pipelines if each.persister is not None),
        )

    # --- running -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the store synced until cancelled, or until `stop`."""
        if self._main is not None or self._is_stopped:
            raise self._runs_once()
        try:
            await asyncio.wait([self._begin()])
        finally:
            await self.stop()

    def start(self) -> None:
        """Run in the background until `stop`; does nothing if it runs already."""
        if self._is_stopped:
            raise self._runs_once()
        if self._main is None:
            self._begin().add_done_callback(log_task_failure("listwatch.informer"))

    @property
    def _has_begun(self) -> bool:
        return self._main is not None or self._is_stopped

    def _begin(self) -> asyncio.Task[None]:
        self._lifecycle.started()
        self._main = asyncio.create_task(self._run_tasks(), name=f"informer {self.name}")
        return self._main

    async def _run_tasks(self) -> None:
        try:
            async with asyncio.TaskGroup() as self._group:
                self._cache.start(self._group)
                self._group.create_task(self._processor.run(), name=f"informer of {self.name}")
                self._group.create_task(self._processor.run_resyncs(), name=f"resync of {self.name}")
                if self._detector is not None:
                    self._group.create_task(self._detector.run(self._clock), name=f"mutation detector of {self.name}")
                for listener in self._processor:
                    self._start(listener)
                await until_cancelled(then=self._stop)
        finally:
            self._stop()
            await self._cache.close()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _runs_once(self) -> InformerStoppedError:
        return InformerStoppedError(f"the informer of {self.name} was already started; create a new one to run again")

    async def stop(self) -> None:
        """Stop the informer and wait for its end. It cannot be started again; its store can be read."""
        self._check_may_stop()
        if self._main is not None:
            await cancel_and_wait(self._main)
        self._stop()  # again: a task that is cancelled before its first step does not call it

    def _check_may_stop(self) -> None:
        """Raise UsageError in a handler whose thread would wait for itself; the task of a handler is cancelled."""
        if name := next((each.name for each in self._processor if each.blocks_thread), ""):
            raise SelfWaitError(
                f"{name} would stop the informer of {self.name} and wait until {name} returns: "
                "stop it in another thread"
            )

    def _stop(self) -> None:
        self._is_stopped = True
        self._group = None
        self._cache.stop_starting()
        self._lifecycle.stopped(len(self.indexer))
        self._processor.close(InformerStoppedError(f"the informer of {self.name} has stopped"))

    # --- internal ------------------------------------------------------------------------------------------------

    def _start(self, listener: Listener[T]) -> None:
        if self._group is not None:
            task = self._group.create_task(listener.run(), name=f"handler {listener.name} of {self.name}")
            self._tasks[listener] = task
            task.add_done_callback(lambda _: self._tasks.pop(listener, None))

    async def _wait_ended(self, listener: Listener[T]) -> None:
        if (task := self._tasks.get(listener)) is not None:
            await asyncio.wait([task])

    def _log_synced(self) -> None:
        self._lifecycle.synced(len(self.indexer), (each.reflector._listed_by for each in self._pipelines))


class FollowedSources(dict[str, ListerWatcher[T]]):
    """The sources of an informer to which more are added before it counts as synced; it may be empty."""


def _by_namespace(
    source: ListerWatcher[T] | Mapping[str, ListerWatcher[T]], kind: type[T]
) -> Iterable[tuple[str | None, ListerWatcher[T]]]:
    """Return the checked sources with their namespaces; a single source with None."""
    if not isinstance(source, Mapping):
        check_source(source, kind)
        return [(None, source)]
    if not source and not isinstance(source, FollowedSources):
        raise UsageError("the mapping of sources is empty; pass at least one namespace")
    for each in source.values():
        check_source(each, kind)
    return source.items()


AnyInformer = SharedIndexInformer[Any]
"""An informer of objects of any kind."""
