"""Impersonation: the user that a request names in its headers, and what its own user needs to be allowed.

Since Kubernetes 1.36, impersonation is constrained: a user needs the verb `impersonate:MODE` on the other user, and
`impersonate-on:MODE:VERB` on what is requested. The former verb `impersonate` still allows all requests.

    associated-node    a service account names the node on which its pod runs
    arbitrary-node     system:node:NAME
    serviceaccount     system:serviceaccount:NAMESPACE:NAME
    user-info          any other user, with a uid, groups and extra values
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from listwatch.errors import BadRequestError
from listwatch.server.json_tree import quoted
from listwatch.server.protocol.routes import RequestInfo
from listwatch.server.requests import ANONYMOUS, User
from listwatch.server.rules.checks import dns_label, dns_subdomain

__all__ = [
    "Headers",
    "Mode",
    "Requirement",
    "authenticated",
    "impersonation_modes",
    "read_impersonation",
    "service_account_groups",
]

AUTHENTICATED = "system:authenticated"
_UNAUTHENTICATED = "system:unauthenticated"
_SERVICE_ACCOUNT, _NODE = "system:serviceaccount:", "system:node:"
_NODE_CLAIM = "authentication.kubernetes.io/node-name"
_USER, _UID, _GROUP, _EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"
_AUTHENTICATION = "authentication.k8s.io"
_MASTERS = "system:masters"
_MANY = 4
"""How many values of one kind are allowed together, if the user may impersonate all of them."""

Headers = Iterable[tuple[str, str]]
"""Names and values in the order received; names may repeat."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Requests that all have to be allowed, or the one for all names instead; with a `problem`, they never are."""

    requests: tuple[RequestInfo, ...]
    all_names: RequestInfo | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to impersonate: the user as which the request is made if all requirements are met."""

    user: User
    required: tuple[Requirement, ...]


def read_impersonation(headers: Headers) -> User | None:
    """Return the user as the Impersonate headers of a request describe it, None if it is empty.

    Raises BadRequestError for other headers without a user.
    """
    wanted = [(name.lower(), value) for name, value in headers]
    name = next((value for header, value in wanted if header == _USER), "")
    extra: dict[str, tuple[str, ...]] = {}
    for header, value in wanted:
        if header.startswith(_EXTRA):
            key = unquote(header.removeprefix(_EXTRA))
            extra[key] = (*extra.get(key, ()), value)
    uid = next((value for header, value in wanted if header == _UID), "")
    user = User(name, uid, tuple(value for header, value in wanted if header == _GROUP), extra)
    if not (name or uid or user.groups or extra):
        return None
    if not name:
        raise BadRequestError(f"requested {_go_syntax(user)} without impersonating a user name")
    return user


def _go_syntax(user: User) -> str:
    """Format a user as the real server does, with Go's verb %#v."""
    extra = ", ".join(f"{quoted(name)}:{_go_strings(user.extra[name])}" for name in sorted(user.extra))
    shown = f"map[string][]string{{{extra}}}" if extra else "map[string][]string(nil)"
    groups = _go_strings(user.groups)
    return f'&user.DefaultInfo{{Name:"", UID:{quoted(user.uid)}, Groups:{groups}, Extra:{shown}}}'


def _go_strings(texts: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quoted, texts))}}}" if texts else "[]string(nil)"


def impersonation_modes(requester: User, wanted: User, request: RequestInfo) -> Iterator[Mode]:
    """Yield the modes in which the user may be impersonated for a request, in the order in which they are tried."""
    namespace, account = _service_account(wanted.name)
    node = _node(wanted.name)
    only_name = not (wanted.uid or wanted.groups or wanted.extra)
    if node and only_name:
        user = authenticated(replace(wanted, groups=("system:nodes",)))
        if _service_account(requester.name)[0] and requester.extra.get(_NODE_CLAIM) == (node,):
            yield _constrained("associated-node", user, request, [_named("nodes", "*")])
        yield _constrained("arbitrary-node", user, request, [_named("nodes", node)])
    elif namespace and only_name:
        user = authenticated(replace(wanted, groups=service_account_groups(namespace)))
        yield _constrained("serviceaccount", user, request, [_named("serviceaccounts", account, namespace=namespace)])
    elif not node and not namespace:
        first = [_named("users", wanted.name), *_uid_of(wanted)]
        yield _constrained("user-info", _completed(wanted), request, first, _groups_of(wanted), _extra_of(wanted))
    yield _unconstrained(wanted)


def _constrained(mode: str, user: User, request: RequestInfo, *parts: Sequence[RequestInfo]) -> Mode:
    on_request = Requirement((replace(request, verb=f"impersonate-on:{mode}:{request.verb}"),))
    required = [_requirement([replace(each, verb=f"impersonate:{mode}") for each in part]) for part in parts if part]
    return Mode(user, (on_request, *required))


def _requirement(requests: Sequence[RequestInfo]) -> Requirement:
    """Return what constrained impersonation requires for values of one kind, such as groups."""
    first = requests[0]
    problem = next(((each, why) for each in requests if (why := _problem_of(each))), None)
    if problem:
        return Requirement((problem[0],), problem=problem[1])
    all_names = None
    if len(requests) >= _MANY:
        subresource = "*" if first.subresource else ""
        all_names = replace(first, subresource=subresource, name="*")
    return Requirement(tuple(requests), all_names)


def _problem_of(request: RequestInfo) -> str:
    """Why a value cannot be impersonated in a constrained mode, whatever is allowed."""
    name, key = request.name, request.subresource
    match request.resource:
        case "groups" if not name:
            return "impersonating the empty string group is not allowed"
        case "groups" if name == _MASTERS:
            return "impersonating the system:masters group is not allowed"
        case "userextras" if not key:
            return "impersonating the empty string key in extra is not allowed"
        case "userextras" if why := _key_problem(key):
            return f"impersonating an invalid key in extra is not allowed: extra.key: Invalid value: {why}"
        case "userextras" if not name:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _key_problem(key: str) -> str:
    host, _, path = key.partition("/")
    if not host or not path:
        return f'{quoted(key)}: must be a domain-prefixed path (such as "acme.io/foo")'
    return next((f"{quoted(host)}: {why}" for why in dns_subdomain(host)), "")


def _unconstrained(wanted: User) -> Mode:
    namespace, account = _service_account(wanted.name)
    if namespace:
        first = _named("serviceaccounts", account, group="", namespace=namespace)
    else:
        first = _named("users", wanted.name, group="")
    parts = (first, *_uid_of(wanted), *_groups_of(wanted, group=""), *_extra_of(wanted))
    return Mode(_completed(wanted), (Requirement(tuple(replace(part, verb="impersonate") for part in parts)),))


def _groups_of(wanted: User, group: str = _AUTHENTICATION) -> list[RequestInfo]:
    return [_named("groups", each, group=group) for each in wanted.groups]


def _uid_of(wanted: User) -> list[RequestInfo]:
    return [_named("uids", wanted.uid)] if wanted.uid else []


def _extra_of(wanted: User) -> list[RequestInfo]:
    return [_named("userextras", value, subresource=key) for key, values in wanted.extra.items() for value in values]


def _named(
    resource: str, name: str, *, group: str = _AUTHENTICATION, namespace: str = "", subresource: str = ""
) -> RequestInfo:
    return RequestInfo(
        *("", ""),
        is_resource=True,
        group=group,
        namespace=namespace,
        resource=resource,
        subresource=subresource,
        name=name,
    )


def _completed(wanted: User) -> User:
    """Add the groups that a user has by its name."""
    if wanted.name == ANONYMOUS.name:
        return replace(wanted, groups=tuple(dict.fromkeys((*wanted.groups, _UNAUTHENTICATED))))
    namespace = _service_account(wanted.name)[0]
    if namespace and not wanted.groups:
        wanted = replace(wanted, groups=service_account_groups(namespace))
    return authenticated(wanted)


def authenticated(user: User) -> User:
    """Add the group of all authenticated users."""
    known = {AUTHENTICATED, _UNAUTHENTICATED}
    return user if known & set(user.groups) else replace(user, groups=(*user.groups, AUTHENTICATED))


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups that every service account of a namespace has."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def _service_account(name: str) -> tuple[str, str]:
    """Return the namespace and name of a service account; empty for other users."""
    if not name.startswith(_SERVICE_ACCOUNT):
        return "", ""
    namespace, _, account = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
    if any(dns_label(namespace)) or any(dns_subdomain(account)):
        return "", ""
    return namespace, account


def _node(name: str) -> str:
    """Return the name of a node; empty for other users."""
    node = name.removeprefix(_NODE) if name.startswith(_NODE) else ""
    return "" if any(dns_subdomain(node)) else node
