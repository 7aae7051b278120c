"""Decides by roles and bindings what users may do."""

from __future__ import annotations

from listwatch.errors import NotFoundError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.access.access import Decision
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.rbac.policy import Policy
from listwatch.server.requests import User

__all__ = ["RBACAuthorizer"]


class RBACAuthorizer:
    """An authorizer that evaluates Roles, ClusterRoles and their bindings."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def authorize(self, user: User, request: RequestInfo) -> Decision:
        errors: list[NotFoundError] = []
        for grant in self._policy.grants(user, request.namespace):
            if any(rule.allows(request) for rule in grant.rules):
                return Decision(True, f"RBAC: allowed by {grant.source}")
            if grant.error:
                errors.append(grant.error)
        return Decision(False, _reason(errors))

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        """Return the status of a SelfSubjectRulesReview: what a user may do in a namespace."""
        grants = [*self._policy.grants(user, namespace)]
        rules = [rule for grant in grants for rule in grant.rules]
        resources: list[JSON] = [rule.to_json() for rule in rules if rule.resources]
        paths: list[JSON] = [rule.to_json() for rule in rules if rule.paths]
        status: JSONObject = {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}
        if missing := _joined([grant.error for grant in grants if grant.error]):
            status["evaluationError"] = missing
        return status


def _reason(errors: list[NotFoundError]) -> str:
    return f"RBAC: {_joined(errors)}" if errors else ""


def _joined(errors: list[NotFoundError]) -> str:
    messages = list(dict.fromkeys(error.message for error in errors))
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]" if messages else ""
