"""What can happen to a cache, as values: `DeltaFIFO` hands them on, `Indexer` and the informer carry them out.

    one object   Added Updated Deleted      what a watch says
                 Relisted Resynced          what a list and a resync say of it, where deltas are gathered by key
    all of them  Replaced Sync Bookmark     what they say where deltas are kept in order

No collector ever looks at them: they hold objects, and no object holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from msgspec import Struct

__all__ = [
    "Added",
    "Bookmark",
    "Deleted",
    "Delta",
    "ObjectDelta",
    "Relisted",
    "Replaced",
    "Resynced",
    "Sync",
    "Updated",
]

T = TypeVar("T")


class _Keyed(Struct, frozen=True, gc=False, kw_only=True):
    """Has the key of its object, which is found out once, on the way in."""

    key: str


class Added(_Keyed, Generic[T], frozen=True, gc=False):
    """The object appeared, as far as the server can tell; the cache may know it already."""

    object: T


class Updated(_Keyed, Generic[T], frozen=True, gc=False):
    """The object was changed, as far as the server can tell; the cache may not know it yet."""

    object: T


class Deleted(_Keyed, Generic[T], frozen=True, gc=False):
    """The object is gone; where its end was not seen, this is the last state known of it, or nothing."""

    object: T | None
    final_state_known: bool = True


class Relisted(_Keyed, Generic[T], frozen=True, gc=False):
    """The object was in a list."""

    object: T


class Resynced(_Keyed, Generic[T], frozen=True, gc=False):
    """The object is as it was, and is to be looked at again."""

    object: T


class Replaced(Struct, Generic[T], frozen=True, gc=False):
    """Exactly these objects were there at that version, by key and in the order of the list."""

    objects: Mapping[str, T]
    resource_version: str


class Sync(Struct, frozen=True, gc=False):
    """Every object is to be looked at again."""


class Bookmark(Struct, frozen=True, gc=False):
    """Nothing else happened up to that version."""

    resource_version: str


ObjectDelta = Added[T] | Updated[T] | Deleted[T] | Relisted[T] | Resynced[T]
"""What happened to one object."""

Delta = ObjectDelta[T] | Replaced[T] | Sync | Bookmark
"""Whatever happened."""
