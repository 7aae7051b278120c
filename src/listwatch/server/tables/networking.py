"""The tables of services, endpoints, ingresses, network policies and addresses."""

from __future__ import annotations

from collections.abc import Mapping

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import integer_at, objects_at, text_at, texts_at, value_at
from listwatch.server.tables.cells import NONE, UNSET, age, joined, labels, limited, of, present, selector, text
from listwatch.server.tables.columns import AGE, NAME, Column, Table, described, wide

__all__ = ["NETWORKING"]

_SHOWN = 3
_DEFAULT_INGRESS_CLASS = "ingressclass.kubernetes.io/is-default-class"


# --- Services ---------------------------------------------------------------------------------------------------------


def _cluster_ip(service: JSONObject) -> str:
    return next(iter(texts_at(service, "spec", "clusterIPs")), NONE)


def _external_ip(service: JSONObject) -> str:
    addresses = texts_at(service, "spec", "externalIPs")
    match text_at(service, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return ",".join(addresses) or NONE
        case "LoadBalancer":
            return ",".join(filter(None, [_load_balancer(service), *addresses])) or "<pending>"
        case "ExternalName":
            return text_at(service, "spec", "externalName")
        case _:
            return "<unknown>"


def _load_balancer(tree: JSONObject) -> str:
    points = objects_at(tree, "status", "loadBalancer", "ingress")
    return ",".join(sorted({text_at(each, "ip") or text_at(each, "hostname") for each in points} - {""}))


def _service_ports(service: JSONObject) -> str:
    return ",".join(map(_service_port, objects_at(service, "spec", "ports"))) or NONE


def _service_port(port: JSONObject) -> str:
    number, node_port = integer_at(port, "port"), integer_at(port, "nodePort")
    return f"{number}:{node_port}/{text_at(port, 'protocol')}" if node_port else f"{number}/{text_at(port, 'protocol')}"


# --- Endpoints --------------------------------------------------------------------------------------------------------


def _endpoints(endpoints: JSONObject) -> str:
    subsets = objects_at(endpoints, "subsets")
    if not subsets:
        return NONE
    found: list[str] = []
    for subset in subsets:
        addresses = [text_at(each, "ip") for each in objects_at(subset, "addresses")]
        ports = [integer_at(each, "port") for each in objects_at(subset, "ports")]
        found += [_with_port(address, port) for port in ports for address in addresses] if ports else addresses
    return limited(found, _SHOWN)


def _with_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _slice_ports(endpoint_slice: JSONObject) -> str:
    return limited([_slice_port(each) for each in objects_at(endpoint_slice, "ports")], _SHOWN) or UNSET


def _slice_port(port: JSONObject) -> str:
    number, name = port.get("port"), port.get("name")
    return "*" if number is None and name is None else str(name if number is None else number)


def _slice_endpoints(endpoint_slice: JSONObject) -> str:
    endpoints = objects_at(endpoint_slice, "endpoints")
    return limited([address for each in endpoints for address in texts_at(each, "addresses")], _SHOWN) or UNSET


# --- Ingresses and addresses ------------------------------------------------------------------------------------------


def _hosts(ingress: JSONObject) -> str:
    rules = objects_at(ingress, "spec", "rules")
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _SHOWN:
            # Rules without a host are counted, too.
            return f"{','.join(hosts)} + {len(rules) - _SHOWN} more..."
        hosts += filter(None, [text_at(rule, "host")])
    return ",".join(hosts) or "*"


def _ingress_class(tree: JSONObject) -> str:
    name = text_at(tree, "metadata", "name")
    is_default = text_at(tree, "metadata", "annotations", _DEFAULT_INGRESS_CLASS) == "true"
    return f"{name} (default)" if is_default else name


def _parameters(tree: JSONObject) -> str:
    parameters = value_at(tree, "spec", "parameters")
    if not isinstance(parameters, dict):
        return NONE
    kind, group = text_at(parameters, "kind"), parameters.get("apiGroup")
    return f"{kind}{'' if group is None else f'.{group}'}/{text_at(parameters, 'name')}"


def _parent(address: JSONObject) -> str:
    parent = value_at(address, "spec", "parentRef")
    if not isinstance(parent, dict):
        return NONE
    group, resource = text_at(parent, "group"), text_at(parent, "resource")
    place = [(f"{resource}.{group}" if group else resource).lower(), text_at(parent, "namespace")]
    return "/".join([*filter(None, place), text_at(parent, "name")])


# --- Tables -----------------------------------------------------------------------------------------------------------

_spec = "core.v1.ServiceSpec"
_slice = "discovery.v1.EndpointSlice"

NETWORKING: Mapping[tuple[str, str], Table] = {
    ("", "Service"): Table(
        NAME,
        Column("Type", text("spec.type"), described(f"{_spec}.type")),
        Column("Cluster-IP", of(_cluster_ip), described(f"{_spec}.clusterIP")),
        Column("External-IP", of(_external_ip), described(f"{_spec}.externalIPs")),
        Column("Port(s)", of(_service_ports), described(f"{_spec}.ports")),
        AGE,
        wide("Selector", labels("spec.selector"), described(f"{_spec}.selector")),
    ),
    ("", "Endpoints"): Table(NAME, Column("Endpoints", of(_endpoints), described("core.v1.Endpoints.subsets")), AGE),
    ("discovery.k8s.io", "EndpointSlice"): Table(
        NAME,
        Column("AddressType", text("addressType"), described(f"{_slice}.addressType")),
        Column("Ports", of(_slice_ports), described(f"{_slice}.ports")),
        Column("Endpoints", of(_slice_endpoints), described(f"{_slice}.endpoints")),
        AGE,
    ),
    ("networking.k8s.io", "Ingress"): Table(
        NAME,
        Column(
            "Class",
            present("spec.ingressClassName", NONE),
            "The name of the IngressClass resource that should be used for additional configuration",
        ),
        Column("Hosts", of(_hosts), "Hosts that incoming requests are matched against before the ingress rule"),
        Column("Address", of(_load_balancer), "Address is a list containing ingress points for the load-balancer"),
        Column(
            "Ports",
            of(lambda ingress: "80, 443" if objects_at(ingress, "spec", "tls") else "80"),
            "Ports of TLS configurations that open",
        ),
        AGE,
    ),
    ("networking.k8s.io", "IngressClass"): Table(
        Column("Name", of(_ingress_class), NAME.description, format="name"),
        Column("Controller", text("spec.controller"), "Controller that is responsible for handling this class"),
        Column("Parameters", of(_parameters), "A reference to a resource with additional parameters"),
        AGE,
    ),
    ("networking.k8s.io", "NetworkPolicy"): Table(
        NAME,
        Column("Pod-Selector", selector("spec.podSelector"), described("networking.v1.NetworkPolicySpec.podSelector")),
        AGE,
    ),
    ("networking.k8s.io", "ServiceCIDR"): Table(
        NAME, Column("CIDRs", joined("spec.cidrs"), described("networking.v1.ServiceCIDRSpec.cidrs")), AGE
    ),
    # As in kube-apiserver, the rows have the age, for which there is no column.
    ("networking.k8s.io", "IPAddress"): Table(
        NAME,
        Column("ParentRef", of(_parent), described("networking.v1.IPAddressSpec.parentRef")),
        row=lambda address, now: [text_at(address, "metadata", "name"), _parent(address), age(address, now)],
    ),
}
