"""Services, endpoints and ingresses in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import LONG_SELECTOR, Sample, Tree, cluster, local


def service(name: str, status: Tree | None = None, **spec: Any) -> Sample:
    return local("v1", "services", name, status, spec={"ports": [{"port": 80}], **spec})


def endpoints(name: str, *subsets: tuple[list[str], list[int]]) -> Sample:
    made = [
        {
            "addresses": [{"ip": address} for address in addresses],
            "ports": [{"name": f"p{port}", "port": port} for port in ports],
        }
        for addresses, ports in subsets
    ]
    return local("v1", "endpoints", name, subsets=made)


def ingress(name: str, *hosts: str, status: Tree | None = None, **spec: Any) -> Sample:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    rules = [
        {"host": host} if host else {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
        for host in hosts
    ]
    return local(
        "networking.k8s.io/v1", "ingresses", name, status, spec={"defaultBackend": backend, "rules": rules, **spec}
    )


BALANCED = {
    "loadBalancer": {"ingress": [{"hostname": "b.example.com"}, {"ip": "192.0.2.7"}, {"hostname": "a.example.com"}]}
}

NETWORKING = [
    service("plain"),
    service("headless", clusterIP="None", selector={"b": "2", "a": "1"}),
    service("external-ips", externalIPs=["192.0.2.1", "192.0.2.2"]),
    service(
        "node-port",
        type="NodePort",
        ports=[
            {"port": 80, "nodePort": 30080, "name": "a"},
            {"port": 53, "protocol": "UDP", "name": "b", "nodePort": 30053},
        ],
    ),
    service("pending", type="LoadBalancer", allocateLoadBalancerNodePorts=False),
    service("balanced", BALANCED, type="LoadBalancer", allocateLoadBalancerNodePorts=False),
    service(
        "balanced-external",
        BALANCED,
        type="LoadBalancer",
        allocateLoadBalancerNodePorts=False,
        externalIPs=["192.0.2.1"],
    ),
    service("name", type="ExternalName", externalName="example.com", ports=[]),
    endpoints("none"),
    endpoints("one", (["10.1.2.3"], [80])),
    endpoints("two-ports", (["10.1.2.3", "10.1.2.4"], [80, 443])),
    endpoints("headless", (["10.1.2.3", "10.1.2.4"], [])),
    endpoints("many", ([f"10.1.2.{number}" for number in range(1, 9)], [80])),
    endpoints("many-headless", ([f"10.1.2.{number}" for number in range(1, 9)], [])),
    endpoints("six", (["fd00::1"], [80]), (["10.1.2.3"], [90])),
    *(
        local(
            "discovery.k8s.io/v1",
            "endpointslices",
            name,
            addressType="IPv4",
            endpoints=[{"addresses": [f"10.1.2.{number}"]} for number in range(1, count + 1)],
            ports=ports,
        )
        for name, count, ports in (
            ("none", 0, []),
            ("one", 1, [{"port": 80}]),
            ("named", 3, [{"name": "http", "port": 80}, {"name": "any"}]),
            ("many", 7, [{"name": f"p{number}", "port": number} for number in range(1, 6)]),
            ("unnamed", 2, [{}]),
        )
    ),
    ingress("plain"),
    ingress("class", "a.example.com", ingressClassName="nginx"),
    ingress("hosts", "a.example.com", "b.example.com", "", "c.example.com", "d.example.com", "e.example.com"),
    ingress("three", "a.example.com", "b.example.com", "c.example.com"),
    ingress("anonymous", "", status=BALANCED),
    ingress("tls", "a.example.com", tls=[{"hosts": ["a.example.com"]}]),
    cluster("networking.k8s.io/v1", "ingressclasses", "table-plain", spec={"controller": "example.com/a"}),
    cluster(
        "networking.k8s.io/v1",
        "ingressclasses",
        "table-default",
        spec={
            "controller": "example.com/a",
            "parameters": {"kind": "Config", "name": "c", "apiGroup": "example.com", "scope": "Cluster"},
        },
        metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
    ),
    cluster(
        "networking.k8s.io/v1",
        "ingressclasses",
        "table-core",
        spec={"controller": "example.com/a", "parameters": {"kind": "ConfigMap", "name": "c", "scope": "Cluster"}},
        metadata={"annotations": {"ingressclass.kubernetes.io/is-default-class": "false"}},
    ),
    local("networking.k8s.io/v1", "networkpolicies", "all", spec={"podSelector": {}}),
    local("networking.k8s.io/v1", "networkpolicies", "some", spec={"podSelector": LONG_SELECTOR}),
    cluster("networking.k8s.io/v1", "servicecidrs", "table-cidrs", spec={"cidrs": ["10.99.0.0/24", "fd99::/112"]}),
    cluster(
        "networking.k8s.io/v1",
        "ipaddresses",
        "10.99.0.7",
        spec={"parentRef": {"resource": "services", "namespace": "default", "name": "a"}},
    ),
    cluster(
        "networking.k8s.io/v1",
        "ipaddresses",
        "10.99.0.8",
        spec={"parentRef": {"group": "example.com", "resource": "things", "name": "a"}},
    ),
]
