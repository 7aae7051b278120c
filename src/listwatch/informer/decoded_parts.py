"""Releases the parts of cached objects that handlers have decoded.

The decoded parts of a pod take twice the memory of its bytes. Most handlers read an object when it changes, and never
again. So its parts are released when the last handler has returned. The next object is decoded into the same memory,
which is still in the caches of the processor. Parts are kept

- if the handler has stored a reference to the object: the program will read it again, and may have changed it;
- if the old state has decoded parts, too: programs that compare both states decode each state once.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any

from listwatch.informer.handlers import Change, ObjectUpdated
from listwatch.keyed import LazilyDecoded

__all__ = ["PartReleaser"]

_KEPT = 8
"""So many states of an object stay decoded. Then one is released, to see whether the next old state is read again."""


class PartReleaser:
    """Releases what one handler has decoded. Its calls are between `begin` and `end`."""

    __slots__ = ("_are_as_received", "_decodings", "_kind", "_references")

    def __init__(self, kind: type[LazilyDecoded], are_as_received: Callable[[], bool]) -> None:
        """`are_as_received` returns whether all stored objects are; parts that were changed cannot be decoded again."""
        self._kind = kind
        self._are_as_received = are_as_received
        self._decodings = -1  # not known
        self._references = 0

    def is_needed(self) -> bool:
        """Whether objects of the kind were decoded since the last call."""
        before, self._decodings = self._decodings, self._kind._decodings()
        return before != self._decodings and self._are_as_received()

    def begin(self, change: Change[Any]) -> None:
        item = change.object
        self._references = getrefcount(item)

    def end(self, change: Change[Any]) -> None:
        """Release the parts of the object, unless they may be read again.

        Other handlers have references to a change that they have not handled; the caller must have no further one.
        """
        item = change.object
        if getrefcount(item) > self._references or getrefcount(change) > _ONLY_REFERENCE:
            return
        if type(change) is ObjectUpdated and (old := change.old) is not item and old._has_decoded_parts():
            kept = old._kept - 1 if old._kept else _KEPT
            if kept:
                if item._has_decoded_parts():
                    item._kept = kept
                return
        item._release_parts()


def _references_to(change: object) -> int:
    return getrefcount(change)


def _only_reference() -> int:
    """What `getrefcount` returns in a method for an argument to which the caller has the only reference."""
    change = object()
    return _references_to(change)


_ONLY_REFERENCE = _only_reference()
