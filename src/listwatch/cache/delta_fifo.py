"""The queue between the reflector, which produces deltas, and the informer, which applies them to its store.

    add update delete replace resync bookmark ──▶ key and transform ──▶ queue ──▶ pop_batch ──▶ processed

`deltas.py` defines the deltas.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from listwatch.cache.deltas import (
    AddedDelta,
    BookmarkDelta,
    DeletedDelta,
    Delta,
    EvictedDelta,
    HealedDelta,
    ObjectDelta,
    RemovedAllDelta,
    ReplacedAllDelta,
    ReplacedDelta,
    RestoredAllDelta,
    SyncAllDelta,
    SyncDelta,
    UpdatedDelta,
)
from listwatch.cache.keys import key_of
from listwatch.errors import BadKeyError, DecodeError, TransformError, UsageError
from listwatch.keyed import Cached, Tombstone

__all__ = ["DeltaFIFO", "DroppedObject", "KnownObjects", "NewList", "ReplacementList", "Transform"]

T = TypeVar("T", bound=Cached)
T_co = TypeVar("T_co", covariant=True)

Transform = Callable[[T], T]
"""Returns what is stored of an object: the object itself, possibly changed, or another one with the same name."""

DroppedObject = Callable[[T, BadKeyError | TransformError], None]
"""Receives an object that was not queued, and the reason."""

NewList = Callable[["Callable[[str, T], T] | None"], "ReplacementList[T]"]
"""Makes an empty list to receive objects, each of which is passed through a function with its key."""

_BATCH = 1000

# Comparing the type is much faster than `isinstance`, which is slow for these classes when the result is False.
_NOT_BATCHED = frozenset(
    {ReplacedAllDelta, RestoredAllDelta, SyncAllDelta, BookmarkDelta, HealedDelta, RemovedAllDelta, EvictedDelta}
)


class KnownObjects(Protocol[T_co]):
    """The objects that the consumer has stored: an `Indexer`."""

    def get(self, key: str, /) -> T_co | None: ...
    def keys(self) -> Iterable[str]: ...


class DeltaFIFO(Generic[T]):
    """A queue of deltas with one consumer, which pops a batch, processes it, and calls `processed`.

    With `by_key=True` the deltas of an object are collected and popped together, as in client-go's classic DeltaFIFO;
    `known`, the store that the consumer fills, then determines which objects a list deletes and a resync repeats.
    `on_ready` is called when the queue is no longer empty, and when it is closed. `stored` returns the object that the
    consumer has stored under a key: a list that contains that instance does not transform it again. `new_list` makes
    the lists that `relist` returns, from the function that transforms an object with its key.

    An object without a name, or on which the transform fails, is not queued and is passed to `on_dropped`; without
    `on_dropped` the error is raised. If the transform fails on a deleted object, the deletion is still queued, so
    that the object leaves the store. If it fails on a part that cannot be decoded, the object is passed to `on_dropped`
    as well, but is queued as it was received.
    """

    def __init__(
        self,
        *,
        transform: Transform[T] | None = None,
        by_key: bool = False,
        known: KnownObjects[T] | None = None,
        new_list: NewList[T] | None = None,
        on_dropped: DroppedObject[T] | None = None,
        on_ready: Callable[[], None] | None = None,
        stored: Callable[[str], T | None] | None = None,
    ) -> None:
        if known is not None and not by_key:
            raise UsageError("known is used only with by_key=True; remove known, or pass by_key=True")
        self.on_ready = on_ready
        self.on_processed: Callable[[], None] | None = None
        """Called after each batch that was processed."""
        self._on_dropped = on_dropped
        self._transform = transform
        self._stored = stored
        self._new_list: NewList[T] = new_list or ReplacementList
        self._queue: _OrderedQueue[T] | _KeyedQueue[T] = _KeyedQueue(known) if by_key else _OrderedQueue()
        self._is_populated = False
        self._is_restored = False  # from a file, and not confirmed by the source
        self._is_closed = False
        # In the unit of the queue's length: deltas, or keys.
        self._popped = self._processed = self._initial = 0

    # --- producer ------------------------------------------------------------------------------------------------

    def add(self, item: T) -> None:
        """Queue a new object."""
        self._enqueue(AddedDelta, item)

    def update(self, item: T) -> None:
        """Queue a changed object."""
        self._enqueue(UpdatedDelta, item)

    def heal(self, item: T) -> None:
        """Queue an object that was read again, to replace a damaged one of the same version."""
        self._enqueue(HealedDelta, item)

    def load(self, item: T) -> None:
        """Queue an object of a list of a part; the version of the store does not depend on it."""
        self._enqueue(ReplacedDelta, item)

    def _enqueue(
        self,
        delta_type: type[AddedDelta[T]] | type[UpdatedDelta[T]] | type[HealedDelta[T]] | type[ReplacedDelta[T]],
        item: T,
    ) -> None:
        self._is_populated = True
        key = item.cache_key
        if not key or self._transform is not None:
            try:
                key = key_of(item)
                item = self._transformed(key, item)
            except (BadKeyError, TransformError) as error:
                self._drop(item, error)
                return
        queue = self._queue
        was_empty = not queue
        queue.put(delta_type(item, key=key))
        if was_empty:
            self._wake()

    def delete(self, item: T) -> None:
        """Queue the deletion of an object; `item` is its last state, or a Tombstone if that is not known."""
        self._is_populated = True
        try:
            key = key_of(item)
        except BadKeyError as error:
            self._drop(item, error)
            return
        was_empty = not self._queue
        if isinstance(item, Tombstone):
            self._queue.put(DeletedDelta(None, final_state_known=item.final_state_known, key=key))
            self._queue.bookmark(item.resource_version)
        else:
            self._queue.put(self._deletion(key, item))
        if was_empty:
            self._wake()

    def relist(self) -> ReplacementList[T]:
        """Return an empty list, to be filled page by page or event by event and passed to `replace`."""
        return self._new_list(None if self._transform is None else self._transformed_if_new)

    def replace(self, items: Iterable[T] | ReplacementList[T], resource_version: str) -> None:
        """Queue a complete list. If one of the objects is invalid, its error is raised and nothing is queued."""
        if not isinstance(items, ReplacementList):
            listed, items = items, self.relist()
            items.extend(listed)
        was_empty = not self._queue
        self._queue.replace(items.take_objects(), resource_version)
        if not self._is_populated or self._is_restored:
            self._is_populated, self._is_restored = True, False
            self._initial = self._popped + len(self._queue)
        if was_empty:
            self._wake()

    def restore(self, objects: Mapping[str, T], resource_version: str) -> None:
        """Queue the objects of a file. The queue has not synced until the source has confirmed or replaced them."""
        was_empty = not self._queue
        self._queue.restore(objects, resource_version)
        self._is_restored = True
        if was_empty:
            self._wake()

    def confirm(self, resource_version: str) -> None:
        """Declare that the restored objects, with the changes that are queued, are those of the source."""
        self._is_populated, self._is_restored = True, False
        was_empty = not self._queue
        self._queue.bookmark(resource_version)
        self._initial = self._popped + len(self._queue)
        if was_empty:
            self._wake()

    def resync(self) -> None:
        """Queue all processed objects again."""
        was_empty = not self._queue
        self._queue.resync()
        if was_empty:
            self._wake()

    def remove_all(self) -> None:
        """Queue the removal of all objects of the source, which was removed itself."""
        was_empty = not self._queue
        self._queue.remove_all()
        if was_empty:
            self._wake()

    def evict(self, keys: Collection[str]) -> None:
        """Queue that objects leave the store, although they exist; only for an ordered queue."""
        was_empty = not self._queue
        self._queue.evict(keys)
        if was_empty:
            self._wake()

    def bookmark(self, resource_version: str) -> None:
        """Queue a bookmark: no other change happened up to that version."""
        was_empty = not self._queue
        self._queue.bookmark(resource_version)
        if was_empty:
            self._wake()

    def close(self) -> None:
        """Declare that nothing more will be queued; what is in the queue can still be popped."""
        self._is_closed = True
        if self.on_ready is not None:
            self.on_ready()

    # --- consumer ------------------------------------------------------------------------------------------------

    def pop_batch(self, limit: int = _BATCH) -> Sequence[Delta[T]]:
        """Remove and return the deltas to process next; empty if the queue is empty.

        Ordered: up to `limit` deltas of different objects, or one delta of all objects. By key: all deltas of one
        object, which the consumer must apply to the known objects before the producer queues anything else.
        """
        if limit < 1:
            raise UsageError(f"pop_batch(limit={limit}) can never return a delta; pass 1 or more")
        batch = self._queue.take(limit)
        self._popped += self._queue.size_of(batch)
        return batch

    def processed(self, batch: Sequence[Delta[T]]) -> None:
        """Record that a popped batch was applied to the store and the listeners were notified."""
        self._processed += self._queue.size_of(batch)
        if self.on_processed is not None:
            self.on_processed()

    def mark(self) -> int:
        """Return a mark behind all that is queued now, for `has_processed`."""
        return self._popped + len(self._queue)

    def has_processed(self, mark: int) -> bool:
        """Return whether all that was queued before a mark is processed."""
        return self._processed >= mark

    @property
    def has_synced(self) -> bool:
        """True once the first list was processed, or at once if another delta was queued before any list.

        With restored objects, once they are confirmed and the changes until then were processed.
        """
        return self._is_populated and not self._is_restored and self._processed >= self._initial

    @property
    def is_in_initial_list(self) -> bool:
        """True while the first list is not processed."""
        return not self.has_synced

    @property
    def is_closed(self) -> bool:
        """True if nothing more will be queued; there may be deltas left to pop."""
        return self._is_closed

    def __len__(self) -> int:
        """Return the number of queued deltas, or by key, of objects with queued deltas."""
        return len(self._queue)

    def __repr__(self) -> str:
        state = ["closed"] * self._is_closed + ["synced" if self.has_synced else "not synced"]
        return f"<DeltaFIFO of {len(self._queue)}, {', '.join(state)}>"

    # --- internal ------------------------------------------------------------------------------------------------

    def _transformed(self, key: str, item: T) -> T:
        """Return what is stored of the object with this key; raises TransformError."""
        if self._transform is None:
            return item
        try:
            kept: T | None = self._transform(item)
            kept_key = "" if kept is None else key_of(kept)
        except DecodeError as error:
            # Its writer must not be able to hide the other objects of a list, or this one.
            reason = f"the transform failed on {key}, which is stored as it was received: {error}"
            self._drop(item, TransformError(reason))
            return item
        except Exception as error:
            raise TransformError(f"the transform failed on {key}: {error}") from error
        if kept is None:
            raise TransformError(f"the transform returned None for {key}; it must return an object")
        if kept_key != key:
            raise TransformError(f"the transform changed the key {key} to {kept_key}; it must not change it")
        return kept

    def _transformed_if_new(self, key: str, item: T) -> T:
        is_stored = self._stored is not None and self._stored(key) is item
        return item if is_stored else self._transformed(key, item)

    def _deletion(self, key: str, item: T) -> DeletedDelta[T]:
        try:
            return DeletedDelta(self._transformed(key, item), key=key)
        except TransformError as error:
            self._drop(item, error)
            return DeletedDelta(None, final_state_known=False, key=key)

    def _wake(self) -> None:
        if self.on_ready is not None and self._queue:
            self.on_ready()

    def _drop(self, item: T, error: BadKeyError | TransformError) -> None:
        if self._on_dropped is None:
            raise error
        self._on_dropped(item, error)


class ReplacementList(Generic[T]):
    """The objects of a list that is being received; each object is transformed when it is put."""

    def __init__(self, transformed: Callable[[str, T], T] | None) -> None:
        self._transformed = transformed
        self._objects: dict[str, T] = {}

    def put(self, item: T) -> None:
        """Add an object, or replace the one with the same key; raises BadKeyError or TransformError."""
        key = item.cache_key or key_of(item)
        self._objects[key] = item if self._transformed is None else self._transformed(key, item)

    def extend(self, items: Iterable[T]) -> None:
        for item in items:
            self.put(item)

    def keep(self, stored: Mapping[str, T]) -> None:
        """Add objects that are stored, by key, as they are."""
        self._objects.update(stored)

    def discard(self, item: T) -> None:
        """Remove the object with the same key, if there is one."""
        self._objects.pop(key_of(item), None)

    def take_objects(self) -> dict[str, T]:
        """Remove and return the objects by key, in the order in which they were put."""
        objects, self._objects = self._objects, {}
        return objects

    def __len__(self) -> int:
        return len(self._objects)


class _OrderedQueue(deque[Delta[T]], Generic[T]):
    """Deltas in the order in which they were queued; a list and a resync are one delta each."""

    put = deque.append

    def replace(self, objects: Mapping[str, T], resource_version: str) -> None:
        self.append(ReplacedAllDelta(objects, resource_version))

    def restore(self, objects: Mapping[str, T], resource_version: str) -> None:
        self.append(RestoredAllDelta(objects, resource_version))

    def resync(self) -> None:
        self.append(SyncAllDelta())

    def bookmark(self, resource_version: str) -> None:
        self.append(BookmarkDelta(resource_version))

    def remove_all(self) -> None:
        self.append(RemovedAllDelta())

    def evict(self, keys: Collection[str]) -> None:
        self.append(EvictedDelta(keys))

    def take(self, limit: int) -> Sequence[Delta[T]]:
        batch: list[Delta[T]] = []
        keys: set[str] = set()
        popleft = self.popleft
        for _ in range(min(limit, len(self))):
            delta = popleft()
            if type(delta) in _NOT_BATCHED:
                if not batch:
                    return [delta]
            else:
                key: str = delta.key  # type: ignore[union-attr]  # the types without a key were handled above
                if key not in keys:
                    keys.add(key)
                    batch.append(delta)
                    continue
            self.appendleft(delta)
            break
        return batch

    def size_of(self, batch: Sequence[Delta[T]]) -> int:
        """Return how much the batch contributed to the length of the queue."""
        return len(batch)


class _KeyedQueue(Generic[T]):
    """Deltas collected by key, in the order in which the keys were queued; a batch is all deltas of one object."""

    def __init__(self, known: KnownObjects[T] | None) -> None:
        self._known = known
        # A deque beside the dict, because removing the first entry of a dict repeatedly is slow.
        self._keys: deque[str] = deque()
        self._deltas: dict[str, list[ObjectDelta[T]]] = {}

    def put(self, delta: ObjectDelta[T]) -> None:
        # The deletion of an unknown object was already reported by a list.
        if not isinstance(delta, DeletedDelta) or self._is_known(delta.key):
            self._collect(delta)

    def replace(self, objects: Mapping[str, T], resource_version: str) -> None:
        deleted = self._missing_in(objects)
        for key, item in objects.items():
            self._collect(ReplacedDelta(item, key=key))
        for delta in deleted:
            self._collect(delta)

    def restore(self, objects: Mapping[str, T], resource_version: str) -> None:
        for key, item in objects.items():
            self._collect(ReplacedDelta(item, key=key))

    def resync(self) -> None:
        for key, item in self._known_objects():
            # Queued deltas are newer than the known object.
            if item is not None and key not in self._deltas:
                self._collect(SyncDelta(item, key=key))

    def bookmark(self, resource_version: str) -> None:
        """Do nothing: deltas that are collected by key are not in the order of versions."""

    def evict(self, keys: Collection[str]) -> None:
        raise UsageError("a queue by key cannot evict objects; create it without by_key=True")

    def remove_all(self) -> None:
        for key, item in self._known_objects():
            self._collect(DeletedDelta(item, final_state_known=False, key=key))

    def take(self, limit: int) -> Sequence[Delta[T]]:
        return self._deltas.pop(self._keys.popleft()) if self._keys else []

    def size_of(self, batch: Sequence[Delta[T]]) -> int:
        """Return how much the batch contributed to the length of the queue."""
        return 1 if batch else 0

    def _collect(self, delta: ObjectDelta[T]) -> None:
        collected = self._deltas.get(delta.key)
        if collected is None:
            self._keys.append(delta.key)
            self._deltas[delta.key] = [delta]
        elif isinstance(delta, DeletedDelta) and isinstance(last := collected[-1], DeletedDelta):
            # Both report the same deletion; prefer the one with the final state.
            collected[-1] = last if last.final_state_known else delta
        else:
            collected.append(delta)

    def _is_known(self, key: str) -> bool:
        return key in self._deltas or (self._known is not None and self._known.get(key) is not None)

    def _missing_in(self, objects: Mapping[str, T]) -> list[DeletedDelta[T]]:
        last_known = {key: deltas[-1].object for key, deltas in self._deltas.items()}
        for key, item in self._known_objects():
            if last_known.get(key) is None:
                last_known[key] = item
        return [
            DeletedDelta(item, final_state_known=False, key=key)
            for key, item in last_known.items()
            if key not in objects
        ]

    def _known_objects(self) -> Iterator[tuple[str, T | None]]:
        if (known := self._known) is not None:
            keys = known.keys()
            yield from ((key, known.get(key)) for key in keys)

    def __len__(self) -> int:
        return len(self._keys)
