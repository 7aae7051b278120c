"""Rules for Service, Endpoints and EndpointSlice."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.server.field_errors import duplicate, forbidden, invalid, not_supported, required, too_many
from listwatch.server.json_tree import integer_at, object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.rules.checks import (
    Causes,
    Check,
    all_of,
    at,
    at_nonempty,
    between,
    dns_label,
    dns_subdomain,
    each,
    field_path,
    formatted,
    ip_address,
    one_of,
    parsed_ip,
    port_name,
    port_or_name,
    require_fields,
    unique_names,
)
from listwatch.server.rules.metadata import labels

__all__ = ["ENDPOINTS", "ENDPOINT_SLICE", "SERVICE", "SERVICE_STATUS", "service_update"]

_PORT = between(1, 65535)
_PROTOCOL = one_of("SCTP", "TCP", "UDP")
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


# --- services --------------------------------------------------------------------------------------------------------


def _ports(spec: JSONObject, path: str) -> Causes:
    ports, kind = objects_at(spec, "ports"), text_at(spec, "type")
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required(f"{path}.ports")
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        field = f"{path}.ports[{index}]"
        if len(ports) > 1 and not port.get("name"):
            yield required(f"{field}.name")
        yield from _SERVICE_PORT(port, field)
        if port.get("nodePort") and kind in ("ClusterIP", "ExternalName"):
            yield forbidden(f"{field}.nodePort", f"may not be used when `type` is '{kind}'")
        key = (text_at(port, "protocol"), integer_at(port, "port"))
        if key in seen:
            yield duplicate(field, {"protocol": key[0], "port": key[1]})
        seen.add(key)


_SERVICE_PORT = all_of(
    at("name", formatted(dns_label)),
    at("port", _PORT),
    at("protocol", _PROTOCOL),
    at("targetPort", port_or_name(port_name)),
)


def _external_name(spec: JSONObject, path: str) -> Causes:
    if spec.get("type") == "ExternalName":
        name = text_at(spec, "externalName")
        if not name:
            yield required(f"{path}.externalName")
        else:
            yield from formatted(dns_subdomain)(name.removesuffix("."), f"{path}.externalName")


def _affinity(spec: JSONObject, path: str) -> Causes:
    seconds = value_at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds")
    if isinstance(seconds, int) and not 0 < seconds <= 86400:
        field = f"{path}.sessionAffinityConfig.clientIP.timeoutSeconds"
        yield invalid(field, seconds, "must be greater than 0 and less than 86400")


def _cluster_ips(spec: JSONObject, path: str) -> Causes:
    address, kind = text_at(spec, "clusterIP"), spec.get("type")
    if address == "None":
        if kind in ("NodePort", "LoadBalancer"):
            yield invalid(f"{path}.clusterIPs[0]", address, f"may not be set to 'None' for {kind} services")
    elif address:
        yield from formatted(ip_address)(address, f"{path}.clusterIPs[0]")


def _traffic(spec: JSONObject, path: str) -> Causes:
    policy = spec.get("externalTrafficPolicy")
    reachable = spec.get("type") in ("NodePort", "LoadBalancer") or spec.get("externalIPs")
    if policy and not reachable:
        yield invalid(f"{path}.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    elif policy and policy not in ("Cluster", "Local"):
        yield not_supported(f"{path}.externalTrafficPolicy", policy, ("Cluster", "Local"))
    if spec.get("loadBalancerSourceRanges") and spec.get("type") != "LoadBalancer":
        field = f"{path}.LoadBalancerSourceRanges"
        yield forbidden(field, "may only be used when `type` is 'LoadBalancer'")


SERVICE = at(
    "spec",
    _ports,
    unique_names("ports"),
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


def _load_balancer(service: JSONObject, path: str) -> Causes:
    path = field_path(path, "status.loadBalancer.ingress")
    ingress = objects_at(service, "status", "loadBalancer", "ingress")
    if ingress and text_at(service, "spec", "type") != "LoadBalancer":
        yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, each_ingress in enumerate(ingress):
        yield from _INGRESS(each_ingress, f"{path}[{index}]")


def _ip_mode(ingress: JSONObject, path: str) -> Causes:
    if ingress.get("ip") and "ipMode" not in ingress:
        yield required(f"{path}.ipMode", "must be specified when `ip` is set")
    elif "ipMode" in ingress and not ingress.get("ip"):
        yield forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set")
    elif "ipMode" in ingress:
        yield from one_of("Proxy", "VIP")(ingress["ipMode"], f"{path}.ipMode")


_INGRESS = all_of(at_nonempty("ip", formatted(ip_address)), _ip_mode, at_nonempty("hostname", formatted(dns_subdomain)))
SERVICE_STATUS = _load_balancer


def service_update(new: JSONObject, old: JSONObject, path: str) -> Causes:
    """The cluster IP is immutable once it is allocated."""
    spec, before = object_at(new, "spec"), object_at(old, "spec")
    if "ExternalName" in (spec.get("type"), before.get("type")) or not before.get("clusterIP"):
        return
    # An update without an address keeps the current one.
    address = spec.get("clusterIP") or before["clusterIP"]
    if address != before["clusterIP"]:
        yield invalid(field_path(path, "spec.clusterIPs[0]"), [address], "may not change once set")


# --- endpoints -------------------------------------------------------------------------------------------------------


def _subset(subset: JSONObject, path: str) -> Causes:
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


def _ip_of_family(version: int) -> Check:
    def check(value: str, path: str) -> Causes:
        yield from formatted(ip_address)(value, path)
        address = parsed_ip(value)
        if address and address.version != version:
            yield invalid(path.rpartition("[")[0], value, f"must be an IPv{version} address")

    return check


_ADDRESS_TYPES: Mapping[str, Check] = {
    "IPv4": _ip_of_family(4),
    "IPv6": _ip_of_family(6),
    "FQDN": formatted(dns_subdomain),
}


_MAX_ENDPOINTS, _MAX_ADDRESSES = 1000, 100


def _endpoints(slice_: JSONObject, path: str) -> Causes:
    rule, endpoints = _ADDRESS_TYPES.get(text_at(slice_, "addressType")), objects_at(slice_, "endpoints")
    if len(endpoints) > _MAX_ENDPOINTS:
        yield too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)
        return
    for index, endpoint in enumerate(endpoints):
        field, addresses = f"endpoints[{index}].addresses", texts_at(endpoint, "addresses")
        if not addresses:
            yield required(field, "must contain at least 1 address")
        if len(addresses) > _MAX_ADDRESSES:
            yield too_many(field, len(addresses), _MAX_ADDRESSES)
        for number, address in enumerate(addresses):
            if rule:
                yield from rule(address, f"{field}[{number}]")


ENDPOINT_SLICE = all_of(
    require_fields("addressType"),
    at_nonempty("addressType", one_of("FQDN", "IPv4", "IPv6")),
    each(
        "ports",
        at_nonempty("name", formatted(dns_label)),
        at("protocol", _PROTOCOL),
    ),
    unique_names("ports"),
    _endpoints,
)
