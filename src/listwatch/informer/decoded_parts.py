"""Releases the parts of cached objects that handlers have decoded.

The decoded parts of a pod take twice the memory of its bytes. Most handlers read an object when it changes, and never
again. So the parts are released when the last handler has returned. The next object is decoded into the same memory,
which is still in the CPU caches. Parts are released in place if only the store refers to the object. Otherwise the
object is not changed, and the store gets another instance without decoded parts. The parts stay decoded

- if a handler has stored a reference to it: the program probably reads it again;
- if the old state has decoded parts, too: programs that compare both states decode each state once. An old state
  that had left the cache before its own change was handled does not count: the handler decoded it as a new state,
  not for a comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from sys import getrefcount
from typing import Any, Protocol

from listwatch.cache.indexer import Indexer
from listwatch.informer.handlers import Change, ObjectDeleted, ObjectUpdated
from listwatch.keyed import LazilyDecoded

__all__ = ["PartReleaser"]

_REPLACED = -1
"""Marks a state that had left the cache before the last handler returned: it was decoded as a new state."""
_KEPT = 8
"""After this number of decoded states, one is released. The next change shows whether old states are still read."""


class _Source(Protocol):
    are_as_received: bool
    """Whether the bytes of the objects have all changes that were made to the objects."""


class PartReleaser:
    """Releases what the handlers of one informer have decoded. Each handler has its own."""

    __slots__ = ("_damaged", "_handlers", "_indexer", "_sources", "accesses")

    def __init__(
        self,
        kind: type[LazilyDecoded],
        indexer: Indexer[Any],
        sources: Iterable[_Source],
        *,
        handlers: Sized,
        damaged: Mapping[str, Any],
    ) -> None:
        """`handlers` are those of the informer.

        The parts of damaged objects are not released, because the stored objects are compared with them.
        """
        self.accesses = kind._counted_accesses()
        """Has a number that changes when a part of an object is decoded."""
        self._indexer = indexer
        self._sources = sources
        self._handlers = handlers
        self._damaged = damaged

    @property
    def is_always_needed(self) -> bool:
        """Whether an object may have decoded parts although nothing was decoded while it was handled."""
        return len(self._handlers) > 1 or self._indexer._has_index_functions

    def release(self, change: Change[Any], references: int) -> None:
        """Release the parts of the object of a change that was handled, unless they may be read again.

        `references` is the number of references to the object before the call of the handler. The caller must have
        exactly one reference to the change; handlers that have not handled it have further ones.
        """
        now = getrefcount(change.object)
        is_stored = now > references
        if self._indexer._is_written_by_program:
            return
        for source in self._sources:
            if not source.are_as_received:
                return  # a transform may have made another kind of object
        item = change.object
        if not item._has_decoded_parts():
            return
        if is_stored:
            item._is_stored_by_program = True
        if item._is_stored_by_program or getrefcount(change) > _ONLY_REFERENCE:
            return
        if type(change) is ObjectUpdated and (old := change.old) is not item and old._has_decoded_parts():
            kept = old._kept
            if kept != _REPLACED:
                item._kept = kept - 1 if kept else _KEPT
                if item._kept:
                    return
        if len(self._damaged) and item.cache_key in self._damaged:
            return
        of_change = _OF_CHANGE + (type(change) is ObjectUpdated and change.old is item)  # a resync
        if not self._indexer._release_parts(item, now - of_change):
            item._kept = _REPLACED


def _references_to(change: object) -> int:
    return getrefcount(change)


def _only_reference() -> int:
    """What `getrefcount` returns in a method for an argument to which the caller has the only reference."""
    change = object()
    return _references_to(change)


def _references_of_change() -> int:
    """What `getrefcount` returns for the object of a change to which nothing else refers."""
    change: Change[Any] = ObjectDeleted(object())
    return getrefcount(change.object)


_ONLY_REFERENCE = _only_reference()
_OF_CHANGE = _references_of_change()
