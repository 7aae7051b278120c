"""Informers for programs without an event loop: they run on the background loop, and their caches are read anywhere.

with blocking.SharedInformerFactory(client, resync=60.0) as factory:
    factory.core_v1.pods.informer.add_handler(on_add=...)       called in a thread of its own
    factory.wait_for_sync(timeout=30)
    factory.core_v1.pods.lister.namespace("default").list("app=web")
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from listwatch.blocking.background import Lease, LoopThread
from listwatch.blocking.face import Face, Opened, leased
from listwatch.blocking.handler_thread import HandlerThread, ThreadListener
from listwatch.cache.indexer import Indexer, IndexFunction
from listwatch.informer import factory as factories
from listwatch.informer import shared_informer
from listwatch.informer.handlers import Change
from listwatch.informer.listener import Overflow, Reader
from listwatch.objects.object import Object

__all__ = [
    "HandlerRegistration",
    "InformerHandle",
    "SharedIndexInformer",
    "SharedInformerFactory",
    "start_leased",
    "stop_leased",
]

T = TypeVar("T", bound=Object)

# How many changes cross from one thread to the other at a time.
_BATCH = 100

# ruff: noqa: D101  # their documentation is their twins'


class ThreadedIndexer(Indexer[T]):
    """A store that any thread may add indexes to: it is done in the loop's thread, which writes to it."""

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        async def add_in_the_loop() -> None:
            self.add_indexers(indexers)

        if isinstance(threading.current_thread(), LoopThread):
            super().add_indexers(indexers)
        else:
            with leased(None, "Indexer") as lease:
                lease.wait(add_in_the_loop, doing="Indexer.add_indexers")


class ThreadedInformer(shared_informer.SharedIndexInformer[T]):
    """An informer that calls each handler in a thread of its own."""

    indexer_type = ThreadedIndexer
    listener_type = ThreadListener
    lease: Lease | None = None


class ThreadedFactory(factories.SharedInformerFactory):
    """A factory of such informers."""

    informer_type = ThreadedInformer
    lease: Lease | None = None


class HandlerRegistration(Face, Generic[T], twin=shared_informer.HandlerRegistration, on_loop=True): ...


class SharedIndexInformer(
    Opened,
    Generic[T],
    twin=shared_informer.SharedIndexInformer,
    made_as=ThreadedInformer,
    on_loop=True,
    without="lease indexer_type listener_type",
):
    _closed_by: ClassVar[str] = "stop"

    def changes(
        self,
        *,
        filter: Callable[[T], bool] | None = None,
        resync: float | None = None,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> Iterator[Change[T]]:
        options = {"accepts": filter, "resync": resync, "max_pending": max_pending, "overflow": overflow}
        reader = self._call(lambda: self._twin._add_reader(**options), doing="SharedIndexInformer.changes")
        try:
            while batch := self._some_of(reader):
                for change in batch:
                    yield change
                    self._lease.call_soon(partial(reader.was_handled, change))
        finally:
            self._lease.call_soon(partial(self._twin._remove_reader, reader))

    def _some_of(self, reader: Reader[T]) -> Sequence[Change[T]]:
        if not self._lease.is_open:
            return ()
        some: Sequence[Change[T]] = self._wait(lambda: reader.wait_some(_BATCH), doing="SharedIndexInformer.changes")
        return some

    def start(self) -> None:
        start_leased(self)

    def stop(self) -> None:
        stop_leased(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class InformerHandle(Face, Generic[T], twin=factories.InformerHandle, on_loop=True): ...


class InformerGroup(Face, twin=factories.InformerGroup, on_loop=True): ...


class SharedInformerFactory(
    Opened,
    twin=factories.SharedInformerFactory,
    made_as=ThreadedFactory,
    on_loop=True,
    without="informer_type lease",
):
    _closed_by: ClassVar[str] = "stop"

    def start(self) -> None:
        start_leased(self)

    def stop(self) -> None:
        stop_leased(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_leased(face: Opened) -> None:
    """Start what runs in the background, and keep the loop for it."""
    twin, doing = face._twin, f"{type(face).__name__}.start"
    face._call(twin.start, doing=doing)
    if twin.lease is None:
        # What runs needs the loop, also when nobody looks and after its client is closed.
        twin.lease = Lease(f"this {type(face).__name__}", twin.stop)


def stop_leased(face: Opened) -> None:
    """Stop it, and give back the loop."""
    lease: Lease = face._twin.lease or face._lease
    if not lease.is_open:
        return
    doing = f"{type(face).__name__}.stop"
    if isinstance(threading.current_thread(), HandlerThread):
        # Stopping waits for handlers, and this is one.
        lease.begin(lambda: _stopped(face._twin), doing=doing)
        return
    try:
        lease.wait(face._twin.stop, doing=doing)
    finally:
        _release(face._twin)
        face._give_back()


async def _stopped(twin: Any) -> None:
    await twin.stop()
    _release(twin)


def _release(twin: Any) -> None:
    lease, twin.lease = twin.lease, None
    if lease is not None:
        lease.close()
