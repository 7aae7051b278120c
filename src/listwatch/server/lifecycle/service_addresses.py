"""Gives services their addresses in the cluster and their ports on its nodes, each to one service at a time.

    ClusterIP       an address
    NodePort        an address, and a port of every node for each of its ports
    LoadBalancer    the same, and one more to ask for its health where traffic stays on a node
    ExternalName    nothing

What a service has been given stays with it; what is free is found by looking at all services there are. The cluster
has one family of addresses, IPv4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, ip_address
from itertools import chain

import msgspec

from listwatch.errors import InternalServerError, InvalidError
from listwatch.meta import ObjectKey
from listwatch.server.field_errors import invalid
from listwatch.server.json_tree import Tree
from listwatch.server.storage.values import Stored

__all__ = ["SERVICES", "assign_addresses"]

SERVICES = "/services"
"""What the storage calls them."""

_RANGE = IPv4Network("10.96.0.0/16")
_NODE_PORTS = range(30000, 32768)
_HEADLESS = "None"
_OTHER_FAMILY = {"IPv4": "IPv6", "IPv6": "IPv4"}


class _Port(msgspec.Struct, rename="camel", gc=False):
    node_port: int = 0


class _Spec(msgspec.Struct, gc=False):
    addresses: list[str] = msgspec.field(name="clusterIPs", default_factory=list)
    ports: list[_Port] = []  # msgspec copies it for each
    health_port: int = msgspec.field(name="healthCheckNodePort", default=0)


class _Service(msgspec.Struct, gc=False):
    spec: _Spec


_services = msgspec.json.Decoder(_Service)


def assign_addresses(service: Tree, old: Tree | None, present: Iterable[Stored]) -> None:
    """Complete a service that is about to be written; raises InvalidError for what it asks for and cannot have."""
    spec, before = service["spec"], old["spec"] if old else {}
    if old:
        _keep_what_it_has(spec, before)
        _drop_what_it_no_longer_needs(spec, before)
        if spec["type"] != "LoadBalancer":
            service["status"] = {**service.get("status", {}), "loadBalancer": {}}
    elif spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    if not _has_addresses(spec):
        return
    _choose_families(service, before)
    taken = _Taken(service, present)
    if not _is_headless(spec) and not (_has_addresses(before) and before.get("clusterIPs")):
        spec["clusterIPs"] = [taken.address(spec.get("clusterIPs") or [])]
        spec["clusterIP"] = spec["clusterIPs"][0]
    _give_ports(spec, taken)


# --- What a service needs ---------------------------------------------------------------------------------------------


def _has_addresses(spec: Tree) -> bool:
    return bool(spec.get("type", "ExternalName") != "ExternalName")


def _has_node_ports(spec: Tree) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _has_health_port(spec: Tree) -> bool:
    return bool(spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local")


def _is_reachable_from_outside(spec: Tree) -> bool:
    return _has_node_ports(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _is_headless(spec: Tree) -> bool:
    return bool(spec.get("clusterIPs")) and spec["clusterIPs"][0] == _HEADLESS


# --- An update --------------------------------------------------------------------------------------------------------


def _keep_what_it_has(spec: Tree, before: Tree) -> None:
    """What an update does not say stays as it was."""
    if _has_addresses(spec) and _has_addresses(before):
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
    if spec.get("clusterIP", "") != before.get("clusterIP", "") and spec.get("clusterIPs") == before.get("clusterIPs"):
        # Older clients know the one field and not the other.
        spec["clusterIPs"] = [spec["clusterIP"]] if spec.get("clusterIP") else []
    if _has_node_ports(spec) and _has_node_ports(before):
        _keep_node_ports(spec, before)
    if _has_health_port(spec) and _has_health_port(before) and "healthCheckNodePort" in before:
        spec.setdefault("healthCheckNodePort", before["healthCheckNodePort"])


def _keep_node_ports(spec: Tree, before: Tree) -> None:
    named = {port.get("name", ""): port["nodePort"] for port in before.get("ports", ()) if "nodePort" in port}
    used = {port.get("nodePort") for port in spec.get("ports", ())}
    for port in spec.get("ports", ()):
        had = named.get(port.get("name", ""))
        if not port.get("nodePort") and had and had not in used:
            port["nodePort"] = had


def _drop_what_it_no_longer_needs(spec: Tree, before: Tree) -> None:
    """Of another type, a service gives back what it was given; what the update changes itself is for the rules."""
    if not _has_addresses(spec) and _has_addresses(before):
        _drop_same(spec, before, "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
    if not _has_node_ports(spec) and _has_node_ports(before) and _node_ports(spec) <= _node_ports(before):
        for port in spec.get("ports", ()):
            port.pop("nodePort", None)
    if not _has_health_port(spec) and _has_health_port(before):
        _drop_same(spec, before, "healthCheckNodePort")
    if spec["type"] != "LoadBalancer" and before["type"] == "LoadBalancer":
        _drop_same(spec, before, "allocateLoadBalancerNodePorts", "loadBalancerClass")
    if not _is_reachable_from_outside(spec) and _is_reachable_from_outside(before):
        _drop_same(spec, before, "externalTrafficPolicy")


def _drop_same(spec: Tree, before: Tree, *names: str) -> None:
    for name in names:
        if name in spec and spec[name] == before.get(name):
            del spec[name]


def _node_ports(spec: Tree) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")}


# --- Families ---------------------------------------------------------------------------------------------------------


def _choose_families(service: Tree, before: Tree) -> None:
    spec = service["spec"]
    is_for_anybody = spec.get("clusterIP") == _HEADLESS and not spec.get("selector")
    default = "RequireDualStack" if is_for_anybody else "SingleStack"
    policy = spec.setdefault("ipFamilyPolicy", before.get("ipFamilyPolicy", default))
    families = spec.get("ipFamilies") or before.get("ipFamilies") or [_family(spec)]
    if is_for_anybody:
        # It has no addresses of its own, so the cluster need not have both families.
        wants_both = policy != "SingleStack" and len(families) == 1
        spec["ipFamilies"] = [*families, _OTHER_FAMILY[families[0]]] if wants_both else families
        return
    problems = (
        []
        if policy != "RequireDualStack"
        else [invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")]
    )
    for index, family in enumerate(families):
        if family != "IPv4":
            problems.append(invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    if problems:
        raise InvalidError.of("Service", service["metadata"].get("name", ""), problems)
    spec["ipFamilies"] = families


def _family(spec: Tree) -> str:
    asked = (spec.get("clusterIPs") or [""])[0]
    return "IPv6" if ":" in asked else "IPv4"


# --- What is free -----------------------------------------------------------------------------------------------------


class _Taken:
    """What other services have, and what this one gets."""

    def __init__(self, service: Tree, present: Iterable[Stored]) -> None:
        metadata = service["metadata"]
        self._name = metadata.get("name", "")
        own = ObjectKey(metadata.get("namespace", ""), self._name)
        others = [_services.decode(stored.value).spec for stored in present if stored.key != own]
        self._addresses = set(chain.from_iterable(spec.addresses for spec in others))
        self._ports = set(chain.from_iterable(_ports_of(spec) for spec in others))

    def address(self, asked: list[str]) -> str:
        """That which was asked for, if any, or else the first that is free."""
        if not asked:
            # The first one of the range is the server's own.
            hosts = map(str, _RANGE.hosts())
            next(hosts)
            return next(host for host in hosts if host not in self._addresses)
        problem = ""
        if asked[0] in self._addresses:
            problem = "provided IP is already allocated"
        elif not _is_in_range(asked[0]):
            problem = "the provided network does not match the current range"
        if problem:
            cause = invalid("spec.clusterIPs", asked, f"failed to allocate IP {asked[0]}: {problem}")
            raise InvalidError.of("Service", self._name, [cause])
        return asked[0]

    def port(self, asked: int, field: str) -> int:
        """The same for a port of the nodes."""
        if not asked:
            asked = next((port for port in _NODE_PORTS if port not in self._ports), 0)
            if not asked:
                raise InternalServerError("Internal error occurred: failed to allocate a nodePort: range is full")
        problem = ""
        if asked in self._ports:
            problem = "provided port is already allocated"
        elif asked not in _NODE_PORTS:
            first, last = _NODE_PORTS[0], _NODE_PORTS[-1]
            problem = f"provided port is not in the valid range. The range of valid ports is {first}-{last}"
        if problem:
            raise InvalidError.of("Service", self._name, [invalid(field, asked, problem)])
        self._ports.add(asked)
        return asked


def _is_in_range(text: str) -> bool:
    try:
        return ip_address(text) in _RANGE
    except ValueError:
        return True  # what is no address at all is for the rules to say


def _ports_of(spec: _Spec) -> Iterator[int]:
    yield from (port.node_port for port in spec.ports)
    yield spec.health_port


def _give_ports(spec: Tree, taken: _Taken) -> None:
    if _has_node_ports(spec):
        wants_all = spec["type"] == "NodePort" or spec.get("allocateLoadBalancerNodePorts", True)
        given: dict[int, int] = {}
        for index, port in enumerate(spec.get("ports", ())):
            asked = port.get("nodePort") or 0
            if not asked and not wants_all:
                continue
            # One number for two protocols gets one port of the nodes.
            if port["port"] in given and asked in (0, given[port["port"]]):
                port["nodePort"] = given[port["port"]]
                continue
            port["nodePort"] = given[port["port"]] = taken.port(asked, f"spec.ports[{index}].nodePort")
    if _has_health_port(spec):
        spec["healthCheckNodePort"] = taken.port(spec.get("healthCheckNodePort") or 0, "spec.healthCheckNodePort")
