"""Takes deltas to the store, and says what changed: the one place where a delta becomes news.

It is synchronous; a whole state is taken in slices, between which others get a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeVar

from listwatch.cache import deltas
from listwatch.cache.indexer import AppliedDelta, Indexer
from listwatch.cache.keys import NAMESPACE
from listwatch.informer.handlers import Added, Change, Deleted, Updated
from listwatch.objects.object import Object

__all__ = ["Processor"]

T = TypeVar("T", bound=Object)
U = TypeVar("U")

_SLICE = 1000
"""How many objects are looked at in one go."""


class Processor(Generic[T]):
    """Updates the store first, then tells: whoever hears of a change finds it in the store.

    With a scope, a whole state is about the objects of that namespace only.
    """

    def __init__(self, indexer: Indexer[T], *, scope: str | None = None) -> None:
        self._indexer = indexer
        self._scope = scope
        self._is_initial = True
        self.resource_version = ""
        """The version of what was processed last."""

    def process(self, batch: Sequence[deltas.Delta[T]]) -> Iterator[list[Change[T]]]:
        """Apply a batch and yield what changed. Nothing else may be applied before all was taken."""
        match batch[0]:
            case deltas.ReplacedAllDelta(objects, version):
                yield from self._replace(objects, version)
            case deltas.SyncAllDelta():
                for some in _sliced(self._indexer.list()):
                    yield [Updated(item, item) for item in some]
                return
            case deltas.BookmarkDelta(version):
                self._indexer.bookmark(version)
            case _:
                # Everything that is about one object; the rest always comes alone.
                objects_only: Any = batch
                applied = self._indexer.apply(objects_only)
                yield _news(applied.applied, is_initial=False)
                version = applied.resource_version or self.resource_version
        self.resource_version = version

    def _replace(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        is_initial, self._is_initial = self._is_initial, False
        if self._scope is not None and is_initial:
            yield from self._fill(objects, version)
            return
        for changes in self._exchange(objects, version):
            yield _news(changes, is_initial=is_initial)

    def _fill(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        """Put the first objects of a namespace beside those of others, which may be many times as many."""
        for some in _sliced(objects.items()):
            self._indexer.apply(deltas.ReplacedDelta(item, key=key) for key, item in some)
            yield []
        self._indexer.bookmark(version)
        for items in _sliced(objects.values()):
            yield [Added(item, is_initial=True) for item in items]

    def _exchange(self, objects: Mapping[str, T], version: str) -> Iterator[list[AppliedDelta[T]]]:
        """Put a whole state in the place of what is there."""
        items = objects if self._scope is None else chain(self._elsewhere(), objects.values())
        replacement = self._indexer.prepare_replace(items, version)
        for _ in replacement:
            yield []
        for changes in replacement.commit():
            yield [each for each in changes if self._scope is None or not _took_its_own_place(each)]

    def _elsewhere(self) -> Iterator[T]:
        for namespace in self._indexer.index_values(NAMESPACE):
            if namespace != self._scope:
                yield from self._indexer.by_index(NAMESPACE, namespace)


def _news(changes: Iterable[AppliedDelta[T]], *, is_initial: bool) -> list[Change[T]]:
    news: list[Change[T]] = []
    delta: Any
    for delta, old in changes:
        if type(delta) is not deltas.DeletedDelta:
            news.append(Added(delta.object, is_initial) if old is None else Updated(delta.object, old))
        elif old is not None:
            last: Any = delta.object
            news.append(Deleted(last, delta.final_state_known))
        # Else it is the end of an object that was not there, as when a server says it twice: nobody knew it.
    return news


def _took_its_own_place(change: AppliedDelta[T]) -> bool:
    """True for an object of another namespace, which was not listed and did not change."""
    delta, old = change
    return not isinstance(delta, deltas.DeletedDelta) and delta.object is old


def _sliced(whole: Iterable[U]) -> Iterator[list[U]]:
    left = iter(whole)
    while some := list(islice(left, _SLICE)):
        yield some
