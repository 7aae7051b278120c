"""Exports all objects as YAML, and imports the objects of another cluster: what `kubectl get -o yaml` prints.

Imported objects are stored as they are, with their uids, owners, times and statuses. They are neither admitted nor
validated, except that their fields must have the right types. Those that exist are replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from listwatch.errors import APIError, DecodeError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey, Resource, split_api_version
from listwatch.server.codec.conversion import convert
from listwatch.server.codec.decoding import decode_body
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.crd.custom_decoding import decode_custom_body
from listwatch.server.json_tree import text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.lifecycle.strategy import Environment, metadata_of, timestamp

if TYPE_CHECKING:
    from listwatch.objects.yaml.manifests import Document

__all__ = ["Manifests"]

_JSON = "application/json"
_NOT_OBJECTS = ("Status", "Table")
# These are imported before the others, which depend on them.
_DEFINITION = "CustomResourceDefinition"
_FIRST = (_DEFINITION, "Namespace")


@dataclass(frozen=True, slots=True)
class _Document:
    number: int
    tree: JSONObject

    @property
    def type(self) -> str:
        return f"{text_at(self.tree, 'apiVersion')} {text_at(self.tree, 'kind')}"

    @property
    def name(self) -> str:
        """The object as errors name it."""
        where = f"{text_at(self.tree, 'metadata', 'namespace')}/".lstrip("/")
        return f"document {self.number}: {text_at(self.tree, 'kind')} {where}{text_at(self.tree, 'metadata', 'name')}"


class Manifests:
    """The objects of a server as YAML documents; `settle` runs the controllers, which serve custom resources."""

    def __init__(self, objects: ObjectStore, environment: Environment, settle: Callable[[], None]) -> None:
        self._objects = objects
        self._environment = environment
        self._settle = settle

    def export(self) -> str:
        """Return all objects, one document each, in the versions that are stored."""
        # PyYAML is slow to import, and few servers need it.
        from listwatch.objects.yaml import manifests

        storage = self._objects.storage
        trees = [decode_stored(stored) for resource in storage.resources for stored in storage.scan(resource)]
        return manifests.write(*sorted(trees, key=_order))

    def load(self, text: str | bytes) -> int:
        """Store all objects, and return their number; raises DecodeError, which names the document and the object.

        All documents are checked before the first one is stored, except custom objects, whose definitions may be among
        the documents.
        """
        from listwatch.objects.yaml import manifests

        documents = [_checked(each) for each in manifests.read_documents(text)]
        self._check_kinds(documents)
        decoded = [
            (each, self._decoded_built_in(each)) for each in sorted(documents, key=lambda each: _order(each.tree))
        ]
        for document, tree in decoded:
            self._store(document, tree)
            if text_at(document.tree, "kind") in _FIRST:
                self._settle()
        self._settle()
        return len(documents)

    def _check_kinds(self, documents: list[_Document]) -> None:
        """Raise DecodeError if the server does not have a resource, and no definition among the documents has it."""
        defined = {_defined_kind(each.tree) for each in documents if text_at(each.tree, "kind") == _DEFINITION}
        unknown: dict[str, _Document] = {}
        for document in documents:
            group, _ = split_api_version(text_at(document.tree, "apiVersion"))
            if self._find(document) is None and (group, text_at(document.tree, "kind")) not in defined:
                unknown.setdefault(document.type, document)
        if unknown:
            raise _unknown_kinds(list(unknown.values()))

    def _store(self, document: _Document, tree: JSONObject | None) -> None:
        resource = self._find(document)
        if resource is None:  # its definition does not have this version
            raise _unknown_kinds([document])
        target = self._objects.target(resource)
        if tree is None:
            tree = self._decoded(document, resource)
        if target.stored_as is not resource:
            tree = convert(tree, target.stored_as.gvk)
        metadata = metadata_of(tree)
        namespace = (text_at(metadata, "namespace") or "default") if resource.namespaced else ""
        if namespace:
            metadata["namespace"] = namespace
        metadata.pop("resourceVersion", None)
        metadata["uid"] = metadata.get("uid") or self._environment.new_uid()
        metadata["creationTimestamp"] = metadata.get("creationTimestamp") or timestamp(self._environment.now())
        apply_defaults(tree, self._objects.schema)
        key = ObjectKey(namespace, text_at(metadata, "name"))
        existing = self._objects.storage.get(target.storage_id, key)
        if existing is None:
            self._objects.create(target.storage_id, key, tree)
        else:
            self._objects.update(target.storage_id, existing, tree)

    def _find(self, document: _Document) -> Resource | None:
        group, version = split_api_version(text_at(document.tree, "apiVersion"))
        kind = text_at(document.tree, "kind")
        served = self._objects.registry.resources(group, version)
        found = next((each for each in served if each.kind == kind), None)
        return found if found is not None and self._objects.target(found).traits.stored else None

    def _decoded_built_in(self, document: _Document) -> JSONObject | None:
        resource = self._find(document)
        if resource is None or self._objects.target(resource).is_custom:
            return None
        return self._decoded(document, resource)

    def _decoded(self, document: _Document, resource: Resource) -> JSONObject:
        body, schema = msgspec.json.encode(document.tree), self._objects.schema
        try:
            if self._objects.target(resource).is_custom:
                version = self._objects.definitions.version(resource)
                assert version is not None
                return decode_custom_body(body, _JSON, version, schema, field_validation="Ignore").tree
            return decode_body(body, _JSON, resource.gvk, schema, field_validation="Ignore").tree
        except APIError as error:
            raise DecodeError(f"{document.name}: {error.message}") from None


def _checked(document: Document) -> _Document:
    tree = document.tree
    if isinstance(tree, dict) and text_at(tree, "kind") in _NOT_OBJECTS:
        raise DecodeError(f"document {document.number}: a {text_at(tree, 'kind')} is not an object that can be stored")
    for name in ("apiVersion", "kind"):
        if not text_at(tree, name):
            raise DecodeError(f"document {document.number}: it has no {name}; expected a Kubernetes object")
    if not text_at(tree, "metadata", "name"):
        raise DecodeError(f"document {document.number}: {text_at(tree, 'kind')} without metadata.name")
    assert isinstance(tree, dict)
    return _Document(document.number, tree)


def _defined_kind(definition: JSONObject) -> tuple[str, str]:
    return text_at(definition, "spec", "group"), text_at(definition, "spec", "names", "kind")


def _unknown_kinds(documents: list[_Document]) -> DecodeError:
    """The error for objects of kinds that the server does not have, one of each kind."""
    [first, *others] = documents
    also = "".join(f", nor for {each.type}" for each in others)
    return DecodeError(
        f"{first.name}: this server has no resource for {first.type}{also}; "
        "import their CustomResourceDefinitions, too, or leave these objects out"
    )


def _order(tree: JSONObject) -> int:
    kind = text_at(tree, "kind")
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
