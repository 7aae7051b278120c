"""Ends what a deletion has left to do: dependents whose owner is gone, and namespaces with what is in them.

    owner gone                    its dependents go, unless another owner is left
    owner waits in foreground     its dependents go first; those that block it, it waits for
    owner orphans                 its dependents forget it, then it goes
    namespace terminates          all that is in it goes, then it goes

On a real cluster controllers beside the API server do this. Here it follows each write at once, in the order of the
writes: the storage tells what happened, `run_pending` does what follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from listwatch.errors import APIError, BadNameError
from listwatch.meta import GroupVersionKind, ObjectKey, Resource
from listwatch.server.controllers.owner_graph import Facts, Owner, OwnerGraph, Place, facts_of
from listwatch.server.json_tree import Tree, child
from listwatch.server.lifecycle.deletion import FOREGROUND, ORPHAN, is_finished
from listwatch.server.lifecycle.namespace_rules import NAMESPACES
from listwatch.server.lifecycle.stored_objects import decoded
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.requests import APIRequest, User
from listwatch.server.storage.storage import Event, Stored
from listwatch.server.verbs.deleting import delete_object
from listwatch.server.verbs.verbs import Verbs

__all__ = ["Collector"]

OwnerState = Literal["there", "waiting", "gone", "unknown"]

_ACCOUNTS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
_GARBAGE_COLLECTOR = User("system:serviceaccount:kube-system:generic-garbage-collector", groups=_ACCOUNTS)
_NAMESPACE_CONTROLLER = User("system:serviceaccount:kube-system:namespace-controller", groups=_ACCOUNTS)
# Most objects have no owner and are not being deleted: a look at the bytes is enough to tell.
_OWNED, _DELETED = b'"ownerReferences":', b'"deletionTimestamp":'


class Collector:
    """Knows who depends on whom, and looks again at all that a write may concern."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs
        self._graph = OwnerGraph()
        self._pending: dict[Place, None] = {}
        self._refused: list[Place] = []
        """Where something could not be done; it is tried again with the next write."""
        self._ending: set[str] = set()
        """Namespaces that are about to go."""
        self._unsubscribe = verbs.storage.subscribe(self._happened)

    def close(self) -> None:
        self._unsubscribe()

    def recover(self) -> None:
        """Look at everything there is: after a start with objects from before."""
        for storage_id in self._storage_ids():
            for stored in self._verbs.storage.scan(storage_id):
                self._learn(Place(storage_id, stored.key), stored)

    def run_pending(self) -> None:
        """Do all that follows from what happened, and from doing that."""
        self._look_again(self._refused)
        self._refused = []
        while self._pending:
            place = next(iter(self._pending))
            del self._pending[place]
            if stored := self._verbs.storage.get(*place):
                try:
                    self._look_at(place, stored, facts_of(stored))
                except APIError:
                    self._refused.append(place)

    # --- noticing ----------------------------------------------------------------------------------------------------

    def _happened(self, event: Event) -> None:
        place = Place(event.resource, event.key)
        if event.previous and _may_matter(event.previous):
            self._unlearn(place, facts_of(event.previous))
        if event.type == "DELETED":
            self._forget(place, event.stored)
        else:
            self._learn(place, event.stored)

    def _learn(self, place: Place, stored: Stored) -> None:
        if not _may_matter(stored):
            return
        facts = facts_of(stored)
        self._graph.add(place, facts)
        if place.storage_id == NAMESPACES and facts.deletion_timestamp:
            self._ending.add(place.key.name)
        self._look_again([place])

    def _unlearn(self, place: Place, facts: Facts) -> None:
        self._graph.discard(place, facts)
        # An owner may have waited for it.
        for owner in facts.owner_references:
            self._look_again(self._places_of(owner, place))

    def _forget(self, place: Place, stored: Stored) -> None:
        if self._graph:
            self._look_again(self._graph.dependents(facts_of(stored).uid))
        if place.storage_id == NAMESPACES:
            self._ending.discard(place.key.name)
        elif place.key.namespace in self._ending:
            self._look_again([Place(NAMESPACES, ObjectKey("", place.key.namespace))])

    def _look_again(self, places: Iterable[Place]) -> None:
        self._pending.update(dict.fromkeys(places))

    # --- deciding ----------------------------------------------------------------------------------------------------

    def _look_at(self, place: Place, stored: Stored, facts: Facts) -> None:
        if not facts.deletion_timestamp:
            if facts.owner_references:
                self._follow_owners(place, facts)
        elif ORPHAN in facts.finalizers:
            self._orphan_dependents(place, facts)
        elif FOREGROUND in facts.finalizers:
            self._delete_dependents_first(place, facts)
        elif place.storage_id == NAMESPACES:
            self._empty_namespace(place, stored)

    def _follow_owners(self, place: Place, facts: Facts) -> None:
        """An object goes when none of its owners is left; of several, those that are not are no longer named."""
        states = {owner.uid: self._state_of(owner, place) for owner in facts.owner_references}
        if {"there", "unknown"} & set(states.values()):
            if loose := {uid for uid, state in states.items() if state in ("gone", "waiting")}:
                self._drop_owners(place, loose)
            return
        dependents = self._graph.dependents(facts.uid)
        if "waiting" not in states.values() or not dependents:
            self._delete(place, policy=_policy_of(facts))
            return
        if any(self._waits_for_dependents(each) for each in dependents):
            # They wait for each other in a circle; somebody has to go on.
            self._unblock_owners(place)
        self._delete(place, policy="Foreground")

    def _orphan_dependents(self, place: Place, facts: Facts) -> None:
        for dependent in self._graph.dependents(facts.uid):
            self._drop_owners(dependent, {facts.uid})
        self._drop_finalizer(place, ORPHAN)

    def _delete_dependents_first(self, place: Place, facts: Facts) -> None:
        # Who owns itself cannot go before itself.
        dependents = [each for each in self._graph.dependents(facts.uid) if each != place]
        for dependent in dependents:
            found = self._facts(dependent)
            if found and not found.deletion_timestamp:
                self._follow_owners(dependent, found)
        left = filter(None, map(self._facts, dependents))
        if not any(found.blocks(facts.uid) for found in left):
            self._drop_finalizer(place, FOREGROUND)

    def _empty_namespace(self, place: Place, stored: Stored) -> None:
        name, storage = place.key.name, self._verbs.storage
        contents = [
            Place(storage_id, each.key)
            for storage_id in self._storage_ids(namespaced=True)
            for each in storage.scan(storage_id, namespace=name)
        ]
        for each in contents:
            # Nothing runs here, so there is nobody to wait for.
            self._delete(each, grace=0, user=_NAMESPACE_CONTROLLER)
        if not any(map(self._facts, contents)):
            self._let_namespace_go(stored)

    def _let_namespace_go(self, stored: Stored) -> None:
        tree = decoded(stored)
        before = child(tree, "spec", "finalizers") or []
        after = [each for each in before if each != "kubernetes"]
        if after != before or is_finished(tree):
            spec = {"finalizers": after} if after else {}
            self._verbs.objects.change(NAMESPACES, stored, {**tree, "spec": spec})

    # --- owners ------------------------------------------------------------------------------------------------------

    def _state_of(self, owner: Owner, dependent: Place) -> OwnerState:
        places = self._places_of(owner, dependent)
        if not places:
            return "unknown"
        facts = self._facts(places[0])
        if facts is None or facts.uid != owner.uid:
            return "gone"
        return "waiting" if self._waits_for_dependents(places[0]) else "there"

    def _waits_for_dependents(self, place: Place) -> bool:
        facts = self._facts(place)
        return facts is not None and bool(facts.deletion_timestamp) and FOREGROUND in facts.finalizers

    def _places_of(self, owner: Owner, dependent: Place) -> list[Place]:
        """The one place where an owner can be; none if there is no such resource, or if it cannot own this."""
        resource = self._resource_of(owner)
        if resource is None or (resource.namespaced and not dependent.key.namespace):
            return []
        key = ObjectKey(dependent.key.namespace if resource.namespaced else "", owner.name)
        return [Place(self._verbs.registry.storage_id(resource), key)]

    def _resource_of(self, owner: Owner) -> Resource | None:
        try:
            gvk = GroupVersionKind.of(owner.api_version, owner.kind)
        except BadNameError:
            return None
        return self._verbs.registry.of_kind(gvk.group, gvk.kind)

    def _facts(self, place: Place) -> Facts | None:
        stored = self._verbs.storage.get(*place)
        return facts_of(stored) if stored else None

    def _storage_ids(self, *, namespaced: bool = False) -> Iterator[str]:
        """Of all that is stored, or of what is in namespaces."""
        registry, seen = self._verbs.registry, set()
        for group in registry.groups():
            for version in registry.versions(group):
                for resource in registry.resources(group, version):
                    storage_id = registry.storage_id(resource)
                    if storage_id not in seen and (resource.namespaced or not namespaced):
                        seen.add(storage_id)
                        yield storage_id

    # --- doing -------------------------------------------------------------------------------------------------------

    def _delete(
        self, place: Place, *, policy: str = "Background", grace: int | None = None, user: User = _GARBAGE_COLLECTOR
    ) -> None:
        if stored := self._verbs.storage.get(*place):
            resource = self._verbs.registry.stored_under(place.storage_id)
            request = APIRequest("delete", resource, place.key.namespace, place.key.name, user=user, method="DELETE")
            delete_object(self._verbs, request, stored, DeleteOptions(policy=policy, grace=grace))

    def _drop_owners(self, place: Place, uids: set[str]) -> None:
        self._keep(place, "ownerReferences", lambda owner: None if owner.get("uid") in uids else owner)

    def _unblock_owners(self, place: Place) -> None:
        self._keep(place, "ownerReferences", lambda owner: {**owner, "blockOwnerDeletion": False})

    def _drop_finalizer(self, place: Place, name: str) -> None:
        self._keep(place, "finalizers", lambda finalizer: None if finalizer == name else finalizer)

    def _keep(self, place: Place, name: str, kept: Callable[[Tree], Tree]) -> None:
        """Write an object with what is to be kept of a list in its metadata; None is not."""
        stored = self._verbs.storage.get(*place)
        if stored is None:
            return
        tree = decoded(stored)
        before = tree["metadata"].pop(name, [])
        after = [each for item in before if (each := kept(item)) is not None]
        if after:
            tree["metadata"][name] = after
        if after != before:
            self._verbs.objects.change(place.storage_id, stored, tree)


def _may_matter(stored: Stored) -> bool:
    value = stored.value
    return _OWNED in value or _DELETED in value


def _policy_of(facts: Facts) -> str:
    """How an object goes that nobody asked to delete: as its finalizers say."""
    if ORPHAN in facts.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in facts.finalizers else "Background"
