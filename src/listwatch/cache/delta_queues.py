"""The two orders in which a `DeltaFIFO` can keep its deltas: as they came, or gathered by key."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from listwatch.cache.deltas import Bookmark, Deleted, Delta, ObjectDelta, Relisted, Replaced, Resynced, Sync

__all__ = ["ByKey", "InOrder", "Known"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# To ask for the very type is much faster than `isinstance`, which for these classes goes a long way to say no.
_ALONE = frozenset({Replaced, Sync, Bookmark})


class InOrder(deque[Delta[T]], Generic[T]):
    """Deltas as they came: none is lost, none overtakes another; a list and a resync are one delta each."""

    put = deque.append

    def replace(self, objects: Mapping[str, T], resource_version: str) -> None:
        self.append(Replaced(objects, resource_version))

    def resync(self) -> None:
        self.append(Sync())

    def bookmark(self, resource_version: str) -> None:
        self.append(Bookmark(resource_version))

    def take(self, limit: int) -> Sequence[Delta[T]]:
        """The deltas to be carried out together: up to so many, of different objects; or one that is of all objects."""
        batch: list[Delta[T]] = []
        keys: set[str] = set()
        while self and len(batch) < limit:
            delta: Any = self[0]
            if type(delta) in _ALONE:
                return batch or [self.popleft()]
            if delta.key in keys:
                break
            keys.add(delta.key)
            batch.append(self.popleft())
        return batch

    def size_of(self, batch: Sequence[Delta[T]]) -> int:
        """What the batch counted for in the length of the queue."""
        return len(batch)


class Known(Protocol[T_co]):
    """The objects that have been through the queue already: an `Indexer`."""

    def get(self, key: str, /) -> T_co | None: ...
    def keys(self) -> Iterable[str]: ...


class ByKey(Generic[T]):
    """Deltas gathered by key, in the order in which the keys came: a batch is all that happened to one object."""

    def __init__(self, known: Known[T] | None) -> None:
        self._known = known
        # The keys also lie in a deque, because to take the first one out of a dict over and over is slow.
        self._keys: deque[str] = deque()
        self._deltas: dict[str, list[ObjectDelta[T]]] = {}

    def put(self, delta: ObjectDelta[T]) -> None:
        # Of what is not there any more, a list has told already.
        if not isinstance(delta, Deleted) or self._is_there(delta.key):
            self._gather(delta)

    def replace(self, objects: Mapping[str, T], resource_version: str) -> None:
        gone = self._missing_in(objects)
        for key, item in objects.items():
            self._gather(Relisted(item, key=key))
        for delta in gone:
            self._gather(delta)

    def resync(self) -> None:
        for key, item in self._known_objects():
            # What is queued is newer than what is known.
            if item is not None and key not in self._deltas:
                self._gather(Resynced(item, key=key))

    def bookmark(self, resource_version: str) -> None:
        """Nothing: deltas that are gathered by key are not in the order of versions."""

    def take(self, limit: int) -> Sequence[Delta[T]]:
        """All that happened to the object that waits longest, however much it is."""
        return self._deltas.pop(self._keys.popleft()) if self._keys else []

    def size_of(self, batch: Sequence[Delta[T]]) -> int:
        """What the batch counted for in the length of the queue."""
        return 1 if batch else 0

    def _gather(self, delta: ObjectDelta[T]) -> None:
        gathered = self._deltas.get(delta.key)
        if gathered is None:
            self._keys.append(delta.key)
            self._deltas[delta.key] = [delta]
        elif isinstance(delta, Deleted) and isinstance(last := gathered[-1], Deleted):
            # Both tell of the same end: the one that saw it is the better witness.
            gathered[-1] = last if last.final_state_known else delta
        else:
            gathered.append(delta)

    def _is_there(self, key: str) -> bool:
        return key in self._deltas or (self._known is not None and self._known.get(key) is not None)

    def _missing_in(self, objects: Mapping[str, T]) -> list[Deleted[T]]:
        last_known = {key: deltas[-1].object for key, deltas in self._deltas.items()}
        for key, item in self._known_objects():
            if last_known.get(key) is None:
                last_known[key] = item
        return [
            Deleted(item, final_state_known=False, key=key) for key, item in last_known.items() if key not in objects
        ]

    def _known_objects(self) -> Iterator[tuple[str, T | None]]:
        if (known := self._known) is not None:
            keys = known.keys()
            yield from ((key, known.get(key)) for key in keys)

    def __len__(self) -> int:
        return len(self._keys)
