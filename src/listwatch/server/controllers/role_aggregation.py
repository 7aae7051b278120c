"""Fills the rules of aggregated ClusterRoles: those of all ClusterRoles that their selectors match.

In a real cluster, kube-controller-manager does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
        selected = {text_at(role, "metadata", "name"): [*_selected(role, roles)] for role in roles if _selectors(role)}
        for role in roles:
            if _selectors(role) and not same(rules := _aggregated(role, selected), list_at(role, "rules")):
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


def _aggregated(role: JSONObject, selected: Mapping[str, list[JSONObject]]) -> list[JSON]:
    """Return the rules of all selected roles, each once; `selected` has those of each aggregated role.

    The rules of a selected role that is aggregated itself are found in the same way, and not read. So the result does
    not depend on earlier ones, and roles that select each other get the same rules each time.
    """
    found: dict[bytes, JSON] = {}
    name = text_at(role, "metadata", "name")
    seen, pending = {name}, [iter(selected[name])]
    while pending:
        other = next(pending[-1], None)
        if other is None:
            pending.pop()
        elif (name := text_at(other, "metadata", "name")) not in seen:
            seen.add(name)
            if name in selected:
                pending.append(iter(selected[name]))
            else:
                for rule in list_at(other, "rules"):
                    found.setdefault(msgspec.json.encode(rule, order="sorted"), rule)
    return [*found.values()]


def _selectors(role: JSONObject) -> list[JSONObject]:
    return objects_at(role, "aggregationRule", "clusterRoleSelectors")


def _selected(role: JSONObject, roles: list[JSONObject]) -> Iterator[JSONObject]:
    for selector in _selectors(role):
        try:
            selected = LabelSelector.from_dict(selector)
        except SelectorError:
            continue
        for other in roles:
            if selected.matches({name: str(value) for name, value in object_at(other, "metadata", "labels").items()}):
                yield other


def _cluster_roles(objects: ObjectStore) -> Resource:
    return objects.registry.by_storage_id(_CLUSTER_ROLES)
