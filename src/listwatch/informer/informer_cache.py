"""The store of an informer, and what fills it: a pipeline for each source, a healer, a packer and files.

`Informer` and `SharedIndexInformer` take the options of users, pass them on as `CacheOptions`, and add the handlers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.clock import Clock
from listwatch.informer.decoded_parts import PartReleaser
from listwatch.informer.healing import Healer
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.informer.reflector.problems import Problem
from listwatch.informer.reflector.reflector import ReflectorOptions
from listwatch.informer.shared_processor import SourcePipeline
from listwatch.informer.storage_options import PackingPolicy, PersistenceOptions
from listwatch.informer.stored_form import StoredForm
from listwatch.keyed import Cached, lazily_decoded
from listwatch.tasks.cancellation import cancel_and_wait

if TYPE_CHECKING:  # imported only by informers that use them
    from listwatch.cache.compact.packed_indexer import PackedIndexer
    from listwatch.informer.packing.packer import Packer
    from listwatch.informer.persistence.persistent_store import PersistentStore

__all__ = ["CacheClasses", "CacheOptions", "InformerCache"]

T = TypeVar("T", bound=Cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheOptions(Generic[T]):
    """The options of an informer that determine what is stored, and how sources are read."""

    indexers: Mapping[str, IndexFunction[T]]
    transform: Callable[[T], T] | None
    drop_fields: Sequence[str]
    compact: bool
    cache_dir: str | PathLike[str] | None
    cache_exclude: Collection[type | str]
    reading: ReflectorOptions


@dataclass(frozen=True, slots=True)
class CacheClasses:
    """The classes of a store, and when it packs and writes objects: class variables of an informer."""

    indexer: type[Indexer[Any]]
    packed_indexer: type[PackedIndexer[Any]] | None
    """None for the usual one, which is imported only if the store is compact."""
    packing: PackingPolicy
    persistence: PersistenceOptions


class InformerCache(Generic[T]):
    """The store of one informer, and the tasks that keep it synced with its sources.

    The informer applies what the pipelines have queued, whenever `ready` is set, and calls `batch_applied`.
    """

    def __init__(
        self,
        kind: type[T],
        name: str,
        options: CacheOptions[T],
        classes: CacheClasses,
        *,
        clock: Clock,
        on_problem: Callable[[Problem], None],
        repeats_unchanged: bool = False,
        backlog: Callable[[], int] = lambda: 0,
    ) -> None:
        """`backlog` returns the number of pending calls of handlers."""
        self._kind = kind
        self._name = name
        self._options = options
        self._on_problem = on_problem
        self._repeats_unchanged = repeats_unchanged
        self._backlog = backlog
        self.packer = self._make_packer(classes, clock) if options.compact else None
        self.indexer: Indexer[T] = (
            self.packer.indexer
            if self.packer
            else classes.indexer(indexers=options.indexers, on_failure=self._report_index)
        )
        self._files = self._make_files(options.cache_dir, classes, clock) if options.cache_dir is not None else None
        packed = options.compact or options.cache_dir is not None
        self._form = StoredForm(kind, options.transform, drop_fields=options.drop_fields, packed=packed)
        self.ready = asyncio.Event()
        """Set when a pipeline has queued something."""
        self.pipelines: list[SourcePipeline[T]] = []
        self._running: dict[SourcePipeline[T], list[asyncio.Task[None]]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._healer = Healer(
            kind, self.indexer.get, self.pipelines, clock=clock, report=self.report, packed=options.compact
        )
        self.damaged = self._healer.damaged
        """The damaged objects that were found, by key."""
        if self.packer is not None:
            self.packer.damaged = self.damaged

    def _make_packer(self, classes: CacheClasses, clock: Clock) -> Packer[T]:
        from listwatch.informer.packing.packed_store import make_packer

        return make_packer(
            self._kind,
            indexer_type=classes.packed_indexer,
            indexers=self._options.indexers,
            on_failure=self._report_index,
            clock=clock,
            policy=classes.packing,
            is_transformed=self._options.transform is not None or bool(self._options.drop_fields),
        )

    def _make_files(self, cache_dir: str | PathLike[str], classes: CacheClasses, clock: Clock) -> PersistentStore[T]:
        from listwatch.informer.persistence.persistent_store import PersistentStore

        return PersistentStore(
            self._kind,
            self.indexer,
            cache_dir=cache_dir,
            excluded=self._options.cache_exclude,
            drop_fields=self._options.drop_fields,
            transform=self._options.transform,
            clock=clock,
            options=classes.persistence,
            name=self._name,
            min_samples=classes.packing.min_samples,
        )

    def add(self, scope: str | None, source: ListerWatcher[T]) -> SourcePipeline[T]:
        """Add a source. With a scope, it contains only that namespace; inside `start`, it is read at once."""
        name = self._name if scope is None else f"{self._name} in {scope}"
        pipeline = SourcePipeline(
            source,
            self._kind,
            self.indexer,
            name=name,
            scope=scope,
            form=self._form,
            new_list=self.packer.new_list if self.packer else None,
            repeats_unchanged=self._repeats_unchanged,
            on_ready=self.ready.set,
            on_problem=self._on_problem,
            damaged=lambda: self.damaged,
            backlog=self._backlog,
            persister=self._files.persister(source, scope, name) if self._files else None,
            **self._options.reading,
        )
        self.pipelines.append(pipeline)
        if self._group is not None:
            self._start(pipeline, self._group)
        return pipeline

    # --- running -------------------------------------------------------------------------------------------------

    def start(self, group: asyncio.TaskGroup) -> None:
        """Read all sources, and those that are added later, in tasks of this group."""
        self._group = group
        for pipeline in self.pipelines:
            self._start(pipeline, group)
        group.create_task(self._healer.run(), name=f"healing of {self._name}")
        if self.packer is not None:
            group.create_task(self.packer.run(), name=f"packer of {self._name}")

    def _start(self, pipeline: SourcePipeline[T], group: asyncio.TaskGroup) -> None:
        name = pipeline.reflector.name
        self._running[pipeline] = [group.create_task(pipeline.run(), name=f"reflector of {name}")]
        if pipeline.persister is not None:
            task = group.create_task(pipeline.persister.run(), name=f"cache file of {name}")
            self._running[pipeline].append(task)

    async def stop(self, pipeline: SourcePipeline[T]) -> None:
        """Stop reading a source. Its file stays, for when the source is added again."""
        for task in self._running.pop(pipeline, ()):
            await cancel_and_wait(task)
        if pipeline.persister is not None:
            await pipeline.persister.close()

    def release(self, pipeline: SourcePipeline[T]) -> None:
        """Release the file of a source that was removed. Objects that handlers still have to handle stay readable."""
        if pipeline.persister is not None and pipeline not in self.pipelines:  # otherwise the informer has ended
            pipeline.persister.forget()

    def stop_starting(self) -> None:
        """Start no tasks for sources that are added from now on: the informer ends."""
        self._group = None

    async def close(self) -> None:
        """Close files and threads, after all tasks have ended."""
        for pipeline in self.pipelines:
            if pipeline.persister is not None:
                await pipeline.persister.close()
        if self._files is not None:
            await self._files.close()
        if self.packer is not None:
            await self.packer.close()

    def batch_applied(self) -> None:
        """Let the packer know that a batch was applied to the store."""
        if self.packer is not None:
            self.packer.batch_applied()

    # --- decoded parts -------------------------------------------------------------------------------------------

    def new_releaser(self, handlers: Sized) -> PartReleaser | None:
        """Return a releaser for one of the handlers; None if objects are not decoded lazily, or are packed soon."""
        lazy = lazily_decoded(self._kind)
        if lazy is None or self.packer is not None:
            return None
        return PartReleaser(lazy, self.indexer, self.pipelines, handlers=handlers, damaged=self.damaged)

    # --- problems ------------------------------------------------------------------------------------------------

    def report(self, error: Exception) -> None:
        """Pass an error that is not one of a request to `on_problem`."""
        self._on_problem(Problem(self._name, error, 0, 0.0))

    def _report_index(self, _index: str, _key: str, error: Exception) -> None:
        self.report(error)
