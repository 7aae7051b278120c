"""Discovery: the groups and resources of an API server, and the documents that list them.

Servers since 1.26 list all groups in one aggregated document; older ones have a document for each group-version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from listwatch.errors import DecodeError, DiscoveryError, StaleDiscoveryError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource, Subresource, join_api_version, split_api_version
from listwatch.objects.json.reading import convert
from listwatch.objects.json.wire import DECODE_FAILURES

__all__ = [
    "DISCOVERY_ACCEPT",
    "APIGroup",
    "DiscoveryResult",
    "ServerVersion",
    "is_aggregated",
    "partial_result",
    "read_aggregated",
    "read_core_versions",
    "read_groups",
    "read_resources",
    "read_schema_index",
    "read_version",
    "result_from_dict",
    "result_to_dict",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class APIGroup:
    """A group and its versions, in the server's order. The name of the core group is empty."""

    name: str
    versions: tuple[str, ...]
    preferred_version: str = ""

    @property
    def by_preference(self) -> tuple[str, ...]:
        """The versions, the preferred one first."""
        return tuple(sorted(self.versions, key=lambda version: version != self.preferred_version))


@dataclass(frozen=True, slots=True)
class DiscoveryResult:
    """The groups and resources of a server, and the errors by group-version."""

    groups: tuple[APIGroup, ...] = ()
    resources: tuple[Resource, ...] = ()
    failures: Mapping[str, Exception] = field(default_factory=dict)

    def __add__(self, other: DiscoveryResult) -> DiscoveryResult:
        return DiscoveryResult(
            self.groups + other.groups, self.resources + other.resources, {**self.failures, **other.failures}
        )

    def checked(self) -> DiscoveryResult:
        """Return this result if it is complete, else raise a DiscoveryError that contains it."""
        if self.failures:
            raise DiscoveryError("discovery is incomplete", failures=self.failures, found=self)
        return self

    def by_preference(self) -> list[Resource]:
        """Return all resources: the core group first, then in the server's order, preferred versions first."""
        groups = sorted(self.groups, key=lambda group: group.name != "")
        ranks = {(group.name, version): rank for rank, (group, version) in enumerate(_versions(groups))}
        return sorted(self.resources, key=lambda each: ranks.get((each.group, each.version), len(ranks)))

    def preferred(self) -> tuple[Resource, ...]:
        """Return each resource once, in the preferred version of its group or else the first version that has it."""
        found: dict[tuple[str, str], Resource] = {}
        for resource in self.by_preference():
            found.setdefault(resource.group_resource, resource)
        return tuple(found.values())


def partial_result(error: DiscoveryError) -> DiscoveryResult:
    """Return what was discovered in spite of the error."""
    return error.found if isinstance(error.found, DiscoveryResult) else DiscoveryResult()


def _versions(groups: Iterable[APIGroup]) -> Iterator[tuple[APIGroup, str]]:
    return ((group, version) for group in groups for version in group.by_preference)


# --- cache files -----------------------------------------------------------------------------------------------------


class _CachedResult(msgspec.Struct):
    groups: tuple[APIGroup, ...]
    resources: tuple[Resource, ...]


def result_to_dict(result: DiscoveryResult) -> JSONObject:
    """Return the groups and resources for a cache file. Failures are not cached."""
    tree: JSONObject = msgspec.to_builtins(_CachedResult(result.groups, result.resources))
    return tree


def result_from_dict(tree: JSON) -> DiscoveryResult:
    """Read a dict of `result_to_dict`; DecodeError for anything else."""
    cached: _CachedResult = convert(tree, _CachedResult, what="cached discovery")
    return DiscoveryResult(cached.groups, cached.resources)


# --- documents -------------------------------------------------------------------------------------------------------

# Servers accept the parameters in this order only.
DISCOVERY_ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class ServerVersion(msgspec.Struct, rename="camel", frozen=True):
    """The version of a server, from `/version`."""

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
    """Read the document of `/version`."""
    return _read(body, ServerVersion)


def read_schema_index(body: bytes) -> dict[str, str]:
    """Read `/openapi/v3`: the URL of the schemas of each group-version."""
    return {path: each.server_relative_url for path, each in _read(body, _SchemaIndex).paths.items()}


# Aggregated discovery: one document for all groups.


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
    """Whether the document is aggregated. Older servers send one that contains only the names of groups."""
    return _read(body, _Document).kind == "APIGroupDiscoveryList"


def read_aggregated(body: bytes) -> DiscoveryResult:
    """Read groups with all their resources. Versions that the server marks as stale are failures."""
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
        failures |= {each: StaleDiscoveryError("its API server does not respond") for each in stale}
    return DiscoveryResult(tuple(groups), tuple(resources), failures)


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


# Unaggregated discovery: a document for each group-version.


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
    """Read `/api`: the core group; None if it is not served."""
    versions = _read(body, _CoreVersions).versions
    return APIGroup("", tuple(versions), versions[0]) if versions else None


def read_groups(body: bytes) -> tuple[APIGroup, ...]:
    """Read `/apis`: the other groups."""
    return tuple(
        APIGroup(group.name, tuple(each.version for each in group.versions), group.preferred_version.version)
        for group in _read(body, _Groups).groups
    )


def read_resources(body: bytes) -> tuple[Resource, ...]:
    """Read the resources of one group-version. An entry `pods/status` is a subresource of `pods`."""
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
    # Both forms omit group and version if they are those of the resource.
    group_version = (kind.group, kind.version) if kind.version else (group, version)
    return Subresource(name, *group_version, kind.kind, tuple(verbs))


def _read(body: bytes, type_: type[T]) -> T:
    what = "the discovery document"
    try:
        tree = msgspec.json.decode(body)
    except DECODE_FAILURES:
        raise DecodeError("is not valid JSON", object_name=what) from None
    if not isinstance(tree, Mapping):
        raise DecodeError("expected a mapping", object_name=what)
    document: T = convert(tree, type_, what=what)
    return document
