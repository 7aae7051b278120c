"""One valid object of each built-in kind in the generated scenarios, of which `generation` makes variants."""

from __future__ import annotations

from dataclasses import dataclass

from listwatch.json_value import JSON, JSONObject

__all__ = ["KINDS", "NAMES", "Kind"]

NAMES = ("a", "b", "web-0")


@dataclass(frozen=True)
class Kind:
    """A resource, the fields of its objects beside the metadata, and the subresources to request."""

    version: str
    plural: str
    kind: str
    fields: JSONObject
    field_selectors: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def path(self) -> str:
        root = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        return f"{root}/namespaces/{{namespace}}/{self.plural}" if self.namespaced else f"{root}/{self.plural}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of objects. Cluster-scoped ones contain the namespace of the scenario, so that they are unique."""
        return NAMES if self.namespaced else tuple(f"{{namespace}}.{name}" for name in NAMES)


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
    Kind(
        "apps/v1",
        "statefulsets",
        "StatefulSet",
        {"spec": {"replicas": 1, "serviceName": "web", "selector": _SELECTOR, "template": _TEMPLATE}},
        (),
        ("status", "scale"),
    ),
    Kind(
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
        (),
        ("status",),
    ),
    Kind(
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        {
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 5,
                "metrics": [
                    {
                        "type": "Resource",
                        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                    }
                ],
            }
        },
        (),
        ("status",),
    ),
    # --- cluster-scoped
    Kind(
        "v1",
        "persistentvolumes",
        "PersistentVolume",
        {
            "spec": {
                "capacity": {"storage": "5Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/data"},
                "storageClassName": "slow",
            }
        },
        (),
        ("status",),
        namespaced=False,
    ),
    Kind(
        "v1",
        "nodes",
        "Node",
        {"spec": {"podCIDR": "10.1.0.0/24", "taints": [{"key": "spot", "value": "yes", "effect": "NoSchedule"}]}},
        ("spec.unschedulable=true",),
        ("status",),
        namespaced=False,
    ),
    Kind(
        "storage.k8s.io/v1",
        "storageclasses",
        "StorageClass",
        {"provisioner": "example.com/disks", "parameters": {"type": "fast"}, "allowVolumeExpansion": True},
        namespaced=False,
    ),
    Kind(
        "scheduling.k8s.io/v1",
        "priorityclasses",
        "PriorityClass",
        {"value": 1000, "description": "high", "preemptionPolicy": "Never"},
        namespaced=False,
    ),
    Kind(
        "rbac.authorization.k8s.io/v1",
        "clusterroles",
        "ClusterRole",
        {
            "rules": [
                {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"], "resourceNames": ["web"]},
                {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
            ]
        },
        namespaced=False,
    ),
    Kind(
        "rbac.authorization.k8s.io/v1",
        "clusterrolebindings",
        "ClusterRoleBinding",
        {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
        },
        namespaced=False,
    ),
    Kind(
        "networking.k8s.io/v1",
        "ingressclasses",
        "IngressClass",
        {
            "spec": {
                "controller": "example.com/ingress",
                "parameters": {"kind": "Config", "name": "a", "scope": "Cluster"},
            }
        },
        namespaced=False,
    ),
    Kind(
        "node.k8s.io/v1",
        "runtimeclasses",
        "RuntimeClass",
        {"handler": "fast", "overhead": {"podFixed": {"cpu": "100m"}}},
        namespaced=False,
    ),
    Kind(
        "storage.k8s.io/v1",
        "csidrivers",
        "CSIDriver",
        {"spec": {"attachRequired": True, "volumeLifecycleModes": ["Persistent"], "fsGroupPolicy": "File"}},
        namespaced=False,
    ),
)
