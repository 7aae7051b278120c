"""The ways in which a program may say which resource it means.

    Pod                                        a kind's class
    Resource(...)                              all that there is to know
    GroupVersionResource, "deployments.v1.apps"
    GroupVersionKind, GroupKind, ("apps/v1", "Deployment"), "apps/v1 Deployment"
    "core_v1.pods"                             as the attributes of a ClientSet
    "pods", "po", "deployments.apps"           as people say it

`resource_map.py` finds what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

__all__ = ["At", "ByKind", "Named", "Reference", "ResourceLike", "read_reference"]


@dataclass(frozen=True, slots=True)
class ByKind:
    """The resource of a kind; without a version, of the preferred one."""

    group: str
    kind: str
    version: str = ""

    def __str__(self) -> str:
        return str(GroupVersionKind(self.group, self.version, self.kind) if self.version else self.group_kind)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)


@dataclass(frozen=True, slots=True)
class At:
    """The resource of a path."""

    group: str
    version: str
    plural: str

    def __str__(self) -> str:
        return str(GroupVersionResource(self.group, self.version, self.plural))


@dataclass(frozen=True, slots=True)
class Named:
    """The resource that somebody calls so; `attribute` is the group-version it is looked for in, as `core_v1`."""

    name: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"{self.attribute}.{self.name}" if self.attribute else self.name


Reference = Resource | ByKind | At | Named

ResourceLike = (
    type[Object]
    | Reference
    | GroupVersionResource
    | GroupVersionKind
    | GroupKind
    | GroupResource
    | tuple[str, str]
    | str
)


def read_reference(of: Any, kind: str = "") -> Reference:
    """What is meant; `kind` goes with an apiVersion, as in ("apps/v1", "Deployment")."""
    match of:
        case Resource() | ByKind() | At() | Named():
            return of
        case GroupVersionResource():
            return At(*of)
        case GroupVersionKind(group, version, name):
            return ByKind(group, name, version)
        case GroupKind(group, name):
            return ByKind(group, name)
        case GroupResource():
            return Named(str(of))
        case str() if kind:
            return _by_kind(of, kind)
        case (str(api_version), str(name)) if not isinstance(of, GroupVersion):
            return _by_kind(api_version, name)
        case str() if of.strip():
            return _read_text(of.strip())
        case type() if issubclass(of, Object) and (of.resource or of.gvk):
            return of.resource or read_reference(of.gvk)
    raise RequestError(
        f"{of!r} says of no resource which one it is: give a kind, a Resource, 'pods' or 'apps/v1 Deployment'"
    )


def _read_text(text: str) -> Reference:
    if ", Resource=" in text:
        return At(*GroupVersionResource.parse(text))
    if ", Kind=" in text:
        return read_reference(GroupVersionKind.parse(text))
    api_version, space, kind = text.partition(" ")
    if space:
        return _by_kind(api_version, kind.strip())
    # Neither groups nor resources may have an underscore in their names.
    attribute, dot, plural = text.partition(".")
    return Named(plural, attribute) if dot and "_" in attribute else Named(text)


def _by_kind(api_version: str, kind: str) -> ByKind:
    group, version = split_api_version(api_version)
    return ByKind(group, kind, version)
