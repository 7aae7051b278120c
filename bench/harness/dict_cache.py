"""A minimal informer for libraries without one: a dict that is filled by a list and updated by watch events."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from bench.harness.contender import Cache, OnObject

__all__ = ["DictCache", "ThreadedDictCache"]


class DictCache:
    """Stores objects by key and calls a handler for each change."""

    def __init__(self, on_object: OnObject, *, key: Callable[[Any], tuple[str, str]]) -> None:
        self._on_object = on_object
        self._key = key
        self._objects: dict[tuple[str, str], Any] = {}
        self._synced = asyncio.Event()

    def add_all(self, objects: Iterable[Any]) -> None:
        """Add the objects of the initial list and mark the cache as synced."""
        for each in objects:
            self.apply("ADDED", each)
        self.mark_synced()

    def mark_synced(self) -> None:
        self._synced.set()

    def apply(self, event: str, found: Any) -> None:
        """Apply one watch event."""
        if event == "DELETED":
            self._objects.pop(self._key(found), None)
        else:
            self._objects[self._key(found)] = found
        self._on_object(found)

    @asynccontextmanager
    async def running(self, list_and_watch: Coroutine[Any, Any, None]) -> AsyncIterator[Cache]:
        """Run the coroutine in the background; entered when the cache is synced."""
        running = asyncio.create_task(list_and_watch)
        running.add_done_callback(_exit_if_ended)
        await self._synced.wait()
        yield self.reader()
        running.cancel()

    def reader(self) -> Cache:
        return Cache(
            keys=lambda: list(self._objects), by_key=lambda namespace, name: self._objects.get((namespace, name))
        )


def _exit_if_ended(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        # The measurement would wait for events forever.
        print(f"the watch ended: {task.exception()!r}", file=sys.stderr, flush=True)
        os._exit(1)


class ThreadedDictCache(DictCache):
    """A DictCache that is filled from another thread."""

    def __init__(self, on_object: OnObject, *, key: Callable[[Any], tuple[str, str]]) -> None:
        super().__init__(on_object, key=key)
        self._loop = asyncio.get_running_loop()

    def mark_synced(self) -> None:
        self._loop.call_soon_threadsafe(self._synced.set)

    async def wait_for_sync(self) -> Cache:
        await self._synced.wait()
        return self.reader()
