"""Deltas: what a `DeltaFIFO` queues, and what the informer applies to its store.

    one object   AddedDelta UpdatedDelta DeletedDelta        from a watch
                 HealedDelta                                 read again because the stored object is damaged
                 ReplacedDelta SyncDelta                     from a list and a resync, in a queue by key
    all objects  ReplacedAllDelta SyncAllDelta BookmarkDelta in an ordered queue
                 RestoredAllDelta                            from a file, before the first list
                 RemovedAllDelta                             the source of the objects was removed
                 EvictedDelta                                the cache keeps some objects no longer

The garbage collector does not track them: they refer to objects, and no object refers to them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from msgspec import Struct

__all__ = [
    "AddedDelta",
    "BookmarkDelta",
    "DeletedDelta",
    "Delta",
    "EvictedDelta",
    "HealedDelta",
    "ObjectDelta",
    "RemovedAllDelta",
    "ReplacedAllDelta",
    "ReplacedDelta",
    "RestoredAllDelta",
    "SyncAllDelta",
    "SyncDelta",
    "UpdatedDelta",
]

T = TypeVar("T")


class _Keyed(Struct, frozen=True, gc=False, kw_only=True):
    """Carries the cache key of its object, which is computed once, when the delta is queued."""

    key: str


class AddedDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The source reported a new object; the store may already contain it."""

    object: T


class UpdatedDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The source reported a changed object; the store may not contain it yet."""

    object: T


class DeletedDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The object was deleted. If the deletion was missed, `object` is the last known state, or None."""

    object: T | None
    final_state_known: bool = True


class ReplacedDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The object was part of a list."""

    object: T


class SyncDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The object is unchanged and is delivered again by a resync."""

    object: T


class HealedDelta(_Keyed, Generic[T], frozen=True, gc=False):
    """The object was read again. It replaces a stored one of the same version, which cannot be decoded completely."""

    object: T


class ReplacedAllDelta(Struct, Generic[T], frozen=True, gc=False):
    """A complete list: exactly these objects existed at that version, by key and in the order of the list."""

    objects: Mapping[str, T]
    resource_version: str


class RestoredAllDelta(Struct, Generic[T], frozen=True, gc=False):
    """The objects that were stored when a program ended, in the form in which they are stored, and their version."""

    objects: Mapping[str, T]
    resource_version: str


class SyncAllDelta(Struct, frozen=True, gc=False):
    """All objects of the store are delivered again by a resync."""


class RemovedAllDelta(Struct, frozen=True, gc=False):
    """The source was removed: its objects leave the store."""


class EvictedDelta(Struct, frozen=True, gc=False):
    """The objects with these keys leave the store, although they exist: another process caches them from now on."""

    keys: Collection[str]


class BookmarkDelta(Struct, frozen=True, gc=False):
    """No other change happened up to that version."""

    resource_version: str


ObjectDelta = AddedDelta[T] | UpdatedDelta[T] | DeletedDelta[T] | ReplacedDelta[T] | SyncDelta[T] | HealedDelta[T]
"""A delta of one object."""

Delta = (
    ObjectDelta[T]
    | ReplacedAllDelta[T]
    | RestoredAllDelta[T]
    | SyncAllDelta
    | BookmarkDelta
    | RemovedAllDelta
    | EvictedDelta
)
"""One entry of a DeltaFIFO."""
