"""Releases the parts of cached objects that handlers have decoded.

The decoded parts of a pod take twice the memory of its bytes. Most handlers read an object when it changes, and never
again. So when the last handler has returned, another instance without decoded parts is stored in place of the object.
The next object is decoded into the same memory, which is still in the CPU caches. An object is not replaced

- if a handler has stored a reference to it: the program probably reads it again;
- if the old state has decoded parts, too: programs that compare both states decode each state once.

No decoded part is changed: programs that have a replaced object can use it as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from sys import getrefcount
from typing import Any, Protocol

from listwatch.cache.indexer import Indexer
from listwatch.informer.handlers import Change, ObjectUpdated
from listwatch.keyed import LazilyDecoded

__all__ = ["PartReleaser"]

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

        Objects that are damaged are not replaced, because the stored ones are compared with them.
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
        is_stored = getrefcount(change.object) > references
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
            item._kept = old._kept - 1 if old._kept else _KEPT
            if item._kept:
                return
        if not len(self._damaged) or item.cache_key not in self._damaged:
            self._indexer._release_parts(item)


def _references_to(change: object) -> int:
    return getrefcount(change)


def _only_reference() -> int:
    """What `getrefcount` returns in a method for an argument to which the caller has the only reference."""
    change = object()
    return _references_to(change)


_ONLY_REFERENCE = _only_reference()
