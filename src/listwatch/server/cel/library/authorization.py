"""Calls of the authorizer: `authorizer.group("apps").resource("deployments").check("create").allowed()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from listwatch.server.cel.declarations import Functions, method
from listwatch.server.cel.type_system import BOOL, STRING, opaque
from listwatch.server.cel.values import CELError, Opaque
from listwatch.server.rules.checks import dns_label, dns_subdomain

__all__ = [
    "AUTHORIZATION",
    "AUTHORIZER",
    "RESOURCE_CHECK",
    "AccessAttributes",
    "Authorize",
    "authorizer_value",
    "resource_check",
]

AUTHORIZER = opaque("kubernetes.authorization.Authorizer")
_PATH, _GROUP = opaque("kubernetes.authorization.PathCheck"), opaque("kubernetes.authorization.GroupCheck")
RESOURCE_CHECK, _DECISION = (
    opaque("kubernetes.authorization.ResourceCheck"),
    opaque("kubernetes.authorization.Decision"),
)


@dataclass(frozen=True, slots=True)
class AccessAttributes:
    """The request to authorize; without a service account, for the user of the admitted request."""

    service_account: tuple[str, str] = ("", "")
    """Namespace and name."""
    verb: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Of path, group, resource, subresource, namespace, name, fieldSelector, labelSelector."""


Authorize = Callable[[AccessAttributes], tuple[bool, str]]
"""Returns whether the access is allowed, and the reason."""


def authorizer_value(authorize: Authorize) -> Opaque:
    """Return the value of the variable `authorizer`."""
    return Opaque(AUTHORIZER, (authorize, AccessAttributes()))


def resource_check(authorize: Authorize, attributes: Mapping[str, str]) -> Opaque:
    """Return the value of the variable `authorizer.requestResource`."""
    return Opaque(RESOURCE_CHECK, (authorize, AccessAttributes(attributes=attributes)))


def _parts(value: Opaque) -> tuple[Authorize, AccessAttributes]:
    assert isinstance(value.value, tuple)
    authorize, access = value.value
    return authorize, access


def _with(name: str, result: Opaque) -> Callable[[Opaque, str], Opaque]:
    def call(value: Opaque, text: str) -> Opaque:
        if not text and name in ("path", "resource"):
            raise CELError(f"{name} must not be empty")
        authorize, access = _parts(value)
        access = replace(access, attributes={**access.attributes, name: text})
        return Opaque(result.type, (authorize, access))

    return call


def _service_account(value: Opaque, namespace: str, name: str) -> Opaque:
    if any(dns_subdomain(name)):
        raise CELError("Invalid service account name")
    if any(dns_label(namespace)):
        raise CELError("Invalid service account namespace")
    authorize, access = _parts(value)
    return Opaque(AUTHORIZER, (authorize, replace(access, service_account=(namespace, name))))


def _check(value: Opaque, verb: str) -> Opaque:
    authorize, access = _parts(value)
    return Opaque(_DECISION, authorize(replace(access, verb=verb)))


def _decision(index: int) -> Callable[[Opaque], object]:
    def call(value: Opaque) -> object:
        assert isinstance(value.value, tuple)
        return value.value[index]

    return call


_PATHS, _GROUPS, _RESOURCES = Opaque(_PATH, None), Opaque(_GROUP, None), Opaque(RESOURCE_CHECK, None)

AUTHORIZATION: Functions = {
    "path": (method("authorizer_path", (AUTHORIZER, STRING), _PATH, _with("path", _PATHS)),),
    "group": (method("authorizer_group", (AUTHORIZER, STRING), _GROUP, _with("group", _GROUPS)),),
    "serviceAccount": (
        method("authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER, _service_account),
    ),
    "resource": (method("groupcheck_resource", (_GROUP, STRING), RESOURCE_CHECK, _with("resource", _RESOURCES)),),
    **{
        name: (
            method(f"resourcecheck_{name.lower()}", (RESOURCE_CHECK, STRING), RESOURCE_CHECK, _with(name, _RESOURCES)),
        )
        for name in ("subresource", "namespace", "name", "fieldSelector", "labelSelector")
    },
    "check": (
        method("pathcheck_check", (_PATH, STRING), _DECISION, _check),
        method("resourcecheck_check", (RESOURCE_CHECK, STRING), _DECISION, _check),
    ),
    "allowed": (method("decision_allowed", (_DECISION,), BOOL, _decision(0)),),
    "reason": (method("decision_reason", (_DECISION,), STRING, _decision(1)),),
    "errored": (method("decision_errored", (_DECISION,), BOOL, lambda _: False),),
    "error": (method("decision_error", (_DECISION,), STRING, lambda _: ""),),
}
