"""The store of an informer: objects by key, and by the values of any number of indexes.

One thread writes, the one of the informer; any thread reads. Neither waits for the other:

* Everything that readers see is reached through one reference, which `replace` exchanges. No reader sees a part of a
  list.
* One read is one copy of one dict, which the interpreter makes in a single step. A batch is applied in the order of
  the server's events, so the result is a state that the server had.
* The version is written last: a reader that sees it also sees the changes up to it.

Between two reads the store may change, as with every cache.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

from listwatch.cache.deltas import AddedDelta, DeletedDelta, ObjectDelta, UpdatedDelta
from listwatch.cache.keys import NAMESPACE, cache_key, key_of, namespace_of
from listwatch.cache.replacement import AppliedDelta, Replacement, sliced
from listwatch.errors import (
    BadKeyError,
    IndexConflictError,
    IndexFunctionError,
    IndexNotFoundError,
    ListWatchError,
)
from listwatch.keyed import Cached
from listwatch.meta import ObjectKey
from listwatch.selectors import narrowed_by_label

__all__ = [
    "AppliedBatch",
    "Index",
    "IndexFailure",
    "IndexFunction",
    "Indexer",
    "NamespaceIndex",
    "ThreadSafeStore",
]

T = TypeVar("T", bound=Cached)


IndexFunction = Callable[[T], Iterable[str]]
"""Returns the values under which one index contains an object."""

IndexFailure = Callable[[str, str, Exception], None]
"""Receives the failure of an index function: name of the index, key of the object, error."""


class AppliedBatch(NamedTuple, Generic[T]):
    """The result of `Indexer.apply`: the deltas that were applied, in order, and those that failed, with the reason."""

    applied: list[AppliedDelta[T]]
    failures: list[tuple[ObjectDelta[T], ListWatchError]]
    resource_version: str
    """The version after the batch, that of its last delta which determines one; empty if none does."""

    def versions(self) -> Iterator[str]:
        """Return the versions that the deltas determine."""
        return filter(None, map(_version_after, self.applied))


def _version_after(applied: AppliedDelta[T]) -> str:
    """Return the version of the store after this delta; empty if the delta does not determine it."""
    delta, old = applied
    match delta:
        case AddedDelta(item) | UpdatedDelta(item):
            return item.resource_version
        case DeletedDelta(item, final_state_known=True) if item is not None and item is not old:
            return item.resource_version
        case _:
            return ""  # an object of a list or a resync does not determine the version of the others


class Indexer(Generic[T]):
    """A store with named indexes, each of which contains an object under any number of values.

    The failure of an index function is passed to `on_failure`: the object is stored, but not found by that index.
    Without `on_failure` the object is not stored, and IndexFunctionError is raised.
    """

    def __init__(
        self, *, indexers: Mapping[str, IndexFunction[T]] | None = None, on_failure: IndexFailure | None = None
    ) -> None:
        self._on_failure = on_failure
        self._namespaced_kind = ""  # the name of the kind, if it is known to have namespaces; an informer sets it
        self._released = 0  # how many objects were replaced by instances without decoded parts
        self._is_written_by_program = False  # if so, its objects may have changes that are not in their bytes
        self._store: ThreadSafeStore[T] = self._new_store({})
        Indexer.add_indexers(self, indexers or {})  # a subclass may override it with one that waits for a loop

    def _new_store(self, indexes: Mapping[str, Index[T]], resource_version: str = "") -> ThreadSafeStore[T]:
        return ThreadSafeStore(indexes, resource_version)

    # --- reading -------------------------------------------------------------------------------------------------

    @property
    def resource_version(self) -> str:
        """The version that the store has reached."""
        return self._store.resource_version

    @property
    def indexers(self) -> Mapping[str, IndexFunction[T]]:
        """The index functions, by the names of their indexes."""
        return {name: index.function for name, index in self._store.indexes.items()}

    def get(self, key: str | ObjectKey) -> T | None:
        """Return the object with this key; None if there is none.

        If it is known that the objects have namespaces, BadKeyError is raised for a key without one.
        """
        try:  # faster than `get` of the dict for objects that exist, although the check of other keys follows
            return self._store.objects[key if type(key) is str else cache_key(key)]
        except KeyError:
            pass
        if self._namespaced_kind and "/" not in cache_key(key):
            raise self._lacks_namespace(str(key))
        return None

    def _find(self, key: str | ObjectKey) -> T | None:
        """Return the object with this key, whatever the key."""
        return self._store.objects.get(key if type(key) is str else cache_key(key))

    def _holds(self, entries: Mapping[str, T]) -> bool:
        """True if exactly these instances are stored under their keys."""
        return all(map(is_, map(self._store.objects.get, entries), entries.values()))

    def keys(self) -> list[str]:
        """Return the keys of all objects, in the order in which they were added."""
        return list(self._store.objects)

    def by_index(self, name: str, value: str) -> list[T]:
        """Return the objects under one value of an index."""
        return list(self._index(name).buckets.get(value, {}).values())

    def by_indexes(self, /, **values: str) -> list[T]:
        """Return the objects that are under all of these values, each of the index with that name."""
        wanted = [(self._index(name), value) for name, value in values.items()]
        if not wanted:
            return self.list()
        index, value = min(wanted, key=lambda each: len(each[0].buckets.get(each[1], ())))
        found = list(index.buckets.get(value, {}).values())
        # Another index may be one change ahead, so its function is called with the objects that were found.
        for other, value in wanted:
            if other is not index:
                found = [item for item in found if other.accepts(item, value)]
        return found

    def index_keys(self, name: str, value: str) -> list[str]:
        """Return the keys of the objects under one value of an index, sorted."""
        return sorted(self._index(name).buckets.get(value, ()))

    def index_values(self, name: str) -> list[str]:
        """Return the values under which an index contains objects."""
        return list(self._index(name).buckets)

    # A store may keep objects in another form than that of readers; an informer passes this form on while it can.

    def _snapshot(self) -> list[T]:
        """Return all objects in the form in which they are stored."""
        return list(self._store.objects.values())

    def _stored(self, key: str) -> T | None:
        """Return the object with this key, in the form in which it is stored."""
        return self._store.objects.get(key)

    def _contents(self, namespace: str | None = None) -> dict[str, T]:
        """Return all objects, or those of a namespace, by key and in the form in which they are stored."""
        return dict(self._store.objects if namespace is None else self._index(NAMESPACE).buckets.get(namespace, {}))

    def _count(self, namespace: str | None = None) -> int:
        """Return how many objects there are, or how many in a namespace."""
        return len(self._store.objects if namespace is None else self._index(NAMESPACE).buckets.get(namespace, ()))

    def _stored_by_index(self, name: str, value: str) -> list[T]:
        """Return the objects under one value of an index, in the form in which they are stored."""
        return list(self._index(name).buckets.get(value, {}).values())

    def _narrowed_by_label(self, stored: list[T], key: str, values: Container[str | None], *, wanted: bool) -> list[T]:
        """Return the stored values whose label is one of these or, if not wanted, none of them."""
        if not stored:
            return []
        usual: Callable[..., list[T]] = narrowed_by_label
        narrowed: Callable[..., list[T]] = getattr(type(stored[0]), "_narrowed_by_label", usual)
        try:
            return narrowed(stored, key, values, wanted=wanted)
        except AttributeError:  # the objects have several classes, or no labels
            return usual(stored, key, values, wanted=wanted)

    def _open(self, stored: T) -> T:
        """Return the object of a stored value."""
        return stored

    def _open_all(self, stored: list[T]) -> list[T]:
        """Return the objects of stored values."""
        return stored

    def __len__(self) -> int:
        return len(self._store.objects)

    def __contains__(self, key: object) -> bool:
        text = key if type(key) is str else cache_key(key)
        if text in self._store.objects:
            return True
        if self._namespaced_kind and "/" not in text:
            raise self._lacks_namespace(text)
        return False

    def __iter__(self) -> Iterator[T]:
        return iter(self.list())

    def __repr__(self) -> str:
        store = self._store
        return f"<Indexer of {len(store.objects)} @{store.resource_version}, indexes {sorted(store.indexes)}>"

    # --- writing: by one thread only -----------------------------------------------------------------------------

    def add(self, item: T) -> None:
        """Store an object, in place of the one with the same key if there is one."""
        self._is_written_by_program = True
        self._store.put(key_of(item), item)
        self.bookmark(item.resource_version or self.resource_version)

    update = add

    def delete(self, item: T) -> None:
        """Remove the object with the same key. The version of `item` is that of the deletion."""
        self._store.remove(key_of(item))
        self.bookmark(item.resource_version or self.resource_version)

    def discard(self, key: str) -> None:
        """Remove the object with this key, if there is one."""
        self._store.remove(key)

    def apply(self, deltas: Iterable[ObjectDelta[T]]) -> AppliedBatch[T]:
        """Apply deltas in order; one that fails does not stop the others.

        A deletion without an object gets the object that was stored.
        """
        self._is_written_by_program = True
        return self._apply(deltas)

    def _apply(self, deltas: Iterable[ObjectDelta[T]]) -> AppliedBatch[T]:
        applied: list[AppliedDelta[T]] = []
        failures: list[tuple[ObjectDelta[T], ListWatchError]] = []
        put = self._store.put
        for delta in deltas:
            try:
                if type(delta) is DeletedDelta:
                    applied.append(self._remove(delta))
                else:
                    item: T = delta.object  # type: ignore[assignment]  # only a deletion may have no object
                    applied.append((delta, put(delta.key, item)))
            except ListWatchError as error:
                failures.append((delta, error))
        version = next(filter(None, map(_version_after, reversed(applied))), "")
        if version:
            self._store.resource_version = version
        return AppliedBatch(applied, failures, version)

    def replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> None:
        """Replace the contents by exactly these objects; readers see either all of them or none."""
        self.prepare_replace(items, resource_version)._swap()

    def prepare_replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> Replacement[T]:
        """Return a replacement that can be built in slices. `items` may be a mapping by key."""
        self._is_written_by_program = True
        return self._prepare_replace(items, resource_version)

    def _prepare_replace(self, items: Iterable[T] | Mapping[str, T], resource_version: str) -> Replacement[T]:
        indexes = {name: index.empty_copy() for name, index in self._store.indexes.items()}
        store = self._new_store(indexes, resource_version)
        return Replacement(items, store, partial(self._install, store))

    def _release_parts(self, item: Any, references: int) -> bool:
        """Release the decoded parts of an object; False if it is not stored any more.

        `references` is the number of references to it, without those of the caller. If some of them are not of this
        store, an instance without decoded parts is stored in place of the object, which is not changed.
        """
        store, key = self._store, item.cache_key
        stored: Any = store.objects.get(key)
        if stored is not item:
            return False
        if references != store.references_to(key) or not item._forget_parts():
            self._released += store.exchange(key, item, item._undecoded())
        return True

    def _keep_released(self, listed: dict[str, Any]) -> Iterator[None]:
        """Put stored instances in place of those that they have replaced, in slices."""
        for keys in sliced([*listed]):
            for key in keys:
                item: Any = listed[key]
                stored: Any = self._store.objects.get(key)
                if stored is not item and type(stored) is type(item) and item._shares_bytes_with(stored):
                    listed[key] = stored
            yield

    @property
    def _has_index_functions(self) -> bool:
        return self._store.has_index_functions

    def bookmark(self, resource_version: str) -> None:
        """Set the version that the store has reached."""
        self._store.resource_version = resource_version

    def add_indexers(self, indexers: Mapping[str, IndexFunction[T]]) -> None:
        """Add indexes over all objects; none of them if a name is in use.

        It takes about a microsecond per object without a pause: in a large store, add indexes before it is filled.
        """
        in_use = self._store.indexes.keys() & indexers.keys()
        if in_use:
            raise IndexConflictError(f"the index {', '.join(sorted(in_use))} already exists; choose another name")
        self._store.add_indexes(
            (NamespaceIndex if function is namespace_of else Index)(name, function, self._on_failure)
            for name, function in indexers.items()
        )

    # --- internal ------------------------------------------------------------------------------------------------

    def _remove(self, delta: DeletedDelta[T]) -> AppliedDelta[T]:
        old = self._store.remove(delta.key)
        if delta.object is None:
            return DeletedDelta(old, delta.final_state_known, key=delta.key), old
        return delta, old

    def _install(self, store: ThreadSafeStore[T]) -> ThreadSafeStore[T]:
        before = self._store
        added_since = [index for name, index in before.indexes.items() if name not in store.indexes]
        store.add_indexes(index.empty_copy() for index in added_since)
        self._store = store
        return before

    def _lacks_namespace(self, key: str) -> BadKeyError:
        name = f"namespace/{key}"
        same = [each for each in self._store.objects if each.endswith(f"/{key}")][:3]
        found = f"; the cache contains {', '.join(map(repr, same))}" if same else ""
        return BadKeyError(
            f"the key {key!r} lacks its namespace: {self._namespaced_kind} are namespaced, so their keys are {name!r}; "
            f"pass that, or use lister.namespace('namespace').get({key!r}){found}",
            text=key,
        )

    def _index(self, name: str) -> Index[T]:
        indexes = self._store.indexes
        try:
            return indexes[name]
        except KeyError:
            known = ", ".join(sorted(indexes)) or "none"
            raise IndexNotFoundError(f"there is no index {name!r}; existing indexes: {known}") from None

    # Last in the class: below this line, type checkers resolve `list` to this method.
    def list(self) -> list[T]:
        """Return all objects, in the order in which their keys were added."""
        return list(self._store.objects.values())


# --- The contents of the store ----------------------------------------------------------------------------------------


class ThreadSafeStore(Generic[T]):
    """Objects by key, the indexes over them, and the version."""

    __slots__ = ("indexes", "objects", "resource_version")

    def __init__(self, indexes: Mapping[str, Index[T]], resource_version: str = "") -> None:
        self.objects: dict[str, T] = {}
        self.indexes = dict(indexes)
        self.resource_version = resource_version

    def put(self, key: str, item: T) -> T | None:
        """Store an object and return the one that it replaces. Changes nothing if an index function raises."""
        indexes, objects = self.indexes, self.objects
        if len(indexes) == 1:  # the usual case, in four fifths of the time
            (index,) = indexes.values()
            values = index.values_of(key, item)
            old = objects.get(key)
            objects[key] = item
            index.put(key, item, values)
            return old
        found = []
        for index in indexes.values():  # a comprehension takes a quarter longer
            found.append((index, index.values_of(key, item)))
        old = objects.get(key)
        objects[key] = item
        for index, values in found:
            index.put(key, item, values)
        return old

    def exchange(self, key: str, stored: T, other: T) -> bool:
        """Replace a value by an equal one; False if the store does not contain the value any more."""
        objects = self.objects
        if objects.get(key) is not stored:
            return False
        objects[key] = other
        for index in self.indexes.values():
            if type(index) is NamespaceIndex:  # the usual one, without a call
                index.buckets[key.rpartition("/")[0]][key] = other
                continue
            for value in index.stored_values(key):
                index.buckets[value][key] = other
        return True

    def references_to(self, key: str) -> int:
        """Return how many references this store has to the object with this key."""
        count = 1
        for index in self.indexes.values():
            count += 1 if type(index) is NamespaceIndex else len(index.stored_values(key))
        return count

    @property
    def has_index_functions(self) -> bool:
        """Whether there are indexes besides that by namespace."""
        return any(type(index) is not NamespaceIndex for index in self.indexes.values())

    def put_all(self, entries: Sequence[tuple[str, T]]) -> None:
        """Store many objects, in a quarter of the time. Changes nothing if an index function raises."""
        found = []
        for index in self.indexes.values():
            if type(index) is not NamespaceIndex:
                found.append((index, [(key, item, self._values_of(index, key, item)) for key, item in entries]))
        self.objects.update(entries)
        for index in self.indexes.values():
            if type(index) is NamespaceIndex:
                index.put_all(entries)
        for index, values_of_objects in found:
            for key, item, values in values_of_objects:
                index.put(key, item, values)

    def _values_of(self, index: Index[T], key: str, item: T) -> tuple[str, ...]:
        return index.values_of(key, item)

    def remove(self, key: str) -> T | None:
        """Remove and return the object with this key, if there is one."""
        old = self.objects.pop(key, None)
        if old is not None:
            for index in self.indexes.values():
                index.remove(key)
        return old

    def add_indexes(self, indexes: Iterable[Index[T]]) -> None:
        """Add indexes over all objects. Changes nothing if an index function raises."""
        added = {index.name: index for index in indexes}
        for index in added.values():
            for key, item in self.objects.items():
                index.put(key, item, index.values_of(key, item))
        self.indexes = {**self.indexes, **added}


class Index(Generic[T]):
    """One index: contains an object under each value that the index function returns for it."""

    # Readers in other threads take a bucket from `buckets` and copy it in one step. So a bucket is never empty, and an
    # object is added to new buckets before it is removed from old ones, and stays in place where its value is the same.

    __slots__ = ("_on_failure", "_values", "buckets", "function", "name")

    def __init__(self, name: str, function: IndexFunction[T], on_failure: IndexFailure | None) -> None:
        self.name = name
        self.function = function
        self.buckets: dict[str, dict[str, T]] = {}
        self._on_failure = on_failure
        # The values under which each object was added. Calling the function again could return others, because the
        # object may have been changed in place.
        self._values: dict[str, tuple[str, ...]] = {}

    def empty_copy(self) -> Index[T]:
        """Return the same index without objects."""
        return type(self)(self.name, self.function, self._on_failure)

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        """Return the values of an object; none if the function fails. Raises the failure if it is not reported."""
        try:
            found = self.function(item)
            if type(found) is list and len(found) == 1 and type(found[0]) is str:
                return (found[0],)  # the usual case, in half of the time
            return _checked_values(found)
        except Exception as error:  # noqa: BLE001  # user code may raise anything
            return self._failed(key, error)

    def accepts(self, item: T, value: str) -> bool:
        """Return whether the index function returns that value for the object."""
        try:
            return value in _checked_values(self.function(item))
        except Exception:  # noqa: BLE001  # user code; the failure was reported when the object was stored
            return False

    def stored_values(self, key: str) -> tuple[str, ...]:
        """Return the values under which the index contains the object with this key."""
        return self._values.get(key, ())

    def put(self, key: str, item: T, values: tuple[str, ...]) -> None:
        """Add the object under these values, and remove it from all others."""
        self._add(key, item, values)
        before = self._values.get(key, ())
        if before != values:
            self._values[key] = values
            self._remove_from(key, [value for value in before if value not in values])

    def remove(self, key: str) -> None:
        """Remove the object from the index."""
        self._remove_from(key, self._values.pop(key, ()))

    def _add(self, key: str, item: T, values: tuple[str, ...]) -> None:
        for value in values:
            bucket = self.buckets.get(value)
            if bucket is None:
                self.buckets[value] = {key: item}
            else:
                bucket[key] = item

    def _remove_from(self, key: str, values: Iterable[str]) -> None:
        for value in values:
            bucket = self.buckets[value]
            if len(bucket) > 1:
                del bucket[key]
            else:
                # Values such as the addresses of pods are short-lived; empty buckets would accumulate.
                del self.buckets[value]

    def _failed(self, key: str, error: Exception) -> tuple[str, ...]:
        failure = IndexFunctionError(f"the index function of {self.name!r} failed on {key}: {error}")
        failure.__cause__ = error
        if self._on_failure is None:
            raise failure
        self._on_failure(self.name, key, failure)
        return ()


class NamespaceIndex(Index[T]):
    """The index by namespace, which almost every store has. The value is a prefix of the key, so it is not stored."""

    __slots__ = ()

    def put(self, key: str, item: T, values: tuple[str, ...]) -> None:
        try:
            self.buckets[values[0]][key] = item
        except KeyError:
            self.buckets[values[0]] = {key: item}

    def put_all(self, entries: Iterable[tuple[str, T]]) -> None:
        """Add many objects. Those of a list are in the order of their namespaces."""
        buckets, last, bucket = self.buckets, None, dict[str, T]()
        for key, item in entries:
            namespace = key.rpartition("/")[0]
            if namespace != last:
                bucket, last = buckets.setdefault(namespace, {}), namespace
            bucket[key] = item

    def values_of(self, key: str, item: T) -> tuple[str, ...]:
        return (key.rpartition("/")[0],)

    def stored_values(self, key: str) -> tuple[str, ...]:
        return (key.rpartition("/")[0],)

    def remove(self, key: str) -> None:
        self._remove_from(key, (key.rpartition("/")[0],))


def _checked_values(found: Iterable[str]) -> tuple[str, ...]:
    # The messages do not contain the values: an index may be over secret data.
    if isinstance(found, str):
        raise TypeError("it returned a str, not a list of str")
    values = tuple(dict.fromkeys(found))
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"it returned a list that contains a {type(value).__name__}, not only str")
    return values
