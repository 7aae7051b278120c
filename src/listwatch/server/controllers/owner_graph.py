"""Who depends on whom: what objects say about their owners, remembered by the owner. `collector` acts on it."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from listwatch.meta import ObjectKey
from listwatch.server.storage.storage import Stored

__all__ = ["Facts", "Owner", "OwnerGraph", "Place", "facts_of"]


class Place(NamedTuple):
    """Where an object is kept."""

    storage_id: str
    key: ObjectKey


class Owner(msgspec.Struct, rename="camel", gc=False):
    """An owner, as its dependent names it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool = False


class Facts(msgspec.Struct, rename="camel", gc=False):
    """What matters for the life and death of an object."""

    uid: str = ""
    owner_references: list[Owner] = []  # msgspec copies it for each
    finalizers: list[str] = []
    deletion_timestamp: str = ""

    def blocks(self, uid: str) -> bool:
        """Whether that owner has to wait for it, when it is deleted in the foreground."""
        return any(owner.block_owner_deletion for owner in self.owner_references if owner.uid == uid)


class _Object(msgspec.Struct, gc=False):
    metadata: Facts


_objects = msgspec.json.Decoder(_Object)


def facts_of(stored: Stored) -> Facts:
    return _objects.decode(stored.value).metadata


class OwnerGraph:
    """Every object that names an owner, under the uid of each of them, whether that is there or not."""

    def __init__(self) -> None:
        self._dependents: dict[str, set[Place]] = {}

    def __bool__(self) -> bool:
        return bool(self._dependents)

    def add(self, place: Place, facts: Facts) -> None:
        for owner in facts.owner_references:
            self._dependents.setdefault(owner.uid, set()).add(place)

    def discard(self, place: Place, facts: Facts) -> None:
        for owner in facts.owner_references:
            places = self._dependents.get(owner.uid, set())
            places.discard(place)
            if not places:
                self._dependents.pop(owner.uid, None)

    def dependents(self, uid: str) -> list[Place]:
        """In an order that does not depend on chance."""
        return sorted(self._dependents.get(uid, ()))
