"""Iteration over byte streams, watches, logs and retried watches: one wait for each network read, not for each item.

`close` ends a stream at once, from any thread. Leaving a `for` loop over a stream closes it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from listwatch.api.watch_events import ErrorEvent, UndecodableEvent
from listwatch.blocking.runtime.background import LoopReference
from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.errors import UsageError
from listwatch.objects.json.wire import LineSplitter

__all__ = ["ByteIteration", "ItemIteration", "LineIteration", "RetryIteration", "WatchIteration"]

ItemT = TypeVar("ItemT")
ItemT_co = TypeVar("ItemT_co", covariant=True)


class ByteIteration(BlockingObject):
    """Reads a ByteStream."""

    _async: _ByteStream

    def _do_iter(self) -> Iterator[bytes]:
        try:
            yield from iter(self._read, b"")
        finally:
            self._do_close()

    def _do_next(self) -> bytes:
        piece = self._read()
        if not piece:
            raise StopIteration
        return piece

    def _do_lines(self) -> Iterator[bytes]:
        splitter = LineSplitter()
        for piece in self._do_iter():
            splitter.max_size = self._async._limit("max_event_size", splitter.max_size)
            yield from splitter.feed(piece)
        if last := splitter.finish():
            yield last

    def _do_close(self) -> None:
        self._loop.call_soon(self._async.close)

    def _read(self) -> bytes:
        return self._run(self._async.read())


class _BatchIteration(BlockingObject, Generic[ItemT]):
    """Reads a stream in batches and returns single items."""

    _async: _BatchedStream[ItemT]
    _batches: AsyncIterator[Sequence[ItemT]]
    _ready: deque[ItemT]
    _reading: asyncio.Lock

    @classmethod
    def _wrap(cls, original: Any, loop: LoopReference | None) -> Self:
        made = super()._wrap(original, loop)
        made._batches, made._ready = original.batches(), deque()
        made._reading = asyncio.Lock()
        return made

    async def _next_batch(self) -> Sequence[ItemT]:
        # A reader that was interrupted may still be leaving `anext`.
        async with self._reading:
            try:
                return await anext(self._batches)
            except asyncio.CancelledError:
                self._async.close()  # an asynchronous generator cannot continue after a cancellation
                raise

    def _next_item(self) -> ItemT:
        while not self._ready:
            try:
                batch = self._loop.run(self._next_batch(), self._name_of("__next__"))
            except StopAsyncIteration:
                raise StopIteration from None
            self._ready.extend(batch)
        return self._ready.popleft()

    def _do_close(self) -> None:
        self._ready.clear()
        self._loop.call_soon(self._async.close)


class LineIteration(_BatchIteration[str]):
    """Reads a LogStream."""

    def _do_iter(self) -> Iterator[str]:
        return _closing(self._next_item, self._do_close)

    def _do_next(self) -> str:
        return self._next_item()


class WatchIteration(_BatchIteration[ItemT | ErrorEvent | UndecodableEvent], Generic[ItemT]):
    """Reads a WatchStream; an ERROR event closes it and is raised, an undecodable event is skipped and logged."""

    _async: _Watch[ItemT | ErrorEvent | UndecodableEvent]

    def _do_iter(self) -> Iterator[ItemT]:
        return _closing(self._do_next, self._do_close)

    def _do_next(self) -> ItemT:
        while isinstance(event := self._next_item(), UndecodableEvent):
            self._async._skip(event)
        if isinstance(event, ErrorEvent):
            self._do_close()
            raise event.error
        return event


class RetryIteration(BlockingObject, Generic[ItemT]):
    """Reads a RetryWatcher."""

    _async: _RetriedWatch[ItemT]
    _is_closed = False

    def _do_iter(self) -> Iterator[ItemT]:
        return _closing(self._do_next, self._do_close)

    def _do_next(self) -> ItemT:
        try:
            return self._run(self._async.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None
        except UsageError:
            if self._is_closed:
                raise StopIteration from None
            raise

    def _do_close(self) -> None:
        self._is_closed = True
        self._loop.call_soon(self._start_closing)
        self._release_loop()

    def _start_closing(self) -> None:
        self._closing = asyncio.ensure_future(self._async.aclose())  # the loop itself keeps no reference to a task


class ItemIteration(BlockingObject, Generic[ItemT]):
    """Reads a RemoteProcess or a PortStream. Leaving a loop does not close it: it may still be written to."""

    _async: _ItemStream[ItemT]

    def _do_iter(self) -> Iterator[ItemT]:
        return self  # type: ignore[return-value]  # the generated class has __next__

    def _do_next(self) -> ItemT:
        try:
            return self._run(self._async.__anext__())
        except StopAsyncIteration:
            raise StopIteration from None

    def _do_close(self) -> None:
        if self._loop.is_open:
            self._run(self._async.aclose())


class _ItemStream(Protocol[ItemT_co]):
    async def __anext__(self) -> ItemT_co: ...
    async def aclose(self) -> None: ...


class _ByteStream(Protocol):
    async def read(self) -> bytes: ...
    def close(self) -> None: ...
    def _limit(self, name: str, default: int) -> int: ...


class _BatchedStream(Protocol[ItemT_co]):
    def batches(self) -> AsyncIterator[Sequence[ItemT_co]]: ...
    def close(self) -> None: ...


class _Watch(_BatchedStream[ItemT_co], Protocol[ItemT_co]):
    def _skip(self, event: UndecodableEvent) -> None: ...


class _RetriedWatch(Protocol[ItemT_co]):
    async def __anext__(self) -> ItemT_co: ...
    async def aclose(self) -> None: ...


def _closing(next_item: Callable[[], ItemT], close: Callable[[], None]) -> Iterator[ItemT]:
    try:
        while True:
            try:
                item = next_item()
            except StopIteration:
                return
            yield item
    finally:
        close()
