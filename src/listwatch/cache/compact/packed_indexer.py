"""A store that keeps objects packed. It has the interface of an `Indexer`, and readers get ordinary objects.

A stored value is an object as it was received, until it is packed, and then an `Entry`. The packer of an informer
takes the objects that are not packed from `PendingObjects`, and exchanges them for entries.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from listwatch.cache.compact.entry import Entry, Instances
from listwatch.cache.deltas import AddedDelta, DeletedDelta, UpdatedDelta
from listwatch.cache.indexer import Index, Indexer, IndexFailure, IndexFunction, NamespaceIndex, ThreadSafeStore
from listwatch.cache.replacement import AppliedDelta, Replacement, StoreContents, sliced
from listwatch.keyed import Cached
from listwatch.meta import ObjectKey

__all__ = ["PackedIndexer", "PendingObjects", "Stored"]

T = TypeVar("T", bound=Cached)

Stored = Any
"""An object, or the `Entry` of one."""

_ATTEMPTS = 3


class PendingObjects:
    """Stored objects that wait to be packed, by key. The packer skips those that were replaced or removed since.

    A batch is taken as a whole or not at all: what is applied to the store is collected apart until `complete`.
    """

    def __init__(self) -> None:
        self.applying: dict[str, Stored] = {}
        """What the current batch has changed."""
        self._applied: dict[str, Stored] = {}
        self._taken: dict[str, Stored] = {}  # of which the packer removes what it packs

    def put(self, key: str, stored: Stored) -> None:
        if type(stored) is not Entry:
            self.applying[key] = stored
        else:
            self.applying.pop(key, None)

    def remove(self, key: str) -> None:
        self.applying.pop(key, None)
        # A store with too few objects for a dictionary would keep it, and the packer while it pauses.
        self._applied.pop(key, None)
        self._taken.pop(key, None)

    def complete(self) -> None:
        """Declare that a batch was applied completely."""
        applying, applied = self.applying, self._applied
        if len(applying) > len(applied):
            for key, stored in applied.items():
                applying.setdefault(key, stored)
            self._applied = applying
        else:
            applied.update(applying)
        self.applying = {}

    def take(self) -> dict[str, Stored]:
        """Remove and return what the complete batches have changed."""
        self._taken, self._applied = self._applied, {}
        return self._taken

    def discard(self, key: str, stored: Stored) -> None:
        """Remove an object that was written to the file, so that it is released before the packer reaches it."""
        for pending in (self._applied, self._taken):
            if pending.get(key) is stored:
                del pending[key]

    def __len__(self) -> int:
        return len(self._applied)


class PackedStore(ThreadSafeStore[Stored]):
    """The stored values by key, and the indexes over them."""

    __slots__ = ("_before", "_pending", "changes", "instances")

    def __init__(
        self,
        indexes: Mapping[str, Index[Stored]],
        resource_version: str,
        instances: Instances[Any],
        pending: PendingObjects,
        before: PackedStore | None = None,
    ) -> None:
        super().__init__(indexes, resource_version)
        self.instances = instances
        self._pending = pending
        self._before = before
        self.changes = 0
        """Odd while a value is exchanged: then the indexes may differ from each other."""

    def opened(self, stored: Stored) -> Stored:
        """Return the object of a stored value."""
        return self.instances.of(stored) if type(stored) is Entry else stored

    def last(self, stored: Stored) -> Stored:
        """Return the object of a stored value that has left the store."""
        return self.instances.last_of(stored) if type(stored) is Entry else stored

    def put(self, key: str, item: Stored) -> Stored:
        """Store a value and return the object that it replaces. Changes nothing if an index function raises."""
        indexes, objects = self.indexes, self.objects
        if type(item) is Entry or len(indexes) != 1:
            old = self.place(key, item)
            self._pending.put(key, item)
        else:  # the usual case, without these calls
            (index,) = indexes.values()
            values = index.values_of(key, item)
            self.changes += 1
            old = objects.get(key)
            objects[key] = self._pending.applying[key] = item
            index.put(key, item, values)
            self.changes += 1
        return self.instances.last_of(old) if type(old) is Entry else old

    def place(self, key: str, stored: Stored) -> Stored | None:
        """Store a value and return the one that it replaces."""
        is_packed, found = type(stored) is Entry, []
        for index in self.indexes.values():  # a comprehension takes a quarter longer
            found.append((index, self._values_of(index, key, stored) if is_packed else index.values_of(key, stored)))
        self.changes += 1
        objects = self.objects
        old = objects.get(key)
        objects[key] = stored
        for index, values in found:
            index.put(key, stored, values)
        self.changes += 1
        return old

    def _values_of(self, index: Index[Stored], key: str, stored: Stored) -> tuple[str, ...]:
        if type(stored) is not Entry or type(index) is NamespaceIndex:
            return index.values_of(key, stored)  # the namespace is in the key
        before = self._before
        if before is not None and before.objects.get(key) is stored and index.name in before.indexes:
            return before.indexes[index.name].stored_values(key)  # an unchanged object of a relist is not opened
        return index.values_of(key, self.instances.of(stored))

    def exchange(self, key: str, stored: Stored, packed: Stored) -> bool:
        """Replace a value by its packed form; False if the store does not contain the value any more."""
        self.changes += 1
        is_exchanged = super().exchange(key, stored, packed)
        self.changes += 1
        return is_exchanged

    def exchange_all(self, keys: Sequence[str], values: Sequence[Stored], entries: Sequence[Entry]) -> None:
        """Replace values by their packed forms, where the store still contains them."""
        with self.instances.exchanging(values, entries):
            self._exchange_all(keys, values, entries)  # a call, because its variables must not count as references

    def _exchange_all(self, keys: Sequence[str], values: Sequence[Stored], entries: Sequence[Entry]) -> None:
        indexes, objects = [*self.indexes.values()], self.objects
        if len(indexes) != 1 or type(indexes[0]) is not NamespaceIndex:
            for key, stored, entry in zip(keys, values, entries, strict=True):
                self.exchange(key, stored, entry)
            return
        buckets = indexes[0].buckets
        self.changes += 1
        for key, stored, entry in zip(keys, values, entries, strict=True):
            if objects.get(key) is stored:
                objects[key] = buckets[key.rpartition("/")[0]][key] = entry
        self.changes += 1

    def remove(self, key: str) -> Stored:
        """Remove and return the object with this key, if there is one."""
        self.changes += 1
        old = super().remove(key)
        self.changes += 1
        if old is not None:
            self._pending.remove(key)
        return self.instances.last_of(old) if type(old) is Entry else old

    def add_indexes(self, indexes: Iterable[Index[Stored]]) -> None:
        added = {index.name: index for index in indexes}
        for index in added.values():
            for key, stored in self.objects.items():
                index.put(key, stored, self._values_of(index, key, stored))
        self.indexes = {**self.indexes, **added}

    def forget_before(self) -> None:
        """Release the contents that this store has replaced."""
        self._before = None

    def pend_all(self, part: Iterable[tuple[str, Stored]]) -> None:
        """Record that values were stored in place of nothing."""
        self._pending.applying.update([each for each in part if type(each[1]) is not Entry])

    def pend(self, key: str, stored: Stored | None) -> None:
        """Record that a value was stored or, with None, removed."""
        if stored is None:
            self._pending.remove(key)
        else:
            self._pending.put(key, stored)


class PackedReplacement(Replacement[T]):
    """The next contents of a packed store. Values that are already stored are kept, with their index values."""

    _store: PackedStore

    def commit(self, *, unchanged: bool = True) -> Iterator[list[AppliedDelta[T]]]:
        before = self._swap()
        self._store.forget_before()
        return _applied_replacement(before, self._store, self._store.objects.copy(), unchanged=unchanged)

    def install(self) -> None:
        self._swap()
        self._store.forget_before()

    def fill(self) -> Iterator[list[T]]:
        self.install()
        store = self._store
        for part in sliced(store.objects.copy().items()):
            store.pend_all(part)
            yield store.instances.all_of([stored for _, stored in part])


def _applied_replacement(
    before: StoreContents[Stored], store: PackedStore, after: dict[str, Stored], *, unchanged: bool
) -> Iterator[list[AppliedDelta[Stored]]]:
    # Readers may still read the contents before, so this works on copies.
    indexes, objects, opened, last = list(before.indexes.values()), before.objects.copy(), store.opened, store.last
    del before
    yield []
    while indexes:
        indexes.pop()
        yield []
    for keys in sliced(list(objects)):
        deleted: list[AppliedDelta[Stored]] = []
        for key in keys:
            if key not in after:
                old = last(objects.pop(key))
                store.pend(key, None)
                deleted.append((DeletedDelta(old, final_state_known=False, key=key), old))
        yield deleted
    for part in sliced(after.items()):
        listed: list[AppliedDelta[Stored]] = []
        for key, stored in part:
            replaced = objects.pop(key, None)
            if replaced is stored and not unchanged:
                continue
            item = opened(stored)
            if replaced is not stored:
                store.pend(key, stored)
            if replaced is None:
                listed.append((AddedDelta(item, key=key), None))
            else:
                listed.append((UpdatedDelta(item, key=key), item if replaced is stored else last(replaced)))
        yield listed


class PackedIndexer(Indexer[T], Generic[T]):
    """An indexer whose objects are packed. The same instance is returned for as long as it is held."""

    _store: PackedStore

    def __init__(
        self,
        *,
        instances: Instances[T],
        pending: PendingObjects,
        indexers: Mapping[str, IndexFunction[T]] | None = None,
        on_failure: IndexFailure | None = None,
    ) -> None:
        self.instances = instances
        self.pending = pending
        super().__init__(indexers=indexers, on_failure=on_failure)

    def _new_store(self, indexes: Mapping[str, Index[T]], resource_version: str = "") -> PackedStore:
        return PackedStore(indexes, resource_version, self.instances, self.pending)

    # --- reading -------------------------------------------------------------------------------------------------

    def get(self, key: str | ObjectKey) -> T | None:
        stored: Stored = super().get(key)
        return self.instances.of(stored) if type(stored) is Entry else stored

    def _find(self, key: str | ObjectKey) -> T | None:
        return self._open(super()._find(key))

    def by_index(self, name: str, value: str) -> list[T]:
        return self._open_all(self._stored_by_index(name, value))

    def by_indexes(self, /, **values: str) -> list[T]:
        # Not with the index functions, which open the objects, unless the indexes change meanwhile.
        store = self._store
        for _ in range(_ATTEMPTS):
            changes = store.changes
            buckets = [self._index(name).buckets.get(value, {}) for name, value in values.items()]
            if not buckets:
                return self.list()
            smallest, *others = sorted(buckets, key=len)
            found = [stored for key, stored in [*smallest.items()] if all(each.get(key) is stored for each in others)]
            if store is self._store and changes == store.changes and not changes % 2:
                return self._open_all(found)
            store = self._store
        (first, value), *others_values = values.items()
        opened = self.by_index(first, value)
        return [item for item in opened if all(self._index(name).accepts(item, each) for name, each in others_values)]

    def stored(self, key: str) -> Stored | None:
        """Return the stored value with this key."""
        return self._store.objects.get(key)

    def all_stored(self, keys: Iterable[str]) -> Iterable[Stored | None]:
        """Return the stored values with these keys."""
        return map(self._store.objects.get, keys)

    def _snapshot(self) -> list[Stored]:
        return list(self._store.objects.values())

    def _narrowed_by_label(
        self, stored: list[Stored], key: str, values: Container[str | None], *, wanted: bool
    ) -> list[Stored]:
        return [
            each
            for each in stored
            if (((each.shared_labels.decoded if type(each) is Entry else None) or each.labels).get(key) in values)
            is wanted
        ]

    def _open(self, stored: Stored) -> T:
        item: T = self.instances.of(stored) if type(stored) is Entry else stored
        return item

    def _open_all(self, stored: Iterable[Stored]) -> list[T]:
        return self.instances.all_of(stored)

    # --- writing -------------------------------------------------------------------------------------------------

    def _prepare_replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> PackedReplacement[T]:
        before = self._store
        indexes = {name: index.empty_copy() for name, index in before.indexes.items()}
        store = PackedStore(indexes, resource_version, self.instances, self.pending, before)
        return PackedReplacement(items, store, partial(self._install, store))

    def exchange(self, key: str, stored: Stored, packed: Entry) -> bool:
        """Replace a value by its packed form; False if it is not stored any more."""
        return self._store.exchange(key, stored, packed)

    def exchange_all(self, keys: Sequence[str], values: Sequence[Stored], entries: Sequence[Entry]) -> None:
        """Replace values by their packed forms, where they are still stored."""
        self._store.exchange_all(keys, values, entries)

    # Last in the class: below this line, type checkers resolve `list` to this method.
    def list(self) -> list[T]:
        return self._open_all([*self._store.objects.values()])  # another thread may change them meanwhile
