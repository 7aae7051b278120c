"""Informers that run on the background loop, with a thread for each handler.

Their stores can be read in any thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from listwatch.blocking.runtime.background import LoopReference, LoopThread
from listwatch.blocking.runtime.blocking_object import BlockingObject, LoopAttributes, loop_for
from listwatch.blocking.runtime.handler_thread import HandlerThread, ThreadListener, call_handler
from listwatch.blocking.runtime.running import Running
from listwatch.cache.compact.packed_indexer import PackedIndexer
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.factory.factory import SharedInformerFactory
from listwatch.informer.handlers import Change, Handler, HandlerFunctions
from listwatch.informer.informer import Informer
from listwatch.informer.listener import Overflow, Reader
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.keyed import Cached
from listwatch.tasks.callers import is_caller

__all__ = ["PlainInformer", "RunningFactory", "RunningInformer", "ThreadedFactory", "ThreadedInformer"]

T = TypeVar("T", bound=Cached)

# How many changes move from one thread to the other at a time.
_BATCH = 100


class _AddsIndexesInLoop(Indexer[T]):
    """A store to which any thread may add indexes; they are built in the loop's thread, which writes to the store."""

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        if isinstance(threading.current_thread(), LoopThread):
            super().add_indexers(indexers)
        else:
            with loop_for(None, "Indexer") as loop:
                loop.call(lambda: self.add_indexers(indexers), "Indexer.add_indexers")


class ThreadedIndexer(_AddsIndexesInLoop[T]):
    """A store that can be read in any thread."""


class ThreadedPackedIndexer(_AddsIndexesInLoop[T], PackedIndexer[T]):
    """The same, of packed objects."""


class ThreadedInformer(SharedIndexInformer[T]):
    """An informer with a thread for each handler."""

    _indexer_type = ThreadedIndexer
    _packed_indexer_type = ThreadedPackedIndexer
    _listener_type = ThreadListener
    _how_to_start = "write `with informer:`, or call `informer.start()`"
    _running_loop: LoopReference | None = None


class ThreadedFactory(SharedInformerFactory):
    """A factory of threaded informers."""

    _informer_type = ThreadedInformer
    _how_to_start = "write `with factory:`, or call `factory.start()`"
    _running_loop: LoopReference | None = None


class RunningFactory(Running, LoopAttributes):
    """The hand-written part of SharedInformerFactory."""


class RunningInformer(Running, Generic[T]):
    """The hand-written part of SharedIndexInformer."""

    _async: ThreadedInformer[T]

    def _do_changes(
        self,
        *,
        filter: Callable[[T], bool] | None,
        resync: float | None,
        max_pending: int | None,
        overflow: Overflow,
    ) -> Iterator[Change[T]]:
        add_reader = partial(
            self._async._add_reader, accepts=filter, resync=resync, max_pending=max_pending, overflow=overflow
        )
        reader: Reader[T] = self._call("changes", add_reader)
        reader.set_caller(threading.current_thread())
        try:
            while batch := self._next_batch(reader):
                for change in batch:
                    yield change
                    self._loop.call_soon(partial(reader.was_handled, change))
        finally:
            self._loop.call_soon(partial(self._async._remove_reader, reader))

    def _next_batch(self, reader: Reader[T]) -> Sequence[Change[T]]:
        if not self._loop.is_open:
            return ()
        return self._loop.run(reader.wait_some(_BATCH), self._name_of("changes"))


class PlainThreadedInformer(Informer[T]):
    """An informer whose only handler is called in a thread; the informer waits for it before the next change."""

    _how_to_start = "write `with informer:`"

    def __init__(
        self, source: ListerWatcher[T], kind: type[T], handler: Handler[T] | HandlerFunctions[T], **options: Any
    ) -> None:
        functions = handler if isinstance(handler, HandlerFunctions) else HandlerFunctions.of(handler)
        self._threaded = _ThreadedFunctions(functions)
        super().__init__(source, kind, self._threaded, **options)

    @property
    def _is_called_by_handler(self) -> bool:
        return is_caller(self._threaded.thread)

    async def run(self) -> None:
        """Keep the store synced until cancelled."""
        with self._threaded:
            await super().run()


class _ThreadedFunctions(HandlerFunctions[T]):
    """Handler functions that are called in a HandlerThread, inside `with`."""

    def __init__(self, functions: HandlerFunctions[T]) -> None:
        self._functions = functions
        self.name = functions.name
        self.thread: HandlerThread | None = None

    def __enter__(self) -> None:
        self.thread = HandlerThread(self.name)
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        assert self.thread is not None
        self.thread.end()

    async def __call__(self, change: Change[T]) -> None:
        assert self.thread is not None
        loop = asyncio.get_running_loop()
        handling = asyncio.wrap_future(self.thread.submit(lambda: call_handler(self._functions, change, loop)))
        try:
            await asyncio.shield(handling)
        except asyncio.CancelledError:
            await asyncio.wait([handling])  # a thread cannot be cancelled
            raise


class PlainInformer(BlockingObject, Generic[T]):
    """The hand-written part of Informer: it keeps the background loop alive inside `with`."""

    _clean_up: ClassVar[str] = ""  # nothing to clean up outside of `with`
    _async: PlainThreadedInformer[T]
    _running_loop: LoopReference | None = None

    def _do_enter(self) -> Self:
        self._run(self._async.__aenter__())
        if self._running_loop is None:
            self._running_loop = LoopReference(f"this {type(self).__name__}", self._leave)
        return self

    def _do_exit(self) -> None:
        loop, self._running_loop = self._running_loop, None
        if loop is not None:
            try:
                loop.run(self._leave(), self._name_of("__exit__"))
            finally:
                loop.close()
                self._release_loop()

    async def _leave(self) -> None:
        await self._async.__aexit__(None, None, None)
