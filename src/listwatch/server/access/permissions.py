"""Records the permissions that users needed, as the smallest roles that grant them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import yaml

from listwatch.json_value import JSON, JSONObject
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import User

__all__ = ["RecordedPermissions"]

_MAX_RECORDED = 10_000
"""The permissions of all users together; clients choose paths and names."""

# The order in which roles are usually written.
_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")


class _Permission(NamedTuple):
    namespace: str
    group: str
    resource: str
    """With its subresource, as in a role; empty for a path."""
    path: str
    verb: str


class RecordedPermissions:
    """The permissions that each user has used."""

    def __init__(self) -> None:
        self._users: dict[str, dict[_Permission, None]] = {}
        self._count = 0

    def add(self, user: User, request: RequestInfo) -> None:
        """Record an allowed request."""
        recorded = self._users.setdefault(user.name, {}) if self._count < _MAX_RECORDED else None
        if recorded is None:
            return
        permission = _permission(request)
        if permission not in recorded:
            recorded[permission] = None
            self._count += 1

    def roles_of(self, user: str, *, name: str) -> str:
        """Return a Role for each namespace, and a ClusterRole for what was requested without one, as YAML."""
        recorded = sorted(self._users.get(user, {}))
        documents: list[JSONObject] = []
        for namespace in dict.fromkeys(each.namespace for each in recorded):
            metadata: JSONObject = {"name": name, "namespace": namespace} if namespace else {"name": name}
            rules: list[JSON] = [*_rules([each for each in recorded if each.namespace == namespace])]
            kind = "Role" if namespace else "ClusterRole"
            documents.append(
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules}
            )
        return yaml.safe_dump_all(documents, sort_keys=False)


def _permission(request: RequestInfo) -> _Permission:
    if not request.is_resource:
        return _Permission("", "", "", request.path, request.verb)
    resource = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
    # The namespace of a Namespace is its own name.
    namespace = "" if request.resource == "namespaces" and not request.group else request.namespace
    return _Permission(namespace, request.group, resource, "", request.verb)


def _rules(permissions: list[_Permission]) -> Iterator[JSONObject]:
    """Yield one rule for all resources of a group that need the same verbs, and for all such paths."""
    verbs: dict[tuple[str, str, str], list[str]] = {}
    for each in permissions:
        verbs.setdefault((each.group, each.resource, each.path), []).append(each.verb)
    merged: dict[tuple[str, bool, tuple[str, ...]], list[str]] = {}
    for (group, resource, path), needed in verbs.items():
        merged.setdefault((group, bool(path), tuple(sorted(needed, key=_verb_order))), []).append(resource or path)
    for (group, is_path, needed_verbs), names in merged.items():
        if is_path:
            yield {"nonResourceURLs": [*names], "verbs": [*needed_verbs]}
        else:
            yield {"apiGroups": [group], "resources": [*names], "verbs": [*needed_verbs]}


def _verb_order(verb: str) -> tuple[int, str]:
    return (_VERBS.index(verb) if verb in _VERBS else len(_VERBS), verb)
