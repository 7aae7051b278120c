"""Changes on their way from the reflector, which sees them, to the informer, which carries them out.

    add update delete replace resync bookmark ──▶ transform ──▶ queue ──▶ pop_batch ──▶ processed

`deltas.py` has what is in it, `delta_queues.py` the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from listwatch.cache.contents import Cached, key_of
from listwatch.cache.delta_queues import ByKey, InOrder, Known
from listwatch.cache.deltas import Added, Deleted, Delta, ObjectDelta, Updated
from listwatch.cache.entrance import Entrance, Relist, Transform
from listwatch.errors import BadKeyError, TransformError, UsageError

__all__ = ["DeltaFIFO", "Dropped", "Transform"]

T = TypeVar("T", bound=Cached)

Dropped = Callable[[T, BadKeyError | TransformError], None]
"""Told of an object that could not be let in, and why."""

_BATCH = 1000


class DeltaFIFO(Generic[T]):
    """Hands on what it was told, in that order, to one consumer, which pops a batch, processes it and says so.

    With `by_key=True` it gathers what happened to an object and hands that on together; `known`, the store that the
    consumer fills, then tells which objects a list or a resync is about. `on_ready` is called when there is something
    to pop again, and when there never will be.

    An event whose object cannot be let in is dropped, and `on_dropped` is told of it; where nobody is to be told, the
    error is raised. Where the transform fails on a deletion, the key still goes through: what else would remove the
    object?
    """

    def __init__(
        self,
        *,
        transform: Transform[T] | None = None,
        by_key: bool = False,
        known: Known[T] | None = None,
        on_dropped: Dropped[T] | None = None,
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        if known is not None and not by_key:
            raise UsageError("known objects are of use only by key: leave them out, or say by_key=True")
        self.on_ready = on_ready
        self._on_dropped = on_dropped
        self._entrance = Entrance(transform)
        self._queue: InOrder[T] | ByKey[T] = ByKey(known) if by_key else InOrder()
        self._is_populated = False
        self._is_closed = False
        # Counted in what the queue counts: deltas, or keys.
        self._popped = self._processed = self._initial = 0

    # --- the producer's side --------------------------------------------------------------------------------------

    def add(self, item: T) -> None:
        """The object appeared."""
        self._tell(Added, item)

    def update(self, item: T) -> None:
        """The object was changed."""
        self._tell(Updated, item)

    def delete(self, item: T) -> None:
        """The object is gone, and this is its last state."""
        self._is_populated = True
        try:
            key = key_of(item)
        except BadKeyError as error:
            self._drop(item, error)
        else:
            self._put(self._end_of(key, item))

    def relist(self) -> Relist[T]:
        """A list to be filled and then given to `replace`, for those who do not have all of it at once."""
        return Relist(self._entrance)

    def replace(self, items: Iterable[T] | Relist[T], resource_version: str) -> None:
        """Exactly these objects are there. If one of them cannot be let in, that is raised and nothing has happened."""
        if not isinstance(items, Relist):
            listed, items = items, self.relist()
            items.extend(listed)
        was_empty = not self._queue
        self._queue.replace(items.hand_over(), resource_version)
        if not self._is_populated:
            self._is_populated = True
            self._initial = self._popped + len(self._queue)
        if was_empty:
            self._wake()

    def resync(self) -> None:
        """Every object that has been processed is to be looked at again."""
        was_empty = not self._queue
        self._queue.resync()
        if was_empty:
            self._wake()

    def bookmark(self, resource_version: str) -> None:
        """Nothing else happened up to that version."""
        was_empty = not self._queue
        self._queue.bookmark(resource_version)
        if was_empty:
            self._wake()

    def close(self) -> None:
        """Nothing more will come; what is here can still be popped."""
        self._is_closed = True
        if self.on_ready is not None:
            self.on_ready()

    # --- the consumer's side --------------------------------------------------------------------------------------

    def pop_batch(self, limit: int = _BATCH) -> Sequence[Delta[T]]:
        """What is to be processed together next; empty if nothing is there.

        In order: up to `limit` deltas of different objects, or one that is of all of them. By key: all deltas of one
        object, which must have reached the known objects before the producer says anything more.
        """
        if limit < 1:
            raise UsageError(f"a batch of at most {limit} deltas would never get anywhere; ask for 1 or more")
        batch = self._queue.take(limit)
        self._popped += self._queue.size_of(batch)
        return batch

    def processed(self, batch: Sequence[Delta[T]]) -> None:
        """The batch was carried out, and all were told who are to be told."""
        self._processed += self._queue.size_of(batch)

    @property
    def has_synced(self) -> bool:
        """True once the first list has been processed, or at once if something else came before any list."""
        return self._is_populated and self._processed >= self._initial

    @property
    def is_in_initial_list(self) -> bool:
        """True while what is popped belongs to the first list."""
        return not self.has_synced

    @property
    def is_closed(self) -> bool:
        """True if nothing more will come; there may be something left to pop."""
        return self._is_closed

    def __len__(self) -> int:
        """How many deltas are waiting, or by key, how many objects."""
        return len(self._queue)

    def __repr__(self) -> str:
        state = ["closed"] * self._is_closed + ["synced" if self.has_synced else "not synced"]
        return f"<DeltaFIFO of {len(self._queue)}, {', '.join(state)}>"

    # --- inside ---------------------------------------------------------------------------------------------------

    def _tell(self, kind: type[Added[T]] | type[Updated[T]], item: T) -> None:
        self._is_populated = True
        try:
            key, kept = self._entrance.admit(item)
        except (BadKeyError, TransformError) as error:
            self._drop(item, error)
        else:
            self._put(kind(kept, key=key))

    def _end_of(self, key: str, item: T) -> Deleted[T]:
        try:
            return Deleted(self._entrance.transformed(key, item), key=key)
        except TransformError as error:
            self._drop(item, error)
            return Deleted(None, final_state_known=False, key=key)

    def _put(self, delta: ObjectDelta[T]) -> None:
        queue = self._queue
        was_empty = not queue
        queue.put(delta)
        if was_empty:
            self._wake()

    def _wake(self) -> None:
        if self.on_ready is not None and self._queue:
            self.on_ready()

    def _drop(self, item: T, error: BadKeyError | TransformError) -> None:
        if self._on_dropped is None:
            raise error
        self._on_dropped(item, error)
