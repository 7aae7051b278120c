"""Ends what a deletion has left to do: dependents whose owner is gone, and namespaces with what is in them.

On a real cluster controllers beside the API server do this. Here it follows each write at once, in the order of the
writes: the storage tells what happened, `run_pending` does what follows from it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from listwatch.errors import BadNameError
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.deletion import FOREGROUND, ORPHAN
from listwatch.server.requests import APIRequest
from listwatch.server.storage import Event, Stored
from listwatch.server.trees import Tree
from listwatch.server.verbs import Verbs
from listwatch.server.write_options import DeleteOptions

__all__ = ["Collector"]

_NAMESPACES = "/namespaces"


class Place(NamedTuple):
    """Where an object is kept."""

    storage_id: str
    key: ObjectKey


class _Owner(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool = False


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    uid: str = ""
    owner_references: list[_Owner] = []  # msgspec copies it for each
    finalizers: list[str] = []
    deletion_timestamp: str = ""


class _Object(msgspec.Struct, gc=False):
    metadata: _Metadata


_objects = msgspec.json.Decoder(_Object)


class Collector:
    """Knows who depends on whom, and looks again at all that a write may concern."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._dependents: defaultdict[str, set[Place]] = defaultdict(set)
        self._pending: deque[Place] = deque()
        self._ending: set[str] = set()
        """Namespaces that are about to go."""
        self._unsubscribe = verbs.storage.subscribe(self._happened)

    def close(self) -> None:
        self._unsubscribe()

    def recover(self) -> None:
        """Look at everything there is: after a start with objects from before."""
        for resource in self._resources():
            for stored in self._verbs.storage.scan(self._verbs.registry.storage_id(resource)):
                self._learn(Place(self._verbs.registry.storage_id(resource), stored.key), stored)

    def run_pending(self) -> None:
        """Do all that follows from what happened, and from doing that."""
        while self._pending:
            place = self._pending.popleft()
            stored = self._verbs.storage.get(*place)
            if stored is not None:
                self._look_at(place, stored)

    # --- noticing ----------------------------------------------------------------------------------------------------

    def _happened(self, event: Event) -> None:
        place = Place(event.resource, event.key)
        if event.type == "DELETED":
            self._forget(place, event.stored)
        else:
            self._learn(place, event.stored)

    def _learn(self, place: Place, stored: Stored) -> None:
        value = stored.value
        # Most objects have no owner and are not being deleted: a look at the bytes is enough to tell.
        if b'"ownerReferences"' not in value and b'"deletionTimestamp"' not in value:
            return
        metadata = _objects.decode(value).metadata
        for owner in metadata.owner_references:
            self._dependents[owner.uid].add(place)
        if place.storage_id == _NAMESPACES and metadata.deletion_timestamp:
            self._ending.add(place.key.name)
        self._pending.append(place)

    def _forget(self, place: Place, stored: Stored) -> None:
        metadata = _objects.decode(stored.value).metadata
        self._pending.extend(self._dependents.pop(metadata.uid, ()))
        for owner in metadata.owner_references:
            self._dependents[owner.uid].discard(place)
            self._pending.extend(self._place_of(owner, place.key.namespace))
        if place.storage_id == _NAMESPACES:
            self._ending.discard(place.key.name)
        elif place.key.namespace in self._ending:
            self._pending.append(Place(_NAMESPACES, ObjectKey("", place.key.namespace)))

    # --- acting ------------------------------------------------------------------------------------------------------

    def _look_at(self, place: Place, stored: Stored) -> None:
        metadata = _objects.decode(stored.value).metadata
        if metadata.deletion_timestamp:
            if ORPHAN in metadata.finalizers:
                self._orphan_dependents(place, stored, metadata)
            elif FOREGROUND in metadata.finalizers:
                self._delete_dependents_first(place, stored, metadata)
            elif place.storage_id == _NAMESPACES:
                self._empty_namespace(place, stored)
        elif metadata.owner_references:
            self._follow_owners(place, metadata)

    def _orphan_dependents(self, place: Place, stored: Stored, metadata: _Metadata) -> None:
        for dependent in self._living_dependents(metadata.uid):
            self._drop_owners(dependent, {metadata.uid})
        self._drop_finalizer(place, stored, ORPHAN)

    def _delete_dependents_first(self, place: Place, stored: Stored, metadata: _Metadata) -> None:
        waits = False
        for dependent in self._living_dependents(metadata.uid):
            found = self._metadata(dependent)
            if found is None or metadata.uid not in {owner.uid for owner in found.owner_references}:
                continue
            if not found.deletion_timestamp:
                self._delete(dependent, policy="Foreground" if self._dependents.get(found.uid) else "Background")
            still_there = self._metadata(dependent) is not None
            blocks = any(owner.block_owner_deletion for owner in found.owner_references if owner.uid == metadata.uid)
            waits = waits or (still_there and blocks)
        if not waits:
            present = self._verbs.storage.get(*place)
            if present is not None:
                self._drop_finalizer(place, present, FOREGROUND)

    def _follow_owners(self, place: Place, metadata: _Metadata) -> None:
        """An object goes when none of its owners is left; of several, those that are gone are no longer named."""
        states = {owner.uid: self._state_of(owner, place.key.namespace) for owner in metadata.owner_references}
        if not {"there", "unknown"} & set(states.values()):
            is_waited_for = "waiting" in states.values() and bool(self._dependents.get(metadata.uid))
            self._delete(place, policy="Foreground" if is_waited_for else "Background")
        elif gone := {uid for uid, state in states.items() if state == "gone"}:
            self._drop_owners(place, gone)

    def _empty_namespace(self, place: Place, stored: Stored) -> None:
        name, is_empty = place.key.name, True
        for resource in self._resources():
            storage_id = self._verbs.registry.storage_id(resource)
            if not resource.namespaced:
                continue
            for each in list(self._verbs.storage.scan(storage_id, namespace=name)):
                # Nothing runs here, so there is nobody to wait for.
                self._delete(Place(storage_id, each.key), grace=0)
            is_empty = is_empty and not self._verbs.storage.count(storage_id, namespace=name)
        if is_empty:
            tree = msgspec.json.decode(stored.value)
            tree["spec"] = {}
            self._verbs.write(_NAMESPACES, stored, tree)

    # --- the means ---------------------------------------------------------------------------------------------------

    def _state_of(self, owner: _Owner, namespace: str) -> str:
        resource = self._resource_of(owner)
        if resource is None:
            return "unknown"
        for place in self._place_of(owner, namespace):
            metadata = self._metadata(place)
            if metadata is None or metadata.uid != owner.uid:
                return "gone"
            is_waiting = bool(metadata.deletion_timestamp) and FOREGROUND in metadata.finalizers
            return "waiting" if is_waiting and owner.block_owner_deletion else "there"
        return "gone"

    def _place_of(self, owner: _Owner, namespace: str) -> Iterator[Place]:
        resource = self._resource_of(owner)
        if resource is not None:
            key = ObjectKey(namespace if resource.namespaced else "", owner.name)
            yield Place(self._verbs.registry.storage_id(resource), key)

    def _resource_of(self, owner: _Owner) -> Resource | None:
        try:
            gvk = GroupVersionKind.of(owner.api_version, owner.kind)
        except BadNameError:
            return None
        return self._verbs.registry.of_kind(gvk.group, gvk.kind)

    def _resources(self) -> Iterator[Resource]:
        registry = self._verbs.registry
        seen = set()
        for group in registry.groups():
            for version in registry.versions(group):
                for resource in registry.resources(group, version):
                    storage_id = registry.storage_id(resource)
                    if storage_id not in seen and registry.traits(resource).stored:
                        seen.add(storage_id)
                        yield registry.storage_form(resource)

    def _metadata(self, place: Place) -> _Metadata | None:
        stored = self._verbs.storage.get(*place)
        return _objects.decode(stored.value).metadata if stored else None

    def _living_dependents(self, uid: str) -> list[Place]:
        return sorted(self._dependents.get(uid, ()))

    def _delete(self, place: Place, *, policy: str = "Background", grace: int | None = None) -> None:
        stored = self._verbs.storage.get(*place)
        if stored is None:
            return
        resource = self._verbs.registry.stored_under(place.storage_id)
        request = APIRequest("delete", resource, namespace=place.key.namespace, name=place.key.name)
        self._verbs.delete_object(request, stored, DeleteOptions(policy=policy, grace=grace))

    def _drop_owners(self, place: Place, uids: set[str]) -> None:
        def change(metadata: Tree) -> None:
            kept = [each for each in metadata.get("ownerReferences", ()) if each.get("uid") not in uids]
            metadata["ownerReferences"] = kept
            if not kept:
                del metadata["ownerReferences"]

        stored = self._verbs.storage.get(*place)
        if stored is not None:
            self._change(place, stored, change)
        for uid in uids:
            self._dependents[uid].discard(place)

    def _drop_finalizer(self, place: Place, stored: Stored, name: str) -> None:
        def change(metadata: Tree) -> None:
            metadata["finalizers"] = [each for each in metadata.get("finalizers", ()) if each != name]
            if not metadata["finalizers"]:
                del metadata["finalizers"]

        self._change(place, stored, change)

    def _change(self, place: Place, stored: Stored, change: Callable[[Tree], None]) -> None:
        tree = msgspec.json.decode(stored.value)
        change(tree["metadata"])
        self._verbs.write(place.storage_id, stored, tree)
