"""Authentication, impersonation and authorization of requests.

    bearer token, or client certificate (CN is the name, O the groups) ─▶ user ─▶ impersonated user ─▶ authorizer

A request without credentials is anonymous and rejected, unless `anonymous` is set; an unknown token is always rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from listwatch.errors import BadRequestError, ForbiddenError, StatusDetails, UnauthorizedError
from listwatch.json_value import JSONObject
from listwatch.server.json_tree import quoted
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import ANONYMOUS, User

__all__ = ["AUTHENTICATED", "MASTERS", "Access", "AllowAll", "Authorizer", "Decision"]

AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
"""Users in this group may do everything; the authorizer is not called."""

_UNAUTHENTICATED = "system:unauthenticated"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_USER, _UID, _GROUP, _EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"

Headers = Iterable[tuple[str, str]]
"""Names and values in the order received; names may repeat."""

Certificate = Mapping[str, Any]
"""The verified client certificate, as `ssl` describes it."""


class Decision(NamedTuple):
    """Whether a request is allowed, and the reason if it is not."""

    allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Decides which requests users may make; the group `system:masters` may make all of them."""

    def authorize(self, user: User, request: RequestInfo) -> Decision: ...


class AllowAll:
    """An authorizer that allows every request."""

    def authorize(self, user: User, request: RequestInfo) -> Decision:
        return Decision(True)


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
        self._users = {token: _authenticated(user) for token, user in users.items()}
        self._new_token = new_token
        self._authorizer = authorizer or AllowAll()
        self._allows_anonymous = anonymous

    def __repr__(self) -> str:
        return f"<Access of {len(self._users)} tokens{', anonymous allowed' if self._allows_anonymous else ''}>"

    # --- Authentication

    def authenticate(self, authorization: str, certificate: Certificate | None = None) -> User:
        """Return the user of a request; raises UnauthorizedError."""
        if certificate and (user := _user_of_certificate(certificate)):
            return user
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            if user := self.user_of(token.strip()):
                return user
            raise UnauthorizedError("Unauthorized")
        if not self._allows_anonymous:
            raise UnauthorizedError("Unauthorized")
        return ANONYMOUS

    def user_of(self, token: str) -> User | None:
        return self._users.get(token)

    def add(self, token: str, user: User) -> None:
        """Accept a token as that of a user."""
        self._users[token] = _authenticated(user)

    def issue(self, user: User) -> str:
        """Return a new token for a user."""
        token = self._new_token()
        self.add(token, user)
        return token

    def impersonate(self, user: User, headers: Headers) -> User:
        """Return the user that the Impersonate headers name; raises ForbiddenError."""
        wanted = [(name.lower(), value) for name, value in headers if name.lower().startswith("impersonate-")]
        if not wanted:
            return user
        other = _impersonated(wanted)
        for request in _required_permissions(other, wanted):
            self.authorize(user, request)
        return other

    # --- Authorization

    def authorize(self, user: User, request: RequestInfo) -> None:
        """Raise ForbiddenError if the user may not make the request."""
        decision = self._decide(user, request)
        if not decision.allowed:
            raise _forbidden(user, request, decision.reason)

    def is_allowed(self, user: User, attributes: JSONObject) -> bool:
        """Whether the user may do what the attributes of an access review describe."""
        return self._decide(user, _request_of(attributes)).allowed

    def _decide(self, user: User, request: RequestInfo) -> Decision:
        return Decision(True) if MASTERS in user.groups else self._authorizer.authorize(user, request)


def _authenticated(user: User) -> User:
    known = {AUTHENTICATED, _UNAUTHENTICATED}
    return user if known & set(user.groups) else replace(user, groups=(*user.groups, AUTHENTICATED))


def _user_of_certificate(certificate: Certificate) -> User | None:
    names: dict[str, list[str]] = {}
    for part in certificate.get("subject", ()):
        for name, value in part:
            names.setdefault(name, []).append(value)
    common_names = names.get("commonName")
    if not common_names:
        return None
    return _authenticated(User(common_names[0], groups=tuple(names.get("organizationName", ()))))


# --- Impersonation ----------------------------------------------------------------------------------------------------


def _impersonated(headers: list[tuple[str, str]]) -> User:
    name = next((value for header, value in headers if header == _USER), "")
    if not name:
        raise BadRequestError("requested impersonation of a uid, groups or extra values without a user name")
    groups = tuple(value for header, value in headers if header == _GROUP) or _groups_of(name)
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in headers:
        if header.startswith(_EXTRA):
            key = unquote(header.removeprefix(_EXTRA))
            extra[key] = (*extra.get(key, ()), value)
    uid = next((value for header, value in headers if header == _UID), "")
    if name == ANONYMOUS.name:
        return User(name, uid, tuple(dict.fromkeys((*groups, _UNAUTHENTICATED))), extra)
    return _authenticated(User(name, uid, groups, extra))


def _groups_of(name: str) -> tuple[str, ...]:
    """Return the groups that every service account has."""
    namespace = _service_account(name)[0]
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}") if namespace else ()


def _service_account(name: str) -> tuple[str, str]:
    """Return the namespace and name of a service account; empty for other users."""
    if not name.startswith(_SERVICE_ACCOUNT):
        return "", ""
    namespace, _, account = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
    return namespace, account


def _required_permissions(user: User, headers: list[tuple[str, str]]) -> Iterator[RequestInfo]:
    """Yield the requests that a user must be allowed to make to impersonate another."""
    namespace, account = _service_account(user.name)
    if namespace:
        yield _impersonation("serviceaccounts", account, namespace=namespace)
    else:
        yield _impersonation("users", user.name)
    yield from (_impersonation("groups", value) for header, value in headers if header == _GROUP)
    for key, values in user.extra.items():
        yield from (
            _impersonation("userextras", value, group="authentication.k8s.io", subresource=key) for value in values
        )
    if user.uid:
        yield _impersonation("uids", user.uid, group="authentication.k8s.io")


def _impersonation(
    resource: str, name: str, *, group: str = "", namespace: str = "", subresource: str = ""
) -> RequestInfo:
    return RequestInfo(
        "",
        "",
        verb="impersonate",
        is_resource=True,
        group=group,
        namespace=namespace,
        resource=resource,
        subresource=subresource,
        name=name,
    )


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
