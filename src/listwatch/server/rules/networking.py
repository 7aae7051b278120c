"""Rules for Ingress, IngressClass, NetworkPolicy and IPAddress."""

from __future__ import annotations

import re

from listwatch.json_value import JSONObject
from listwatch.server.field_errors import forbidden, invalid, not_supported, required, too_long
from listwatch.server.json_tree import object_at, text_at, texts_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    all_of,
    at,
    at_nonempty,
    between,
    cidr,
    dns_1035_label,
    dns_label,
    dns_subdomain,
    each,
    field_path,
    formatted,
    immutable,
    one_of,
    parsed_cidr,
    parsed_ip,
    path_segment,
    port_name,
    port_or_name,
    require_fields,
    wildcard_subdomain,
)
from listwatch.server.rules.metadata import selector

__all__ = ["INGRESS", "IP_ADDRESS", "NETWORK_POLICY", "ingress_class", "ingress_class_update"]

_PORT = between(1, 65535)
_MAX_CONTROLLER = 250
_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


# --- ingress ---------------------------------------------------------------------------------------------------------


def _host(host: str, path: str) -> Causes:
    if not host:
        return
    if parsed_ip(host):
        yield invalid(path, host, "must be a DNS name, not an IP address")
    yield from formatted(wildcard_subdomain if "*" in host else dns_subdomain)(host, path)


def _backend(backend: JSONObject, path: str) -> Causes:
    service, resource = object_at(backend, "service"), object_at(backend, "resource")
    if service and resource:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif "resource" in backend:
        yield from require_fields("kind", "name")(resource, f"{path}.resource")
    elif "service" not in backend:
        yield required(f"{path}.service.name")
        yield required(path, "port name or number is required")
    else:
        yield from _backend_service(service, f"{path}.service")


def _backend_service(service: JSONObject, path: str) -> Causes:
    if name := text_at(service, "name"):
        yield from formatted(dns_1035_label)(name, f"{path}.name")
    else:
        yield required(f"{path}.name")
    port, backend = object_at(service, "port"), path.rpartition(".")[0]
    if port.get("name") and port.get("number"):
        yield invalid(backend, "", "cannot set both port name & port number")
    elif port.get("name"):
        yield from formatted(port_name)(port["name"], f"{path}.port.name")
    elif port.get("number"):
        yield from _PORT(port["number"], f"{path}.port.number")
    else:
        yield required(backend, "port name or number is required")


def _path(value: JSONObject, path: str) -> Causes:
    kind, route = text_at(value, "pathType"), text_at(value, "path")
    if not kind:
        # The real server stops here, too.
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if kind not in ("Exact", "ImplementationSpecific", "Prefix"):
        yield not_supported(f"{path}.pathType", kind, ("Exact", "ImplementationSpecific", "Prefix"))
    elif (kind != "ImplementationSpecific" or route) and not route.startswith("/"):
        yield invalid(f"{path}.path", route, "must be an absolute path")
    yield from _backend(object_at(value, "backend"), f"{path}.backend")


def _has_backend(spec: JSONObject, path: str) -> Causes:
    if not spec.get("rules") and not spec.get("defaultBackend"):
        yield invalid(path, None, "either `defaultBackend` or `rules` must be specified")


INGRESS = at(
    "spec",
    _has_backend,
    at("defaultBackend", _backend),
    each("rules", at("host", _host), at("http", require_fields("paths")), each("http.paths", _path)),
    each("tls", each("hosts", _host)),
    at("ingressClassName", formatted(dns_subdomain)),
)


def _parameters_namespace(parameters: JSONObject, path: str) -> Causes:
    scope, namespace = text_at(parameters, "scope"), parameters.get("namespace")
    if scope == "Namespace" and namespace is None:
        yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Namespace":
        yield from formatted(dns_label)(str(namespace), f"{path}.namespace")
    elif scope == "Cluster" and namespace is not None:
        yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


def _controller(value: str, path: str) -> Causes:
    if len(value.encode()) > _MAX_CONTROLLER:
        yield too_long(path, _MAX_CONTROLLER)
    host, _, rest = value.partition("/")
    if not host or not rest:
        yield invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
        return
    yield from formatted(dns_subdomain)(host, path)
    if not _PATH.fullmatch(rest):
        yield invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH.pattern}')")


_INGRESS_CLASS_SPEC = all_of(
    require_fields("controller"),
    at_nonempty("controller", _controller),
    at(
        "parameters",
        at("apiGroup", formatted(dns_subdomain)),
        require_fields("kind", "name"),
        at_nonempty("kind", formatted(path_segment)),
        at_nonempty("name", formatted(path_segment)),
        at("scope", one_of("Cluster", "Namespace")),
        _parameters_namespace,
    ),
)


def ingress_class(tree: JSONObject, path: str) -> Causes:
    """A class without a spec has no controller."""
    yield from _INGRESS_CLASS_SPEC(object_at(tree, "spec"), field_path(path, "spec"))


ingress_class_update = immutable("spec.controller", missing="")


# --- network policies ------------------------------------------------------------------------------------------------


def _end_port(port: JSONObject, path: str) -> Causes:
    first, last = value_at(port, "port"), value_at(port, "endPort")
    if not isinstance(last, int):
        return
    if isinstance(first, int) and last < first:
        yield invalid(f"{path}.endPort", first, "must be greater than or equal to `port`")
    elif isinstance(first, str):
        yield invalid(f"{path}.endPort", last, "may not be specified when `port` is non-numeric")
    elif first is None:
        yield invalid(f"{path}.endPort", last, "may not be specified when `port` is not specified")


def _ip_block(block: JSONObject, path: str) -> Causes:
    text = text_at(block, "cidr")
    if not text:
        yield required(f"{path}.cidr")
        return
    yield from formatted(cidr)(text, f"{path}.cidr")
    whole = parsed_cidr(text)
    for index, exception in enumerate(texts_at(block, "except")):
        field, part = f"{path}.except[{index}]", parsed_cidr(exception)
        yield from formatted(cidr)(exception, field)
        if whole and part and not (part.version == whole.version and part != whole and part.subnet_of(whole)):  # type: ignore[arg-type]  # the versions are the same
            yield invalid(field, exception, "must be a strict subset of `cidr`")


def _peer(peer: JSONObject, path: str) -> Causes:
    yield from _PEER(peer, path)
    if not peer:
        yield required(path, "must specify a peer")
    elif "ipBlock" in peer and len(peer) > 1:
        yield forbidden(path, "may not specify both ipBlock and another peer")


_PEER = all_of(at("podSelector", selector), at("namespaceSelector", selector), at("ipBlock", _ip_block))
_POLICY_PORT = all_of(
    at("protocol", one_of("TCP", "UDP", "SCTP")),
    at("port", port_or_name(port_name)),
    _end_port,
)


def _policy_types(spec: JSONObject, path: str) -> Causes:
    types = texts_at(spec, "policyTypes")
    if len(types) > 2:
        yield invalid(f"{path}.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, kind in enumerate(types):
        yield from one_of("Ingress", "Egress")(kind, f"{path}.policyTypes[{index}]")


NETWORK_POLICY = at(
    "spec",
    at("podSelector", selector),
    each("ingress", each("ports", _POLICY_PORT), each("from", _peer)),
    each("egress", each("ports", _POLICY_PORT), each("to", _peer)),
    _policy_types,
)


# --- addresses -------------------------------------------------------------------------------------------------------

IP_ADDRESS = at(
    "spec",
    require_fields("parentRef"),
    at(
        "parentRef",
        at_nonempty("group", formatted(dns_subdomain)),
        require_fields("resource"),
        at_nonempty("resource", formatted(path_segment)),
        require_fields("name"),
        at_nonempty("name", formatted(path_segment)),
        at_nonempty("namespace", formatted(path_segment)),
    ),
)
