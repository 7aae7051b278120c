"""The allocation of addresses and node ports: each belongs to one Service until that is deleted."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.bare_server import BareServer, Tree

from listwatch.errors import InvalidError
from listwatch.meta import ObjectKey
from listwatch.server.json_tree import copied
from listwatch.server.lifecycle.service_addresses import assign_addresses
from listwatch.server.storage.values import Stored

SERVICES = "/api/v1/namespaces/default/services"


def service(name: str = "a", **spec: Tree) -> Tree:
    spec = {"type": "ClusterIP", "ports": [{"port": 80}], "selector": {"app": "web"}, **spec}
    return {"kind": "Service", "metadata": {"name": name, "namespace": "default"}, "spec": spec, "status": {}}


def stored(tree: Tree) -> Stored:
    metadata = tree["metadata"]
    return Stored(ObjectKey(metadata["namespace"], metadata["name"]), msgspec.json.encode(tree), 1)


def assigned(tree: Tree, old: Tree | None = None, others: tuple[Tree, ...] = ()) -> Tree:
    tree = copied(tree)
    assign_addresses(tree, old, map(stored, [*others, *([old] if old else [])]))
    return tree


def refusal(tree: Tree, *others: Tree, old: Tree | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InvalidError) as caught:
        assigned(tree, old, others)
    return [(cause.field, cause.message) for cause in caught.value.causes]


# --- addresses --------------------------------------------------------------------------------------------------------


def test_the_first_free_address_is_allocated():
    first = assigned(service("a"))
    second = assigned(service("b"), others=(first,))
    third = assigned(service("c"), others=(second,))
    assert [each["spec"]["clusterIP"] for each in (first, second, third)] == ["10.96.0.2", "10.96.0.3", "10.96.0.2"]


def test_a_requested_address_is_allocated_once():
    first = assigned(service("a", clusterIP="10.96.7.7"))
    assert first["spec"]["clusterIPs"] == ["10.96.7.7"]
    [(field, message)] = refusal(service("b", clusterIP="10.96.7.7"), first)
    assert field == "spec.clusterIPs"
    assert message.endswith("failed to allocate IP 10.96.7.7: provided IP is already allocated")


def test_an_address_of_another_network_is_rejected():
    [(field, message)] = refusal(service(clusterIP="192.168.0.1"))
    assert (field, "does not match the current range" in message) == ("spec.clusterIPs", True)


@pytest.mark.parametrize(
    ("spec", "policy", "families"),
    [
        ({}, "SingleStack", ["IPv4"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4"]),
        ({"clusterIP": "None"}, "SingleStack", ["IPv4"]),
        ({"clusterIP": "None", "selector": {}}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"clusterIP": "None", "selector": {}, "ipFamilyPolicy": "SingleStack"}, "SingleStack", ["IPv4"]),
        ({"clusterIP": "None", "selector": {}, "ipFamilies": ["IPv6"]}, "RequireDualStack", ["IPv6", "IPv4"]),
    ],
)
def test_the_cluster_has_one_family(spec: Tree, policy: str, families: list[str]):
    found = assigned(service(**spec))["spec"]
    assert (found["ipFamilyPolicy"], found["ipFamilies"]) == (policy, families)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"ipFamilyPolicy": "RequireDualStack"}, "spec.ipFamilyPolicy"),
        ({"ipFamilies": ["IPv6"]}, "spec.ipFamilies[0]"),
        ({"clusterIP": "fd00::1"}, "spec.ipFamilies[0]"),
    ],
)
def test_address_families_that_the_cluster_lacks_are_rejected(spec: Tree, field: str):
    assert [found for found, _ in refusal(service(**spec))] == [field]


def test_an_external_name_service_gets_no_address():
    tree = service(type="ExternalName", externalName="example.com")
    assert assigned(tree) == tree


# --- ports ------------------------------------------------------------------------------------------------------------


def ports(tree: Tree) -> list[int]:
    return [port.get("nodePort", 0) for port in tree["spec"]["ports"]]


def test_every_port_gets_a_node_port():
    found = assigned(service(type="NodePort", ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]))
    assert ports(found) == [30000, 30001]


def test_one_port_number_with_two_protocols_gets_one_node_port():
    both = [{"port": 53, "protocol": "TCP", "name": "t"}, {"port": 53, "protocol": "UDP", "name": "u"}]
    assert ports(assigned(service(type="NodePort", ports=both))) == [30000, 30000]


def test_a_load_balancer_may_have_no_node_ports():
    assert ports(assigned(service(type="LoadBalancer"))) == [30000]
    assert ports(assigned(service(type="LoadBalancer", allocateLoadBalancerNodePorts=False))) == [0]


def test_a_load_balancer_with_local_traffic_gets_a_health_check_port():
    found = assigned(service(type="LoadBalancer", externalTrafficPolicy="Local"))
    assert (ports(found), found["spec"]["healthCheckNodePort"]) == ([30000], 30001)
    again = assigned(service("b", type="NodePort", ports=[{"port": 80}, {"port": 81}]), others=(found,))
    assert ports(again) == [30002, 30003]


@pytest.mark.parametrize(
    ("requested", "message"),
    [(30000, "provided port is already allocated"), (80, "provided port is not in the valid range")],
)
def test_a_node_port_that_is_taken_or_out_of_range_is_rejected(requested: int, message: str):
    first = assigned(service("a", type="NodePort"))
    tree = service("b", type="NodePort", ports=[{"port": 80, "nodePort": requested}])
    [(field, message)] = refusal(tree, first)
    assert field == "spec.ports[0].nodePort"
    assert message in message


# --- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_an_update_keeps_what_was_allocated(kind: str):
    old = assigned(service(type=kind, externalTrafficPolicy="Local"))
    again = assigned(service(type=kind, externalTrafficPolicy="Local"), old)
    assert again["spec"] == old["spec"]


def test_a_port_of_the_same_name_keeps_its_node_port():
    old = assigned(service(type="NodePort", ports=[{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]))
    new = assigned(service(type="NodePort", ports=[{"port": 8080, "name": "b"}, {"port": 80, "name": "new"}]), old)
    assert ports(new) == [30001, 30000]


def test_a_service_of_another_type_releases_its_addresses_and_ports():
    old = assigned(service(type="LoadBalancer", externalTrafficPolicy="Local"))
    old["status"] = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    inner = assigned({**copied(old), "spec": {**old["spec"], "type": "ClusterIP"}}, old)
    assert inner["status"] == {"loadBalancer": {}}
    assert ports(inner) == [0]
    assert not {"healthCheckNodePort", "externalTrafficPolicy"} & inner["spec"].keys()
    assert inner["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    elsewhere = assigned({**copied(inner), "spec": {**inner["spec"], "type": "ExternalName"}}, inner)
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & elsewhere["spec"].keys()
    back = assigned({**copied(elsewhere), "spec": {**elsewhere["spec"], "type": "ClusterIP"}}, elsewhere)
    assert back["spec"]["clusterIP"]


def test_a_change_of_cluster_ip_changes_cluster_ips():
    old = assigned(service())
    new = assigned({**copied(old), "spec": {**old["spec"], "clusterIP": "10.96.9.9"}}, old)
    assert new["spec"]["clusterIPs"] == ["10.96.9.9"]  # validation rejects it


# --- many -------------------------------------------------------------------------------------------------------------

TYPES = st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])
STEPS = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | TYPES), max_size=12)


@given(STEPS)
def test_no_two_services_have_the_same_address_or_port(steps: list[tuple[str, str | None]]):
    server = BareServer()
    for name, kind in steps:
        is_there = name in server.names(SERVICES)
        if kind is None:
            if is_there:
                server.delete(f"{SERVICES}/{name}")
            continue
        body = {"metadata": {"name": name}, "spec": {"type": kind, "ports": [{"port": 80}]}}
        if kind == "ExternalName":
            body["spec"]["externalName"] = "example.com"
        server.call("PUT", f"{SERVICES}/{name}", body)
        specs = [item["spec"] for item in server.get(SERVICES)["items"]]
        given_out = [spec["clusterIP"] for spec in specs if "clusterIP" in spec]
        numbers = [port["nodePort"] for spec in specs for port in spec["ports"] if "nodePort" in port]
        assert len(set(given_out)) == len(given_out) == sum(spec["type"] != "ExternalName" for spec in specs)
        assert len(set(numbers)) == len(numbers) == sum(spec["type"] in ("NodePort", "LoadBalancer") for spec in specs)
