"""References to resources, in all forms that clients accept:

    Pod                                        a class
    Resource(...)                              a complete description
    GroupVersionResource, "deployments.v1.apps"
    GroupVersionKind, GroupKind, ("apps/v1", "Deployment"), "apps/v1 Deployment"
    "core_v1.pods"                             the attributes of a ClientSet
    "pods", "po", "deployments.apps"           names as kubectl accepts them

`resource_map.py` finds the resource of a reference.
"""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.errors import RequestError
from listwatch.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    Resource,
    split_api_version,
)
from listwatch.objects.object import Object

__all__ = ["KindReference", "NameReference", "Reference", "ResourceLike", "read_reference"]


@dataclass(frozen=True, slots=True)
class KindReference:
    """The resource of a kind; without a version, in the preferred version."""

    group: str
    kind: str
    version: str = ""

    def __str__(self) -> str:
        return str(GroupVersionKind(self.group, self.version, self.kind) if self.version else self.group_kind)

    @property
    def group_kind(self) -> GroupKind:
        """The kind without its version."""
        return GroupKind(self.group, self.kind)


@dataclass(frozen=True, slots=True)
class NameReference:
    """The resource of a plural, singular or short name. `attribute` limits it to a group-version, such as `core_v1`."""

    name: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"{self.attribute}.{self.name}" if self.attribute else self.name


Reference = Resource | GroupVersionResource | KindReference | NameReference

ResourceLike = type[Object] | Reference | GroupVersionKind | GroupKind | GroupResource | tuple[str, str] | str
"""What identifies a resource: a model class, a kind, a resource, an (apiVersion, kind) pair, or a name."""


def read_reference(of: ResourceLike, kind: str = "") -> Reference:
    """Normalize a reference. `kind` is passed with an apiVersion, as in ("apps/v1", "Deployment")."""
    given: object = of  # callers may pass anything
    match given:
        case Resource() | GroupVersionResource() | KindReference() | NameReference():
            return given
        case GroupVersionKind(group, version, name):
            return KindReference(group, name, version)
        case GroupKind(group, name):
            return KindReference(group, name)
        case GroupResource():
            return NameReference(str(given))
        case str() if kind:
            return _by_kind(given, kind)
        case (str(api_version), str(name)) if not isinstance(given, GroupVersion):
            return _by_kind(api_version, name)
        case str() if given.strip():
            return _read_text(given.strip())
        case type() if issubclass(given, Object) and given.resource:
            return given.resource
        case type() if issubclass(given, Object) and given.gvk:
            return read_reference(given.gvk)
        case type() if issubclass(given, Object) and given is not Object:
            name = given.__name__
            raise RequestError(
                f"the class {name} has no group, version and kind: declare it as "
                f'`class {name}(lw.CustomResource, group="example.com", version="v1", kind="{name}")`'
            )
    raise RequestError(
        f"{of!r} does not name a resource: pass a class such as Pod, a Resource, 'pods' or 'apps/v1 Deployment'"
    )


def _read_text(text: str) -> Reference:
    if ", Resource=" in text:
        return GroupVersionResource.parse(text)
    if ", Kind=" in text:
        return read_reference(GroupVersionKind.parse(text))
    api_version, space, kind = text.partition(" ")
    if space:
        return _by_kind(api_version, kind.strip())
    # Names of groups and resources cannot contain an underscore.
    attribute, dot, plural = text.partition(".")
    return NameReference(plural, attribute) if dot and "_" in attribute else NameReference(text)


def _by_kind(api_version: str, kind: str) -> KindReference:
    group, version = split_api_version(api_version)
    return KindReference(group, kind, version)
