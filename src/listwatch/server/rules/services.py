"""The rules for what makes pods reachable: Service, Endpoints, EndpointSlice."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.server.field_errors import duplicate, forbidden, invalid, not_supported, required
from listwatch.server.json_tree import Tree, child, children
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    between,
    dns_label,
    dns_subdomain,
    each,
    formatted,
    inside,
    ip_address,
    needs,
    one_of,
    parsed_ip,
    port_name,
    port_or_name,
    unique,
    when,
)
from listwatch.server.rules.metadata import labels

__all__ = ["ENDPOINTS", "ENDPOINT_SLICE", "SERVICE", "service_change"]

_PORT = between(1, 65535)
_PROTOCOL = one_of("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


# --- services --------------------------------------------------------------------------------------------------------


def _ports(spec: Tree, path: str) -> Causes:
    ports, kind = list(children(spec, "ports")), spec.get("type")
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required(f"{path}.ports")
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        where = f"{path}.ports[{index}]"
        if len(ports) > 1 and not port.get("name"):
            yield required(f"{where}.name")
        yield from _SERVICE_PORT(port, where)
        if port.get("nodePort") and kind in ("ClusterIP", "ExternalName"):
            yield forbidden(f"{where}.nodePort", f"may not be used when `type` is '{kind}'")
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            yield duplicate(where, {"protocol": key[0], "port": key[1]})
        seen.add(key)


_SERVICE_PORT = all_of(
    at("name", formatted(dns_label)),
    at("port", _PORT),
    at("protocol", _PROTOCOL),
    at("targetPort", port_or_name(port_name)),
)


def _external_name(spec: Tree, path: str) -> Causes:
    if spec.get("type") == "ExternalName":
        name = spec.get("externalName", "")
        if not name:
            yield required(f"{path}.externalName")
        else:
            yield from formatted(dns_subdomain)(name.removesuffix("."), f"{path}.externalName")


def _affinity(spec: Tree, path: str) -> Causes:
    seconds = child(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds")
    if seconds is not None and not 0 < seconds <= 86400:
        where = f"{path}.sessionAffinityConfig.clientIP.timeoutSeconds"
        yield invalid(where, seconds, "must be greater than 0 and less than 86400")


def _cluster_ips(spec: Tree, path: str) -> Causes:
    address, kind = spec.get("clusterIP", ""), spec.get("type")
    if address == "None":
        if kind in ("NodePort", "LoadBalancer"):
            yield invalid(f"{path}.clusterIPs[0]", address, f"may not be set to 'None' for {kind} services")
    elif address:
        yield from formatted(ip_address)(address, f"{path}.clusterIPs[0]")


def _traffic(spec: Tree, path: str) -> Causes:
    policy = spec.get("externalTrafficPolicy")
    reachable = spec.get("type") in ("NodePort", "LoadBalancer") or spec.get("externalIPs")
    if policy and not reachable:
        yield invalid(f"{path}.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    elif policy and policy not in ("Cluster", "Local"):
        yield not_supported(f"{path}.externalTrafficPolicy", policy, ("Cluster", "Local"))
    if spec.get("loadBalancerSourceRanges") and spec.get("type") != "LoadBalancer":
        where = f"{path}.LoadBalancerSourceRanges"
        yield forbidden(where, "may only be used when `type` is 'LoadBalancer'")


SERVICE = at(
    "spec",
    _ports,
    unique("ports"),
    at("type", one_of(*_TYPES)),
    _external_name,
    at("sessionAffinity", one_of("ClientIP", "None")),
    _affinity,
    at("selector", labels),
    _cluster_ips,
    each("externalIPs", formatted(ip_address)),
    _traffic,
    at("internalTrafficPolicy", one_of("Cluster", "Local")),
    each("ipFamilies", one_of("IPv4", "IPv6")),
    at("ipFamilyPolicy", one_of("PreferDualStack", "RequireDualStack", "SingleStack")),
)


def service_change(new: Tree, old: Tree, path: str) -> Causes:
    """An address that was given out stays."""
    spec, before = new["spec"], old["spec"]
    if "ExternalName" in (spec.get("type"), before.get("type")) or not before.get("clusterIP"):
        return
    # Who does not name an address keeps the one that is there.
    address = spec.get("clusterIP") or before["clusterIP"]
    if address != before["clusterIP"]:
        yield invalid(inside(path, "spec.clusterIPs[0]"), [address], "may not change once set")


# --- endpoints -------------------------------------------------------------------------------------------------------


def _subset(subset: Tree, path: str) -> Causes:
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        yield required(path, "must specify `addresses` or `notReadyAddresses`")
    yield from _SUBSET(subset, path)


_ADDRESS = at("ip", formatted(ip_address))
_SUBSET = all_of(
    each("addresses", _ADDRESS),
    each("notReadyAddresses", _ADDRESS),
    each("ports", at("port", _PORT), at("protocol", _PROTOCOL), at("name", formatted(dns_label))),
)
ENDPOINTS = each("subsets", _subset)


def _is_of_family(version: int) -> Check:
    def check(value: Tree, path: str) -> Causes:
        yield from formatted(ip_address)(value, path)
        address = parsed_ip(value)
        if address and address.version != version:
            yield invalid(path.rpartition("[")[0], value, f"must be an IPv{version} address")

    return check


_ADDRESS_TYPES: Mapping[str, Check] = {
    "IPv4": _is_of_family(4),
    "IPv6": _is_of_family(6),
    "FQDN": formatted(dns_subdomain),
}


def _endpoints(slice_: Tree, path: str) -> Causes:
    rule = _ADDRESS_TYPES.get(slice_.get("addressType", ""))
    for index, endpoint in enumerate(children(slice_, "endpoints")):
        where = f"endpoints[{index}].addresses"
        if not endpoint.get("addresses"):
            yield required(where, "must contain at least 1 address")
        for number, address in enumerate(endpoint.get("addresses") or ()):
            if rule:
                yield from rule(address, f"{where}[{number}]")


ENDPOINT_SLICE = all_of(
    needs("addressType"),
    when(lambda slice_: bool(slice_.get("addressType")), at("addressType", one_of("FQDN", "IPv4", "IPv6"))),
    each(
        "ports",
        when(lambda port: bool(port.get("name")), at("name", formatted(dns_label))),
        at("protocol", _PROTOCOL),
    ),
    unique("ports"),
    _endpoints,
)
