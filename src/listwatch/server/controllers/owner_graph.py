"""The dependents of each object, by the uid of their owner. `garbage_collector` acts on it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from listwatch.meta import ObjectKey
from listwatch.server.storage.values import Stored

__all__ = ["LifecycleMetadata", "OwnerGraph", "OwnerReference", "StorageKey", "lifecycle_metadata"]


class StorageKey(NamedTuple):
    """The resource in the storage and the key of an object."""

    storage_id: str
    key: ObjectKey


class OwnerReference(msgspec.Struct, rename="camel", gc=False):
    """An entry of metadata.ownerReferences."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool = False


class LifecycleMetadata(msgspec.Struct, rename="camel", gc=False):
    """The metadata that decides when an object is deleted."""

    uid: str = ""
    owner_references: list[OwnerReference] = []  # msgspec copies it for each object
    finalizers: list[str] = []
    deletion_timestamp: str = ""

    def blocks(self, uid: str) -> bool:
        """Whether the object blocks the foreground deletion of the owner with this uid."""
        return any(owner.block_owner_deletion for owner in self.owner_references if owner.uid == uid)


class _Object(msgspec.Struct, gc=False):
    metadata: LifecycleMetadata


_objects = msgspec.json.Decoder(_Object)


def lifecycle_metadata(stored: Stored) -> LifecycleMetadata:
    return _objects.decode(stored.value).metadata


class OwnerGraph:
    """All objects with owner references, by the uid of each owner, which need not exist."""

    def __init__(self) -> None:
        self._dependents: dict[str, set[StorageKey]] = {}

    def __bool__(self) -> bool:
        return bool(self._dependents)

    def add(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        for owner in metadata.owner_references:
            self._dependents.setdefault(owner.uid, set()).add(place)

    def discard(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        for owner in metadata.owner_references:
            places = self._dependents.get(owner.uid, set())
            places.discard(place)
            if not places:
                self._dependents.pop(owner.uid, None)

    def dependents(self, uid: str) -> list[StorageKey]:
        """Return the dependents in a deterministic order."""
        return sorted(self._dependents.get(uid, ()))
