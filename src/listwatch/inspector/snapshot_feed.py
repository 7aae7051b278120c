"""Makes one snapshot per interval for all open pages. While no page is open, it does nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from itertools import islice
from weakref import WeakKeyDictionary

import msgspec

from listwatch.informer.shared_informer import AnyInformer
from listwatch.inspector.components import Components
from listwatch.tasks.cooperative import TimeSlice

__all__ = ["SnapshotFeed"]

_log = logging.getLogger("listwatch.inspector")

_SIZES_EVERY = 3.0
"""Seconds between two computations of the bytes of changed stores."""
_MAX_SHARE = 0.05
"""The largest share of time for these computations."""
_SLICE = 500


class SnapshotFeed:
    """Encodes a snapshot once for all readers. A reader that is slow skips snapshots."""

    def __init__(self, components: Components, *, interval: float) -> None:
        self._components = components
        self._interval = interval
        self._readers = 0
        self._is_closed = False
        self._payload = b""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._measured: WeakKeyDictionary[AnyInformer, tuple[str, int]] = WeakKeyDictionary()

    async def payloads(self) -> AsyncIterator[bytes]:
        """Yield encoded snapshots until closed, the first at once."""
        self._readers += 1
        try:
            if self._task is None:
                self._payload = b""
                self._task = asyncio.create_task(self._run(), name="inspector")
            sent = b""
            while not self._is_closed:
                if self._payload and self._payload is not sent:
                    sent = self._payload
                    yield sent
                else:
                    await self._changed.wait()
        finally:
            self._readers -= 1
            if not self._readers:
                self._cancel()

    def close(self) -> None:
        """End all readers."""
        self._is_closed = True
        self._changed.set()
        self._cancel()

    async def wait_ended(self) -> None:
        """Wait for the end of all work after `close`."""
        if self._ending:
            await asyncio.wait(self._ending)

    def _cancel(self) -> None:
        if (task := self._task) is not None:
            self._task = None
            task.cancel()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    # The sleeps are those of the event loop, not of a virtual clock: they pace the updates of a browser.

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._make_snapshots())
            group.create_task(self._measure_sizes())

    async def _make_snapshots(self) -> None:
        while True:
            try:
                self._payload = msgspec.json.encode(self._components.snapshot())
            except Exception:  # noqa: BLE001  # the next snapshot may succeed
                _log.exception("Cannot make a snapshot for the inspector")
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
            await asyncio.sleep(self._interval)

    async def _measure_sizes(self) -> None:
        """Keep the sizes of all stores up to date, in slices."""
        now = asyncio.get_running_loop().time
        while True:
            started = now()
            for informer in self._components.informers.values():
                state = (informer.indexer.resource_version, len(informer.indexer))
                if self._measured.get(informer) != state:
                    self._measured[informer] = state
                    self._components.sizes[informer] = await _size_of(informer)
            await asyncio.sleep(max(_SIZES_EVERY, (now() - started) / _MAX_SHARE))


async def _size_of(informer: AnyInformer) -> int:
    time_slice, size = TimeSlice(), 0
    remaining = iter(informer.indexer.list())
    while part := [*islice(remaining, _SLICE)]:
        # An object of another source than an API server has no bytes.
        size += sum(len(getattr(item, "_raw", b"")) for item in part)
        await time_slice.checkpoint()
    return size
