"""Keeps users from granting permissions that they do not have themselves.

A user may write a role if its rules are covered by those of the user, or with the verb `escalate` on the role; and a
binding if that holds for the rules of its role, or with the verb `bind` on the role.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from listwatch.errors import ForbiddenError, NotFoundError
from listwatch.json_value import JSONObject
from listwatch.server.access.access import MASTERS
from listwatch.server.json_tree import copied, go_quoted_list, list_at, objects_at, quoted, same, text_at
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.rbac.policy import GROUP, Policy, RoleReference
from listwatch.server.rbac.policy_rules import EVERYTHING, PolicyRule, compact, uncovered
from listwatch.server.requests import APIRequest, User

__all__ = ["EscalationCheck"]

_ROLES, _BINDINGS = ("roles", "clusterroles"), ("rolebindings", "clusterrolebindings")


class Permissions(Protocol):
    """Decides whether a user may make a request."""

    def may_use(self, user: User, request: RequestInfo) -> bool:
        """Whether the user may make a request that is needed; it is recorded."""


class EscalationCheck:
    """Admission of roles and bindings."""

    def __init__(self, policy: Policy, permissions: Permissions) -> None:
        self._policy = policy
        self._permissions = permissions

    def __call__(self, request: APIRequest, new: JSONObject | None, old: JSONObject | None) -> None:
        resource = request.resource
        if new is None or resource.group != GROUP or MASTERS in request.user.groups:
            return
        if old is not None and _differ_only_in_deletion(new, old):
            return
        if resource.plural in _ROLES:
            self._check_role(request, new, old)
        elif resource.plural in _BINDINGS:
            self._check_binding(request, new)

    def _check_role(self, request: APIRequest, new: JSONObject, old: JSONObject | None) -> None:
        try:
            self._check_rules(request, new, [PolicyRule.of(rule) for rule in objects_at(new, "rules")])
            aggregates = _has_aggregation(new) or (old is not None and _has_aggregation(old))
            if aggregates and uncovered(self._policy.rules_of(request.user, request.namespace), EVERYTHING):
                raise _forbidden(request, new, "must have cluster-admin privileges to use the aggregationRule")
        except ForbiddenError:
            if not self._may("escalate", request, request.resource.plural, request.name):
                raise

    def _check_binding(self, request: APIRequest, new: JSONObject) -> None:
        kind, name = text_at(new, "roleRef", "kind"), text_at(new, "roleRef", "name")
        role = RoleReference(kind, name, request.namespace)
        try:
            try:
                rules = self._policy.rules_of_role(role)
            except NotFoundError:
                # kube-apiserver names the resource of the binding.
                raise NotFoundError.of(request.resource.plural, name, group=GROUP) from None
            self._check_rules(request, new, rules)
        except (ForbiddenError, NotFoundError):
            if not self._may("bind", request, role.resource, name):
                raise

    # The verbs are used, and recorded, only if the rules of the user do not suffice.
    def _may(self, verb: str, request: APIRequest, resource: str, name: str) -> bool:
        wanted = RequestInfo(
            *("", ""),
            verb=verb,
            is_resource=True,
            group=GROUP,
            version="*",
            namespace=request.namespace,
            resource=resource,
            name=name,
        )
        return self._permissions.may_use(request.user, wanted)

    def _check_rules(self, request: APIRequest, new: JSONObject, rules: Iterable[PolicyRule]) -> None:
        user = request.user
        missing = uncovered(self._policy.rules_of(user, request.namespace), rules)
        if missing:
            raise _forbidden(
                request,
                new,
                f"user {quoted(user.name)} (groups={go_quoted_list(user.groups)}) is attempting to grant RBAC "
                "permissions not currently held:\n" + "\n".join(sorted({str(rule) for rule in compact(missing)})),
            )


def _forbidden(request: APIRequest, new: JSONObject, why: str) -> ForbiddenError:
    return ForbiddenError.of(request.resource.plural, text_at(new, "metadata", "name"), why, group=GROUP)


def _has_aggregation(role: JSONObject) -> bool:
    return bool(list_at(role, "aggregationRule", "clusterRoleSelectors"))


def _differ_only_in_deletion(new: JSONObject, old: JSONObject) -> bool:
    """Whether an update changes only what the garbage collector needs to delete an object."""
    left, right = copied(new), copied(old)
    for tree in (left, right):
        metadata = tree.get("metadata")
        if isinstance(metadata, dict):
            for name in ("ownerReferences", "finalizers", "managedFields", "resourceVersion"):
                metadata.pop(name, None)
    return same(left, right)
