"""The next contents of a cache: built beside those that readers see, in slices, and put in their place in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

from listwatch.cache.contents import Cached, Contents, key_of
from listwatch.cache.deltas import Added, Deleted, ObjectDelta, Updated
from listwatch.errors import UsageError

__all__ = ["Change", "Replacement"]

T = TypeVar("T", bound=Cached)
U = TypeVar("U")

Change = tuple[ObjectDelta[T], T | None]
"""What happened to an object, and the one that it took the place of."""

_SLICE = 1000


class Replacement(Generic[T]):
    """Exactly the objects of a list, to be held from `commit()` on; each iteration before that builds one slice.

        replacement = indexer.prepare_replace(objects, resource_version)
        for _ in replacement:
            await asyncio.sleep(0)
        for changes in replacement.commit():
            ...

    Whatever was written to the cache meanwhile is replaced, too.
    """

    def __init__(
        self,
        items: Iterable[T] | Mapping[str, T],
        contents: Contents[T],
        install: Callable[[Contents[T]], Contents[T]],
    ) -> None:
        self._contents = contents
        self._install = install
        self._slices = self._build(items)
        self._is_complete = False

    def __iter__(self) -> Iterator[None]:
        return self._slices

    def commit(self) -> Iterator[list[Change[T]]]:
        """Build what is left to build, hold it, and return what that changes: what vanished, then all of the list.

        The changes come in slices, too, some of them empty, and let go of what was replaced one by one: to free many
        thousands of objects at once takes longer than an event loop should be held.
        """
        before = self.swap()
        return _changes(before, self._contents.objects.copy())

    def swap(self) -> Contents[T]:
        """As `commit()`, but return what was held before."""
        for _ in self._slices:
            pass
        if not self._is_complete:
            raise UsageError("this replacement was committed already, or building it failed; prepare another one")
        self._is_complete = False
        return self._install(self._contents)

    def _build(self, items: Iterable[T] | Mapping[str, T]) -> Iterator[None]:
        put = self._contents.put
        entries = items.items() if isinstance(items, Mapping) else ((key_of(item), item) for item in items)
        for some in _sliced(entries):
            for key, item in some:
                put(key, item)
            yield
        self._is_complete = True


def _changes(before: Contents[T], after: dict[str, T]) -> Iterator[list[Change[T]]]:
    # Readers may still be at what was held before, so it is left as it is; these two are ours to take apart.
    indexes, objects = list(before.indexes.values()), before.objects.copy()
    del before
    yield []
    while indexes:
        indexes.pop()
        yield []
    for keys in _sliced(list(objects)):
        yield [_vanished(key, objects.pop(key)) for key in keys if key not in after]
    for some in _sliced(after.items()):
        yield [_listed(key, objects.pop(key, None), item) for key, item in some]


def _vanished(key: str, old: T) -> Change[T]:
    return Deleted(old, final_state_known=False, key=key), old


def _listed(key: str, old: T | None, item: T) -> Change[T]:
    return (Added(item, key=key) if old is None else Updated(item, key=key)), old


def _sliced(whole: Iterable[U]) -> Iterator[list[U]]:
    left = iter(whole)
    while some := list(islice(left, _SLICE)):
        yield some
