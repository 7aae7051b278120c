"""Questions that are put as objects: who am I, whose token is this, may they do that. Nothing of it is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from listwatch.errors import InvalidError, MethodNotAllowedError
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree, child
from listwatch.server.lifecycle.semantics import timestamp
from listwatch.server.requests import APIRequest, Response, User

__all__ = ["Identities", "answer_review", "issue_token"]

_TOKEN_SECONDS = 3600
_SHORTEST_TOKEN = 600


class Identities(Protocol):
    """Knows users by their tokens, and what each of them may do."""

    def user_of(self, token: str) -> User | None: ...

    def issue(self, user: User) -> str:
        """A new token of theirs."""

    def may(self, user: User, attributes: Tree) -> bool:
        """Whether somebody may do what the resourceAttributes or nonResourceAttributes of a review say."""


def issue_token(identities: Identities, account: Tree, asked: Tree, now: datetime) -> Tree:
    """The answer to a TokenRequest for a service account."""
    metadata = account["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    user = User(f"system:serviceaccount:{namespace}:{name}", uid=metadata["uid"], groups=groups)
    seconds = child(asked, "spec", "expirationSeconds") or _TOKEN_SECONDS
    if seconds < _SHORTEST_TOKEN:
        cause = invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        raise InvalidError.of("TokenRequest", "", [cause], group="authentication.k8s.io")
    return {
        **asked,
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": timestamp(now)},
        "spec": {"audiences": [], **asked.get("spec", {}), "expirationSeconds": seconds},
        "status": {
            "token": identities.issue(user),
            "expirationTimestamp": timestamp(now + timedelta(seconds=seconds)),
        },
    }


def answer_review(identities: Identities, request: APIRequest, tree: Tree) -> Response:
    """Respond to a review with the same object and what there is to say."""
    match request.resource.plural:
        case "tokenreviews":
            status = _whose_token(identities, child(tree, "spec", "token") or "")
        case "selfsubjectreviews":
            status = {"userInfo": _user_info(request.user)}
        case "selfsubjectaccessreviews":
            status = _may(identities, request.user, tree.get("spec", {}))
        case "subjectaccessreviews" | "localsubjectaccessreviews":
            status = _may(identities, _user_in(tree.get("spec", {})), tree.get("spec", {}))
        case "selfsubjectrulesreviews":
            everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
            paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
            status = {"resourceRules": [everything], "nonResourceRules": [paths], "incomplete": False}
        case plural:
            raise MethodNotAllowedError.of(plural, request.verb, group=request.resource.group)
    return Response({**tree, "metadata": tree.get("metadata", {}), "status": status}, code=201)


def _whose_token(identities: Identities, token: str) -> Tree:
    user = identities.user_of(token)
    if user is None:
        return {"authenticated": False, "user": {}, "error": "invalid bearer token"}
    return {"authenticated": True, "user": _user_info(user)}


def _may(identities: Identities, user: User, spec: Tree) -> Tree:
    allowed = identities.may(user, spec.get("resourceAttributes") or spec.get("nonResourceAttributes") or {})
    return {"allowed": allowed} if allowed else {"allowed": False, "reason": "no rule allows it"}


def _user_info(user: User) -> Tree:
    info: Tree = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info


def _user_in(spec: Tree) -> User:
    return User(spec.get("user", ""), uid=spec.get("uid", ""), groups=tuple(spec.get("groups") or ()))
