"""Takes deltas to the store, and says what changed: the one place where a delta becomes news.

It is synchronous; a whole state is taken in slices, between which others get a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from listwatch.cache import deltas
from listwatch.cache.indexer import Indexer
from listwatch.cache.replacement import Change as CacheChange
from listwatch.informer.handlers import Added, Change, Deleted, Updated
from listwatch.objects.object import Object

__all__ = ["Processor"]

T = TypeVar("T", bound=Object)

_SLICE = 1000
"""How many changes are told in one go."""


class Processor(Generic[T]):
    """Updates the store first, then tells: whoever hears of a change finds it in the store.

    With a scope, a whole state is about the objects of that namespace only.
    """

    def __init__(self, indexer: Indexer[T], *, scope: str | None = None) -> None:
        self._indexer = indexer
        self._scope = scope
        self._is_initial = True

    def process(self, batch: Sequence[deltas.Delta[T]]) -> Iterator[list[Change[T]]]:
        """Apply a batch and yield what changed. Nothing else may be applied before all was taken."""
        match batch[0]:
            case deltas.Replaced(objects, version):
                yield from self._replace(objects, version)
            case deltas.Sync():
                yield from _sliced(Updated(item, item) for item in self._indexer.list())
            case deltas.Bookmark(version):
                self._indexer.bookmark(version)
            case _:
                # Everything that is about one object; the rest always comes alone.
                objects_only: Any = batch
                changes = self._indexer.apply(objects_only).changes
                yield [_news(change, is_initial=False) for change in changes if not _is_of_a_stranger(change)]

    def _replace(self, objects: Mapping[str, T], version: str) -> Iterator[list[Change[T]]]:
        replacement = self._indexer.prepare_replace(self._with_others(objects), version)
        for _ in replacement:
            yield []
        is_initial, self._is_initial = self._is_initial, False
        for changes in replacement.commit():
            listed = [each for each in changes if self._scope is None or not _took_its_own_place(each)]
            yield [_news(change, is_initial=is_initial) for change in listed]

    def _with_others(self, objects: Mapping[str, T]) -> Mapping[str, T]:
        if self._scope is None:
            return objects
        elsewhere = {str(item.key): item for item in self._indexer.list() if item.namespace != self._scope}
        return {**elsewhere, **objects}


def _news(change: CacheChange[T], *, is_initial: bool) -> Change[T]:
    delta, old = change
    if isinstance(delta, deltas.Deleted):
        last: Any = delta.object
        return Deleted(last, delta.final_state_known)
    return Added(delta.object, is_initial) if old is None else Updated(delta.object, old)


def _took_its_own_place(change: CacheChange[T]) -> bool:
    """True for an object of another namespace, which was not listed and did not change."""
    delta, old = change
    return not isinstance(delta, deltas.Deleted) and delta.object is old


def _is_of_a_stranger(change: CacheChange[T]) -> bool:
    """True for the end of an object that was not there, as when a server says it twice: nobody knew it."""
    delta, old = change
    return old is None and isinstance(delta, deltas.Deleted)


def _sliced(changes: Iterable[Change[T]]) -> Iterator[list[Change[T]]]:
    left = iter(changes)
    while some := list(islice(left, _SLICE)):
        yield some
