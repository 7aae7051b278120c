"""CustomResourceDefinitions: how the versions of a custom resource are served, and how objects are converted.

    body ─▶ normalize: prune unknown fields, fill in defaults ─▶ stored in one version ─▶ sent in the requested version

`controllers.custom_resources` keeps the served definitions equal to the stored ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from listwatch.errors import ForbiddenError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource, Subresource, version_priority
from listwatch.server.codec.representations import encode_object
from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.crd.structural_schema import JSONSchema, apply_structural_defaults, drop_nulls, prune
from listwatch.server.json_tree import flag_at, integer_at, object_at, objects_at, same, text_at, texts_at
from listwatch.server.storage.values import Stored

__all__ = [
    "DEFINITIONS",
    "ESTABLISHED",
    "CustomVersion",
    "Definition",
    "Definitions",
    "ScalePaths",
    "condition_of",
    "has_rules",
]

DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
"""The storage id of CustomResourceDefinitions."""
ESTABLISHED = "Established"

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SUBRESOURCE_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """The paths of the fields that the scale subresource reads and writes, as member names."""

    spec_replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...] = ()

    @classmethod
    def of(cls, tree: JSONObject) -> ScalePaths:
        names = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
        return cls(*(tuple(filter(None, text_at(tree, name).split("."))) for name in names))


@dataclass(frozen=True, eq=False)
class CustomVersion:
    """One version of a custom resource."""

    resource: Resource
    is_served: bool
    schema: JSONSchema = field(repr=False)
    scale: ScalePaths | None = None
    selectable: tuple[str, ...] = ()
    warning: str = ""
    """Sent with each response, if the version is deprecated."""
    printer_columns: tuple[JSONObject, ...] = ()
    """The columns of Tables, as in the definition."""

    @cached_property
    def has_rules(self) -> bool:
        return has_rules(self.schema)

    def normalize(self, tree: JSONObject, errors: StrictErrors | None = None, *, keep_nulls: bool = False) -> None:
        """Prune unknown fields, fill in defaults and drop nulls, in place."""
        self.prune(tree, errors)
        apply_structural_defaults(tree, self.schema)
        if not keep_nulls:
            drop_nulls(tree, self.schema)

    def prune(self, tree: JSONObject, errors: StrictErrors | None = None) -> None:
        """Drop fields that the schema does not declare, in place, and report them."""
        prune(tree, self.schema, errors)


class Definition:
    """A custom resource in all its versions. The tree that it is made from must not change."""

    def __init__(self, tree: JSONObject) -> None:
        self._spec, self._metadata, self._status = (object_at(tree, name) for name in ("spec", "metadata", "status"))
        self.name = text_at(self._metadata, "name")
        self.storage_id = f"{text_at(self._spec, 'group')}/{text_at(self._spec, 'names', 'plural')}"
        self.versions = {text_at(each, "name"): self._version(each) for each in objects_at(self._spec, "versions")}

    @property
    def is_established(self) -> bool:
        return condition_of(self._status, ESTABLISHED).get("status") == "True"

    @cached_property
    def conversion_webhook(self) -> JSONObject | None:
        """The webhook that converts objects between versions; None if they differ only in their schemas."""
        conversion = object_at(self._spec, "conversion")
        return object_at(conversion, "webhook") if conversion.get("strategy") == "Webhook" else None

    @property
    def is_terminating(self) -> bool:
        return "deletionTimestamp" in self._metadata

    @cached_property
    def stored_as(self) -> Resource:
        """The resource in the version that is stored."""
        name = next(text_at(each, "name") for each in objects_at(self._spec, "versions") if each.get("storage"))
        return self.versions[name].resource

    def served(self) -> Iterator[CustomVersion]:
        return (each for each in self.versions.values() if each.is_served)

    def serves_like(self, other: Definition) -> bool:
        """Whether clients see no difference between two states of the definition."""
        accepted = (self._status.get("acceptedNames"), other._status.get("acceptedNames"))
        return same(self._spec, other._spec) and same(*accepted)

    @property
    def _is_stored_as_sent(self) -> bool:
        """Whether all stored objects were written by the current schema of the only version."""
        return len(self.versions) == 1 and integer_at(self._metadata, "generation") == 1

    def encoded(self, stored: Stored, version: str) -> bytes:
        """Return the bytes of a stored object in a version."""
        if self._is_stored_as_sent:
            return stored.value
        return encode_object(self.convert(msgspec.json.decode(stored.value), version))

    def convert(self, tree: JSONObject, version: str) -> JSONObject:
        """Return a stored object in a version: versions differ only in their schemas. The tree may be changed."""
        return self._with_version(self.normalized(tree), version)

    def normalized(self, tree: JSONObject) -> JSONObject:
        """Return a stored object as the schema of its own version has it. The tree may be changed."""
        written_in = self.versions.get(text_at(tree, "apiVersion").rpartition("/")[2])
        if written_in:
            written_in.normalize(tree)
        return tree

    def _with_version(self, tree: JSONObject, version: str) -> JSONObject:
        """Return an object with the apiVersion of another version, pruned by its schema."""
        target = self.versions.get(version)
        if target is None or tree["apiVersion"] == target.resource.api_version:
            return tree
        tree = {**tree, "apiVersion": target.resource.api_version}
        target.prune(tree)
        return tree

    def _version(self, version: JSONObject) -> CustomVersion:
        subresources = object_at(version, "subresources")
        scale = object_at(subresources, "scale")
        resource = self._resource(text_at(version, "name"), subresources)
        return CustomVersion(
            resource=resource,
            is_served=flag_at(version, "served"),
            schema=object_at(version, "schema", "openAPIV3Schema"),
            scale=ScalePaths.of(scale) if scale else None,
            selectable=tuple(text_at(each, "jsonPath").lstrip(".") for each in objects_at(version, "selectableFields")),
            warning=_warning(version, resource, objects_at(self._spec, "versions")),
            printer_columns=tuple(objects_at(version, "additionalPrinterColumns")),
        )

    def _resource(self, version: str, subresources: JSONObject) -> Resource:
        names, group = object_at(self._spec, "names"), text_at(self._spec, "group")
        accepted = object_at(self._status, "acceptedNames") or names
        kind = text_at(names, "kind")
        served: list[Subresource] = []
        if "status" in subresources:
            served.append(Subresource("status", group, version, kind, _SUBRESOURCE_VERBS))
        if "scale" in subresources:
            served.append(Subresource("scale", "autoscaling", "v1", "Scale", _SUBRESOURCE_VERBS))
        return Resource(
            group=group,
            version=version,
            kind=kind,
            plural=text_at(names, "plural"),
            singular=text_at(names, "singular"),
            namespaced=text_at(self._spec, "scope") == "Namespaced",
            verbs=_VERBS,
            short_names=tuple(texts_at(accepted, "shortNames")),
            categories=tuple(texts_at(accepted, "categories")),
            subresources=tuple(served),
            list_kind=text_at(names, "listKind"),
        )


def has_rules(tree: JSON) -> bool:
    """Whether there is an `x-kubernetes-validations` in a schema or in a whole definition."""
    if isinstance(tree, dict):
        return bool(tree.get("x-kubernetes-validations")) or any(map(has_rules, tree.values()))
    return isinstance(tree, list) and any(map(has_rules, tree))


def _warning(version: JSONObject, resource: Resource, versions: Sequence[JSONObject]) -> str:
    if not version.get("deprecated"):
        return ""
    if text := text_at(version, "deprecationWarning"):
        return text
    current = [text_at(each, "name") for each in versions if each.get("served") and not each.get("deprecated")]
    newest = min(current, key=version_priority, default="")
    advice = ""
    if newest and version_priority(newest) < version_priority(resource.version):
        advice = f"; use {resource.group}/{newest} {resource.kind}"
    return f"{resource.api_version} {resource.kind} is deprecated{advice}"


def condition_of(status: JSON, type_: str) -> JSONObject:
    """Return the condition of a type; an empty one if there is none."""
    return next((each for each in objects_at(status, "conditions") if each.get("type") == type_), {})


class Definitions:
    """The definitions that are served."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Definition] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def add(self, definition: Definition) -> None:
        self._known[definition.stored_as.group_resource] = definition

    def remove(self, definition: Definition) -> None:
        self._known.pop(definition.stored_as.group_resource, None)

    def get(self, resource: Resource) -> Definition | None:
        """Return the definition of a resource; None if it has none."""
        return self._known.get(resource.group_resource) if self._known else None

    def version(self, resource: Resource) -> CustomVersion | None:
        """Return the version of a custom resource; None if it has no definition."""
        definition = self._known.get(resource.group_resource) if self._known else None
        return definition.versions.get(resource.version) if definition else None

    def check_not_terminating(self, resource: Resource, name: str) -> None:
        """Raise ForbiddenError if the definition is being deleted, so that objects cannot be created."""
        definition = self.get(resource)
        if definition and definition.is_terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise ForbiddenError.of(resource.plural, name, why, group=resource.group)
