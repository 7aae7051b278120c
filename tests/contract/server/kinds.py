"""An object of each built-in kind that can be created without others."""

from dataclasses import dataclass
from typing import Any

from tests.contract.server.samples import DEPLOYMENT, TEMPLATE

SELECTOR = {"matchLabels": {"app": "web"}}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
SUBJECTS = [{"kind": "User", "name": "somebody", "apiGroup": "rbac.authorization.k8s.io"}]
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "*"}
JOB = {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
WEBHOOK = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://example.com/a"},
    "rules": [RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Ignore",
    "namespaceSelector": {"matchLabels": {"never": "matches"}},
}
CONTAINER = {
    "name": "web",
    "image": "web:1",
    "command": ["a", "b"],
    "ports": [{"containerPort": 80, "name": "http"}],
    "env": [
        {"name": "A", "value": "1"},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": False}}},
        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
    ],
    "envFrom": [{"secretRef": {"name": "s"}}],
    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}],
    "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
    "livenessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 7},
    "lifecycle": {"preStop": {"exec": {"command": ["sleep", "1"]}}},
    "securityContext": {"runAsUser": 0, "privileged": False, "capabilities": {"drop": ["ALL"]}},
}
POD = {
    "containers": [CONTAINER],
    "initContainers": [{"name": "first", "image": "web:1", "restartPolicy": "Always"}],
    "volumes": [
        {"name": "data", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "conf", "configMap": {"name": "c", "defaultMode": 0o400, "items": [{"key": "k", "path": "p"}]}},
        {"name": "all", "projected": {"sources": [{"downwardAPI": {"items": []}}, {"secret": {"name": "s"}}]}},
        {"name": "host", "hostPath": {"path": "/tmp", "type": ""}},
    ],
    "securityContext": {"supplementalGroups": [1, 300], "fsGroup": -0},
    "tolerations": [{"key": "spot", "operator": "Exists", "tolerationSeconds": 0, "effect": "NoExecute"}],
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": SELECTOR, "topologyKey": "zone"}]
        }
    },
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
    ],
    "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["a"]}],
    "terminationGracePeriodSeconds": 0,
    "automountServiceAccountToken": False,
}
CRD_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "default": 2},
                "ratio": {"type": "number", "maximum": 2.5, "multipleOf": 0.5, "exclusiveMaximum": True},
                "words": {"type": "array", "items": {"type": "string"}, "maxItems": 0, "x-kubernetes-list-type": "set"},
                "more": {"type": "object", "additionalProperties": {"type": "string", "nullable": True}},
                "any": {"x-kubernetes-preserve-unknown-fields": True, "enum": ["a", 1, None, {"b": []}]},
                "port": {"x-kubernetes-int-or-string": True},
            },
            "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "no"}],
        }
    },
}


@dataclass(frozen=True)
class Kind:
    """A resource, and the fields of an object beside its metadata."""

    version: str
    plural: str
    kind: str
    fields: dict[str, Any]
    namespaced: bool = True
    metadata: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.version}-{self.kind}"


def cluster(version: str, plural: str, kind: str, **fields: Any) -> Kind:
    return Kind(version, plural, kind, fields, namespaced=False)


def local(version: str, plural: str, kind: str, **fields: Any) -> Kind:
    return Kind(version, plural, kind, fields)


KINDS = [
    Kind(
        "v1",
        "configmaps",
        "ConfigMap",
        {"data": {"b": "2", "a": "ü"}, "binaryData": {"raw": "AP8="}, "immutable": False},
    ),
    Kind("v1", "secrets", "Secret", {"data": {"a": "eA==", "empty": ""}, "type": "example.com/any"}),
    Kind(
        "v1",
        "pods",
        "Pod",
        {"spec": POD},
        metadata={
            "labels": {"b": "", "a": "x"},
            "annotations": {"a.example.com/b": "c"},
            "finalizers": [],
        },
    ),
    local("v1", "services", "Service", spec={"ports": [{"port": 80, "targetPort": "http"}], "selector": {"a": "b"}}),
    local("v1", "serviceaccounts", "ServiceAccount", secrets=[{"name": "a"}], automountServiceAccountToken=False),
    local("v1", "endpoints", "Endpoints", subsets=[{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]),
    local("v1", "limitranges", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}}]}),
    local("v1", "resourcequotas", "ResourceQuota", spec={"hard": {"count/pods": "10k", "cpu": "1.5"}}),
    local("v1", "podtemplates", "PodTemplate", template=TEMPLATE),
    local(
        "v1", "replicationcontrollers", "ReplicationController", spec={"selector": {"app": "web"}, "template": TEMPLATE}
    ),
    local(
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""},
    ),
    cluster(
        "v1",
        "persistentvolumes",
        "PersistentVolume",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"a": "b"}},
        },
    ),
    cluster("v1", "nodes", "Node", spec={"unschedulable": True, "taints": [{"key": "a", "effect": "NoSchedule"}]}),
    local("apps/v1", "deployments", "Deployment", spec={**DEPLOYMENT, "replicas": 0}),
    local("apps/v1", "replicasets", "ReplicaSet", spec=DEPLOYMENT),
    local("apps/v1", "statefulsets", "StatefulSet", spec={**DEPLOYMENT, "serviceName": "web"}),
    local("apps/v1", "daemonsets", "DaemonSet", spec=DEPLOYMENT),
    local("apps/v1", "controllerrevisions", "ControllerRevision", revision=3, data={"spec": {"a": [1, "b", None]}}),
    local("batch/v1", "jobs", "Job", spec={**JOB, "suspend": True}),
    local("batch/v1", "cronjobs", "CronJob", spec={"schedule": "* * * * *", "jobTemplate": {"spec": JOB}}),
    *(
        local(
            f"autoscaling/{version}",
            "horizontalpodautoscalers",
            "HorizontalPodAutoscaler",
            spec={"scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}, "maxReplicas": 3},
        )
        for version in ("v1", "v2")
    ),
    local(
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        spec={"holderIdentity": "", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000123Z"},
    ),
    local(
        "discovery.k8s.io/v1",
        "endpointslices",
        "EndpointSlice",
        addressType="IPv4",
        endpoints=[{"addresses": ["10.1.2.3"], "conditions": {"ready": False}}],
        ports=[{"name": "", "port": 80}],
    ),
    local(
        "networking.k8s.io/v1",
        "ingresses",
        "Ingress",
        spec={"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}, "ingressClassName": "none"},
    ),
    cluster("networking.k8s.io/v1", "ingressclasses", "IngressClass", spec={"controller": "example.com/none"}),
    local(
        "networking.k8s.io/v1",
        "networkpolicies",
        "NetworkPolicy",
        spec={"podSelector": {}, "ingress": [{"from": [{"podSelector": SELECTOR}], "ports": [{"port": 80}]}, {}]},
    ),
    local(
        "policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", spec={"minAvailable": "50%", "selector": SELECTOR}
    ),
    local("rbac.authorization.k8s.io/v1", "roles", "Role", rules=RULES),
    local("rbac.authorization.k8s.io/v1", "roles", "Role"),
    local(
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        subjects=SUBJECTS,
        roleRef={"kind": "Role", "name": "a", "apiGroup": "rbac.authorization.k8s.io"},
    ),
    cluster(
        "rbac.authorization.k8s.io/v1",
        "clusterroles",
        "ClusterRole",
        rules=[{"nonResourceURLs": ["/a"], "verbs": ["get"]}],
    ),
    cluster(
        "storage.k8s.io/v1",
        "storageclasses",
        "StorageClass",
        provisioner="example.com/none",
        parameters={"a": "b"},
        allowVolumeExpansion=False,
    ),
    cluster("storage.k8s.io/v1", "csidrivers", "CSIDriver", spec={"attachRequired": False, "podInfoOnMount": True}),
    cluster(
        "storage.k8s.io/v1",
        "volumeattachments",
        "VolumeAttachment",
        spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "p"}},
    ),
    local("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity", storageClassName="a", capacity="10Gi"),
    cluster("scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", value=-5, description="low"),
    cluster("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", handler="runc"),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "prioritylevelconfigurations",
        "PriorityLevelConfiguration",
        spec={"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "limitResponse": {"type": "Reject"}}},
    ),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        "FlowSchema",
        spec={"priorityLevelConfiguration": {"name": "global-default"}, "matchingPrecedence": 9999},
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        webhooks=[WEBHOOK],
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        webhooks=[WEBHOOK],
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        spec={
            "matchConstraints": {"resourceRules": [{**RULE, "resourceNames": ["never"]}]},
            "validations": [{"expression": "true"}],
        },
    ),
    cluster(
        "resource.k8s.io/v1",
        "deviceclasses",
        "DeviceClass",
        spec={"selectors": [{"cel": {"expression": "device.driver == 'a'"}}]},
    ),
    local(
        "resource.k8s.io/v1",
        "resourceclaims",
        "ResourceClaim",
        spec={"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a.example.com"}}]}},
    ),
    cluster(
        "resource.k8s.io/v1",
        "resourceslices",
        "ResourceSlice",
        spec={
            "driver": "a.example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": "d",
                    "attributes": {"on": {"bool": False}, "n": {"int": 0}},
                    "capacity": {"m": {"value": "1Gi"}},
                }
            ],
        },
    ),
]
