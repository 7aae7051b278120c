"""Decides when the objects of a store are packed, and packs them.

Objects of a list are packed while others arrive, those of a watch about a second after their last change, so that an
object which changes often is packed once; both in a thread. While events arrive, the packer works a tenth of the time.
The first objects wait until there are enough of them to train a dictionary. If later ones compress much worse,
another one is trained; what is packed stays as it is until it changes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from listwatch.cache.compact.dictionaries import train
from listwatch.cache.compact.entry import Entry
from listwatch.cache.compact.packed_indexer import PackedIndexer, Stored
from listwatch.cache.compact.packed_list import PackedList
from listwatch.clock import Clock, time_limit
from listwatch.errors import DecodeError
from listwatch.informer.packing.freed_memory import FREED, MUCH
from listwatch.informer.packing.worker import PACKING, InlineWorker, ThreadWorker, Worker
from listwatch.informer.storage_options import CompactStatistics, PackingPolicy
from listwatch.keyed import Cached
from listwatch.tasks.cooperative import TimeSlice

__all__ = ["Packer"]

T = TypeVar("T", bound=Cached)

_SLICE = 0.002
"""Seconds of work without a yield: less than of others, which the packer must not delay."""
_EXCHANGED = 100
"""Objects that are exchanged for their entries between two reads of the clock."""
_MIN_MEAN = 1024
"""Bytes; packing a smaller object takes about as long."""
_MAX_BATCH = 2 * 2**20
"""Bytes that are packed at once: it takes some milliseconds."""
_BEHIND = 4
"""So many times as many objects are packed at once while too many are pending."""
_MAX_ADDED = 3
"""Batches that a list adds in one call. It adds more only in the first call after a dictionary was trained."""
_MAX_DICTIONARIES = 32
"""As many are in use at most. Each takes about 0.1 MB, until no object is compressed with it."""


class _Holder(Protocol):
    """What contains the packed objects: a store, or a list that is being received."""

    def all_stored(self, keys: Iterable[str], /) -> Iterable[Stored | None]: ...
    def exchange_all(self, keys: Sequence[str], values: Sequence[Stored], entries: Sequence[Entry], /) -> None: ...


class Packer(Generic[T]):
    """Packs the objects of one store, in the background."""

    def __init__(self, indexer: PackedIndexer[T], *, clock: Clock, policy: PackingPolicy) -> None:
        self.indexer = indexer
        self._instances = indexer.instances
        self._codec = indexer.instances.codec
        self._pending = indexer.pending
        self._clock = clock
        self._policy = policy
        self._worker: Worker = ThreadWorker(PACKING) if policy.in_thread else InlineWorker()
        self._wake = asyncio.Event()
        self._batches: deque[tuple[PackedList[T], dict[str, T]]] = deque()
        self._samples: list[bytes] = []
        self._is_training = False
        self._in_work = 0
        self._applied = 0  # batches that were applied to the store
        self._mean_size = float(_MIN_MEAN)  # of the last packed objects, in bytes
        self._has_listed = False
        self._packed_size = 0  # bytes of the objects that were packed since memory was given back
        self._pending_since: float | None = None
        self.damaged: Container[str] = ()
        """The keys of stored objects that a list replaces even by the same version."""

    # --- called by the informer ----------------------------------------------------------------------------------

    def new_list(self, transformed: Callable[[str, T], T] | None) -> PackedList[T]:
        """Return a list to receive objects."""
        self._has_listed = True
        return PackedList(
            transformed,
            known=self.indexer.stored,
            damaged=self.damaged,
            batch=self._policy.batch,
            on_full=self._take_batch,
        )

    def batch_applied(self) -> None:
        """Record that a batch was applied to the store completely."""
        self._applied += 1
        self._pending.complete()
        if not len(self._pending):
            return
        if self._pending_since is None:
            self._pending_since = self._clock.monotonic()
            self._wake.set()
        elif self._lacks_dictionary or self._is_behind:
            self._wake.set()

    def statistics(self) -> CompactStatistics:
        codec, unpacked = self._codec, len(self._pending) + self._in_work
        return CompactStatistics(
            packed=max(len(self.indexer) - unpacked, 0),
            unpacked=unpacked,
            live=self._instances.live,
            opened=codec.opened,
            ratio=codec.ratio,
            dictionaries=len(codec.dictionaries),
        )

    async def run(self) -> None:
        """Pack objects until cancelled."""
        while True:
            await self._wait_for_work()
            if self._can_train:
                await self._train()
            elif self._batches:
                await self._pack(*self._batches.popleft())
            else:
                await self._pack_pending()

    async def close(self) -> None:
        """Wait for current work in the thread, and end the thread."""
        await self._worker.close()

    # --- what is due ---------------------------------------------------------------------------------------------

    async def _wait_for_work(self) -> None:
        while not (self._can_train or self._batches or self._until_due() == 0.0):
            self._wake.clear()
            if not len(self._pending):
                await self._return_memory()
            with suppress(TimeoutError):
                async with time_limit(self._clock, self._until_due()):
                    await self._wake.wait()

    async def _return_memory(self) -> None:
        """Give the memory of a list that was packed back to the system, which the allocator does not do by itself.

        That of single objects is kept for the next ones.
        """
        # Not only by the memory that all stores have freed: what was given back meanwhile did not include all of this.
        if self._has_listed and (FREED.is_much or self._packed_size >= MUCH):
            self._has_listed, self._packed_size = False, 0
            await self._worker.run(FREED.give_back)

    def _until_due(self) -> float | None:
        """Return the seconds until pending objects are packed; None if there are none, or too few for a dictionary."""
        if self._pending_since is None or (self._lacks_dictionary and len(self.indexer) < self._policy.min_samples):
            return None
        if self._is_behind:
            return 0.0
        left = self._pending_since + self._policy.delay - self._clock.monotonic()
        return left if left > 1e-6 else 0.0  # a clock may wake a sleeper a rounding error early

    @property
    def _is_behind(self) -> bool:
        return (self._in_work + len(self._pending)) * self._mean_size > self._policy.max_pending

    @property
    def _lacks_dictionary(self) -> bool:
        return self._codec.library is not None and not self._codec.current

    @property
    def _can_train(self) -> bool:
        return len(self._samples) >= self._policy.min_samples

    # --- lists ---------------------------------------------------------------------------------------------------

    def _take_batch(self, received: PackedList[T]) -> None:
        """Take the objects that a list has received."""
        if self._codec.library is None:
            received.unpacked.clear()
        elif self._codec.current:
            before = len(self._batches)
            self._add_batches(received, received.take_unpacked())
            self._wake.set()
            # Too many wait: pack one more than was added. Packing all of them at once would block the event loop.
            for _ in range(min(len(self._batches) - before, _MAX_ADDED) + 1):
                if len(self._batches) > self._policy.max_batches:
                    self._pack_now(*self._batches.popleft())
        elif not self._samples and not self._is_training and len(received.unpacked) >= self._policy.samples:
            self._samples = self._raws(islice(received.unpacked.values(), 0, None, 2))
            self._wake.set()

    def _add_batches(self, received: PackedList[T], items: dict[str, T]) -> None:
        size = self._batch_size
        if len(items) <= size:
            self._batches.append((received, items))
            return
        left = iter(items.items())
        while batch := dict(islice(left, size)):
            self._batches.append((received, batch))

    @property
    def _batch_size(self) -> int:
        """How many objects are packed at once: fewer if they are large."""
        return max(min(self._policy.batch, int(_MAX_BATCH / self._mean_size)), 1)

    def _pack_now(self, holder: PackedList[T], items: Mapping[str, T]) -> None:
        found = self._packable(holder, items)
        values = [*found.values()]
        raws = self._raws(values)
        self._count(raws)
        holder.exchange_all([*found], values, self._instances.entries_of(values, self._codec.pack_all(raws)))

    # --- packing -------------------------------------------------------------------------------------------------

    async def _train(self) -> None:
        library, samples, self._samples = self._codec.library, self._samples, []
        assert library is not None
        self._is_training = True
        self._codec.add(await self._worker.run(lambda: train(library, samples)))
        self._is_training = False

    async def _pack_pending(self) -> None:
        self._pending_since = None
        pending = self._pending.take()
        self._in_work = len(pending)
        if self._lacks_dictionary:
            self._samples = await self._worker.run(self._stored_samples)
            if self._can_train:
                await self._train()
            self._samples = []  # if they were too few: a list takes samples only if there are none
        while pending:  # `discard` removes those that were written to the file meanwhile
            part = dict(pending.popitem() for _ in range(min(self._pending_batch_size, len(pending))))
            applied, started = self._applied, self._clock.monotonic()
            await self._pack(self.indexer, part)
            self._in_work = len(pending)
            if self._applied != applied and not self._is_behind:  # events arrive: leave most of the time to them
                await self._clock.sleep(max(self._policy.pause, 9 * (self._clock.monotonic() - started)))
        self._in_work = 0  # `discard` may have removed the last ones

    @property
    def _pending_batch_size(self) -> int:
        # Each batch waits for the interpreter's lock some times, which takes milliseconds while events arrive.
        return self._batch_size * (_BEHIND if self._is_behind else 1)

    async def _pack(self, holder: _Holder, items: dict[str, Any]) -> None:
        """Pack objects; `items` is empty afterwards. They are released in slices, because some have decoded parts.

        The thread only compresses, without the interpreter's lock. What needs the lock takes less time in the event
        loop: the objects are in the caches of its CPU.
        """
        found = self._packable(holder, items)
        raws = self._raws(found.values())
        self._count(raws)
        blobs = await self._worker.run(partial(self._codec.pack_all, raws))
        del raws
        codec = self._codec
        if codec.has_worsened and len(codec.dictionaries) < _MAX_DICTIONARIES:
            # Not all: these are released only when the dictionary is trained, after all batches.
            missing = max(self._policy.samples - len(self._samples), 0)
            self._samples += self._raws(islice(found.values(), missing))
        time_slice, keys = TimeSlice(_SLICE), [*found]
        for start in range(0, len(keys), _EXCHANGED):
            some = keys[start : start + _EXCHANGED]
            for key in some:
                del items[key]
            values = [found.pop(key) for key in some]
            entries = self._instances.entries_of(values, blobs[start : start + _EXCHANGED])
            holder.exchange_all(some, values, entries)
            del values
            await time_slice.checkpoint()
        items.clear()

    def _stored_samples(self) -> list[bytes]:
        """Return the bytes of stored objects, also of those that are in a file already. In any thread."""
        codec, samples = self._codec, list[bytes]()
        stored: list[Stored] = self.indexer._snapshot()
        for each in stored[:: max(2 * len(stored) // self._policy.samples, 1)]:
            if type(each) is Entry:
                with suppress(DecodeError):
                    samples.append(codec.reopen(each.blob))
            elif self._instances.can_pack(each):
                samples += self._raws([each])
        return samples

    def _count(self, raws: Sequence[bytes]) -> None:
        """Count objects that are packed."""
        size = sum(map(len, raws))
        FREED.add(size)
        self._packed_size += size
        self._mean_size = max(size / max(len(raws), 1), _MIN_MEAN)

    def _packable(self, holder: _Holder, items: Mapping[str, Stored | None]) -> dict[str, Any]:
        """Return the objects that can be packed, and are still stored."""
        can_pack = self._instances.can_pack
        return {
            key: item
            for (key, item), stored in zip(items.items(), holder.all_stored(items), strict=True)
            if item is stored and can_pack(item)
        }

    @staticmethod
    def _raws(items: Iterable[Any]) -> list[bytes]:
        return [item._received for item in items]
