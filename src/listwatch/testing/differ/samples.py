"""Objects that a real server takes, one of each kind that is played with. `generation` makes variants of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Kind"]

Tree = Any


@dataclass(frozen=True)
class Kind:
    """A resource, what its objects hold beside metadata, and its subresources that are played with."""

    version: str
    plural: str
    kind: str
    fields: Tree
    field_selectors: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return f"{root}/namespaces/{{namespace}}/{self.plural}"


_CONTAINER = {
    "name": "web",
    "image": "web:1",
    "ports": [{"containerPort": 80, "name": "http"}],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
}
_POD = {
    "containers": [_CONTAINER],
    "volumes": [{"name": "data", "emptyDir": {}}],
    "tolerations": [{"key": "spot", "operator": "Exists"}],
}
_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": _POD}
_SELECTOR = {"matchLabels": {"app": "web"}}

KINDS = (
    Kind("v1", "configmaps", "ConfigMap", {"data": {"key": "value", "other": "text"}, "binaryData": {"b": "AAEC"}}),
    Kind("v1", "secrets", "Secret", {"type": "Opaque", "data": {"key": "dmFsdWU="}}, ("type=Opaque",)),
    Kind(
        "v1",
        "pods",
        "Pod",
        {"spec": _POD},
        ("spec.nodeName=", "status.phase=Pending", "spec.restartPolicy!=Always"),
        ("status", "eviction", "ephemeralcontainers"),
    ),
    Kind(
        "v1",
        "services",
        "Service",
        {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}},
        ("spec.type=ClusterIP",),
        ("status",),
    ),
    Kind("v1", "serviceaccounts", "ServiceAccount", {"automountServiceAccountToken": False}),
    Kind(
        "apps/v1",
        "deployments",
        "Deployment",
        {"spec": {"replicas": 2, "selector": _SELECTOR, "template": _TEMPLATE}},
        (),
        ("status", "scale"),
    ),
    Kind(
        "batch/v1",
        "jobs",
        "Job",
        # Its template has labels: those of one without are given to the job on the way out of etcd, and are no part
        # of what is there, so that the next write is one even if it changes nothing.
        {"spec": {"template": {**_TEMPLATE, "spec": {**_POD, "restartPolicy": "Never"}}}},
        ("status.successful=0",),
        ("status",),
    ),
    Kind(
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}},
    ),
    Kind(
        "networking.k8s.io/v1",
        "networkpolicies",
        "NetworkPolicy",
        {"spec": {"podSelector": _SELECTOR, "ingress": [{"from": [{"podSelector": _SELECTOR}]}]}},
    ),
    Kind(
        "discovery.k8s.io/v1",
        "endpointslices",
        "EndpointSlice",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"name": "http", "port": 80}]},
    ),
    Kind(
        "policy/v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        {"spec": {"minAvailable": "50%", "selector": _SELECTOR}},
        (),
        ("status",),
    ),
    Kind(
        "rbac.authorization.k8s.io/v1",
        "roles",
        "Role",
        {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]},
    ),
)
