"""Fills the rules of aggregated ClusterRoles: those of all ClusterRoles that their selectors match.

In a real cluster, kube-controller-manager does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import msgspec

from listwatch.errors import SelectorError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import Resource
from listwatch.selectors import LabelSelector
from listwatch.server.json_tree import list_at, object_at, objects_at, same, text_at
from listwatch.server.lifecycle.object_store import ObjectStore, decode_stored
from listwatch.server.patch.patching import APPLY_PATCH
from listwatch.server.requests import APIRequest, Query, Response, User

__all__ = ["RoleAggregation"]

_CLUSTER_ROLES = "rbac.authorization.k8s.io/clusterroles"
_NAME = "clusterrole-aggregation-controller"
_USER = User(f"system:serviceaccount:kube-system:{_NAME}", groups=("system:masters",))
_QUERY = Query.parse(urlencode({"fieldManager": _NAME, "force": "true"}))


class RoleAggregation:
    """Writes the rules of aggregated ClusterRoles after each change of a ClusterRole."""

    def __init__(self, objects: ObjectStore, respond: Callable[[APIRequest], Response]) -> None:
        self._objects = objects
        self._respond = respond
        self._resource = _cluster_roles(objects)
        self.has_pending = True
        objects.storage.subscribe(self._on_event, resource=_CLUSTER_ROLES)

    def _on_event(self, _event: object) -> None:
        self.has_pending = True

    def recover(self) -> None:
        self.has_pending = True

    def run_pending(self) -> None:
        self.has_pending = False
        roles = [decode_stored(stored) for stored in self._objects.storage.scan(_CLUSTER_ROLES)]
        for role in roles:
            selectors = objects_at(role, "aggregationRule", "clusterRoleSelectors")
            if selectors and not same(rules := list(_aggregated(role, selectors, roles)), list_at(role, "rules")):
                self._write(role, rules)

    def _write(self, role: JSONObject, rules: list[JSON]) -> None:
        name = text_at(role, "metadata", "name")
        body: JSONObject = {
            "apiVersion": self._resource.api_version,
            "kind": self._resource.kind,
            "metadata": {"name": name},
            "rules": rules,
        }
        request = APIRequest(
            "patch",
            self._resource,
            name=name,
            query=_QUERY,
            body=msgspec.json.encode(body),
            content_type=APPLY_PATCH,
            user=_USER,
            method="PATCH",
        )
        self._respond(request)


def _aggregated(role: JSONObject, selectors: list[JSONObject], roles: list[JSONObject]) -> Iterator[JSON]:
    """Yield the rules of all selected roles but the role itself, each once."""
    seen: list[JSON] = []
    for selector in selectors:
        try:
            selected = LabelSelector.from_dict(selector)
        except SelectorError:
            continue
        for other in roles:
            labels = {name: str(value) for name, value in object_at(other, "metadata", "labels").items()}
            if object_at(other, "metadata").get("name") == object_at(role, "metadata").get("name"):
                continue
            if selected.matches(labels):
                for rule in list_at(other, "rules"):
                    if rule not in seen:
                        seen.append(rule)
                        yield rule


def _cluster_roles(objects: ObjectStore) -> Resource:
    return objects.registry.by_storage_id(_CLUSTER_ROLES)
