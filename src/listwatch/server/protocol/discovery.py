"""Discovery documents, in both forms. `non_resources` serves them.

aggregated    all groups with their versions, resources and subresources, in one document each for /api and /apis
plain         a document for the groups, one for each group, and one for each version
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.meta import GroupVersionKind, Resource, Subresource, join_api_version
from listwatch.server.codec.decoding import JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE
from listwatch.server.codec.representations import parse_accept
from listwatch.server.json_tree import text_at
from listwatch.server.requests import Response
from listwatch.server.schema.registry import Registry
from listwatch.server.schema.schema import builtin_schema

_GROUP, _LIST = "apidiscovery.k8s.io", "APIGroupDiscoveryList"
_VERSIONS = {JSON_MEDIA_TYPE: ("v2", "v2beta1"), PROTOBUF_MEDIA_TYPE: ("v2",)}

# The documents of the oldest groups have no apiVersion.
_UNVERSIONED = ("", "extensions")


def aggregated_form(accept: str) -> tuple[str, str] | None:
    """Return the media type and version of the aggregated form that the client accepts; None for the plain form."""
    for clause in parse_accept(accept):
        parameters = clause.parameters
        if (parameters.get("g"), parameters.get("as")) != (_GROUP, _LIST):
            continue
        version = parameters.get("v", "")
        for media_type, versions in _VERSIONS.items():
            if clause.covers(media_type) and version in versions:
                return media_type, version
    return None


class Discovery:
    """The documents of a registry; the large ones are cached until it changes."""

    def __init__(self, registry: Registry, *, address: str = "") -> None:
        self.address = address
        """Host and port of the server."""
        self._registry = registry
        self._made: dict[tuple[tuple[str, ...], str, str], tuple[bytes, str]] = {}
        self._made_at = registry.generation

    # Aggregated

    def aggregated(
        self, groups: Iterable[str], version: str, *, media_type: str = JSON_MEDIA_TYPE, known_etag: str = ""
    ) -> Response:
        """Return the document of these groups; without its body if the client has the same."""
        body, etag = self._document(tuple(groups), version, media_type)
        headers = {"ETag": etag, "Vary": "Accept", "Cache-Control": "public"}
        if known_etag == etag:
            return Response(b"", 304, headers)
        return Response(body, headers={**headers, "Content-Type": f"{media_type};g={_GROUP};v={version};as={_LIST}"})

    def _document(self, groups: tuple[str, ...], version: str, media_type: str) -> tuple[bytes, str]:
        if self._made_at != self._registry.generation:
            self._made, self._made_at = {}, self._registry.generation
        key = groups, version, media_type
        if key not in self._made:
            items = msgspec.json.encode([self._group_item(group) for group in groups])
            head = msgspec.json.encode({"kind": _LIST, "apiVersion": f"{_GROUP}/{version}", "metadata": {}})
            etag = f'"{hashlib.sha512(items).hexdigest().upper()}"'
            body = b'%s,"items":%s}\n' % (head[:-1], items)
            if media_type == PROTOBUF_MEDIA_TYPE:
                from listwatch.server.codec.protobuf_encoding import protobuf_object  # rarely needed

                body = protobuf_object(body)
            self._made[key] = body, etag
        return self._made[key]

    def _group_item(self, group: str) -> JSONObject:
        versions: list[JSON] = [
            {
                "version": version,
                "resources": [_item(resource) for resource in self._registry.resources(group, version)],
                "freshness": "Current",
            }
            for version in self._registry.versions(group)
        ]
        return {"metadata": _without_empty({"name": group}), "versions": versions}

    # Plain

    def api_versions(self) -> JSONObject:
        """Return the document at /api, whose only group has no name."""
        versions: list[JSON] = [*self._registry.versions("")]
        addresses: list[JSON] = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self.address}]
        return {"kind": "APIVersions", "versions": versions, "serverAddressByClientCIDRs": addresses}

    def group_list(self) -> JSONObject:
        groups: list[JSON] = [self._group_entry(group) for group in self._registry.groups() if group]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}

    def group(self, name: str) -> JSONObject:
        return {"kind": "APIGroup", "apiVersion": "v1", **self._group_entry(name)}

    def resource_list(self, group: str, version: str) -> JSONObject:
        kind = {"kind": "APIResourceList", "apiVersion": "" if group in _UNVERSIONED else "v1"}
        resources = self._registry.resources(group, version)
        entries = [entry for resource in resources for entry in _entries(resource, self._storage_hash(resource))]
        # The subresources of custom resources keep the order of their definition.
        built_in = all(map(_is_built_in, resources))
        entries.sort(key=lambda entry: text_at(entry, "name") if built_in else text_at(entry, "name").partition("/")[0])
        return {**_without_empty(kind), "groupVersion": join_api_version(group, version), "resources": [*entries]}

    def _storage_hash(self, resource: Resource) -> str:
        """Return the hash of the stored version; empty if the resource is not stored."""
        recorded = builtin_schema().storage_version_hash(resource)
        if recorded or not self._registry.traits(resource).stored:
            return recorded
        stored = self._registry.stored_as(resource)
        name = f"{stored.group}/{stored.version}/{stored.kind}"
        return base64.b64encode(hashlib.sha256(name.encode()).digest()[:8]).decode()

    def _group_entry(self, group: str) -> JSONObject:
        versions: list[JSON] = [
            {"groupVersion": join_api_version(group, version), "version": version}
            for version in self._registry.versions(group)
        ]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}


# --- One resource -----------------------------------------------------------------------------------------------------


def _item(resource: Resource) -> JSONObject:
    optional: JSONObject = {
        "shortNames": [*resource.short_names],
        "categories": [*resource.categories],
        "subresources": [_subitem(each, resource) for each in resource.subresources],
    }
    return {
        "resource": resource.plural,
        "responseKind": _response_kind(resource.gvk, resource),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": [*resource.verbs],
        **_without_empty(optional),
    }


def _subitem(subresource: Subresource, resource: Resource) -> JSONObject:
    return {
        "subresource": subresource.name,
        "responseKind": _response_kind(subresource.gvk, resource),
        "verbs": [*subresource.verbs],
    }


def _response_kind(gvk: GroupVersionKind, resource: Resource) -> JSONObject:
    """Group and version are empty if they are those of a built-in resource itself."""
    if gvk.group_version == resource.group_version and _is_built_in(resource):
        return {"group": "", "version": "", "kind": gvk.kind}
    return {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}


def _entries(resource: Resource, storage_hash: str) -> Iterable[JSONObject]:
    optional: JSONObject = {
        "shortNames": [*resource.short_names],
        "categories": [*resource.categories],
        "storageVersionHash": storage_hash,
    }
    yield {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": [*resource.verbs],
        **_without_empty(optional),
    }
    for subresource in resource.subresources:
        foreign = subresource.gvk.group_version != resource.group_version
        yield {
            "name": f"{resource.plural}/{subresource.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **_without_empty(_response_kind(subresource.gvk, resource) if foreign else {"kind": subresource.kind}),
            "verbs": [*subresource.verbs],
        }


def _is_built_in(resource: Resource) -> bool:
    return builtin_schema().type_of(resource.api_version, resource.kind) is not None


def _without_empty(fields: Mapping[str, JSON]) -> JSONObject:
    return {name: value for name, value in fields.items() if value}
