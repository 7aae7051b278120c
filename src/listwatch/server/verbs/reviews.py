"""Token reviews and access reviews. None of them is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from listwatch.errors import BadRequestError, InvalidError, MethodNotAllowedError, SelectorError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.selectors import FieldSelector, LabelSelector
from listwatch.server.access.access import Decision, TokenStatus
from listwatch.server.field_errors import forbidden, invalid, required
from listwatch.server.json_tree import object_at, objects_at, text_at, texts_at
from listwatch.server.lifecycle.strategy import timestamp
from listwatch.server.requests import APIRequest, Response, User
from listwatch.server.rules.checks import label_value, qualified_name
from listwatch.server.verbs.token_requests import TokenSigner

__all__ = ["Identities", "respond_to_review"]

_SELECTORS = ("fieldSelector", "labelSelector")


class Identities(TokenSigner, Protocol):
    """Signs tokens, finds their users, and decides what users may do."""

    def review_token(self, token: str, audiences: Sequence[str]) -> TokenStatus:
        """Return the user of a token, and for which of the audiences it is; without audiences, for this server."""

    def review(self, user: User, attributes: JSONObject) -> Decision:
        """Decide whether the user may do what the resourceAttributes or nonResourceAttributes of a review describe."""

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        """Return the status of a SelfSubjectRulesReview."""

    def authorize_create(self, request: APIRequest) -> None:
        """Raise ForbiddenError if the user of an update or apply may not create the object."""


def respond_to_review(identities: Identities, request: APIRequest, tree: JSONObject, now: datetime) -> Response:
    """Respond with the review itself and its status."""
    metadata = object_at(tree, "metadata")
    spec = object_at(tree, "spec")
    match request.resource.plural:
        case "tokenreviews":
            status = _status_of_token(identities, spec)
        case "selfsubjectreviews":
            metadata = {"creationTimestamp": timestamp(now)}
            status = {"userInfo": _user_info(request.user)}
        case "selfsubjectaccessreviews":
            _check_access(request, metadata, spec)
            status = _status_of_access(identities, request.user, spec)
        case "subjectaccessreviews" | "localsubjectaccessreviews":
            _check_access(request, metadata, spec)
            status = _status_of_access(identities, _user_in(spec), spec)
        case "selfsubjectrulesreviews":
            if not text_at(spec, "namespace"):
                raise BadRequestError("no namespace on request")
            status = identities.rules_of(request.user, text_at(spec, "namespace"))
            # As in kube-apiserver, the response has nothing of the request.
            metadata, tree = {}, {**tree, "spec": {}}
        case plural:
            raise MethodNotAllowedError.of(plural, request.verb, group=request.resource.group)
    if request.namespace:
        metadata = {**metadata, "namespace": request.namespace}
    return Response({**tree, "metadata": metadata, "status": status}, code=201)


def _status_of_token(identities: Identities, spec: JSONObject) -> JSONObject:
    token = text_at(spec, "token")
    if not token:
        raise BadRequestError("token is required for TokenReview in authentication")
    status = identities.review_token(token.strip(), texts_at(spec, "audiences"))
    if status.user is None:
        return {"user": {}, "error": status.error}
    return {"authenticated": True, "user": _user_info(status.user), "audiences": [*status.audiences]}


def _check_access(request: APIRequest, metadata: JSONObject, spec: JSONObject) -> None:
    """Raise InvalidError unless an access review says what to decide, and for which user."""
    causes = list(_access_causes(request, metadata, spec))
    if causes:
        raise InvalidError.of("", "", causes, group=request.resource.group)


def _access_causes(request: APIRequest, metadata: JSONObject, spec: JSONObject) -> Iterator[StatusCause]:
    plural = request.resource.plural
    is_local = plural == "localsubjectaccessreviews"
    attributes, others = (spec.get(name) for name in ("resourceAttributes", "nonResourceAttributes"))
    path = object_at(spec, "nonResourceAttributes")
    shown: JSONObject = {"Path": text_at(path, "path"), "Verb": text_at(path, "verb")}
    if attributes is not None and others is not None:
        yield invalid("spec.nonResourceAttributes", shown, "cannot be specified in combination with resourceAttributes")
    if attributes is None and others is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, why)
    if plural != "selfsubjectaccessreviews" and not text_at(spec, "user") and not texts_at(spec, "groups"):
        yield invalid("spec.user", "", "at least one of user or group must be specified")
    yield from _selector_causes(object_at(spec, "resourceAttributes"))
    ignored = ("managedFields", "namespace") if is_local else ("managedFields",)
    if any(value for name, value in metadata.items() if name not in ignored):
        yield invalid("metadata", metadata, "must be empty except for namespace" if is_local else "must be empty")
    if not is_local:
        return
    namespace = text_at(object_at(spec, "resourceAttributes"), "namespace")
    if attributes is not None and namespace != request.namespace:
        yield invalid("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace")
    if others is not None:
        yield invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request")


def _status_of_access(identities: Identities, user: User, spec: JSONObject) -> JSONObject:
    attributes = object_at(spec, "resourceAttributes") or object_at(spec, "nonResourceAttributes")
    decision = identities.review(user, attributes)
    status: JSONObject = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    if ignored := "; ".join(_ignored_selectors(attributes)):
        status["evaluationError"] = ignored
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
    extra = {name: tuple(texts_at(spec, "extra", name)) for name in object_at(spec, "extra")}
    return User(text_at(spec, "user"), uid=text_at(spec, "uid"), groups=tuple(texts_at(spec, "groups")), extra=extra)


# --- Selectors --------------------------------------------------------------------------------------------------------


def _selector_causes(attributes: JSONObject) -> Iterator[StatusCause]:
    for name in _SELECTORS:
        if not isinstance(attributes.get(name), dict):
            continue
        path, raw = f"spec.resourceAttributes.{name}", text_at(attributes, name, "rawSelector")
        requirements = objects_at(attributes, name, "requirements")
        if raw and requirements:
            yield invalid(f"{path}.rawSelector", raw, "may not specified at the same time as requirements")
        if not raw and not requirements:
            why = f"when {path} is specified, requirements or rawSelector is required"
            yield required(f"{path}.requirements", why)
        for index, each in enumerate(requirements):
            where = f"{path}.requirements[{index}]"
            yield from _requirement_causes(each, where, is_field=name == "fieldSelector")


def _requirement_causes(requirement: JSONObject, path: str, *, is_field: bool) -> Iterator[StatusCause]:
    """Unknown operators of newer clients are allowed."""
    operator, key = text_at(requirement, "operator"), text_at(requirement, "key")
    values = texts_at(requirement, "values")
    if is_field and not key:
        yield required(f"{path}.key", "must be specified")
    if operator in ("In", "NotIn") and not values:
        yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    if operator in ("Exists", "DoesNotExist") and values:
        yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    if is_field:
        return
    for why in qualified_name(key):
        yield invalid(f"{path}.key", key, why)
    for index, value in enumerate(values):
        for why in label_value(value):
            yield invalid(f"{path}.values[{index}]", value, why)


def _ignored_selectors(attributes: JSONObject) -> Iterator[str]:
    """Describe selectors that the authorizer cannot read, and that it therefore ignores."""
    for name, parse, is_valid in (
        ("fieldSelector", FieldSelector.parse, _is_valid_field),
        ("labelSelector", LabelSelector.parse, _is_valid_label),
    ):
        requirements = objects_at(attributes, name, "requirements")
        valid = [is_valid(each) for each in requirements]
        try:
            parse(text_at(attributes, name, "rawSelector"))
        except SelectorError:
            valid.append(False)
        if not all(valid):
            partially = "partially " if any(valid) else ""
            yield f"spec.resourceAttributes.{name} {partially}ignored due to parse error"


def _is_valid_field(requirement: JSONObject) -> bool:
    return requirement.get("operator") in ("In", "NotIn") and len(texts_at(requirement, "values")) == 1


def _is_valid_label(requirement: JSONObject) -> bool:
    try:
        LabelSelector.from_dict({"matchExpressions": [requirement]})
    except SelectorError:
        return False
    return True
