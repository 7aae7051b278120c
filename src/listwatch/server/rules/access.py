"""Rules for Role, ClusterRole, RoleBinding and ClusterRoleBinding."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import objects_at, text_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    changed,
    dns_subdomain,
    each,
    field_path,
    formatted,
    one_of,
    path_segment,
    require_fields,
)
from listwatch.server.rules.metadata import selector

__all__ = ["CLUSTER_ROLE", "CLUSTER_ROLE_BINDING", "ROLE", "ROLE_BINDING", "binding_update"]

_GROUP = "rbac.authorization.k8s.io"


def _rule(*, namespaced: bool) -> Check:
    def check(rule: JSONObject, path: str) -> Causes:
        urls = rule.get("nonResourceURLs")
        if not rule.get("verbs"):
            yield required(f"{path}.verbs", "verbs must contain at least one value")
        if urls and namespaced:
            yield invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if urls and any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, detail)
        if not urls:
            yield from _RESOURCES(rule, path)

    return check


_RESOURCES = all_of(
    require_fields("apiGroups", detail="resource rules must supply at least one api group"),
    require_fields("resources", detail="resource rules must supply at least one resource"),
)
ROLE = each("rules", _rule(namespaced=True))


def _aggregation(role: JSONObject, path: str) -> Causes:
    if role.get("aggregationRule") is None:
        return
    field = field_path(path, "aggregationRule.clusterRoleSelectors")
    selectors = objects_at(role, "aggregationRule", "clusterRoleSelectors")
    if not selectors:
        yield required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, tree in enumerate(selectors):
        problems = [*selector(tree, f"{field}[{index}]")]
        yield from problems
        if problems:
            yield invalid(f"{field}[{index}]", None, "invalid label selector.")


CLUSTER_ROLE = all_of(each("rules", _rule(namespaced=False)), _aggregation)


def _service_account(subject: JSONObject, path: str) -> Causes:
    if name := text_at(subject, "name"):
        yield from formatted(dns_subdomain)(name, f"{path}.name")
    if subject.get("apiGroup"):
        yield not_supported(f"{path}.apiGroup", subject["apiGroup"], [""])


def _user_or_group(subject: JSONObject, path: str) -> Causes:
    if subject.get("apiGroup") != _GROUP:
        yield not_supported(f"{path}.apiGroup", text_at(subject, "apiGroup"), [_GROUP])


_SUBJECTS: Mapping[str, Check] = {"ServiceAccount": _service_account, "User": _user_or_group, "Group": _user_or_group}


def _subject(subject: JSONObject, path: str) -> Causes:
    if not subject.get("name"):
        yield required(f"{path}.name")
    kind = text_at(subject, "kind")
    if kind in _SUBJECTS:
        yield from _SUBJECTS[kind](subject, path)
    else:
        yield not_supported(f"{path}.kind", kind, _SUBJECTS)


def _account_namespace(subject: JSONObject, path: str) -> Causes:
    """A cluster role binding has no namespace, so that its service accounts must name theirs."""
    if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
        yield required(f"{path}.namespace")


def _binding(*kinds: str) -> Check:
    return all_of(
        at("roleRef", at("apiGroup", one_of(_GROUP)), at("kind", one_of(*kinds)), require_fields("name")),
        at("roleRef.name", formatted(path_segment)),
        each("subjects", _subject),
    )


ROLE_BINDING = _binding("Role", "ClusterRole")
CLUSTER_ROLE_BINDING = all_of(_binding("ClusterRole"), each("subjects", _account_namespace))


def binding_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """The role of a binding must not change; it is shown with the names of kube-apiserver's Go fields."""
    if changed(new, old, "roleRef"):
        names = {"APIGroup": "apiGroup", "Kind": "kind", "Name": "name"}
        shown: JSONObject = {field: text_at(new, "roleRef", name) for field, name in names.items()}
        yield invalid(field_path(path, "roleRef"), shown, "cannot change roleRef")
