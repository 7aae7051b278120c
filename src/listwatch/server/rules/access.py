"""The rules for who may do what: Role, ClusterRole and their bindings."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.server.field_errors import invalid, not_supported, required
from listwatch.server.json_tree import Tree
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    dns_subdomain,
    each,
    formatted,
    immutable,
    needs,
    one_of,
    path_segment,
)

__all__ = ["CLUSTER_ROLE", "CLUSTER_ROLE_BINDING", "ROLE", "ROLE_BINDING", "binding_change"]

_GROUP = "rbac.authorization.k8s.io"


def _rule(*, namespaced: bool) -> Check:
    def check(rule: Tree, path: str) -> Causes:
        urls = rule.get("nonResourceURLs")
        if not rule.get("verbs"):
            yield required(f"{path}.verbs", "verbs must contain at least one value")
        if urls and namespaced:
            yield invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        elif urls and any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
            said = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, said)
        elif not urls:
            yield from _RESOURCES(rule, path)

    return check


_RESOURCES = all_of(
    needs("apiGroups", detail="resource rules must supply at least one api group"),
    needs("resources", detail="resource rules must supply at least one resource"),
)
ROLE = each("rules", _rule(namespaced=True))
CLUSTER_ROLE = each("rules", _rule(namespaced=False))


def _account(subject: Tree, path: str) -> Causes:
    if name := subject.get("name"):
        yield from formatted(dns_subdomain)(name, f"{path}.name")
    if subject.get("apiGroup"):
        yield not_supported(f"{path}.apiGroup", subject["apiGroup"], [""])


def _other(subject: Tree, path: str) -> Causes:
    if subject.get("apiGroup") != _GROUP:
        yield not_supported(f"{path}.apiGroup", subject.get("apiGroup", ""), [_GROUP])


_SUBJECTS: Mapping[str, Check] = {"ServiceAccount": _account, "User": _other, "Group": _other}


def _subject(subject: Tree, path: str) -> Causes:
    if not subject.get("name"):
        yield required(f"{path}.name")
    kind = subject.get("kind", "")
    if kind in _SUBJECTS:
        yield from _SUBJECTS[kind](subject, path)
    else:
        yield not_supported(f"{path}.kind", kind, _SUBJECTS)


def _named_account(subject: Tree, path: str) -> Causes:
    """Where no namespace is implied, an account's must be said."""
    if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
        yield required(f"{path}.namespace")


def _binding(*kinds: str) -> Check:
    return all_of(
        at("roleRef", at("apiGroup", one_of(_GROUP)), at("kind", one_of(*kinds)), needs("name")),
        at("roleRef.name", formatted(path_segment)),
        each("subjects", _subject),
    )


ROLE_BINDING = _binding("Role", "ClusterRole")
CLUSTER_ROLE_BINDING = all_of(_binding("ClusterRole"), each("subjects", _named_account))

binding_change = immutable("roleRef", "cannot change roleRef")
