"""The objects of simulated nodes: Node, its status, and its Lease."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from listwatch.json_value import JSON, JSONObject
from listwatch.models.core_v1 import Node
from listwatch.simulation.options import NodeGroup
from listwatch.simulation.pod_state import timestamp

__all__ = ["LEASE_NAMESPACE", "host_ip", "lease_of", "micro_time", "node_objects", "pod_network", "ready_status"]

LEASE_NAMESPACE = "kube-node-lease"

_LEASE_SECONDS = 40
_VERSION = "v1.36.3"
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def node_objects(group: NodeGroup) -> Iterator[JSONObject]:
    """The Nodes of a group, without a status."""
    for number in range(group.count):
        name = f"{group.name}-{number}"
        labels: JSONObject = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            **(group.labels or {}),
        }
        if group.zones:
            labels["topology.kubernetes.io/zone"] = group.zones[number % len(group.zones)]
        amounts: JSONObject = {
            "cpu": group.cpu,
            "memory": group.memory,
            "pods": str(group.pods),
            "ephemeral-storage": "1Ti",
        }
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [dict(taint) for taint in group.taints]} if group.taints else {},
            "status": {"capacity": amounts, "allocatable": amounts},
        }


def pod_network(number: int) -> str:
    """The first two bytes behind 10. of the addresses of a node's pods: `10.244.3.` for node 3."""
    return f"10.{244 + number // 256 % 8}.{number % 256}."


def host_ip(number: int) -> str:
    """The address of a node."""
    return f"172.18.{number // 250 % 250}.{number % 250 + 2}"


def ready_status(node: Node, number: int, now: datetime) -> JSONObject:
    """The status of a node whose kubelet runs, as a merge patch of the Node's status."""
    old = {each.type: each for each in node.status.conditions}

    def condition(type: str, status: str, reason: str, message: str) -> JSON:
        known = old.get(type)
        changed = known is None or known.status != status or known.last_transition_time is None
        since = now if changed or known is None or known.last_transition_time is None else known.last_transition_time
        return {
            "type": type,
            "status": status,
            "lastHeartbeatTime": timestamp(now),
            "lastTransitionTime": timestamp(since),
            "reason": reason,
            "message": message,
        }

    conditions = [condition(type, "False", *texts) for type, texts in _PRESSURES.items()]
    conditions.append(condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    others: list[JSON] = [each.to_dict() for type, each in old.items() if type not in {*_PRESSURES, "Ready"}]
    status: JSONObject = {
        "conditions": [*others, *conditions],
        "addresses": [
            {"type": "InternalIP", "address": host_ip(number)},
            {"type": "Hostname", "address": node.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": node.uid,
            "containerRuntimeVersion": "containerd://2.1.0",
            "kernelVersion": "6.12.0",
            "kubeProxyVersion": "",
            "kubeletVersion": _VERSION,
            "machineID": node.uid.replace("-", ""),
            "operatingSystem": "linux",
            "osImage": "simulated",
            "systemUUID": node.uid,
        },
    }
    if not node.status.allocatable:
        amounts: JSONObject = {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti"}
        capacity: JSONObject = {**node.status.capacity} if node.status.capacity else amounts
        status |= {"capacity": capacity, "allocatable": capacity}
    return status


def micro_time(at: datetime) -> str:
    """A time as Leases have it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def lease_of(node: Node, now: datetime) -> JSONObject:
    """The Lease that a kubelet renews."""
    owner: JSON = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
    return {
        "metadata": {"name": node.name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": node.name,
            "leaseDurationSeconds": _LEASE_SECONDS,
            "renewTime": micro_time(now),
        },
    }
