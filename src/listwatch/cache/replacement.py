"""The next contents of an `Indexer`, which are built in slices: a list may have very many objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, Protocol, TypeVar

from listwatch.cache.deltas import AddedDelta, DeletedDelta, ObjectDelta, UpdatedDelta
from listwatch.cache.keys import key_of
from listwatch.errors import UsageError
from listwatch.keyed import Cached

__all__ = ["AppliedDelta", "Replacement", "StoreContents", "sliced"]

T = TypeVar("T", bound=Cached)
U = TypeVar("U")

AppliedDelta = tuple[ObjectDelta[T], T | None]
"""A delta that was applied to the store, and the object that it replaced or removed."""

_SLICE = 250
_INDEXED_SLICE = 50
"""Index functions of users decode parts of each object, which takes several times as long as storing it."""


def sliced(whole: Iterable[U], size: int = _SLICE) -> Iterator[list[U]]:
    """Yield the elements in lists of a size that can be processed without a pause."""
    remaining = iter(whole)
    while part := list(islice(remaining, size)):
        yield part


class StoreContents(Protocol[T]):
    """What is replaced: a `ThreadSafeStore`."""

    objects: dict[str, T]

    @property
    def indexes(self) -> Mapping[str, object]: ...
    @property
    def has_index_functions(self) -> bool: ...
    def put_all(self, entries: Sequence[tuple[str, T]]) -> None: ...


class Replacement(Generic[T]):
    """The next contents of a store. Each iteration builds a slice; `commit()` makes readers see the whole.

        replacement = indexer.prepare_replace(objects, resource_version)
        for _ in replacement:
            await asyncio.sleep(0)
        for applied in replacement.commit():
            ...

    Changes that are written to the store before the commit are replaced, too.
    """

    def __init__(
        self,
        items: Iterable[T] | Mapping[str, T],
        store: StoreContents[T],
        install: Callable[[], StoreContents[T]],
    ) -> None:
        """`install` makes readers see the store, and returns the contents before."""
        self._store = store
        self._install = install
        self._slices = self._build(items)
        self._is_complete = False

    def __iter__(self) -> Iterator[None]:
        return self._slices

    def commit(self, *, unchanged: bool = True) -> Iterator[list[AppliedDelta[T]]]:
        """Build the rest, replace the contents, and yield what changed: deletions first, then all of the list.

        With `unchanged=False`, objects of the list that were stored before, the same instance, are left out.
        The changes are yielded in slices, some of them empty. Between slices the replaced objects are released one by
        one: releasing very many at once would block the event loop for too long.
        """
        before = self._swap()
        return _applied_replacement(before, self._store.objects.copy(), unchanged=unchanged)

    def install(self) -> None:
        """Build the rest, and let readers see it in place of contents without objects."""
        self._swap()

    def fill(self) -> Iterator[list[T]]:
        """The same, and yield the objects in slices."""
        self._swap()
        yield from sliced(self._store.objects.copy().values())

    def _swap(self) -> StoreContents[T]:
        for _ in self._slices:
            pass
        if not self._is_complete:
            raise UsageError("this replacement was already committed, or building it failed; prepare a new one")
        self._is_complete = False
        return self._install()

    def _build(self, items: Iterable[T] | Mapping[str, T]) -> Iterator[None]:
        put_all = self._store.put_all
        entries = items.items() if isinstance(items, Mapping) else ((key_of(item), item) for item in items)
        for part in sliced(entries, _INDEXED_SLICE if self._store.has_index_functions else _SLICE):
            put_all(part)
            yield
        self._is_complete = True


def _applied_replacement(
    before: StoreContents[T], after: dict[str, T], *, unchanged: bool
) -> Iterator[list[AppliedDelta[T]]]:
    # Readers may still read the contents before, so this works on copies.
    indexes, objects = list(before.indexes.values()), before.objects.copy()
    del before
    yield []
    while indexes:
        indexes.pop()
        yield []
    for keys in sliced(list(objects)):
        deleted: list[AppliedDelta[T]] = []
        for key in keys:
            if key not in after:
                old = objects.pop(key)
                deleted.append((DeletedDelta(old, final_state_known=False, key=key), old))
        yield deleted
    if not objects:  # the first list
        for part in sliced(after.items()):
            yield [(AddedDelta(item, key=key), None) for key, item in part]
        return
    for part in sliced(after.items()):
        listed: list[AppliedDelta[T]] = []
        for key, item in part:
            replaced = objects.pop(key, None)
            if replaced is item and not unchanged:
                continue
            delta = AddedDelta(item, key=key) if replaced is None else UpdatedDelta(item, key=key)
            listed.append((delta, replaced))
        yield listed
