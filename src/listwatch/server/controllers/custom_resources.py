"""Serves what CustomResourceDefinitions define, from when they are stored until the last of their objects is gone.

    definition stored     its names are accepted unless another has them, it is established, and served
    definition changed    it is served as it says now; who watches has to begin again
    definition deleted    its objects are deleted; when none is left, it goes

On a real cluster controllers in the API server do this, a moment later. Here it follows each write at once: the storage
tells what happened, `run_pending` does what follows from it. `collector` is its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from listwatch.meta import ObjectKey
from listwatch.server.crd.definitions import DEFINITIONS, Definition, condition_of
from listwatch.server.json_tree import Tree, same
from listwatch.server.lifecycle.definition_lifecycle import CLEANUP
from listwatch.server.lifecycle.semantics import timestamp
from listwatch.server.lifecycle.stored_objects import decoded
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.requests import APIRequest, User
from listwatch.server.schema.registry import CUSTOM_RESOURCE
from listwatch.server.storage.storage import Event, Stored
from listwatch.server.verbs.deleting import delete_object
from listwatch.server.verbs.verbs import Verbs

__all__ = ["CustomResources"]

_SERVER = User("system:apiserver", groups=("system:masters",))
# The names that no two resources of a group may share, in the order in which they are looked at.
_NAMES = ("plural", "singular", "shortNames", "kind", "listKind")
_ACCEPTED = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
_ESTABLISHED = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
_NOT_ESTABLISHED = ("Established", "False", "NotAccepted", "not all names are accepted")
_IN_PROGRESS = ("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")


class CustomResources:
    """Keeps what is served in step with the definitions that are stored; `on_change` hears of what is to be left."""

    def __init__(self, verbs: Verbs, on_change: Callable[[str], None]) -> None:
        self._verbs = verbs
        self._on_change = on_change
        self._served: dict[str, Definition] = {}
        """By the names of the definitions."""
        self._pending: dict[str, None] = {}
        verbs.storage.subscribe(self._happened)

    def recover(self) -> None:
        """Look at everything there is: after a start with definitions from before."""
        for stored in self._verbs.storage.scan(DEFINITIONS):
            self._pending[stored.key.name] = None
        self.run_pending()

    def run_pending(self) -> None:
        """Do all that follows from what happened."""
        while self._pending:
            name = next(iter(self._pending))
            del self._pending[name]
            if stored := self._stored(name):
                self._look_at(stored)
            else:
                self._stop_serving(name)

    def _happened(self, event: Event) -> None:
        if event.resource == DEFINITIONS:
            self._pending[event.key.name] = None
            if event.type == "DELETED":
                # A name that it had may be what another waits for.
                self._pending.update({each.key.name: None for each in self._verbs.storage.scan(DEFINITIONS)})
        elif event.type == "DELETED" and self._served:
            self._pending.update({each.name: None for each in self._ending() if each.storage_id == event.resource})

    def _ending(self) -> Iterator[Definition]:
        return (each for each in self._served.values() if each.is_terminating)

    def _stored(self, name: str) -> Stored | None:
        return self._verbs.storage.get(DEFINITIONS, ObjectKey("", name))

    def _look_at(self, stored: Stored) -> None:
        tree = decoded(stored)
        if "deletionTimestamp" not in tree["metadata"]:
            stored = self._write_status(stored, tree, self._accepted(tree))
        definition = Definition(decoded(stored))
        if definition.is_established:
            self._serve(definition)
        if definition.is_terminating:
            self._end(stored, definition)

    # --- names -------------------------------------------------------------------------------------------------------

    def _accepted(self, tree: Tree) -> Tree:
        """The status of a definition, as its names are taken by others or not."""
        status, wanted = tree.get("status", {}), tree["spec"]["names"]
        taken = set(self._taken(tree))
        accepted = {**status.get("acceptedNames", {})}
        conflict = None
        for name in (*_NAMES, "categories"):
            said = wanted.get(name)
            clash = next((each for each in _listed(said) if (name, each) in taken), None)
            if clash is not None:
                reason = f"{name[0].upper()}{name[1:]}Conflict"
                conflict = ("NamesAccepted", "False", reason, f'"{clash}" is already in use')
            elif said:
                accepted[name] = said
            else:
                accepted.pop(name, None)
        was_established = condition_of(status, "Established").get("status") == "True"
        established = _NOT_ESTABLISHED if conflict and not was_established else _ESTABLISHED
        conditions = self._conditions(status, conflict or _ACCEPTED, established)
        return {**status, "conditions": conditions, "acceptedNames": {"plural": "", "kind": "", **accepted}}

    def _taken(self, tree: Tree) -> Iterator[tuple[str, str]]:
        """The names that other definitions of the group have."""
        for stored in self._verbs.storage.scan(DEFINITIONS):
            other = decoded(stored)
            if other["spec"]["group"] == tree["spec"]["group"] and stored.key.name != tree["metadata"]["name"]:
                accepted = other.get("status", {}).get("acceptedNames", {})
                yield from ((name, each) for name in _NAMES for each in _listed(accepted.get(name)))

    def _conditions(self, status: Tree, *wanted: tuple[str, str, str, str]) -> list[Tree]:
        found = {each["type"]: each for each in status.get("conditions") or ()}
        for type_, value, reason, message in wanted:
            before = found.get(type_, {})
            since = before.get("lastTransitionTime") if before.get("status") == value else None
            found[type_] = {
                "type": type_,
                "status": value,
                "lastTransitionTime": since or timestamp(self._verbs.origin.now()),
                "reason": reason,
                "message": message,
            }
        return list(found.values())

    def _write_status(self, stored: Stored, tree: Tree, status: Tree) -> Stored:
        if same(tree.get("status"), status):
            return stored
        return self._verbs.objects.update(DEFINITIONS, stored, {**tree, "status": status})

    # --- serving -----------------------------------------------------------------------------------------------------

    def _serve(self, definition: Definition) -> None:
        before = self._served.get(definition.name)
        self._served[definition.name] = definition
        self._verbs.definitions.put(definition)
        if before and before.serves_like(definition):
            return
        if before:
            self._withdraw(before)
        for version in definition.served():
            self._verbs.registry.add(
                version.resource, CUSTOM_RESOURCE, stored_as=definition.form, selectable=version.selectable
            )

    def _stop_serving(self, name: str) -> None:
        if definition := self._served.pop(name, None):
            self._withdraw(definition)
            self._verbs.definitions.discard(definition)

    def _withdraw(self, definition: Definition) -> None:
        self._on_change(definition.storage_id)
        for version in definition.served():
            self._verbs.registry.remove(version.resource)

    # --- ending ------------------------------------------------------------------------------------------------------

    def _end(self, stored: Stored, definition: Definition) -> None:
        tree = decoded(stored)
        if CLEANUP not in tree["metadata"].get("finalizers", ()):
            return
        status = {**tree["status"], "conditions": self._conditions(tree["status"], _IN_PROGRESS)}
        stored = self._write_status(stored, tree, status)
        self._pending.pop(definition.name, None)
        for each in tuple(self._verbs.storage.scan(definition.storage_id)):
            request = APIRequest("delete", definition.form, each.key.namespace, each.key.name, user=_SERVER)
            delete_object(self._verbs, request, each, DeleteOptions())
        if not self._verbs.storage.count(definition.storage_id):
            self._let_go(stored)

    def _let_go(self, stored: Stored) -> None:
        tree = decoded(stored)
        metadata: dict[str, Any] = tree["metadata"]
        metadata["finalizers"] = [each for each in metadata["finalizers"] if each != CLEANUP]
        if not metadata["finalizers"]:
            del metadata["finalizers"]
        self._verbs.objects.change(DEFINITIONS, stored, tree)


def _listed(names: Tree) -> tuple[str, ...]:
    """One name or several, as a tuple."""
    if isinstance(names, list):
        return tuple(names)
    return (names,) if names else ()
