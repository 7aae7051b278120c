"""Serves what CustomResourceDefinitions define, from when they are stored until the last of their objects is deleted.

    definition stored     its names are accepted unless another definition has them; it is established and served
    definition changed    it is served as changed; its watches end, and clients start them again
    definition deleted    its objects are deleted; when none is left, so is the definition

In a real cluster, controllers in the API server do this a moment later. Here it follows each write at once: the
storage publishes events, `run_pending` processes the definitions that they concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.crd.definitions import DEFINITIONS, Definition, condition_of
from listwatch.server.json_tree import object_at, objects_at, same, text_at, texts_at
from listwatch.server.lifecycle.definition_lifecycle import CLEANUP_FINALIZER
from listwatch.server.lifecycle.deletion import Deleter
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import metadata_of, timestamp
from listwatch.server.protocol.write_options import DeleteOptions
from listwatch.server.requests import APIRequest, User
from listwatch.server.schema.registry import CUSTOM_RESOURCE
from listwatch.server.storage.values import Event, Stored

__all__ = ["CustomResources"]

_SERVER = User("system:apiserver", groups=("system:masters",))
# The names that resources of a group cannot share, in the order in which they are checked.
_NAMES = ("plural", "singular", "shortNames", "kind", "listKind")
_ACCEPTED = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
_ESTABLISHED = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
_NOT_ESTABLISHED = ("Established", "False", "NotAccepted", "not all names are accepted")
_IN_PROGRESS = ("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")


class CustomResources:
    """Adds the resources of stored definitions to the registry; `end_watches` ends the watches of a changed one."""

    def __init__(
        self,
        objects: ObjectStore,
        deleter: Deleter,
        now: Callable[[], datetime],
        end_watches: Callable[[str], None],
    ) -> None:
        self._objects = objects
        self._storage = objects.storage
        self._deleter = deleter
        self._now = now
        self._end_watches = end_watches
        self._served: dict[str, Definition] = {}
        """The served definitions, by name."""
        self._subscriptions: dict[str, Callable[[], None]] = {}
        """Functions that unsubscribe from the events of custom objects, by the names of their definitions."""
        self._pending: dict[str, None] = {}
        self._storage.subscribe(self._on_definition, resource=DEFINITIONS)

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def recover(self) -> None:
        """Schedule all definitions of a storage that was used before."""
        for stored in self._storage.scan(DEFINITIONS):
            self._pending[stored.key.name] = None

    def run_pending(self) -> None:
        """Process all definitions that events concern."""
        while self._pending:
            name = next(iter(self._pending))
            del self._pending[name]
            if stored := self._storage.get(DEFINITIONS, ObjectKey("", name)):
                self._process(stored)
            else:
                self._stop_serving(name)

    def _on_definition(self, event: Event) -> None:
        self._pending[event.stored.key.name] = None
        if event.type == "DELETED":
            # Another definition may wait for one of its names.
            self._pending.update({each.key.name: None for each in self._storage.scan(DEFINITIONS)})

    def _on_object(self, event: Event) -> None:
        """A definition that is being deleted waits for its objects."""
        if event.type == "DELETED":
            terminating = (each for each in self._served.values() if each.is_terminating)
            self._pending.update({each.name: None for each in terminating if each.storage_id == event.resource})

    def _process(self, stored: Stored) -> None:
        tree = decode_stored(stored)
        if "deletionTimestamp" not in metadata_of(tree):
            stored = self._write_status(stored, tree, self._accepted(tree))
        definition = Definition(decode_stored(stored))
        if definition.is_established:
            self._serve(definition)
        if definition.is_terminating:
            self._terminate(stored, definition)

    # --- Names -------------------------------------------------------------------------------------------------------

    def _accepted(self, tree: JSONObject) -> JSONObject:
        """Return the status of a definition, with its names accepted unless another definition has them."""
        status, wanted = object_at(tree, "status"), object_at(tree, "spec", "names")
        taken = set(self._taken_names(tree))
        accepted = {**object_at(status, "acceptedNames")}
        conflict = None
        for name in (*_NAMES, "categories"):
            value = wanted.get(name)
            clash = next((each for each in _as_names(value) if (name, each) in taken), None)
            if clash is not None:
                reason = f"{name[0].upper()}{name[1:]}Conflict"
                conflict = ("NamesAccepted", "False", reason, f'"{clash}" is already in use')
            elif value:
                accepted[name] = value
            else:
                accepted.pop(name, None)
        was_established = condition_of(status, "Established").get("status") == "True"
        established = _NOT_ESTABLISHED if conflict and not was_established else _ESTABLISHED
        conditions = self._conditions(status, conflict or _ACCEPTED, established)
        return {**status, "conditions": conditions, "acceptedNames": {"plural": "", "kind": "", **accepted}}

    def _taken_names(self, tree: JSONObject) -> Iterator[tuple[str, str]]:
        """Yield the names that other definitions of the group have."""
        group, own_name = text_at(tree, "spec", "group"), text_at(tree, "metadata", "name")
        for stored in self._storage.scan(DEFINITIONS):
            other = decode_stored(stored)
            if text_at(other, "spec", "group") == group and stored.key.name != own_name:
                accepted = object_at(other, "status", "acceptedNames")
                yield from ((name, each) for name in _NAMES for each in _as_names(accepted.get(name)))

    def _conditions(self, status: JSONObject, *wanted: tuple[str, str, str, str]) -> list[JSON]:
        found = {text_at(each, "type"): each for each in objects_at(status, "conditions")}
        for type_, value, reason, message in wanted:
            before = found.get(type_, {})
            since = text_at(before, "lastTransitionTime") if before.get("status") == value else ""
            found[type_] = {
                "type": type_,
                "status": value,
                "lastTransitionTime": since or timestamp(self._now()),
                "reason": reason,
                "message": message,
            }
        return [*found.values()]

    def _write_status(self, stored: Stored, tree: JSONObject, status: JSONObject) -> Stored:
        if same(tree.get("status"), status):
            return stored
        return self._objects.update(DEFINITIONS, stored, {**tree, "status": status})

    # --- Serving -----------------------------------------------------------------------------------------------------

    def _serve(self, definition: Definition) -> None:
        before = self._served.get(definition.name)
        if before is None:
            self._subscriptions[definition.name] = self._storage.subscribe(
                self._on_object, resource=definition.storage_id
            )
        self._served[definition.name] = definition
        self._objects.definitions.add(definition)
        if before and before.serves_like(definition):
            return
        if before:
            self._withdraw(before)
        for version in definition.served():
            self._objects.registry.add(
                version.resource, CUSTOM_RESOURCE, stored_as=definition.stored_as, selectable=version.selectable
            )

    def _stop_serving(self, name: str) -> None:
        if definition := self._served.pop(name, None):
            self._subscriptions.pop(name)()
            self._withdraw(definition)
            self._objects.definitions.remove(definition)

    def _withdraw(self, definition: Definition) -> None:
        self._end_watches(definition.storage_id)
        for version in definition.served():
            self._objects.registry.remove(version.resource)

    # --- Deletion ----------------------------------------------------------------------------------------------------

    def _terminate(self, stored: Stored, definition: Definition) -> None:
        tree = decode_stored(stored)
        if CLEANUP_FINALIZER not in texts_at(tree, "metadata", "finalizers"):
            return
        status = object_at(tree, "status")
        status = {**status, "conditions": self._conditions(status, _IN_PROGRESS)}
        stored = self._write_status(stored, tree, status)
        self._pending.pop(definition.name, None)
        for each in tuple(self._storage.scan(definition.storage_id)):
            request = APIRequest("delete", definition.stored_as, each.key.namespace, each.key.name, user=_SERVER)
            self._deleter.delete(request, each, DeleteOptions())
        if not self._storage.count(definition.storage_id):
            self._finalize(stored)

    def _finalize(self, stored: Stored) -> None:
        tree = decode_stored(stored)
        metadata = metadata_of(tree)
        left: list[JSON] = [each for each in texts_at(metadata, "finalizers") if each != CLEANUP_FINALIZER]
        metadata["finalizers"] = left
        if not left:
            del metadata["finalizers"]
        self._objects.update_or_remove(DEFINITIONS, stored, tree)


def _as_names(value: JSON) -> tuple[str, ...]:
    """Return one name or a list of names as a tuple."""
    if isinstance(value, list):
        return tuple(each for each in value if isinstance(each, str))
    return (value,) if isinstance(value, str) and value else ()
