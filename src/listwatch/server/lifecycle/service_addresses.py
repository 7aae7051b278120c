"""Allocates the cluster IPs and node ports of Services.

    ClusterIP       an address
    NodePort        an address, and a node port for each of its ports
    LoadBalancer    the same, and a node port for health checks if externalTrafficPolicy is Local
    ExternalName    nothing

A Service keeps what was allocated to it. Free addresses and ports are found by scanning all Services. The cluster has
one address family, IPv4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, ip_address
from itertools import chain

import msgspec

from listwatch.errors import InternalServerError, InvalidError
from listwatch.json_value import JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import ensure_object, integer_at, object_at, objects_at, text_at, texts_at
from listwatch.server.storage.values import Stored

__all__ = ["SERVICES", "SERVICE_RANGE", "assign_addresses"]

SERVICES = "/services"
"""The resource of Services in the storage."""

SERVICE_RANGE = IPv4Network("10.96.0.0/16")
"""The addresses of Services; the first is that of the API server."""

_NODE_PORTS = range(30000, 32768)
_HEADLESS = "None"
_OTHER_FAMILY = {"IPv4": "IPv6", "IPv6": "IPv4"}


class _Port(msgspec.Struct, rename="camel", gc=False):
    node_port: int = 0


class _Spec(msgspec.Struct, gc=False):
    addresses: list[str] = msgspec.field(name="clusterIPs", default_factory=list)
    ports: list[_Port] = []  # msgspec copies it for each object
    health_port: int = msgspec.field(name="healthCheckNodePort", default=0)


class _Service(msgspec.Struct, gc=False):
    spec: _Spec


_services = msgspec.json.Decoder(_Service)


def assign_addresses(service: JSONObject, old: JSONObject | None, present: Iterable[Stored]) -> None:
    """Complete a Service that is about to be stored; raises InvalidError for values that cannot be allocated."""
    spec, before = ensure_object(service, "spec"), object_at(old, "spec")
    if old:
        _keep_allocated(spec, before)
        _release_unused(spec, before)
        if spec["type"] != "LoadBalancer" and before.get("type") == "LoadBalancer":
            service["status"] = {**object_at(service, "status"), "loadBalancer": {}}
    elif spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if not _has_addresses(spec):
        return
    _choose_families(service, before)
    allocator = _Allocator(service, present)
    if not _is_headless(spec) and not (_has_addresses(before) and before.get("clusterIPs")):
        address = allocator.address(texts_at(spec, "clusterIPs"))
        spec["clusterIPs"], spec["clusterIP"] = [address], address
    _allocate_ports(spec, allocator)


# --- What a Service needs ---------------------------------------------------------------------------------------------


def _has_addresses(spec: JSONObject) -> bool:
    return spec.get("type", "ExternalName") != "ExternalName"


def _has_node_ports(spec: JSONObject) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _has_health_port(spec: JSONObject) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _is_reachable_from_outside(spec: JSONObject) -> bool:
    return _has_node_ports(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _is_headless(spec: JSONObject) -> bool:
    return texts_at(spec, "clusterIPs")[:1] == [_HEADLESS]


# --- Updates ----------------------------------------------------------------------------------------------------------


def _keep_allocated(spec: JSONObject, before: JSONObject) -> None:
    """Restore allocated values that an update omits."""
    if _has_addresses(spec) and _has_addresses(before):
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
    if spec.get("clusterIP", "") != before.get("clusterIP", "") and spec.get("clusterIPs") == before.get("clusterIPs"):
        # Older clients change clusterIP only.
        spec["clusterIPs"] = [spec["clusterIP"]] if spec.get("clusterIP") else []
    if _has_node_ports(spec) and _has_node_ports(before):
        _keep_node_ports(spec, before)
    if _has_health_port(spec) and _has_health_port(before) and "healthCheckNodePort" in before:
        spec.setdefault("healthCheckNodePort", before["healthCheckNodePort"])


def _keep_node_ports(spec: JSONObject, before: JSONObject) -> None:
    named = {text_at(port, "name"): port["nodePort"] for port in objects_at(before, "ports") if "nodePort" in port}
    used = {integer_at(port, "nodePort") for port in objects_at(spec, "ports")}
    for port in objects_at(spec, "ports"):
        had = named.get(text_at(port, "name"))
        if not port.get("nodePort") and had and had not in used:
            port["nodePort"] = had


def _release_unused(spec: JSONObject, before: JSONObject) -> None:
    """Drop what the new type does not need; validation rejects such values if the update changes them."""
    if not _has_addresses(spec) and _has_addresses(before):
        _drop_same(spec, before, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
    if not _has_node_ports(spec) and _has_node_ports(before) and _node_ports(spec) <= _node_ports(before):
        for port in objects_at(spec, "ports"):
            port.pop("nodePort", None)
    if not _has_health_port(spec) and _has_health_port(before):
        _drop_same(spec, before, "healthCheckNodePort")
    if spec["type"] != "LoadBalancer" and before["type"] == "LoadBalancer":
        _drop_same(spec, before, "allocateLoadBalancerNodePorts", "loadBalancerClass")
    if not _is_reachable_from_outside(spec) and _is_reachable_from_outside(before):
        _drop_same(spec, before, "externalTrafficPolicy")


def _drop_same(spec: JSONObject, before: JSONObject, *names: str) -> None:
    for name in names:
        if name in spec and spec[name] == before.get(name):
            del spec[name]


def _node_ports(spec: JSONObject) -> set[int]:
    return {integer_at(port, "nodePort") for port in objects_at(spec, "ports") if port.get("nodePort")}


# --- Address families -------------------------------------------------------------------------------------------------


def _choose_families(service: JSONObject, before: JSONObject) -> None:
    spec = ensure_object(service, "spec")
    has_no_addresses = spec.get("clusterIP") == _HEADLESS and not spec.get("selector")
    default = "RequireDualStack" if has_no_addresses else "SingleStack"
    policy = spec.setdefault("ipFamilyPolicy", before.get("ipFamilyPolicy", default))
    families = texts_at(spec, "ipFamilies") or texts_at(before, "ipFamilies") or [_family(spec)]
    if has_no_addresses:
        # It gets both families even if the cluster has only one.
        wants_both = policy != "SingleStack" and len(families) == 1
        spec["ipFamilies"] = [*families, _OTHER_FAMILY[families[0]]] if wants_both else [*families]
        return
    problems = []
    if policy == "RequireDualStack":
        problems.append(
            invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
        )
    for index, family in enumerate(families):
        if family != "IPv4":
            problems.append(invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    if problems:
        raise InvalidError.of("Service", text_at(service, "metadata", "name"), problems)
    spec["ipFamilies"] = [*families]


def _family(spec: JSONObject) -> str:
    requested = (texts_at(spec, "clusterIPs") or [""])[0]
    return "IPv6" if ":" in requested else "IPv4"


# --- Allocation -------------------------------------------------------------------------------------------------------


class _Allocator:
    """Allocates addresses and node ports that no other Service has."""

    def __init__(self, service: JSONObject, present: Iterable[Stored]) -> None:
        self._name = text_at(service, "metadata", "name")
        own = ObjectKey(text_at(service, "metadata", "namespace"), self._name)
        others = [_services.decode(stored.value).spec for stored in present if stored.key != own]
        self._addresses = set(chain.from_iterable(spec.addresses for spec in others))
        self._ports = set(chain.from_iterable(_ports_of(spec) for spec in others))

    def address(self, requested: list[str]) -> str:
        """Return the requested address, or else the first free one."""
        if not requested:
            hosts = map(str, SERVICE_RANGE.hosts())
            next(hosts)  # that of the API server
            return next(host for host in hosts if host not in self._addresses)
        problem = ""
        if requested[0] in self._addresses:
            problem = "provided IP is already allocated"
        elif not _is_in_range(requested[0]):
            problem = "the provided network does not match the current range"
        if problem:
            cause = invalid("spec.clusterIPs", [*requested], f"failed to allocate IP {requested[0]}: {problem}")
            raise InvalidError.of("Service", self._name, [cause])
        return requested[0]

    def port(self, requested: int, field: str) -> int:
        """Return the requested node port, or else the first free one."""
        if not requested:
            requested = next((port for port in _NODE_PORTS if port not in self._ports), 0)
            if not requested:
                raise InternalServerError("Internal error occurred: failed to allocate a nodePort: range is full")
        problem = ""
        if requested in self._ports:
            problem = "provided port is already allocated"
        elif requested not in _NODE_PORTS:
            first, last = _NODE_PORTS[0], _NODE_PORTS[-1]
            problem = f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
        if problem:
            raise InvalidError.of("Service", self._name, [invalid(field, requested, problem)])
        self._ports.add(requested)
        return requested


def _is_in_range(text: str) -> bool:
    try:
        return ip_address(text) in SERVICE_RANGE
    except ValueError:
        return True  # validation rejects what is not an address


def _ports_of(spec: _Spec) -> Iterator[int]:
    yield from (port.node_port for port in spec.ports)
    yield spec.health_port


def _allocate_ports(spec: JSONObject, allocator: _Allocator) -> None:
    if _has_node_ports(spec):
        wants_all = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
        allocated: dict[int, int] = {}
        for index, port in enumerate(objects_at(spec, "ports")):
            requested, number = integer_at(port, "nodePort"), integer_at(port, "port")
            if not requested and not wants_all:
                continue
            # One port number with two protocols gets one node port.
            if number in allocated and requested in (0, allocated[number]):
                port["nodePort"] = allocated[number]
                continue
            port["nodePort"] = allocated[number] = allocator.port(requested, f"spec.ports[{index}].nodePort")
    if _has_health_port(spec):
        requested = integer_at(spec, "healthCheckNodePort")
        spec["healthCheckNodePort"] = allocator.port(requested, "spec.healthCheckNodePort")
