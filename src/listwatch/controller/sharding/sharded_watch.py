"""The watch of a sharded source: a watch of the server, which is opened again when shards are added."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, Protocol, Self

from listwatch.api.watch_events import ReceivedEvent
from listwatch.errors import UsageError
from listwatch.informer.reflector.lister_watcher import WatchSource, batches_of
from listwatch.objects.object import Object

__all__ = ["ShardedWatch"]

Event = ReceivedEvent[Object]


class SelectingSource(Protocol):
    """Opens watches and selects events: a `ShardedSource`."""

    @property
    def shards(self) -> frozenset[int]: ...
    @property
    def generation(self) -> int: ...
    def open_watch(self, timeout_seconds: int | None, /) -> WatchSource[Object]: ...
    async def receive(self, events: Iterable[Event], /) -> list[Event]: ...
    def woken(self) -> asyncio.Future[None]: ...


class ShardedWatch:
    """The watch of a sharded source, over one watch of the server after another."""

    def __init__(self, source: SelectingSource, timeout_seconds: int | None) -> None:
        self._source = source
        self._timeout_seconds = timeout_seconds
        self._generation = -1
        self._watch: WatchSource[Object] | None = None
        self._received: AsyncIterator[Iterable[Event]] | None = None
        self._reading: asyncio.Future[Iterable[Event]] | None = None

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        raise UsageError("read the batches of this watch: they must be stored before the shards change")

    async def batches(self) -> AsyncIterator[list[Event]]:
        """The events of the shards, until the server ends the watch."""
        source = self._source
        while True:
            # Again after opening: shards that were added meanwhile may not be in the watch.
            while self._generation != source.generation or (self._watch is None and source.shards):
                await self._close()
                await self._open()
            events = await self._next()
            if events is None or self._generation != source.generation:
                continue  # what was read is read again, from the same version
            if events == ():
                return
            if kept := await source.receive(events):
                yield kept
            del events, kept  # the next ones may arrive much later

    async def _open(self) -> None:
        self._generation = self._source.generation
        if not self._source.shards:
            return
        watch = self._source.open_watch(self._timeout_seconds)
        stream = await watch.__aenter__()
        self._watch, self._received = watch, batches_of(stream)

    async def _next(self) -> Iterable[Event] | None:
        """The next events; none at the end, and None if shards were added meanwhile."""
        woken = self._source.woken()
        if self._received is None:
            await asyncio.wait([woken])
            return None
        if self._reading is None:
            self._reading = asyncio.ensure_future(anext(self._received, ()))
        reading = self._reading
        waits: list[asyncio.Future[Any]] = [reading, woken]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            return None
        self._reading = None
        return reading.result()

    async def _close(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.wait([reading])
            if not reading.cancelled():
                reading.exception()  # it is read again
        watch, self._watch, self._received = self._watch, None, None
        if watch is not None:
            await watch.__aexit__(None, None, None)
