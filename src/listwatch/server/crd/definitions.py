"""What CustomResourceDefinitions say: how each version of a custom resource is served, and how its objects are read.

    body ─▶ read: unknown fields go, defaults come ─▶ stored in one version ─▶ sent: in the version that was asked for

`custom_resources` keeps them in step with the storage; `rules.definitions` says which of them are in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from listwatch.errors import ForbiddenError
from listwatch.meta import Resource, Subresource
from listwatch.server.codec.representations import encode_object
from listwatch.server.codec.typed_decoding import StrictErrors
from listwatch.server.crd.structural_schema import JSONSchema, apply_structural_defaults, drop_nulls, prune
from listwatch.server.json_tree import Tree, children, same
from listwatch.server.storage.values import Stored

__all__ = ["DEFINITIONS", "ESTABLISHED", "CustomVersion", "Definition", "Definitions", "ScalePaths", "condition_of"]

DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
"""What the storage calls them."""
ESTABLISHED = "Established"

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SUBRESOURCE_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where an object has what its scale says, as the names of members."""

    spec_replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...] = ()

    @classmethod
    def of(cls, tree: Tree) -> ScalePaths:
        names = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
        return cls(*(tuple(filter(None, tree.get(name, "").split("."))) for name in names))


@dataclass(frozen=True, eq=False)
class CustomVersion:
    """One version of a custom resource."""

    resource: Resource
    is_served: bool
    schema: JSONSchema = field(repr=False)
    scale: ScalePaths | None = None
    selectable: tuple[str, ...] = ()
    warning: str = ""
    """What who uses it is told each time."""

    def normalize(self, tree: dict[str, Tree], problems: StrictErrors | None = None) -> None:
        """Make of a tree, in place, what is an object of this version."""
        self.drop_unknown(tree, problems)
        apply_structural_defaults(tree, self.schema)
        drop_nulls(tree, self.schema)

    def drop_unknown(self, tree: dict[str, Tree], problems: StrictErrors | None = None) -> None:
        prune(tree, self.schema, problems)


class Definition:
    """One custom resource, in all its versions; what it is made from is not changed by it nor by others."""

    def __init__(self, tree: Tree) -> None:
        self._spec, self._metadata, self._status = tree["spec"], tree["metadata"], tree.get("status", {})
        self.name: str = self._metadata["name"]
        self.storage_id = f"{self._spec['group']}/{self._spec['names']['plural']}"
        self.versions = {each["name"]: self._version(each) for each in self._spec["versions"]}

    @property
    def is_established(self) -> bool:
        return condition_of(self._status, ESTABLISHED).get("status") == "True"

    @property
    def is_terminating(self) -> bool:
        return "deletionTimestamp" in self._metadata

    @cached_property
    def form(self) -> Resource:
        """What its objects are stored as."""
        name = next(each["name"] for each in self._spec["versions"] if each.get("storage"))
        return self.versions[name].resource

    def served(self) -> Iterator[CustomVersion]:
        return (each for each in self.versions.values() if each.is_served)

    def serves_like(self, other: Definition) -> bool:
        """Whether nothing has changed for those who use it."""
        accepted = (self._status.get("acceptedNames"), other._status.get("acceptedNames"))
        return same(self._spec, other._spec) and same(*accepted)

    # --- objects

    @property
    def _is_stored_as_sent(self) -> bool:
        """True if nothing was ever stored that is to be sent otherwise."""
        return len(self.versions) == 1 and self._metadata.get("generation", 0) == 1

    def sent(self, stored: Stored, version: str) -> bytes:
        """The bytes of a stored object in one version."""
        if self._is_stored_as_sent:
            return stored.value
        return encode_object(self.converted(msgspec.json.decode(stored.value), version))

    def converted(self, tree: dict[str, Tree], version: str) -> dict[str, Tree]:
        """A stored object in one version: all are alike but for their schemas. The tree may be changed."""
        written_in = self.versions.get(tree["apiVersion"].rpartition("/")[2])
        if written_in:
            written_in.normalize(tree)
        return self.restamped(tree, version)

    def restamped(self, tree: dict[str, Tree], version: str) -> dict[str, Tree]:
        """An object of one version as one of another, with what that one knows."""
        target = self.versions.get(version)
        if target is None or tree["apiVersion"] == target.resource.api_version:
            return tree
        tree = {**tree, "apiVersion": target.resource.api_version}
        target.drop_unknown(tree)
        return tree

    # --- reading the definition

    def _version(self, version: Tree) -> CustomVersion:
        subresources = version.get("subresources", {})
        scale = subresources.get("scale")
        resource = self._resource(version["name"], subresources)
        return CustomVersion(
            resource=resource,
            is_served=bool(version.get("served")),
            schema=version.get("schema", {}).get("openAPIV3Schema", {}),
            scale=ScalePaths.of(scale) if scale else None,
            selectable=tuple(each["jsonPath"].lstrip(".") for each in version.get("selectableFields", ())),
            warning=_warning(version, resource),
        )

    def _resource(self, version: str, subresources: Tree) -> Resource:
        names, group = self._spec["names"], self._spec["group"]
        accepted = self._status.get("acceptedNames") or names
        doors = []
        if "status" in subresources:
            doors.append(Subresource("status", group, version, names["kind"], _SUBRESOURCE_VERBS))
        if "scale" in subresources:
            doors.append(Subresource("scale", "autoscaling", "v1", "Scale", _SUBRESOURCE_VERBS))
        return Resource(
            group=group,
            version=version,
            kind=names["kind"],
            plural=names["plural"],
            singular=names.get("singular", ""),
            namespaced=self._spec["scope"] == "Namespaced",
            verbs=_VERBS,
            short_names=tuple(accepted.get("shortNames", ())),
            categories=tuple(accepted.get("categories", ())),
            subresources=tuple(doors),
            list_kind=names.get("listKind", ""),
        )


def _warning(version: Tree, resource: Resource) -> str:
    if not version.get("deprecated"):
        return ""
    return version.get("deprecationWarning") or f"{resource.api_version} {resource.kind} is deprecated"


def condition_of(status: Tree, type_: str) -> dict[str, Any]:
    """The condition of that type; an empty one if there is none."""
    return next((each for each in children(status, "conditions") if each.get("type") == type_), {})


class Definitions:
    """Every definition that is served now."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Definition] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def put(self, definition: Definition) -> None:
        self._known[definition.form.group_resource] = definition

    def discard(self, definition: Definition) -> None:
        self._known.pop(definition.form.group_resource, None)

    def of(self, resource: Resource) -> Definition | None:
        """None for a resource that has no definition."""
        return self._known.get(resource.group_resource) if self._known else None

    def version(self, resource: Resource) -> CustomVersion | None:
        definition = self._known.get(resource.group_resource) if self._known else None
        return definition.versions.get(resource.version) if definition else None

    def check_accepting(self, resource: Resource, name: str) -> None:
        """Raise ForbiddenError if nothing new can be made, because the definition is about to go."""
        definition = self.of(resource)
        if definition and definition.is_terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise ForbiddenError.of(resource.plural, name, why, group=resource.group)
