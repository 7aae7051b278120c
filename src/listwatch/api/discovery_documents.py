"""The documents in which servers say what they offer: all groups at once, or one document for each version.

`discovery.py` has what is read from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from listwatch.api.discovery import APIGroup, Discovered
from listwatch.errors import DecodeError, StaleDiscoveryError
from listwatch.meta import Resource, Subresource, join_api_version, split_api_version
from listwatch.objects.reading import convert
from listwatch.objects.wire import DECODE_FAILURES

__all__ = [
    "DISCOVERY_ACCEPT",
    "ServerVersion",
    "is_aggregated",
    "read_aggregated",
    "read_core_versions",
    "read_groups",
    "read_resources",
    "read_schema_index",
    "read_version",
]

# Servers read the parameters in this order only.
DISCOVERY_ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

T = TypeVar("T")


class ServerVersion(msgspec.Struct, rename="camel", frozen=True):
    """Which Kubernetes a server is, as it says at `/version`."""

    major: str = ""
    minor: str = ""
    git_version: str = ""
    git_commit: str = ""
    build_date: str = ""
    go_version: str = ""
    platform: str = ""

    def __str__(self) -> str:
        return self.git_version


class _Schemas(msgspec.Struct):
    server_relative_url: str = msgspec.field(default="", name="serverRelativeURL")


class _SchemaIndex(msgspec.Struct):
    paths: dict[str, _Schemas] = {}


def read_version(body: bytes) -> ServerVersion:
    """What `/version` says."""
    return _read(body, ServerVersion)


def read_schema_index(body: bytes) -> dict[str, str]:
    """Where the schemas of each group-version are, from what `/openapi/v3` says."""
    return {path: each.server_relative_url for path, each in _read(body, _SchemaIndex).paths.items()}


# --- all at once -----------------------------------------------------------------------------------------------------


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _AggregatedSubresource(msgspec.Struct, rename="camel"):
    subresource: str
    response_kind: _Kind = msgspec.field(default_factory=_Kind)
    verbs: list[str] = []


class _AggregatedResource(msgspec.Struct, rename="camel"):
    resource: str
    response_kind: _Kind = msgspec.field(default_factory=_Kind)
    scope: str = ""
    singular_resource: str = ""
    verbs: list[str] = []
    short_names: list[str] = []
    categories: list[str] = []
    subresources: list[_AggregatedSubresource] = []


class _AggregatedVersion(msgspec.Struct):
    version: str
    resources: list[_AggregatedResource] = []
    freshness: str = ""


class _Named(msgspec.Struct):
    name: str = ""


class _AggregatedGroup(msgspec.Struct):
    metadata: _Named = msgspec.field(default_factory=_Named)
    versions: list[_AggregatedVersion] = []


class _AggregatedDocument(msgspec.Struct):
    items: list[_AggregatedGroup] = []


class _Document(msgspec.Struct):
    kind: str = ""


def is_aggregated(body: bytes) -> bool:
    """Whether the document holds whole groups; servers that cannot do that send one that only names them."""
    return _read(body, _Document).kind == "APIGroupDiscoveryList"


def read_aggregated(body: bytes) -> Discovered:
    """Groups with all their resources; versions that the server has only old news of are failures."""
    groups: list[APIGroup] = []
    resources: list[Resource] = []
    failures: dict[str, Exception] = {}
    for group in _read(body, _AggregatedDocument).items:
        name = group.metadata.name
        fresh = [version for version in group.versions if version.freshness != "Stale"]
        names = tuple(version.version for version in fresh)
        groups.append(APIGroup(name, names, names[0] if names else ""))
        resources += [
            _aggregated_resource(each, name, version.version)
            for version in fresh
            for each in version.resources
            if each.response_kind.kind
        ]
        stale = (join_api_version(name, version.version) for version in group.versions if version not in fresh)
        failures |= {each: StaleDiscoveryError("its server does not answer") for each in stale}
    return Discovered(tuple(groups), tuple(resources), failures)


def _aggregated_resource(entry: _AggregatedResource, group: str, version: str) -> Resource:
    return Resource(
        group,
        version,
        kind=entry.response_kind.kind,
        plural=entry.resource,
        singular=entry.singular_resource,
        namespaced=entry.scope == "Namespaced",
        verbs=tuple(entry.verbs),
        short_names=tuple(entry.short_names),
        categories=tuple(entry.categories),
        subresources=tuple(
            _subresource(each.subresource, each.response_kind, each.verbs, group, version)
            for each in entry.subresources
            if each.response_kind.kind
        ),
    )


# --- one by one ------------------------------------------------------------------------------------------------------


class _CoreVersions(msgspec.Struct):
    versions: list[str] = []


class _GroupVersion(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_GroupVersion] = []
    preferred_version: _GroupVersion = msgspec.field(default_factory=_GroupVersion)


class _Groups(msgspec.Struct):
    groups: list[_Group] = []


class _Resource(msgspec.Struct, rename="camel"):
    name: str
    singular_name: str = ""
    namespaced: bool = False
    kind: str = ""
    group: str = ""
    version: str = ""
    verbs: list[str] = []
    short_names: list[str] = []
    categories: list[str] = []


class _Resources(msgspec.Struct, rename="camel"):
    group_version: str = ""
    resources: list[_Resource] = []


def read_core_versions(body: bytes) -> APIGroup | None:
    """The group without a name, from what `/api` says; None if it is not served."""
    versions = _read(body, _CoreVersions).versions
    return APIGroup("", tuple(versions), versions[0]) if versions else None


def read_groups(body: bytes) -> tuple[APIGroup, ...]:
    """The other groups, from what `/apis` says."""
    return tuple(
        APIGroup(group.name, tuple(each.version for each in group.versions), group.preferred_version.version)
        for group in _read(body, _Groups).groups
    )


def read_resources(body: bytes) -> tuple[Resource, ...]:
    """The resources of one group-version; what it lists as `pods/status` becomes a subresource of `pods`."""
    document = _read(body, _Resources)
    group, version = split_api_version(document.group_version)
    entries = [each for each in document.resources if each.kind]
    return tuple(_resource(each, group, version, entries) for each in entries if "/" not in each.name)


def _resource(entry: _Resource, group: str, version: str, entries: list[_Resource]) -> Resource:
    prefix = f"{entry.name}/"
    return Resource(
        group,
        version,
        kind=entry.kind,
        plural=entry.name,
        singular=entry.singular_name,
        namespaced=entry.namespaced,
        verbs=tuple(entry.verbs),
        short_names=tuple(entry.short_names),
        categories=tuple(entry.categories),
        subresources=tuple(
            _subresource(
                each.name.removeprefix(prefix), _Kind(each.group, each.version, each.kind), each.verbs, group, version
            )
            for each in entries
            if each.name.startswith(prefix)
        ),
    )


def _subresource(name: str, kind: _Kind, verbs: list[str], group: str, version: str) -> Subresource:
    # Both forms leave group and version empty where they are the resource's own.
    home = (kind.group, kind.version) if kind.version else (group, version)
    return Subresource(name, *home, kind.kind, tuple(verbs))


def _read(body: bytes, type_: type[T]) -> T:
    what = "a discovery document"
    try:
        tree = msgspec.json.decode(body)
    except DECODE_FAILURES:
        raise DecodeError("it is no JSON", object_name=what) from None
    if not isinstance(tree, Mapping):
        raise DecodeError("expected a mapping", object_name=what)
    document: T = convert(tree, type_, what=what)
    return document
