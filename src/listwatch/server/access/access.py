"""Who is asking, and whether they may. `http` asks here before anything is told or done.

    bearer token, or client certificate (CN is the name, O the groups) ─▶ user ─▶ impersonated user ─▶ authorizer

Somebody without either is anonymous, which is refused unless it is switched on; a token that is not known always is.

Most clients send no credentials from a kubeconfig over plain HTTP, but all of them keep to the path of a server's URL.
So a token may also stand there: `http://127.0.0.1:8001/token/TOKEN` is a server's URL, which is as secret as the token.
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

__all__ = ["AUTHENTICATED", "MASTERS", "Access", "AllowAll", "Authorizer", "Decision", "read_token_path", "token_path"]

AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
"""Whoever is in this group may do everything, whatever the authorizer says."""

_UNAUTHENTICATED = "system:unauthenticated"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_USER, _UID, _GROUP, _EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"

_TOKEN_PATH = "/token/"

Headers = Iterable[tuple[str, str]]
"""Names and values as they came; a name may come several times."""

Certificate = Mapping[str, Any]
"""What `ssl` tells of the certificate that a client has shown and that was found good."""


class Decision(NamedTuple):
    """Whether something is allowed, and why not."""

    allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Decides what users may do."""

    def authorize(self, user: User, request: RequestInfo) -> Decision: ...


class AllowAll:
    """Everybody may do everything."""

    def authorize(self, user: User, request: RequestInfo) -> Decision:
        return Decision(True)


def token_path(token: str) -> str:
    """What to put behind a server's URL, so that a token is sent with every request."""
    return _TOKEN_PATH + token


def read_token_path(target: str) -> tuple[str, str]:
    """The token in front of a path, and the path without it; an empty token if there is none."""
    if not target.startswith(_TOKEN_PATH):
        return "", target
    token, slash, rest = target.removeprefix(_TOKEN_PATH).partition("/")
    return token, slash + rest or "/"


class Access:
    """Knows users by their tokens and certificates, and lets the authorizer decide what they may do."""

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

    # --- Who is asking

    def authenticate(self, authorization: str, certificate: Certificate | None = None) -> User:
        """The user of a request; raises UnauthorizedError."""
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
        """Know somebody by this token from now on."""
        self._users[token] = _authenticated(user)

    def issue(self, user: User) -> str:
        """A new token of theirs."""
        token = self._new_token()
        self.add(token, user)
        return token

    def impersonate(self, user: User, headers: Headers) -> User:
        """The user that a request is to be taken for; raises ForbiddenError where they may not do that."""
        wanted = [(name.lower(), value) for name, value in headers if name.lower().startswith("impersonate-")]
        if not wanted:
            return user
        other = _impersonated(wanted)
        for request in _impersonations(other, wanted):
            self.authorize(user, request)
        return other

    # --- Whether they may

    def authorize(self, user: User, request: RequestInfo) -> None:
        """Raise ForbiddenError where they may not."""
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
    """Those that a service account always has."""
    namespace = _service_account(name)[0]
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}") if namespace else ()


def _service_account(name: str) -> tuple[str, str]:
    """The namespace and name of a service account; empty for other users."""
    if not name.startswith(_SERVICE_ACCOUNT):
        return "", ""
    namespace, _, account = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
    return namespace, account


def _impersonations(user: User, headers: list[tuple[str, str]]) -> Iterator[RequestInfo]:
    """What somebody must be allowed to do, to be taken for this user."""
    namespace, account = _service_account(user.name)
    if namespace:
        yield _act("serviceaccounts", account, namespace=namespace)
    else:
        yield _act("users", user.name)
    yield from (_act("groups", value) for header, value in headers if header == _GROUP)
    for key, values in user.extra.items():
        yield from (_act("userextras", value, group="authentication.k8s.io", subresource=key) for value in values)
    if user.uid:
        yield _act("uids", user.uid, group="authentication.k8s.io")


def _act(resource: str, name: str, *, group: str = "", namespace: str = "", subresource: str = "") -> RequestInfo:
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


# --- Words ------------------------------------------------------------------------------------------------------------


def _request_of(attributes: JSONObject) -> RequestInfo:
    def said(name: str) -> str:
        return str(attributes.get(name) or "")

    return RequestInfo(
        "",
        said("path"),
        verb=said("verb"),
        is_resource="path" not in attributes,
        group=said("group"),
        version=said("version"),
        namespace=said("namespace"),
        resource=said("resource"),
        subresource=said("subresource"),
        name=said("name"),
    )


def _forbidden(user: User, request: RequestInfo, reason: str) -> ForbiddenError:
    why = f"{_what_is_forbidden(user, request)}: {reason}" if reason else _what_is_forbidden(user, request)
    if not request.is_resource:
        return ForbiddenError(f"forbidden: {why}", details=StatusDetails())
    return ForbiddenError.of(request.resource, request.name, why, group=request.group)


def _what_is_forbidden(user: User, request: RequestInfo) -> str:
    if not request.is_resource:
        return f"User {quoted(user.name)} cannot {request.verb} path {quoted(request.path)}"
    resource = f"{request.resource}/{request.subresource}" if request.subresource else request.resource
    where = f"in the namespace {quoted(request.namespace)}" if request.namespace else "at the cluster scope"
    group = quoted(request.group)
    return f"User {quoted(user.name)} cannot {request.verb} resource {quoted(resource)} in API group {group} {where}"
