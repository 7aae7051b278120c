"""What the API server fills in where a client said nothing: plain values by type, and functions for what depends.

`defaulting` walks an object and applies both. The schema's own defaults need no entry here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from listwatch.server.json_tree import Tree, child, children, copied

__all__ = ["FUNCTIONS", "VALUES"]

Map = dict[str, Any]

_IN_CONTAINERS = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_OF_WEBHOOKS: Mapping[str, Tree] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_FILES = {"defaultMode": 0o644}

VALUES: Mapping[str, Mapping[str, Tree]] = {
    "admissionregistration.v1.MatchResources": {
        name: _OF_WEBHOOKS[name] for name in ("matchPolicy", "namespaceSelector", "objectSelector")
    },
    "admissionregistration.v1.MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MutatingWebhook": {**_OF_WEBHOOKS, "reinvocationPolicy": "Never"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.ServiceReference": {"port": 443},
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.ValidatingWebhook": _OF_WEBHOOKS,
    "apiextensions.v1.ServiceReference": {"port": 443},
    "apps.v1.DaemonSetSpec": {"revisionHistoryLimit": 10},
    "apps.v1.DeploymentSpec": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "apps.v1.ReplicaSetSpec": {"replicas": 1},
    "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "apps.v1.StatefulSetSpec": {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "podManagementPolicy": "OrderedReady",
        "persistentVolumeClaimRetentionPolicy": {},
    },
    "autoscaling.v1.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {"minReplicas": 1},
    "batch.v1.CronJobSpec": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
    "batch.v1.PodFailurePolicyOnPodConditionsPattern": {"status": "True"},
    "core.v1.ConfigMapVolumeSource": _FILES,
    "core.v1.Container": _IN_CONTAINERS,
    "core.v1.DownwardAPIVolumeSource": _FILES,
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "core.v1.EphemeralContainer": _IN_CONTAINERS,
    "core.v1.HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "core.v1.HostPathVolumeSource": {"type": ""},
    "core.v1.NamespaceStatus": {"phase": "Active"},
    "core.v1.ObjectFieldSelector": {"apiVersion": "v1"},
    "core.v1.PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeClaimStatus": {"phase": "Pending"},
    "core.v1.PersistentVolumeSpec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "core.v1.PersistentVolumeStatus": {"phase": "Pending"},
    "core.v1.PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    },
    "core.v1.Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "core.v1.ProjectedVolumeSource": _FILES,
    "core.v1.Secret": {"type": "Opaque"},
    "core.v1.SecretVolumeSource": _FILES,
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "networking.v1.IngressClassParametersReference": {"scope": "Cluster"},
    "networking.v1.NetworkPolicyPort": {"protocol": "TCP"},
    "rbac.v1.RoleRef": {"apiGroup": "rbac.authorization.k8s.io"},
    "scheduling.v1.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "storage.v1.CSIDriverSpec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "volumeLifecycleModes": ["Persistent"],
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
    "storage.v1.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
}


# --- pods ------------------------------------------------------------------------------------------------------------


def _image_pull_policy(container: Map) -> None:
    container.setdefault("imagePullPolicy", _pull_policy(container.get("image", "")))


def _image_volume(image: Map) -> None:
    image.setdefault("pullPolicy", _pull_policy(image.get("reference", "")))


def _pull_policy(image: str) -> str:
    name, _, digest = image.rpartition("/")[2].partition("@")
    tag = name.partition(":")[2] or ("" if digest else "latest")
    return "Always" if image and tag == "latest" else "IfNotPresent"


def _service_account(spec: Map) -> None:
    """The name that was given in one of the two fields is in both."""
    if name := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _volume(volume: Map) -> None:
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}


def _pod(pod: Map) -> None:
    spec = pod["spec"]
    spec.setdefault("enableServiceLinks", True)
    for container in [*children(spec, "containers"), *children(spec, "initContainers")]:
        _requests(container.get("resources", {}))
        if spec.get("hostNetwork"):
            for port in children(container, "ports"):
                port.setdefault("hostPort", port.get("containerPort"))


def _requests(resources: Map) -> None:
    if limits := resources.get("limits"):
        resources["requests"] = {**limits, **resources.get("requests", {})}


# --- workloads -------------------------------------------------------------------------------------------------------


def _deployment(spec: Map) -> None:
    _rolling_update(spec.setdefault("strategy", {}), {"maxUnavailable": "25%", "maxSurge": "25%"})


def _daemon_set(spec: Map) -> None:
    _rolling_update(spec.setdefault("updateStrategy", {}), {"maxUnavailable": 1, "maxSurge": 0})


def _rolling_update(strategy: Map, values: Mapping[str, Tree]) -> None:
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {**values, **strategy.get("rollingUpdate", {})}


def _stateful_set(spec: Map) -> None:
    strategy = spec.setdefault("updateStrategy", {})
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    for claim in children(spec, "volumeClaimTemplates"):
        claim.update(apiVersion="v1", kind="PersistentVolumeClaim")


def _replication_controller(controller: Map) -> None:
    if labels := child(controller, "spec", "template", "metadata", "labels"):
        controller["spec"].setdefault("selector", copied(labels))
    _labels_of_template(controller)


def _labels_of_template(workload: Map) -> None:
    if labels := child(workload, "spec", "template", "metadata", "labels"):
        # The very same, not equal ones: those that the server gives to a job's pods later, the job gets with them.
        workload["metadata"].setdefault("labels", labels)


def _definition(spec: Map) -> None:
    names = spec.setdefault("names", {})
    if kind := names.get("kind"):
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec.setdefault("conversion", {"strategy": "None"})


def _job(job: Map) -> None:
    spec = job["spec"]
    if "parallelism" not in spec:
        spec.setdefault("completions", 1)
        spec["parallelism"] = 1
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    for name, value in (("completionMode", "NonIndexed"), ("suspend", False), ("manualSelector", False)):
        spec.setdefault(name, value)


def _autoscaler(spec: Map) -> None:
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _autoscaler_behavior(behavior: Map) -> None:
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    }
    down = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
    behavior["scaleUp"] = {**up, **behavior.get("scaleUp", {})}
    behavior["scaleDown"] = {**down, **behavior.get("scaleDown", {})}


# --- the rest --------------------------------------------------------------------------------------------------------


def _service(spec: Map) -> None:
    kind = spec.setdefault("type", "ClusterIP")
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP" and child(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in children(spec, "ports"):
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _secret(secret: Map) -> None:
    """What was written as text is kept as base64, like everything else."""
    texts = secret.pop("stringData", {})
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
    if encoded:
        secret["data"] = {**secret.get("data", {}), **encoded}


def _namespace(namespace: Map) -> None:
    metadata = namespace["metadata"]
    if name := metadata.get("name"):
        metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _network_policy(spec: Map) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _subject(subject: Map) -> None:
    if subject.get("kind") in ("User", "Group"):
        subject.setdefault("apiGroup", "rbac.authorization.k8s.io")


def _limit(limit: Map) -> None:
    if limit.get("type") == "Container":
        _fill(limit, "default", limit.get("max", {}))
        _fill(limit, "defaultRequest", limit.get("default", {}), limit.get("min", {}))


def _fill(limit: Map, name: str, *others: Map) -> None:
    known = {key: value for other in reversed(others) for key, value in other.items()} | limit.get(name, {})
    if known:
        limit[name] = known


def _node(status: Map) -> None:
    if capacity := status.get("capacity"):
        status.setdefault("allocatable", copied(capacity))


def _device_request(request: Map) -> None:
    if request.setdefault("allocationMode", "ExactCount") == "ExactCount":
        request.setdefault("count", 1)


FUNCTIONS: Mapping[str, Iterable[Callable[[Map], None]]] = {
    "apiextensions.v1.CustomResourceDefinitionSpec": [_definition],
    "apps.v1.DaemonSetSpec": [_daemon_set],
    "apps.v1.DeploymentSpec": [_deployment],
    "apps.v1.StatefulSetSpec": [_stateful_set],
    "autoscaling.v2.HorizontalPodAutoscalerBehavior": [_autoscaler_behavior],
    "autoscaling.v2.HorizontalPodAutoscalerSpec": [_autoscaler],
    "batch.v1.Job": [_labels_of_template, _job],
    "core.v1.Container": [_image_pull_policy],
    "core.v1.EphemeralContainer": [_image_pull_policy],
    "core.v1.ImageVolumeSource": [_image_volume],
    "core.v1.LimitRangeItem": [_limit],
    "core.v1.Namespace": [_namespace],
    "core.v1.NodeStatus": [_node],
    "core.v1.Pod": [_pod],
    "core.v1.PodSpec": [_service_account],
    "core.v1.ReplicationController": [_replication_controller],
    "core.v1.Secret": [_secret],
    "core.v1.ServiceSpec": [_service],
    "core.v1.Volume": [_volume],
    "networking.v1.NetworkPolicySpec": [_network_policy],
    "rbac.v1.Subject": [_subject],
    **{
        f"resource.{version}.{name}": [_device_request]
        for version in ("v1", "v1beta1", "v1beta2")
        for name in ("ExactDeviceRequest", "DeviceSubRequest")
    },
}
