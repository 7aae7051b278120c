"""Deletes the dependents of deleted owners, and the contents of namespaces that are being deleted.

    owner deleted                    its dependents are deleted, unless another owner is left
    owner deleted in foreground      its dependents are deleted first; it waits for those that block it
    owner deleted with orphan        its dependents lose their reference to it, then it is deleted
    namespace being deleted          its contents are deleted, then it is deleted

In a real cluster, controllers beside the API server do this. Here it follows each write at once, in the order of the
writes: the storage publishes events, `run_pending` processes the objects that they concern.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from datetime import datetime
from typing import Literal

from listwatch.errors import APIError, BadNameError
from listwatch.json_value import JSON
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.controllers.enabled_controllers import CONTROLLERS, GARBAGE_COLLECTOR, NAMESPACE
from listwatch.server.controllers.namespace_conditions import with_deletion_conditions
from listwatch.server.controllers.owner_graph import (
    LifecycleMetadata,
    OwnerGraph,
    OwnerReference,
    StorageKey,
    lifecycle_metadata,
)
from listwatch.server.json_tree import list_at, text_at, texts_at
from listwatch.server.lifecycle.deletion import FOREGROUND, ORPHAN, Deleter
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored, is_deletion_complete
from listwatch.server.lifecycle.strategy import NAMESPACES, metadata_of
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.requests import APIRequest, User
from listwatch.server.storage.values import Event, Stored

__all__ = ["GarbageCollector"]

OwnerState = Literal["present", "waiting", "absent", "unknown"]

_ACCOUNTS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
_GARBAGE_COLLECTOR = User("system:serviceaccount:kube-system:generic-garbage-collector", groups=_ACCOUNTS)
_NAMESPACE_CONTROLLER = User("system:serviceaccount:kube-system:namespace-controller", groups=_ACCOUNTS)
# Most objects have no owner and are not being deleted; searching the bytes is faster than decoding them.
_PODS = "/pods"
_OWNED, _DELETED = b'"ownerReferences":', b'"deletionTimestamp":'


class GarbageCollector:
    """Tracks the dependents of all objects, and processes the objects that a write concerns.

    An object that cannot be processed, for instance because admission rejects its deletion, is passed to `on_rejected`
    once, and retried after each later write. In a cluster, two controllers share this work; `enabled` has the names of
    those whose part is done.
    """

    def __init__(
        self,
        objects: ObjectStore,
        deleter: Deleter,
        *,
        now: Callable[[], datetime],
        on_rejected: Callable[[StorageKey, APIError], None],
        enabled: Container[str] = CONTROLLERS,
    ) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._registry = objects.registry
        self._deleter = deleter
        self._graph = OwnerGraph()
        self._pending: dict[StorageKey, None] = {}
        self._rejected: set[StorageKey] = set()
        self._now = now
        self._on_rejected = on_rejected
        self._collects_garbage = GARBAGE_COLLECTOR in enabled
        self._empties_namespaces = NAMESPACE in enabled
        self._terminating_namespaces: set[str] = set()
        self._unsubscribe = self._storage.subscribe(self._on_event)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending or self._rejected)

    def close(self) -> None:
        self._unsubscribe()

    def recover(self) -> None:
        """Read all objects of a storage that was used before."""
        for storage_id in self._storage_ids():
            for stored in self._storage.scan(storage_id):
                self._track(StorageKey(storage_id, stored.key), stored)

    def run_pending(self) -> None:
        """Process all objects that events concern, including events of writes by this method."""
        reported, self._rejected = self._rejected, set()
        self._enqueue(sorted(reported))
        while self._pending:
            place = next(iter(self._pending))
            del self._pending[place]
            if stored := self._storage.get(*place):
                try:
                    self._process(place, stored, lifecycle_metadata(stored))
                except APIError as error:
                    self._rejected.add(place)
                    if place not in reported:
                        reported.add(place)
                        self._on_rejected(place, error)

    # --- Events ------------------------------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> None:
        stored, previous = event.stored, event.previous
        if previous and _is_relevant(previous):
            self._untrack(StorageKey(event.resource, previous.key), lifecycle_metadata(previous))
        if event.type == "DELETED":
            self._on_deleted(StorageKey(event.resource, stored.key), stored)
        elif _is_relevant(stored):
            self._track(StorageKey(event.resource, stored.key), stored)

    def _track(self, place: StorageKey, stored: Stored) -> None:
        if not _is_relevant(stored):
            return
        metadata = lifecycle_metadata(stored)
        self._graph.add(place, metadata)
        if place.storage_id == NAMESPACES and metadata.deletion_timestamp:
            self._terminating_namespaces.add(place.key.name)
        self._enqueue([place])

    def _untrack(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        self._graph.discard(place, metadata)
        # An owner may wait for this dependent.
        for owner in metadata.owner_references:
            self._enqueue(self._places_of(owner, place))

    def _on_deleted(self, place: StorageKey, stored: Stored) -> None:
        if self._graph:
            self._enqueue(self._graph.dependents(lifecycle_metadata(stored).uid))
        if place.storage_id == NAMESPACES:
            self._terminating_namespaces.discard(place.key.name)
        elif place.key.namespace in self._terminating_namespaces:
            self._enqueue([StorageKey(NAMESPACES, ObjectKey("", place.key.namespace))])

    def _enqueue(self, places: Iterable[StorageKey]) -> None:
        self._pending.update(dict.fromkeys(places))

    # --- Processing --------------------------------------------------------------------------------------------------

    def _process(self, place: StorageKey, stored: Stored, metadata: LifecycleMetadata) -> None:
        if not metadata.deletion_timestamp:
            if metadata.owner_references and self._collects_garbage:
                self._process_dependent(place, metadata)
        elif ORPHAN in metadata.finalizers:
            if self._collects_garbage:
                self._orphan_dependents(place, metadata)
        elif FOREGROUND in metadata.finalizers:
            if self._collects_garbage:
                self._delete_dependents_first(place, metadata)
        elif place.storage_id == NAMESPACES and self._empties_namespaces:
            self._empty_namespace(place, stored)

    def _process_dependent(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        """Delete an object if none of its owners exists; otherwise drop its references to missing owners."""
        states = {owner.uid: self._state_of(owner, place) for owner in metadata.owner_references}
        if {"present", "unknown"} & set(states.values()):
            if dangling := {uid for uid, state in states.items() if state in ("absent", "waiting")}:
                self._drop_owners(place, dangling)
            return
        dependents = self._graph.dependents(metadata.uid)
        if "waiting" not in states.values() or not dependents:
            self._delete(place, policy=_policy_of(metadata))
            return
        if any(self._waits_for_dependents(each) for each in dependents):
            # The objects wait for each other in a cycle, which would never end.
            self._unblock_owners(place)
        self._delete(place, policy="Foreground")

    def _orphan_dependents(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        for dependent in self._graph.dependents(metadata.uid):
            self._drop_owners(dependent, {metadata.uid})
        self._drop_finalizer(place, ORPHAN)

    def _delete_dependents_first(self, place: StorageKey, metadata: LifecycleMetadata) -> None:
        # An object that owns itself does not wait for itself.
        dependents = [each for each in self._graph.dependents(metadata.uid) if each != place]
        for dependent in dependents:
            found = self._metadata(dependent)
            if found and not found.deletion_timestamp:
                self._process_dependent(dependent, found)
        left = filter(None, map(self._metadata, dependents))
        if not any(found.blocks(metadata.uid) for found in left):
            self._drop_finalizer(place, FOREGROUND)

    def _empty_namespace(self, place: StorageKey, stored: Stored) -> None:
        contents = [
            StorageKey(storage_id, each.key)
            for storage_id in self._storage_ids(namespaced=True)
            for each in self._storage.scan(storage_id, namespace=place.key.name)
        ]
        # Pods are deleted first, so that they lose nothing that they use, such as a network policy, while they end.
        pods = [each for each in contents if each.storage_id == _PODS]
        for part in (pods, contents):
            for each in part:
                # No kubelet runs that could confirm the end of a grace period.
                self._delete(each, grace=0, user=_NAMESPACE_CONTROLLER)
            left = [(each.storage_id, found) for each in part if (found := self._metadata(each)) is not None]
            if left:  # the deletion of an object continues this
                self._report_rest(place, [] if part is pods else left)
                return
        self._finalize_namespace(stored)

    def _report_rest(self, place: StorageKey, left: list[tuple[str, LifecycleMetadata]]) -> None:
        """Write what is left into the conditions of the namespace; pods are not named, as in a cluster."""
        if (stored := self._storage.get(*place)) is None:
            return
        before = decode_stored(stored)
        names = [(".".join(reversed(storage_id.split("/"))), found) for storage_id, found in left]
        after = with_deletion_conditions(before, names, self._now())
        if after != before:
            self._objects.update_or_remove(NAMESPACES, stored, after)

    def _finalize_namespace(self, stored: Stored) -> None:
        tree = decode_stored(stored)
        before = texts_at(tree, "spec", "finalizers")
        after: list[JSON] = [each for each in before if each != "kubernetes"]
        if after != before or is_deletion_complete(tree):
            self._objects.update_or_remove(NAMESPACES, stored, {**tree, "spec": {"finalizers": after} if after else {}})

    # --- Owners ------------------------------------------------------------------------------------------------------

    def _state_of(self, owner: OwnerReference, dependent: StorageKey) -> OwnerState:
        places = self._places_of(owner, dependent)
        if not places:
            return "unknown"
        metadata = self._metadata(places[0])
        if metadata is None or metadata.uid != owner.uid:
            return "absent"
        return "waiting" if self._waits_for_dependents(places[0]) else "present"

    def _waits_for_dependents(self, place: StorageKey) -> bool:
        metadata = self._metadata(place)
        return metadata is not None and bool(metadata.deletion_timestamp) and FOREGROUND in metadata.finalizers

    def _places_of(self, owner: OwnerReference, dependent: StorageKey) -> list[StorageKey]:
        """Return the place of an owner; none if its kind is not served or it cannot own the dependent."""
        resource = self._resource_of(owner)
        if resource is None or (resource.namespaced and not dependent.key.namespace):
            return []
        key = ObjectKey(dependent.key.namespace if resource.namespaced else "", owner.name)
        return [StorageKey(self._registry.storage_id(resource), key)]

    def _resource_of(self, owner: OwnerReference) -> Resource | None:
        try:
            gvk = GroupVersionKind.of(owner.api_version, owner.kind)
        except BadNameError:
            return None
        return self._registry.of_kind(gvk.group, gvk.kind)

    def _metadata(self, place: StorageKey) -> LifecycleMetadata | None:
        stored = self._storage.get(*place)
        return lifecycle_metadata(stored) if stored else None

    def _storage_ids(self, *, namespaced: bool = False) -> Iterator[str]:
        """Yield each stored resource once, or each that is namespaced."""
        registry, seen = self._registry, set()
        for group in registry.groups():
            for version in registry.versions(group):
                for resource in registry.resources(group, version):
                    storage_id = registry.storage_id(resource)
                    if storage_id not in seen and (resource.namespaced or not namespaced):
                        seen.add(storage_id)
                        yield storage_id

    # --- Writes ------------------------------------------------------------------------------------------------------

    def _delete(
        self,
        place: StorageKey,
        *,
        policy: str = "Background",
        grace: int | None = None,
        user: User = _GARBAGE_COLLECTOR,
    ) -> None:
        if stored := self._storage.get(*place):
            resource = self._registry.by_storage_id(place.storage_id)
            request = APIRequest("delete", resource, place.key.namespace, place.key.name, user=user, method="DELETE")
            self._deleter.delete(request, stored, DeleteOptions(policy=policy, grace=grace))

    def _drop_owners(self, place: StorageKey, uids: set[str]) -> None:
        self._rewrite(place, "ownerReferences", lambda owner: None if text_at(owner, "uid") in uids else owner)

    def _unblock_owners(self, place: StorageKey) -> None:
        def unblocked(owner: JSON) -> JSON:
            return {**owner, "blockOwnerDeletion": False} if isinstance(owner, dict) else owner

        self._rewrite(place, "ownerReferences", unblocked)

    def _drop_finalizer(self, place: StorageKey, name: str) -> None:
        self._rewrite(place, "finalizers", lambda finalizer: None if finalizer == name else finalizer)

    def _rewrite(self, place: StorageKey, name: str, rewritten: Callable[[JSON], JSON]) -> None:
        """Write an object with each element of a list in its metadata rewritten; None drops the element."""
        stored = self._storage.get(*place)
        if stored is None:
            return
        tree = decode_stored(stored)
        metadata = metadata_of(tree)
        before = list_at(metadata, name)
        metadata.pop(name, None)
        after: list[JSON] = [each for item in before if (each := rewritten(item)) is not None]
        if after:
            metadata[name] = after
        if after != before:
            self._objects.update_or_remove(place.storage_id, stored, tree)


def _is_relevant(stored: Stored) -> bool:
    value = stored.value
    return _OWNED in value or _DELETED in value


def _policy_of(metadata: LifecycleMetadata) -> str:
    """The propagation policy of a dependent that is deleted: the one of its finalizers."""
    if ORPHAN in metadata.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in metadata.finalizers else "Background"
