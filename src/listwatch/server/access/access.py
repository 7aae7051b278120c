"""Authentication, impersonation and authorization of requests.

    bearer token, or client certificate (CN is the name, O the groups) ─▶ user ─▶ impersonated user ─▶ authorizer

A request without credentials is anonymous and rejected, unless `anonymous` is set; an unknown token is always rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from listwatch.errors import ForbiddenError, StatusDetails, UnauthorizedError
from listwatch.json_value import JSON, JSONObject
from listwatch.server.access.impersonation import (
    Headers,
    Requirement,
    authenticated,
    impersonation_modes,
    read_impersonation,
)
from listwatch.server.access.service_account_tokens import ISSUER, Claims, InvalidTokenError, ServiceAccountTokens
from listwatch.server.json_tree import list_at, quoted
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import ANONYMOUS, APIRequest, User

__all__ = ["MASTERS", "Access", "AllowAll", "Authorizer", "Decision", "RuleLister", "TokenStatus"]

MASTERS = "system:masters"
"""Users in this group may do everything; the authorizer is not called."""

_MAX_RECORDED = 10_000
"""The permissions of all users together; clients choose paths and names."""

# The order in which roles are usually written.
_VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")

_INVALID_TOKEN = "invalid bearer token"

Certificate = Mapping[str, Any]
"""The verified client certificate, as `ssl` describes it."""


class Decision(NamedTuple):
    """Whether a request is allowed, and the reason if it is not."""

    allowed: bool
    reason: str = ""


class TokenStatus(NamedTuple):
    """The user of a token and for which of the requested audiences it is, or why it is not valid."""

    user: User | None
    audiences: Sequence[str] = ()
    error: str = ""


class Authorizer(Protocol):
    """Decides which requests users may make; the group `system:masters` may make all of them."""

    def authorize(self, user: User, request: RequestInfo) -> Decision: ...


@runtime_checkable
class RuleLister(Protocol):
    """An authorizer that can list what a user may do, for `kubectl auth can-i --list`."""

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        """Return the status of a SelfSubjectRulesReview."""


class AllowAll:
    """An authorizer that allows every request."""

    def authorize(self, user: User, request: RequestInfo) -> Decision:
        return Decision(True)

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        return _all_rules()


class Access:
    """The users by token and certificate, and the authorizer."""

    def __init__(
        self,
        users: Mapping[str, User],
        *,
        new_token: Callable[[], str],
        authorizer: Authorizer | None = None,
        anonymous: bool = False,
    ) -> None:
        self._users: dict[str, User] = {}
        # By the usual form of the header, so that most requests need not parse it.
        self._users_by_header: dict[str, User] = {}
        for token, user in users.items():
            self.add(token, user)
        self._new_token = new_token
        self.authorizer: Authorizer = authorizer or AllowAll()
        self.permissions = RecordedPermissions()
        self._allows_anonymous = anonymous
        self.service_accounts: ServiceAccountTokens | None = None
        """Signs and verifies the tokens of service accounts; set when the server starts."""

    def __repr__(self) -> str:
        return f"<Access of {len(self._users)} tokens{', anonymous allowed' if self._allows_anonymous else ''}>"

    # --- Authentication

    def authenticate(self, authorization: str, certificate: Certificate | None = None) -> User:
        """Return the user of a request; raises UnauthorizedError."""
        if certificate and (user := _user_of_certificate(certificate)):
            return user
        if known := self._users_by_header.get(authorization):
            return known
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            if user := self.user_of(token.strip()):
                return user
            raise UnauthorizedError("Unauthorized")
        if not self._allows_anonymous:
            raise UnauthorizedError("Unauthorized")
        return ANONYMOUS

    def user_of(self, token: str) -> User | None:
        return self._users.get(token) or self.review_token(token).user

    def review_token(self, token: str, audiences: Sequence[str] = ()) -> TokenStatus:
        """Return the user of a token, and for which of the audiences it is; without audiences, for this server."""
        audiences = audiences or (ISSUER,)
        if user := self._users.get(token):
            # Such a token names no audiences, so it is for this server.
            if ISSUER in audiences:
                return TokenStatus(user, (ISSUER,))
        elif self.service_accounts:
            try:
                if found := self.service_accounts.authenticate(token, audiences):
                    return TokenStatus(*found)
            except InvalidTokenError as error:
                return TokenStatus(None, error=f"[{_INVALID_TOKEN}, {error}]")
        return TokenStatus(None, error=_INVALID_TOKEN)

    def sign_token(self, claims: Claims) -> str:
        """Return a token of a service account."""
        assert self.service_accounts is not None, "the server has started"
        return self.service_accounts.sign(claims)

    def add(self, token: str, user: User) -> None:
        """Accept a token as that of a user."""
        self._users[token] = self._users_by_header[f"Bearer {token}"] = authenticated(user)

    def issue(self, user: User) -> str:
        """Return a new token for a user."""
        token = self._new_token()
        self.add(token, user)
        return token

    def impersonate(self, user: User, headers: Headers, request: RequestInfo) -> User:
        """Return the user that the Impersonate headers name, for this request; raises ForbiddenError.

        The modes of impersonation are tried in order. If none is allowed, the error is that of the first one.
        """
        impersonating = [
            (name, value) for name, value in headers if name[:1] in "iI" and name.lower().startswith("impersonate-")
        ]
        if not impersonating:
            return user
        wanted = read_impersonation(impersonating)
        if wanted is None:
            return user
        errors = []
        for mode in impersonation_modes(user, wanted, request):
            try:
                used = [each for required in mode.required for each in self._used(user, required)]
            except ForbiddenError as error:
                errors.append(error)
            else:
                # Of the modes that are not allowed, nothing was needed.
                for each in used:
                    self.permissions.add(user, each)
                return mode.user
        raise errors[0]

    def _used(self, user: User, required: Requirement) -> Sequence[RequestInfo]:
        """Return the requests of a requirement that are allowed; raises ForbiddenError."""
        if required.problem:
            raise _forbidden(user, required.requests[0], required.problem)
        if required.all_names and self.decide(user, required.all_names).allowed:
            return [required.all_names]
        for request in required.requests:
            decision = self.decide(user, request)
            if not decision.allowed:
                raise _forbidden(user, request, decision.reason)
        return required.requests

    # --- Authorization

    def authorize(self, user: User, request: RequestInfo) -> None:
        """Raise ForbiddenError if the user may not make the request."""
        decision = self.decide(user, request)
        if not decision.allowed:
            raise _forbidden(user, request, decision.reason)
        self.permissions.add(user, request)

    def may_use(self, user: User, request: RequestInfo) -> bool:
        """Whether the user may make a request that is needed; it is recorded."""
        allowed = self.decide(user, request).allowed
        if allowed:
            self.permissions.add(user, request)
        return allowed

    def authorize_as(self, user: User, request: RequestInfo, verb: str) -> None:
        """Raise ForbiddenError if the user may not make an authorized request with another verb."""
        if request.verb == verb:
            return
        changed = replace(request, verb=verb)
        decision = self.decide(user, changed)
        if not decision.allowed:
            raise ForbiddenError.of(request.resource, request.name, decision.reason, group=request.group)
        self.permissions.add(user, changed)

    def authorize_create(self, request: APIRequest) -> None:
        """Raise ForbiddenError if the user of an update or apply may not create the object."""
        resource = request.resource
        is_namespace = resource.group_resource == ("", "namespaces")
        info = RequestInfo(
            request.method,
            request.path,
            verb="create",
            is_resource=True,
            group=resource.group,
            version=resource.version,
            namespace=request.name if is_namespace else request.namespace,
            resource=resource.plural,
            name=request.name,
        )
        self.authorize(request.user, info)

    def review(self, user: User, attributes: JSONObject) -> Decision:
        """Decide whether the user may do what the attributes of an access review describe."""
        return self.decide(user, _request_of(attributes))

    def rules_of(self, user: User, namespace: str) -> JSONObject:
        """Return the status of a SelfSubjectRulesReview."""
        listed = self.authorizer.rules_of(user, namespace) if isinstance(self.authorizer, RuleLister) else None
        if MASTERS in user.groups:
            # As in kube-apiserver, the rules of the authorizer follow.
            return _joined(_all_rules(), listed) if listed else _all_rules()
        if listed:
            return listed
        error = "the authorizer of this server cannot list rules"
        return {"resourceRules": [], "nonResourceRules": [], "incomplete": True, "evaluationError": error}

    def decide(self, user: User, request: RequestInfo) -> Decision:
        """Decide whether the user may make the request; it is not recorded."""
        return Decision(True) if MASTERS in user.groups else self.authorizer.authorize(user, request)


def _all_rules() -> JSONObject:
    resources: JSONObject = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    paths: JSONObject = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    return {"resourceRules": [resources], "nonResourceRules": [paths], "incomplete": False}


def _joined(first: JSONObject, second: JSONObject) -> JSONObject:
    """Return the rules of two reviews, each rule once."""
    joined = {name: [*list_at(first, name)] for name in ("resourceRules", "nonResourceRules")}
    for name, rules in joined.items():
        rules += [rule for rule in list_at(second, name) if rule not in rules]
    return {**second, **joined}


def _user_of_certificate(certificate: Certificate) -> User | None:
    names: dict[str, list[str]] = {}
    for part in certificate.get("subject", ()):
        for name, value in part:
            names.setdefault(name, []).append(value)
    common_names = names.get("commonName")
    if not common_names:
        return None
    return authenticated(User(common_names[0], groups=tuple(names.get("organizationName", ()))))


# --- Requests and errors ----------------------------------------------------------------------------------------------


def _request_of(attributes: JSONObject) -> RequestInfo:
    def attribute(name: str) -> str:
        return str(attributes.get(name) or "")

    return RequestInfo(
        "",
        attribute("path"),
        verb=attribute("verb"),
        is_resource="path" not in attributes,
        group=attribute("group"),
        version=attribute("version"),
        namespace=attribute("namespace"),
        resource=attribute("resource"),
        subresource=attribute("subresource"),
        name=attribute("name"),
    )


def _forbidden(user: User, request: RequestInfo, reason: str) -> ForbiddenError:
    why = f"{_forbidden_action(user, request)}: {reason}" if reason else _forbidden_action(user, request)
    if not request.is_resource:
        return ForbiddenError(f"forbidden: {why}", details=StatusDetails())
    return ForbiddenError.of(request.resource, request.name, why, group=request.group)


def _forbidden_action(user: User, request: RequestInfo) -> str:
    if not request.is_resource:
        return f"User {quoted(user.name)} cannot {request.verb} path {quoted(request.path)}"
    resource = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
    where = f"in the namespace {quoted(request.namespace)}" if request.namespace else "at the cluster scope"
    group = quoted(request.group)
    return f"User {quoted(user.name)} cannot {request.verb} resource {quoted(resource)} in API group {group} {where}"


# --- The permissions that users needed -----------------------------------------------------------------------------


class _Permission(NamedTuple):
    namespace: str
    group: str
    resource: str
    """With its subresource, as in a role; empty for a path."""
    path: str
    verb: str


class RecordedPermissions:
    """The permissions that each user has used, as the smallest roles that grant them."""

    def __init__(self) -> None:
        self._users: dict[str, dict[_Permission, None]] = {}
        self._count = 0
        self._last: tuple[User, RequestInfo] | None = None
        """What was recorded last; clients repeat their requests."""

    def add(self, user: User, request: RequestInfo) -> None:
        """Record an allowed request."""
        if (last := self._last) and last[0] is user and last[1] is request:
            return
        recorded = self._users.setdefault(user.name, {}) if self._count < _MAX_RECORDED else None
        if recorded is None:
            return
        self._last = user, request
        permission = _permission(request)
        if permission not in recorded:
            recorded[permission] = None
            self._count += 1

    def roles_of(self, user: str, *, name: str) -> str:
        """Return a Role for each namespace, and a ClusterRole for what was requested without one, as YAML."""
        import yaml  # it is slow to import, and few servers need it

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
