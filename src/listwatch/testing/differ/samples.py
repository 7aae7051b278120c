"""One valid object of each kind in the generated scenarios, of which `generation` makes variants."""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.json_value import JSON, JSONObject

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A resource, the fields of its objects beside the metadata, and the subresources to request."""

    version: str
    plural: str
    kind: str
    fields: JSONObject
    field_selectors: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return f"{root}/namespaces/{{namespace}}/{self.plural}"


_CONTAINER: JSON = {
    "name": "web",
    "image": "web:1",
    "ports": [{"containerPort": 80, "name": "http"}],
    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
}
_POD: JSONObject = {
    "containers": [_CONTAINER],
    "volumes": [{"name": "data", "emptyDir": {}}],
    "tolerations": [{"key": "spot", "operator": "Exists"}],
}
_TEMPLATE: JSONObject = {"metadata": {"labels": {"app": "web"}}, "spec": _POD}
_SELECTOR: JSON = {"matchLabels": {"app": "web"}}

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
        # The template has labels: the real server would add defaults after reading the job from etcd, so that a write
        # that changes nothing would still be stored.
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
