"""The path of a change from the sources of an informer to its store and its listeners.

    SourcePipeline   source ─▶ Reflector ─▶ DeltaFIFO ─▶ Indexer
    SharedProcessor  applies the batches of all sources to the store, then notifies each Listener

`SharedIndexInformer` is the public class around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack, cast

from listwatch.cache.delta_fifo import DeltaFIFO, NewList
from listwatch.cache.deltas import (
    BookmarkDelta,
    DeletedDelta,
    Delta,
    EvictedDelta,
    HealedDelta,
    ObjectDelta,
    RemovedAllDelta,
    ReplacedAllDelta,
    ReplacedDelta,
    RestoredAllDelta,
    SyncAllDelta,
)
from listwatch.cache.indexer import AppliedBatch, Indexer
from listwatch.cache.keys import NAMESPACE
from listwatch.cache.replacement import AppliedDelta, sliced
from listwatch.clock import Clock, time_limit
from listwatch.errors import ListWatchError, ResourceVersionError
from listwatch.histogram import Histogram
from listwatch.informer.decoded_parts import PartReleaser
from listwatch.informer.handlers import Change, ObjectAdded, ObjectDeleted, ObjectEvicted, ObjectUpdated
from listwatch.informer.listener import Listener
from listwatch.informer.mutation_detector import MutationDetector
from listwatch.informer.reflector.lister_watcher import ListerWatcher, reader_of
from listwatch.informer.reflector.problems import Problem, guarded_reporter
from listwatch.informer.reflector.reflector import Reflector, ReflectorOptions
from listwatch.informer.reflector.state import NO_VERSION
from listwatch.informer.stored_form import StoredForm, request_only_kept_fields
from listwatch.informer.version_waits import VersionWaits, oldest
from listwatch.keyed import Cached
from listwatch.meta import is_known_older, is_newer
from listwatch.tasks.cooperative import TimeSlice
from listwatch.wording import counted

if TYPE_CHECKING:
    from listwatch.informer.persistence.persister import Persister

__all__ = ["SharedProcessor", "SourcePipeline"]

T = TypeVar("T", bound=Cached)

# The buckets of client-go, in seconds.
_PROCESSING_BOUNDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_NOT_RECORDED = frozenset({RestoredAllDelta, SyncAllDelta, RemovedAllDelta, EvictedDelta})
"""Deltas that do not change what is in the file of a source."""


class SourcePipeline(Generic[T]):
    """One source of an informer: reads it, queues its deltas, and applies them to the store.

    With a scope, the source contains only that namespace, and a list replaces only the objects of that namespace.
    `repeats_unchanged` if a list also yields the objects that it has not changed.
    """

    def __init__(
        self,
        source: ListerWatcher[T],
        kind: type[T],
        indexer: Indexer[T],
        *,
        name: str = "",
        scope: str | None = None,
        form: StoredForm[T] | None = None,
        new_list: NewList[T] | None = None,
        repeats_unchanged: bool = False,
        on_ready: Callable[[], None] | None = None,
        on_problem: Callable[[Problem], None] | None = None,
        damaged: Callable[[], Mapping[str, T]] = dict,
        backlog: Callable[[], int] = lambda: 0,
        persister: Persister[T] | None = None,
        **options: Unpack[ReflectorOptions],
    ) -> None:
        """`damaged` returns the objects of the store that a list must replace, although it has the same version.

        `backlog` returns the number of pending calls of handlers. `persister` keeps the objects of the source in a
        file.
        """
        report = guarded_reporter(on_problem, options.get("clock"))

        def report_dropped(_: T, error: Exception) -> None:
            report(Problem(self.reflector.name, error, 0, 0.0))

        self.scope = scope
        self.fifo: DeltaFIFO[T] = DeltaFIFO(
            transform=form.function if form else None,
            new_list=new_list,
            on_ready=on_ready,
            on_dropped=report_dropped,
            stored=indexer._find,
        )
        self._damaged = damaged
        if form is not None:
            source = request_only_kept_fields(source, form)
        self.read_object = reader_of(source, kind)
        """Reads one object from the server; None if the source cannot do that."""
        self.reflector = Reflector(
            source,
            kind,
            self.fifo,
            name=name,
            on_problem=report,
            cached=self._cached_objects,
            backlog=backlog,
            **options,
        )
        if (attach := getattr(source, "_attach", None)) is not None:
            attach(self.fifo, indexer)  # a source that evicts objects
        self.resource_version = ""
        """The version of this source that the store has reached; empty before the first list."""
        # After a list without a version, a watch starts with all objects in any order.
        self._is_unordered = False
        # What was deleted between that list and the start of the watch stays in the store until the next list.
        self._is_complete = True
        self.removed = asyncio.Event()
        """Set when the objects of a removed source have left the store."""
        self.are_as_received = self.reflector.reads_received_objects and (form is None or form.is_encoded)
        """Whether the objects have nothing but what is in their bytes."""
        self._indexer = indexer
        self._repeats_unchanged = repeats_unchanged
        self._has_listed = False
        self._released_before = 0  # the number of released objects when the current list began
        self._restored_at: datetime | None = None
        self.persister = persister
        if persister is not None:
            persister.last_contact = lambda: self.reflector.statistics().last_contact

    # --- running -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read the source until cancelled. With a file, begin with its contents, and resume the watch from there."""
        persister = self.persister
        if persister is not None and (restored := await persister.load()) is not None:
            self._restored_at = restored.saved_at
            self.fifo.restore(restored.objects, restored.resource_version)
            self.reflector.resume(
                restored.resource_version,
                is_same_source=partial(persister.is_same_server, restored),
                on_confirmed=self.fifo.confirm,
            )
        await self.reflector.run()

    @property
    def stale_since(self) -> datetime | None:
        """When the server was known to have the objects of the store, if these are restored and not confirmed yet."""
        return None if self.fifo.has_synced else self._restored_at

    @property
    def is_readable(self) -> bool:
        """True once the objects of the source, or those of its file, are in the store."""
        return self.fifo.has_synced or (self._restored_at is not None and bool(self.resource_version))

    def batch_applied(self) -> None:
        """Record that a batch was applied completely."""
        if self.persister is not None:
            # A restarted program would resume the watch, without the list that completes the store.
            self.persister.batch_applied(self.resource_version if self._is_complete else "")

    # --- the path of a change ------------------------------------------------------------------------------------

    def apply(self, batch: Sequence[Delta[T]]) -> Iterator[list[Change[T]]]:
        """Apply a batch to the store and yield what changed; a list and a resync in slices.

        A change is in the store before it is yielded. The caller must not apply anything else before the end.
        """
        if self.persister is None or type(batch[0]) in _NOT_RECORDED:
            return self._apply(batch)
        return self._apply_and_record(batch, self.persister)

    def _apply_and_record(self, batch: Sequence[Delta[T]], persister: Persister[T]) -> Iterator[list[Change[T]]]:
        def recorded(changes: list[Change[T]]) -> list[Change[T]]:
            persister.record(changes)
            return changes

        return map(recorded, self._apply(batch))  # a generator would refer to the last changes

    def _apply(self, batch: Sequence[Delta[T]]) -> Iterator[list[Change[T]]]:
        match batch[0]:
            case ReplacedAllDelta(objects, version):
                yield from self._replace(objects, version)
            case RestoredAllDelta(objects, version):
                yield from self._restore(objects, version)
            case SyncAllDelta():
                for stored in sliced(self._indexer._snapshot()):
                    yield [ObjectUpdated(item, item) for item in self._indexer._open_all(stored)]
                return
            case BookmarkDelta(version):
                self._indexer.bookmark(version)
                self._is_unordered = False
            case HealedDelta(item, key=key):
                yield self._heal(item, key)
                return
            case RemovedAllDelta():
                yield from self._remove_all()
                return
            case EvictedDelta(keys):
                yield from self._evict(keys)
                return
            case _:
                # Deltas of one object; those of all objects are popped alone.
                applied = self._indexer._apply(cast("Sequence[ObjectDelta[T]]", batch))
                yield _changes(applied.applied, is_initial=False)
                version = self._later(self._version_after(batch, applied))
                if version != applied.resource_version:
                    self._indexer.bookmark(version)
        self.resource_version = version

    def _version_after(self, batch: Sequence[Delta[T]], applied: AppliedBatch[T]) -> str:
        """Return the version that a batch reaches; empty if it does not determine one."""
        if self._is_unordered:
            return _newest(
                item.resource_version for delta in batch if (item := getattr(delta, "object", None)) is not None
            )
        # The last event may have an older version than others of its batch. A cache file must have the version of all
        # that it contains: a watch that is resumed before would repeat changes.
        last = applied.resource_version
        if self.persister is not None or (last and is_known_older(last, self.resource_version)):
            return _newest(applied.versions())
        return last

    def _later(self, version: str) -> str:
        """Return the version after a batch. A change that was received late does not lower it."""
        try:
            return (
                version
                if not self.resource_version or is_newer(version, self.resource_version)
                else self.resource_version
            )
        except ResourceVersionError:
            return version or self.resource_version

    def _heal(self, item: T, key: str) -> list[Change[T]]:
        """Replace the contents of a damaged object, unless the object has changed since it was read."""
        old = self._indexer.get(key)
        if old is None or old.resource_version != item.resource_version:
            return []
        # Not an update: that would set the version of the store to that of the object, which is older.
        applied = self._indexer._apply([ReplacedDelta(item, key=key)])
        return _changes(applied.applied, is_initial=False)

    def _remove_all(self) -> Iterator[list[Change[T]]]:
        """Remove the objects of the scope. Their last states are not known: they may still change on the server."""
        items = self._indexer.list() if self.scope is None else self._indexer.by_index(NAMESPACE, self.scope)
        for some in sliced(items):
            deltas = [DeletedDelta(item, final_state_known=False, key=item.cache_key) for item in some]
            yield _changes(self._indexer._apply(deltas).applied, is_initial=False)

    def _evict(self, keys: Collection[str]) -> Iterator[list[Change[T]]]:
        """Remove objects that were not deleted, so that handlers must not clean up after them."""
        for some in sliced(keys):
            applied = self._indexer._apply(DeletedDelta(None, final_state_known=False, key=key) for key in some).applied
            yield [ObjectEvicted(cast("T", delta.object)) for delta, old in applied if old is not None]

    def replace_damaged(self, item: T) -> None:
        """Store an object that was read again, in place of a damaged one of the same version."""
        self.fifo.heal(item)

    def relist(self, reason: ListWatchError) -> None:
        """Read everything again."""
        self.reflector.relist(reason)

    def _replace(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        is_initial, self._has_listed = not self._has_listed, True
        self._is_complete = version not in NO_VERSION
        self._is_unordered = not self._is_complete
        if self.scope is not None and is_initial and self._restored_at is None:
            yield from self._add_scope(objects, version)
            return
        if self.scope is None and is_initial and not len(self._indexer):
            yield from self._fill(objects, version)
            return
        # 0. Nothing to do if the list has the stored instances and no others. Some may have been replaced meanwhile.
        if self._indexer._released != self._released_before:
            objects = dict(objects)
            for _ in self._indexer._keep_released(objects):
                yield []
        if self.scope is None and len(objects) == len(self._indexer):
            for entries in sliced(objects.items()):
                if not self._indexer._holds(dict(entries)):
                    break
                yield []
            else:
                self._indexer.bookmark(version)
                return
        # 1. Build the new contents in slices. Objects of other namespaces are kept.
        items = objects if self.scope is None else chain(self._objects_out_of_scope(), objects.values())
        replacement = self._indexer._prepare_replace(items, version)
        for _ in replacement:
            yield []
        # 2. Exchange the contents in one step, and yield the differences.
        for applied in replacement.commit(unchanged=self._repeats_unchanged):
            if self.scope is not None:
                applied = [each for each in applied if not _is_unchanged(each)]
            yield _changes(applied, is_initial=is_initial)

    def restore(self, restored: RestoredAllDelta[T]) -> Iterator[None]:
        """Fill the empty store of the only source with the contents of a file, in slices."""
        replacement = self._indexer._prepare_replace(restored.objects, restored.resource_version)
        yield from replacement
        replacement.install()
        self.resource_version = restored.resource_version

    def _restore(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        """Fill the store with the contents of a file, and yield its objects."""
        if self.scope is not None:
            yield from self._add_scope(objects, version)
            return
        yield from self._fill(objects, version)

    def _fill(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        """Fill the empty store."""
        replacement = self._indexer._prepare_replace(objects, version)
        for _ in replacement:
            yield []
        for items in replacement.fill():
            yield [ObjectAdded(item, is_initial=True) for item in items]

    def _cached_objects(self) -> Mapping[str, T]:
        """The objects of this source by key, in the form in which they are stored, without those that are damaged."""
        self._released_before = self._indexer._released
        found = self._indexer._contents(self.scope)
        for key in list(self._damaged()):
            found.pop(key, None)
        return found

    def _add_scope(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        """Add the first list of a namespace, without rebuilding the contents of the others, which may be large."""
        for entries in sliced(objects.items()):
            self._indexer._apply(ReplacedDelta(item, key=key) for key, item in entries)
            yield []
        self._indexer.bookmark(version)
        for stored in sliced(objects.values()):
            yield [ObjectAdded(item, is_initial=True) for item in self._indexer._open_all(stored)]

    def _objects_out_of_scope(self) -> Iterator[T]:
        for namespace in self._indexer.index_values(NAMESPACE):
            if namespace != self.scope:
                yield from self._indexer._stored_by_index(NAMESPACE, namespace)


def _newest(versions: Iterable[str]) -> str:
    newest = ""
    for version in versions:
        if version and (not newest or is_known_older(newest, version)):
            newest = version
    return newest


def _changes(applied: Iterable[AppliedDelta[T]], *, is_initial: bool) -> list[Change[T]]:
    changes: list[Change[T]] = []
    for delta, old in applied:
        item = cast("T", delta.object)  # the store has completed a deletion that was received without an object
        if type(delta) is not DeletedDelta:
            changes.append(ObjectAdded(item, is_initial) if old is None else ObjectUpdated(item, old))
        elif old is not None:
            changes.append(ObjectDeleted(item, delta.final_state_known))
        # Otherwise an unknown object was deleted, for example because the server sent the event twice.
    return changes


def _is_unchanged(applied: AppliedDelta[T]) -> bool:
    """True for an object of another namespace, which was kept."""
    delta, old = applied
    return not isinstance(delta, DeletedDelta) and delta.object is old


class SharedProcessor(Generic[T]):
    """Applies the batches of all sources to the store of an informer, and notifies its listeners.

    A listener that is added while a batch is processed joins after that batch, and first receives the current
    contents of the store as initial additions. A listener that fails is reported; the others are still notified.
    """

    def __init__(
        self,
        indexer: Indexer[T],
        pipelines: list[SourcePipeline[T]],
        *,
        ready: asyncio.Event,
        clock: Clock,
        report: Callable[[Exception], None],
        on_synced: Callable[[], object] = lambda: None,
        on_applied: Callable[[], None] = lambda: None,
        detector: MutationDetector[T] | None = None,
        damaged: Mapping[str, T] | None = None,
        new_releaser: Callable[[Sized], PartReleaser | None] = lambda _: None,
    ) -> None:
        """`damaged` are objects of the store, by key, which a relist replaces by intact ones of the same version.

        `on_applied` is called after each batch.
        """
        self._damaged = {} if damaged is None else damaged
        self._indexer = indexer
        self._pipelines = pipelines
        self._ready = ready
        self._clock = clock
        self._report = report
        self._on_synced = on_synced
        self._on_applied = on_applied
        self._detector = detector
        self._new_releaser = new_releaser
        self._listeners: list[Listener[T]] = []
        self._joining: list[tuple[Listener[T], Callable[[], object]]] = []
        self._is_processing = False
        self._listeners_changed = asyncio.Event()
        self.has_synced = False
        self.awaits_sources = False
        """Whether sources have to be added before the store counts as synced."""
        self.settled = asyncio.Event()
        """Set when the store has synced, or when the informer has stopped before that."""
        self.readable = asyncio.Event()
        """Set when the store has synced or was restored from files, or when the informer has stopped before that."""
        self.version_waits = VersionWaits()
        self.durations = Histogram(_PROCESSING_BOUNDS)
        """Seconds for each batch."""

    # --- the path of a change ------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Process queued batches until cancelled."""
        time_slice = TimeSlice()
        while True:
            await self._ready.wait()
            self._ready.clear()
            for pipeline in tuple(self._pipelines):  # sources can be added and removed meanwhile
                while batch := pipeline.fifo.pop_batch():
                    started = self._clock.monotonic()
                    await self._process(pipeline, batch, time_slice)
                    self.durations.add(self._clock.monotonic() - started)
                    if time_slice.now() > time_slice.end:
                        await time_slice.checkpoint()

    async def _process(self, pipeline: SourcePipeline[T], batch: Sequence[Delta[T]], time_slice: TimeSlice) -> None:
        # 1. Apply the batch to the store, and notify the listeners.
        self._is_processing = True
        first = batch[0]
        if type(first) is RestoredAllDelta and pipeline.scope is None and self._detector is None:
            await self._restore(pipeline, first, time_slice)
        else:
            resynced = self._take_due() if type(first) is SyncAllDelta else None
            for changes in pipeline.apply(batch):
                if changes and resynced is None:
                    self.distribute(changes)
                elif changes and resynced is not None:
                    self._notify(resynced, changes)
                del changes  # listeners count the references to a change
                if type(first) is ReplacedAllDelta:
                    await time_slice.checkpoint()  # a list is applied in slices
                elif len(batch) == 1:
                    await asyncio.sleep(0)  # a single change is handled before its progress is recorded
        # 2. Add the listeners that were registered meanwhile. Not after a cancellation: the informer is stopping.
        self._is_processing = False
        joining, self._joining = self._joining, []
        for listener, on_added in joining:
            self.add(listener, on_added)
        # 3. Record the progress.
        pipeline.batch_applied()
        pipeline.fifo.processed(batch)
        if type(batch[0]) is RemovedAllDelta:
            self._pipelines.remove(pipeline)
            pipeline.removed.set()
        if pipeline.scope is not None and self._pipelines:
            # The store has reached the version of the source that is furthest behind.
            self._indexer.bookmark(oldest([each.resource_version for each in self._pipelines]))
        self._on_applied()
        self.check_synced()
        self.version_waits.check()

    async def _restore(self, pipeline: SourcePipeline[T], restored: RestoredAllDelta[T], time_slice: TimeSlice) -> None:
        """Fill the store from a file. The listeners make objects of its contents when they handle them."""
        for _ in pipeline.restore(restored):
            await time_slice.checkpoint()
        stored = self._indexer._snapshot()
        for listener in tuple(self._listeners):
            listener.replay(stored, self._indexer._open_all)

    def distribute(self, changes: Sequence[Change[T]]) -> None:
        """Notify all listeners. Updates that did not change the resourceVersion, as in a relist, are dropped.

        Those that replace a damaged object are not dropped.
        """
        if self._detector is not None:
            self._detector.remember(changes)
        damaged = self._damaged if len(self._damaged) else None
        effective = [
            each
            for each in changes
            if type(each) is not ObjectUpdated
            or each.old.resource_version != each.object.resource_version
            or not each.object.resource_version  # unknown, so it may have changed
            or (damaged is not None and damaged.get(each.object.cache_key) is each.old is not each.object)
        ]
        self._notify(self._listeners, effective)

    def _notify(self, listeners: Iterable[Listener[T]], changes: Sequence[Change[T]]) -> None:
        for listener in tuple(listeners):
            try:
                listener.notify(changes)
            except Exception as error:  # noqa: BLE001  # the other listeners must still be notified
                report = RuntimeError(
                    f"{listener.name} was not notified of {counted(len(changes), 'change')}: {error!r}"
                )
                report.__cause__ = error
                self._report(report)

    @property
    def backlog(self) -> int:
        """The number of pending calls of handlers, without those for initial additions."""
        queued = sum(len(each.fifo) for each in self._pipelines)
        return queued * len(self._listeners) + sum(each.backlog for each in self._listeners)

    def check_synced(self) -> None:
        """Mark the store as synced if all sources have."""
        if not self.has_synced and not self.awaits_sources and all(each.fifo.has_synced for each in self._pipelines):
            self._mark_synced()
        if not self.readable.is_set() and not self.awaits_sources and all(each.is_readable for each in self._pipelines):
            self.readable.set()

    def _mark_synced(self) -> None:
        self.has_synced = True
        self._on_synced()
        self.settled.set()
        for listener in tuple(self._listeners):
            listener.mark_synced()

    # --- listeners -----------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Listener[T]]:
        return iter((*self._listeners, *(listener for listener, _ in self._joining)))

    def add(self, listener: Listener[T], on_added: Callable[[], object]) -> None:
        """Register a listener: replay the store to it, then deliver every later change; then call `on_added`."""
        if self._is_processing:
            self._joining.append((listener, on_added))
            return
        self._listeners.append(listener)
        listener.releaser = self._new_releaser(self._listeners)
        listener.next_resync = self._clock.monotonic() + listener.resync_period
        listener.replay(self._indexer._snapshot(), self._indexer._open_all)
        if self.has_synced:
            listener.mark_synced()
        self._listeners_changed.set()
        on_added()

    def remove(self, listener: Listener[T]) -> None:
        """Unregister a listener; it receives no further notifications."""
        self._joining = [each for each in self._joining if each[0] is not listener]
        if listener in self._listeners:
            self._listeners.remove(listener)
        listener.close()

    def close(self, reason: Exception) -> None:
        """Close all listeners, and fail all waits with `reason`."""
        for listener in self:
            listener.close()
        for pipeline in self._pipelines:
            pipeline.removed.set()  # ends a wait for its removal
        self.settled.set()
        self.readable.set()
        self.version_waits.fail(reason)

    # --- resyncs -------------------------------------------------------------------------------------------------

    async def run_resyncs(self) -> None:
        """Queue a resync whenever one is due for a listener, until cancelled."""
        while True:
            self._listeners_changed.clear()
            try:
                async with time_limit(self._clock, self._until_next_resync()):
                    await self._listeners_changed.wait()
            except TimeoutError:
                if self._mark_due() and self.has_synced:
                    self._pipelines[0].fifo.resync()

    def _until_next_resync(self) -> float | None:
        times = [each.next_resync for each in self._listeners if each.resync_period]
        # Not 0, which would not yield to other tasks.
        return max(min(times) - self._clock.monotonic(), 1e-3) if times else None

    def _mark_due(self) -> bool:
        # A clock may wake a sleeper a rounding error early.
        now = self._clock.monotonic() + 1e-6
        due = [each for each in self._listeners if each.resync_period and each.next_resync <= now]
        for listener in due:
            listener.is_due = True
            listener.next_resync = now + listener.resync_period
        return bool(due)

    def _take_due(self) -> list[Listener[T]]:
        due = [each for each in self._listeners if each.is_due]
        for listener in due:
            listener.is_due = False
        return due
