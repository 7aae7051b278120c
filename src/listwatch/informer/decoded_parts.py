"""Releases the parts of cached objects that handlers have decoded.

The decoded parts of a pod take twice the memory of its bytes. Most handlers read an object when it changes, and never
again. So when the last handler has returned, another instance without decoded parts is stored in place of the object.
The next object is decoded into the same memory, which is still in the CPU caches. An object is not replaced

- if the handler has stored a reference to it: the program probably reads it again;
- if the old state has decoded parts, too: programs that compare both states decode each state once.

No object is changed: one that is replaced stays as it is for those who have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from sys import getrefcount
from typing import Any

from listwatch.cache.indexer import Indexer
from listwatch.informer.handlers import Change, ObjectUpdated
from listwatch.keyed import LazilyDecoded

__all__ = ["PartReleaser"]

_FEW = 8
"""Of so few changes that are handled at once, each is checked: they arrive too slowly for that to matter."""
_KEPT = 8
"""After this number of decoded states, one is released. The next change shows whether old states are still read."""


class PartReleaser:
    """Releases what one handler has decoded. Call `begin` before the handler and `end` after it."""

    __slots__ = ("_are_as_received", "_damaged", "_decodings", "_indexer", "_kind")

    def __init__(
        self,
        kind: type[LazilyDecoded],
        indexer: Indexer[Any],
        are_as_received: Callable[[], bool],
        *,
        damaged: Sized,
    ) -> None:
        """`are_as_received` returns whether the bytes of all objects have the changes that were made to the objects.

        While there are damaged objects, nothing is released, because stored objects are compared with them.
        """
        self._kind = kind
        self._indexer = indexer
        self._are_as_received = are_as_received
        self._damaged = damaged
        self._decodings = -1  # not known

    def is_needed(self, changes: int) -> bool:
        """Return whether to call `begin` and `end` for the next changes: if parts were decoded since the last call."""
        before, self._decodings = self._decodings, self._kind._decodings()
        return (before != self._decodings or changes <= _FEW) and self._are_as_received()

    def begin(self, change: Change[Any]) -> int:
        """Return the number of references to the object, for `end`."""
        item = change.object
        return getrefcount(item)

    def end(self, change: Change[Any], references: int) -> None:
        """Release the parts of the object, unless they may be read again. In the thread that writes to the store.

        The caller must have exactly one reference to the change. Handlers that have not handled it have further ones.
        """
        item = change.object
        if getrefcount(item) > references or getrefcount(change) > _ONLY_REFERENCE:
            return
        if not item._has_decoded_parts():
            return
        if type(change) is ObjectUpdated and (old := change.old) is not item and old._has_decoded_parts():
            item._kept = old._kept - 1 if old._kept else _KEPT
            if item._kept:
                return
        if not len(self._damaged):
            self._indexer._release_parts(item)


def _references_to(change: object) -> int:
    return getrefcount(change)


def _only_reference() -> int:
    """What `getrefcount` returns in a method for an argument to which the caller has the only reference."""
    change = object()
    return _references_to(change)


_ONLY_REFERENCE = _only_reference()
