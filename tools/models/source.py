"""Reads schemas and discovery from a folder or from an API server."""

from __future__ import annotations

import json
import ssl
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from listwatch.meta import Resource, Subresource, split_api_version

Document = dict[str, Any]

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join([_DISCOVERY.format("v2"), _DISCOVERY.format("v2beta1"), "application/json"])
_TIMEOUT = 60.0


@dataclass(frozen=True)
class Source:
    """The schemas and resources of one version of the API."""

    version: str
    schemas: dict[str, Document]
    resources: tuple[Resource, ...]
    hashes: dict[str, str]
    """The storage version hash of `v1/pods`, if the server publishes it."""


def read_source(place: str, *, token: str | None = None, ca_file: str | None = None) -> Source:
    """Read from a URL or a folder."""
    if place.startswith(("http://", "https://")):
        return _read_server(place.rstrip("/"), token, ca_file)
    return _read_folder(Path(place))


def _read_folder(folder: Path) -> Source:
    schemas, core, groups = (
        json.loads((folder / f"{name}.json").read_bytes()) for name in ("schemas", "discovery-api-v1", "discovery-apis")
    )
    return _source(schemas["info"]["version"], schemas["components"]["schemas"], core, groups)


def _read_server(url: str, token: str | None, ca_file: str | None) -> Source:
    get = _getter(url, token, ca_file)
    index = get("/openapi/v3")["paths"]
    schemas: dict[str, Document] = {}
    for path in sorted(index):
        schemas |= get(index[path]["serverRelativeURL"]).get("components", {}).get("schemas", {})
    return _source(get("/version")["gitVersion"], schemas, get("/api/v1"), get("/apis"))


def _getter(url: str, token: str | None, ca_file: str | None) -> Callable[[str], Document]:
    tls = ssl.create_default_context(cafile=ca_file)
    headers = {"Accept": _ACCEPT}
    if token:
        headers["Authorization"] = f"Bearer {token}"

    def get(path: str) -> Document:
        request = urllib.request.Request(url + path, headers=headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT, context=tls) as response:
            document: Document = json.load(response)
        return document

    return get


def _source(version: str, schemas: dict[str, Document], core: Document, groups: Document) -> Source:
    resources = (*_from_list(core), *_from_aggregated(groups))
    hashes = {
        f"{core['groupVersion']}/{each['name']}": each["storageVersionHash"]
        for each in core["resources"]
        if each.get("storageVersionHash")
    }
    return Source(version, dict(sorted(schemas.items())), resources, hashes)


# --- discovery ---------------------------------------------------------------------------------------------------


def _from_list(document: Document) -> Iterator[Resource]:
    """The resources of an APIResourceList, which has separate entries for subresources."""
    here = split_api_version(document["groupVersion"])
    entries = sorted(document["resources"], key=lambda entry: str(entry["name"]))
    for entry in entries:
        if "/" not in entry["name"]:
            below = [each for each in entries if each["name"].startswith(f"{entry['name']}/")]
            yield Resource(
                *here,
                kind=entry["kind"],
                plural=entry["name"],
                singular=entry.get("singularName", ""),
                namespaced=entry["namespaced"],
                verbs=tuple(entry["verbs"]),
                short_names=tuple(entry.get("shortNames", ())),
                categories=tuple(entry.get("categories", ())),
                subresources=tuple(_listed_subresource(each, here) for each in below),
            )


def _listed_subresource(entry: Document, here: tuple[str, str]) -> Subresource:
    name = entry["name"].partition("/")[2]
    return _subresource(name, entry, here, entry["kind"], entry["verbs"])


def _from_aggregated(document: Document) -> Iterator[Resource]:
    """The resources of an APIGroupDiscoveryList, groups and versions in the order the server prefers them."""
    if "items" not in document:
        raise ValueError("/apis is not aggregated discovery, which needs Kubernetes 1.26 or newer")
    for group in document["items"]:
        for version in group["versions"]:
            here = (group["metadata"]["name"], version["version"])
            for entry in version.get("resources", ()):
                yield _aggregated_resource(entry, here)


def _aggregated_resource(entry: Document, here: tuple[str, str]) -> Resource:
    return Resource(
        *here,
        kind=entry["responseKind"]["kind"],
        plural=entry["resource"],
        singular=entry.get("singularResource", ""),
        namespaced=entry["scope"] == "Namespaced",
        verbs=tuple(entry["verbs"]),
        short_names=tuple(entry.get("shortNames", ())),
        categories=tuple(entry.get("categories", ())),
        subresources=tuple(_aggregated_subresource(each, here) for each in entry.get("subresources", ())),
    )


def _aggregated_subresource(entry: Document, here: tuple[str, str]) -> Subresource:
    kind = entry.get("responseKind") or {}
    return _subresource(entry["subresource"], kind, here, kind.get("kind", ""), entry["verbs"])


def _subresource(name: str, kind: Document, here: tuple[str, str], spelled: str, verbs: list[str]) -> Subresource:
    # Both forms leave group and version empty if they equal those of the resource.
    if kind.get("version"):
        return Subresource(name, kind.get("group", ""), kind["version"], spelled, tuple(verbs))
    return Subresource(name, *here, spelled, tuple(verbs))
