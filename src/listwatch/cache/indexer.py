"""What we know: objects by key, and by whatever else they are looked up by. `DeltaFIFO` says what changed.

There is one writer, the informer, and there are readers in any thread. None of them waits for another:

* Everything that readers see hangs on one reference, which `replace` exchanges, so nobody sees half of a list.
* One answer is one copy of one dict, which the interpreter makes in a single step. It holds what the cache held at that
  moment; a batch is applied in the order of the server's events, so that was the server's state once, too.
* The version is written last: whoever sees it sees what led to it.

Two answers in a row may have one change between them, as with every cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from listwatch.cache.contents import Cached, Contents, key_of
from listwatch.cache.deltas import Added, Deleted, ObjectDelta, Updated
from listwatch.cache.index import Index, IndexFailure, IndexFunction, NamespaceIndex, namespace_of
from listwatch.cache.replacement import Change, Replacement
from listwatch.errors import IndexConflictError, IndexNotFoundError, ListWatchError
from listwatch.meta import ObjectKey

__all__ = ["NAMESPACE", "Applied", "Cached", "IndexFunction", "Indexer", "key_of", "namespace_of"]

NAMESPACE = "namespace"
"""The index by namespace, which listers use."""

T = TypeVar("T", bound=Cached)


def _version_after(change: Change[T]) -> str:
    """The version that a store with this change is as new as; empty where it does not tell."""
    delta, old = change
    match delta:
        case Added(item) | Updated(item):
            return item.resource_version
        case Deleted(item, final_state_known=True) if item is not None and item is not old:
            return item.resource_version
        case _:
            return ""  # what a list or a resync says of one object tells nothing about the age of the others


class Applied(NamedTuple, Generic[T]):
    """What came of a batch: the changes that were made, in order, and those that could not be made, with the reason."""

    changes: list[Change[T]]
    failures: list[tuple[ObjectDelta[T], ListWatchError]]
    resource_version: str
    """The version that they led to; empty if none of them tells."""


class Indexer(Generic[T]):
    """A store with named indexes, each of which finds an object under any number of values.

    An index function that fails is reported to `on_failure`, and its object is not found by that index; it is still
    in the store. Where nobody is to be told, the change is not made and IndexFunctionError is raised.
    """

    def __init__(
        self, *, indexers: Mapping[str, IndexFunction[T]] | None = None, on_failure: IndexFailure | None = None
    ) -> None:
        self._on_failure = on_failure
        self._contents: Contents[T] = Contents({})
        Indexer.add_indexers(self, indexers or {})  # not that of a subclass, which may wait for a loop

    # --- reading -------------------------------------------------------------------------------------------------

    @property
    def resource_version(self) -> str:
        """The version that the store is as new as."""
        return self._contents.resource_version

    @property
    def indexers(self) -> Mapping[str, IndexFunction[T]]:
        return {name: index.function for name, index in self._contents.indexes.items()}

    def get(self, key: str | ObjectKey) -> T | None:
        return self._contents.objects.get(key if type(key) is str else str(key))

    def keys(self) -> list[str]:
        return list(self._contents.objects)

    def by_index(self, name: str, value: str) -> list[T]:
        """The objects under one value of an index."""
        return list(self._index(name).buckets.get(value, {}).values())

    def by_indexes(self, /, **values: str) -> list[T]:
        """The objects that are under all of these values, each of the index of that name."""
        wanted = [(self._index(name), value) for name, value in values.items()]
        if not wanted:
            return self.list()
        index, value = min(wanted, key=lambda each: len(each[0].buckets.get(each[1], ())))
        found = list(index.buckets.get(value, {}).values())
        # The other indexes may be a change ahead by now, so the objects that were found are asked themselves.
        for other, value in wanted:
            if other is not index:
                found = [item for item in found if other.accepts(item, value)]
        return found

    def index_keys(self, name: str, value: str) -> list[str]:
        """The keys of the objects under one value of an index, sorted."""
        return sorted(self._index(name).buckets.get(value, ()))

    def index_values(self, name: str) -> list[str]:
        """The values under which an index finds anything."""
        return list(self._index(name).buckets)

    def __len__(self) -> int:
        return len(self._contents.objects)

    def __contains__(self, key: object) -> bool:
        return str(key) in self._contents.objects

    def __iter__(self) -> Iterator[T]:
        return iter(self.list())

    def __repr__(self) -> str:
        held = self._contents
        return f"<Indexer of {len(held.objects)} @{held.resource_version}, indexes {sorted(held.indexes)}>"

    # --- writing: by one thread only -----------------------------------------------------------------------------

    def add(self, item: T) -> None:
        """Store an object, in place of the one under its key if there is one."""
        self._contents.put(key_of(item), item)
        self._is_as_new_as(item)

    update = add

    def delete(self, item: T) -> None:
        """Remove what is under the object's key. The version is that of the object given, which is that of its end."""
        self._contents.take(key_of(item))
        self._is_as_new_as(item)

    def discard(self, key: str) -> None:
        """Remove what is under a key, if anything is."""
        self._contents.take(key)

    def apply(self, deltas: Iterable[ObjectDelta[T]]) -> Applied[T]:
        """Make each of these changes in turn; one that fails does not stop the others.

        A deletion that brings no object gets the one that was stored.
        """
        changes: list[Change[T]] = []
        failures: list[tuple[ObjectDelta[T], ListWatchError]] = []
        put = self._contents.put
        delta: Any
        for delta in deltas:
            try:
                changes.append(self._remove(delta) if type(delta) is Deleted else (delta, put(delta.key, delta.object)))
            except ListWatchError as error:
                failures.append((delta, error))
        newest = next(filter(None, map(_version_after, reversed(changes))), "")
        self._contents.resource_version = newest or self._contents.resource_version
        return Applied(changes, failures, newest)

    def replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> None:
        """Hold exactly these from now on; readers see either all of it or nothing of it."""
        self.prepare_replace(items, resource_version).swap()

    def prepare_replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> Replacement[T]:
        """The same in slices, for those who have other things to do meanwhile. `items` may be by key already."""
        indexes = {name: index.empty_twin() for name, index in self._contents.indexes.items()}
        return Replacement(items, Contents(indexes, resource_version), self._install)

    def bookmark(self, resource_version: str) -> None:
        """Nothing happened up to that version."""
        self._contents.resource_version = resource_version

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        """Add indexes, over what is there already too; all or none, if a name is taken.

        All objects are looked at in one go, for about a microsecond each: where there are very many, add them before.
        """
        taken = self._contents.indexes.keys() & indexers.keys()
        if taken:
            raise IndexConflictError(f"there is an index {', '.join(sorted(taken))} already; choose another name")
        self._contents.add_indexes(
            (NamespaceIndex if function is namespace_of else Index)(name, function, self._on_failure)
            for name, function in indexers.items()
        )

    # --- inside --------------------------------------------------------------------------------------------------

    def _remove(self, delta: Deleted[T]) -> Change[T]:
        old = self._contents.take(delta.key)
        if delta.object is None:
            return Deleted(old, delta.final_state_known, key=delta.key), old
        return delta, old

    def _is_as_new_as(self, item: T) -> None:
        held = self._contents
        held.resource_version = item.resource_version or held.resource_version

    def _install(self, contents: Contents[T]) -> Contents[T]:
        before = self._contents
        added_meanwhile = [index for name, index in before.indexes.items() if name not in contents.indexes]
        contents.add_indexes(index.empty_twin() for index in added_meanwhile)
        self._contents = contents
        return before

    def _index(self, name: str) -> Index[T]:
        indexes = self._contents.indexes
        try:
            return indexes[name]
        except KeyError:
            known = ", ".join(sorted(indexes)) or "none"
            raise IndexNotFoundError(f"there is no index {name!r}; there are: {known}") from None

    # Last in the class: from here on, type checkers take `list` for this method.
    def list(self) -> list[T]:
        """All objects, in the order in which their keys appeared."""
        return list(self._contents.objects.values())
