"""Which requests are recorded: those that get, list or watch objects of a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from listwatch.api.http_messages import HTTPRequest, split_uri
from listwatch.recording.records import Verb

__all__ = ["Target", "target_of"]

# The values of other parameters may be secret.
_PARAMETERS = frozenset({
    *("labelSelector", "fieldSelector", "shardSelector", "resourceVersion", "resourceVersionMatch", "limit"),
    *("continue", "timeoutSeconds", "allowWatchBookmarks", "sendInitialEvents"),
})  # fmt: skip
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


class Target(NamedTuple):
    """What a request reads."""

    verb: Verb
    group: str
    version: str
    resource: str
    namespace: str
    name: str
    query: dict[str, str]
    metadata_only: bool

    @property
    def is_secret(self) -> bool:
        return not self.group and self.resource == "secrets"


def target_of(request: HTTPRequest) -> Target | None:
    """Return what a request reads; None if it is not recorded: writes, subresources, tables and discovery."""
    accept = request.headers.get("Accept", "")
    if request.method != "GET" or "as=Table" in accept:
        return None
    path, parameters = split_uri(request.target)
    place = _place_of(path.strip("/").split("/"))
    if place is None:
        return None
    group, version, namespace, resource, name = place
    values = dict(parameters)
    return Target(
        verb=_verb(values, name),
        group=group,
        version=version,
        resource=resource,
        namespace=namespace,
        name=name,
        query={key: value for key, value in values.items() if key in _PARAMETERS},
        metadata_only="as=PartialObjectMetadata" in accept,
    )


def _verb(values: Mapping[str, str], name: str) -> Verb:
    if values.get("watch", "false").lower() not in ("false", "0"):
        return "watch"
    return "get" if name else "list"


def _place_of(parts: list[str]) -> tuple[str, str, str, str, str] | None:
    """Return the group, version, namespace, resource and name of a path."""
    match parts:
        case ["api", "v1", *rest]:
            group, version = "", "v1"
        case ["apis", group, version, *rest]:
            pass
        case _:
            return None
    match rest:
        case ["watch", *_]:
            return None  # the deprecated paths of watches
        case _ if "" in rest:
            return None
        case ["namespaces", _, subresource] if subresource in _NAMESPACE_SUBRESOURCES and not group:
            return None
        case ["namespaces", namespace, resource]:
            return group, version, namespace, resource, ""
        case ["namespaces", namespace, resource, name]:
            return group, version, namespace, resource, name
        case [resource]:
            return group, version, "", resource, ""
        case [resource, name]:
            return group, version, "", resource, name
        case _:
            return None
