"""Watches, logs and other streams as plain iterators: one waiting for each network read, not for each item.

`close` stops one at once, from any thread, and so does leaving the loop that reads it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, Self, TypeVar

from listwatch.api.watch_events import ErrorEvent, WatchEvent
from listwatch.blocking.background import Lease
from listwatch.blocking.face import Face
from listwatch.client.rest import byte_stream, log_stream, watch_stream
from listwatch.objects.object import Object
from listwatch.objects.wire import LineSplitter

__all__ = ["ByteStream", "LogStream", "WatchStream"]

T = TypeVar("T", bound=Object)


class ByteStream(Face, twin=byte_stream.ByteStream):  # noqa: D101  # it has its twin's
    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from iter(self.read, b"")
        finally:
            self.close()

    def __next__(self) -> bytes:
        piece: bytes = self.read()
        if not piece:
            raise StopIteration
        return piece

    def lines(self) -> Iterator[bytes]:
        splitter = LineSplitter()
        for piece in self:
            yield from splitter.feed(piece)
        if last := splitter.finish():
            yield last

    def close(self) -> None:
        self._lease.call_soon(self._twin.close)


class _Batched(Face):
    """A stream whose items come in batches."""

    _batches: Any
    _ready: deque[Any]
    _turn: asyncio.Lock

    @classmethod
    def over(cls, twin: Any, lease: Lease | None) -> Self:
        face = super().over(twin, lease)
        face._batches, face._ready = twin.batches(), deque()
        face._turn = asyncio.Lock()
        return face

    async def _batch(self) -> Any:
        # Whoever was interrupted while waiting may still be on the way out.
        async with self._turn:
            try:
                return await anext(self._batches)
            except asyncio.CancelledError:
                self._twin.close()  # nobody will read on: a generator that was interrupted is over
                raise

    def _next(self) -> Any:
        while not self._ready:
            try:
                batch = self._lease.wait(self._batch, doing=f"{type(self).__name__}.__next__")
            except StopAsyncIteration:
                raise StopIteration from None
            self._ready.extend(batch)
        return self._ready.popleft()

    def _stop(self) -> None:
        self._ready.clear()
        self._lease.call_soon(self._twin.close)


class WatchStream(_Batched, Generic[T], twin=watch_stream.WatchStream):  # noqa: D101  # it has its twin's
    def __iter__(self) -> Iterator[WatchEvent[T]]:
        events: Iterator[WatchEvent[T]] = iter(self.__next__, None)
        try:
            yield from events
        finally:
            self.close()

    def __next__(self) -> WatchEvent[T]:
        event: WatchEvent[T] | ErrorEvent = self._next()
        if isinstance(event, ErrorEvent):
            self.close()
            raise event.error
        return event

    def close(self) -> None:
        self._stop()


class LogStream(_Batched, twin=log_stream.LogStream):  # noqa: D101  # it has its twin's
    def __iter__(self) -> Iterator[str]:
        try:
            yield from iter(self.__next__, None)
        finally:
            self.close()

    def __next__(self) -> str:
        line: str = self._next()
        return line

    def close(self) -> None:
        self._stop()
