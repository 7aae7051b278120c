"""Configuration, nodes, events, quotas and objects of the server in many states."""

from __future__ import annotations

from typing import Any

from tests.real.tables.sample import LATER, LONG_AGO, Sample, Tree, cluster, condition, full_condition, local

NODE_INFO = (
    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion"),
    *("kubeProxyVersion", "operatingSystem", "architecture"),
)


def node(name: str, *conditions: Tree, labels: Tree | None = None, info: Tree | None = None, **more: Any) -> Sample:
    spec, addresses = more.pop("spec", {}), more.pop("addresses", [])
    empty = dict.fromkeys(NODE_INFO, "")
    status = {"conditions": list(conditions), "addresses": addresses, "nodeInfo": {**empty, **(info or {})}}
    return cluster("v1", "nodes", name, status, spec=spec, metadata={"labels": labels or {}})


def event(name: str, **fields: Any) -> Sample:
    about = {"kind": "Pod", "name": "web", "namespace": "{namespace}", "fieldPath": "spec.containers{web}"}
    return local("v1", "events", name, **{"involvedObject": about, **fields})


CONFIGURATION = [
    local("v1", "configmaps", "a", data={"a": "1", "b": "2"}, binaryData={"c": "AA=="}),
    local("v1", "configmaps", "empty"),
    local("v1", "secrets", "a", type="example.com/any", data={"a": "eA=="}),
    local("v1", "secrets", "string", stringData={"a": "x", "b": "y"}),
    local("v1", "serviceaccounts", "a"),
    local("v1", "limitranges", "a", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}),
    cluster("v1", "namespaces", "table-namespace"),
    node("table-plain"),
    node(
        "table-ready",
        condition("Ready"),
        labels={
            "node-role.kubernetes.io/worker": "",
            "node-role.kubernetes.io/control-plane": "x",
            "kubernetes.io/role": "db",
        },
        info={
            "kubeletVersion": "v1.36.3",
            "osImage": "Debian GNU/Linux 13",
            "kernelVersion": "6.12",
            "containerRuntimeVersion": "containerd://2.1",
            "architecture": "amd64",
        },
        addresses=[
            {"type": "Hostname", "address": "n"},
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "InternalIP", "address": "10.0.0.2"},
            {"type": "ExternalIP", "address": "192.0.2.1"},
        ],
    ),
    node("table-cordoned", condition("Ready", "False"), spec={"unschedulable": True}, info={"architecture": "arm64"}),
    node("table-unknown", condition("Ready", "Unknown"), labels={"kubernetes.io/role": ""}),
    event("plain"),
    event(
        "core",
        type="Warning",
        reason="Failed",
        message="\n it failed \n",
        count=3,
        firstTimestamp=LONG_AGO,
        lastTimestamp=LATER,
    ),
    event("source", source={"component": "kubelet", "host": "n1"}, firstTimestamp=LONG_AGO),
    event("component", source={"component": "scheduler"}),
    event(
        "series",
        eventTime="2020-02-03T04:05:06.000007Z",
        series={"count": 9, "lastObservedTime": "2021-02-03T04:05:06.000007Z"},
        reportingComponent="example.com/me",
        reportingInstance="me-0",
        action="Start",
        reason="Started",
        type="Normal",
    ),
    event("nameless", involvedObject={"kind": "Pod", "namespace": "{namespace}"}, reportingComponent="c"),
    local("v1", "resourcequotas", "plain", spec={"hard": {"pods": "1"}}),
    local(
        "v1",
        "resourcequotas",
        "used",
        {
            "hard": {"pods": "10", "limits.cpu": "4", "requests.cpu": "1500m", "limits.memory": "1Gi", "count/a": "1k"},
            "used": {"pods": "3", "limits.cpu": "500m", "requests.cpu": "1", "limits.memory": "1000Ki"},
        },
        spec={"hard": {"pods": "10"}},
    ),
    local("coordination.k8s.io/v1", "leases", "a", spec={"holderIdentity": "me"}),
    local("coordination.k8s.io/v1", "leases", "free"),
    local(
        "coordination.k8s.io/v1beta1",
        "leasecandidates",
        "a",
        spec={
            "leaseName": "l",
            "binaryVersion": "1.36.0",
            "emulationVersion": "1.35.0",
            "strategy": "OldestEmulationVersion",
            # The real server deletes expired ones.
            "renewTime": "2100-01-01T00:00:00.000000Z",
        },
    ),
    cluster("node.k8s.io/v1", "runtimeclasses", "table-class", handler="runc"),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        "table-b",
        {"conditions": [full_condition("Dangling", "False")]},
        spec={
            "priorityLevelConfiguration": {"name": "exempt"},
            "matchingPrecedence": 9000,
            "distinguisherMethod": {"type": "ByUser"},
        },
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        "table-a",
        {"conditions": [full_condition("Dangling", "True")]},
        spec={"priorityLevelConfiguration": {"name": "table-none"}, "matchingPrecedence": 9500},
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "prioritylevelconfigurations",
        "table-reject",
        spec={"type": "Limited", "limited": {"nominalConcurrencyShares": 7, "limitResponse": {"type": "Reject"}}},
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "prioritylevelconfigurations",
        "table-queue",
        spec={
            "type": "Limited",
            "limited": {
                "limitResponse": {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 3}}
            },
        },
    ),
    cluster("internal.apiserver.k8s.io/v1alpha1", "storageversions", "table.example.com.things", spec={}),
    cluster(
        "internal.apiserver.k8s.io/v1alpha1",
        "storageversions",
        "table.example.com.others",
        {
            "commonEncodingVersion": "v1",
            "storageVersions": [
                {"apiServerID": f"server-{number}", "encodingVersion": "v1", "decodableVersions": ["v1"]}
                for number in range(5)
            ],
        },
        spec={},
    ),
    cluster(
        "storagemigration.k8s.io/v1beta1",
        "storageversionmigrations",
        "table-migration",
        spec={"resource": {"resource": "configmaps"}},
    ),
    cluster(
        "storagemigration.k8s.io/v1beta1",
        "storageversionmigrations",
        "table-running",
        {"conditions": [full_condition("Succeeded", "False"), full_condition("Running")], "resourceVersion": "5"},
        spec={"resource": {"group": "apps", "resource": "deployments"}},
    ),
]
