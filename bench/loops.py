"""The least that an informer is, for libraries that have none: a dict, filled by a list and changed by events."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from bench.contender import Cache, See

__all__ = ["Store", "ThreadedStore"]


class Store:
    """Keeps objects by key, and shows each to a handler."""

    def __init__(self, see: See, *, key: Callable[[Any], tuple[str, str]]) -> None:
        self._see = see
        self._key = key
        self._objects: dict[tuple[str, str], Any] = {}
        self._filled = asyncio.Event()

    def fill(self, objects: Iterable[Any]) -> None:
        """These were there at first, and these are all."""
        for each in objects:
            self.change("ADDED", each)
        self.filled()

    def filled(self) -> None:
        """All that was there at first has come."""
        self._filled.set()

    def change(self, event: str, found: Any) -> None:
        """Take one event."""
        if event == "DELETED":
            self._objects.pop(self._key(found), None)
        else:
            self._objects[self._key(found)] = found
        self._see(found)

    @asynccontextmanager
    async def following(self, task: Coroutine[Any, Any, None]) -> AsyncIterator[Cache]:
        """Run this in the background; entered when the store is filled."""
        running = asyncio.create_task(task)
        running.add_done_callback(_tell)
        await self._filled.wait()
        yield self.cache()
        running.cancel()

    def cache(self) -> Cache:
        return Cache(
            keys=lambda: list(self._objects), by_key=lambda namespace, name: self._objects.get((namespace, name))
        )


def _tell(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        # Nothing more would come, and somebody waits for it.
        print(f"the watch has ended: {task.exception()!r}", file=sys.stderr, flush=True)
        os._exit(1)


class ThreadedStore(Store):
    """The same for whoever fills it from another thread."""

    def __init__(self, see: See, *, key: Callable[[Any], tuple[str, str]]) -> None:
        super().__init__(see, key=key)
        self._loop = asyncio.get_running_loop()

    def filled(self) -> None:
        self._loop.call_soon_threadsafe(self._filled.set)

    async def wait(self) -> Cache:
        """What it holds, once it is filled."""
        await self._filled.wait()
        return self.cache()
