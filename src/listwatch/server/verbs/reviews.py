"""Token requests, token reviews and access reviews. None of them is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from listwatch.errors import InvalidError, MethodNotAllowedError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.access.access import Decision
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import integer_at, object_at, text_at, texts_at
from listwatch.server.lifecycle.strategy import timestamp
from listwatch.server.requests import APIRequest, Response, User

__all__ = ["Identities", "issue_token", "respond_to_review"]

_TOKEN_SECONDS = 3600
_SHORTEST_TOKEN = 600


class Identities(Protocol):
    """Looks up users by their tokens, and decides what they may do."""

    def user_of(self, token: str) -> User | None: ...

    def issue(self, user: User) -> str:
        """Return a new token for the user."""

    def review(self, user: User, attributes: JSONObject) -> Decision:
        """Decide whether the user may do what the resourceAttributes or nonResourceAttributes of a review describe."""

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        """Return the status of a SelfSubjectRulesReview."""


def issue_token(identities: Identities, account: JSONObject, token_request: JSONObject, now: datetime) -> JSONObject:
    """Respond to a TokenRequest for a service account."""
    name, namespace, uid = (text_at(account, "metadata", each) for each in ("name", "namespace", "uid"))
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated")
    user = User(f"system:serviceaccount:{namespace}:{name}", uid=uid, groups=groups)
    seconds = integer_at(token_request, "spec", "expirationSeconds") or _TOKEN_SECONDS
    if seconds < _SHORTEST_TOKEN:
        cause = invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        raise InvalidError.of("TokenRequest", "", [cause], group="authentication.k8s.io")
    return {
        **token_request,
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": timestamp(now)},
        "spec": {"audiences": [], **object_at(token_request, "spec"), "expirationSeconds": seconds},
        "status": {
            "token": identities.issue(user),
            "expirationTimestamp": timestamp(now + timedelta(seconds=seconds)),
        },
    }


def respond_to_review(identities: Identities, request: APIRequest, tree: JSONObject, now: datetime) -> Response:
    """Respond with the review itself and its status."""
    metadata = object_at(tree, "metadata")
    spec = object_at(tree, "spec")
    match request.resource.plural:
        case "tokenreviews":
            status = _status_of_token(identities, text_at(spec, "token"))
        case "selfsubjectreviews":
            metadata = {**metadata, "creationTimestamp": timestamp(now)}
            status = {"userInfo": _user_info(request.user)}
        case "selfsubjectaccessreviews":
            status = _status_of_access(identities, request.user, spec)
        case "subjectaccessreviews" | "localsubjectaccessreviews":
            status = _status_of_access(identities, _user_in(spec), spec)
        case "selfsubjectrulesreviews":
            status = identities.rules_of(request.user, text_at(spec, "namespace"))
        case plural:
            raise MethodNotAllowedError.of(plural, request.verb, group=request.resource.group)
    return Response({**tree, "metadata": metadata, "status": status}, code=201)


def _status_of_token(identities: Identities, token: str) -> JSONObject:
    user = identities.user_of(token)
    if user is None:
        return {"authenticated": False, "user": {}, "error": "invalid bearer token"}
    return {"authenticated": True, "user": _user_info(user)}


def _status_of_access(identities: Identities, user: User, spec: JSONObject) -> JSONObject:
    attributes = object_at(spec, "resourceAttributes") or object_at(spec, "nonResourceAttributes")
    decision = identities.review(user, attributes)
    status: JSONObject = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    return status


def _user_info(user: User) -> JSONObject:
    info: JSONObject = {"username": user.name, "groups": [*user.groups]}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        extra: dict[str, JSON] = {name: [*values] for name, values in user.extra.items()}
        info["extra"] = extra
    return info


def _user_in(spec: JSONObject) -> User:
    return User(text_at(spec, "user"), uid=text_at(spec, "uid"), groups=tuple(texts_at(spec, "groups")))
