"""Fills in default values, as the real server does for each type.

The walk follows the schema and visits only the parts of an object that can have defaults, which are computed once per
type. Defaults declared in the schema need no entry in the tables below.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from threading import RLock

from msgspec import UNSET

from listwatch.json_value import JSON, JSONObject
from listwatch.server.json_tree import copied, ensure_object, object_at, objects_at, text_at, value_at
from listwatch.server.schema.schema import Schema, Shape, TypeSchema

__all__ = ["apply_defaults"]


def apply_defaults(tree: JSONObject, schema: Schema) -> None:
    """Fill in the defaults of a decoded tree, in place."""
    name = schema.kinds.get((text_at(tree, "apiVersion"), text_at(tree, "kind")))
    if name and (defaults := _schema_defaults(schema).of_type(name)):
        defaults.apply(tree)


@lru_cache(maxsize=8)
def _schema_defaults(schema: Schema) -> _SchemaDefaults:
    return _SchemaDefaults(schema)


class _SchemaDefaults:
    """The defaults of a schema's types, built when a type is first used."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types: dict[str, _TypeDefaults | None] = {}
        self._building: dict[str, _TypeDefaults | None] = {}
        self._lock = RLock()  # servers in several threads share the defaults

    def of_type(self, name: str) -> _TypeDefaults | None:
        """Return the defaults of a type; None if it has none, at any depth."""
        return self._types[name] if name in self._types else self._build(name)

    def _build(self, name: str) -> _TypeDefaults | None:
        """Build the defaults of a type and those that it refers to; they are published together."""
        with self._lock:
            if name in self._types or name in self._building:
                return self._types[name] if name in self._types else self._building[name]
            is_outermost = not self._building
            self._building[name] = None  # ends the recursion of a type that contains itself
            defaults = _TypeDefaults(self._schema.type(name))
            for field in self._schema.type(name).fields.values():
                if inner := self._for_shape(field.type):
                    defaults.fields[field.name] = inner
            found = self._building[name] = defaults if defaults.has_any else None
            if is_outermost:
                self._types.update(self._building)
                self._building = {}
            return found

    def _for_shape(self, shape: Shape) -> Callable[[JSON], None] | None:
        match shape.type:
            case "ref":
                found = self.of_type(shape.ref)
                return found.apply if found else None
            case "list" | "map" if shape.items and (each := self._for_shape(shape.items)):
                return _for_each(each)
        return None


class _TypeDefaults:
    """The defaults of one type, and of the types of its fields."""

    def __init__(self, type_: TypeSchema) -> None:
        own = {field.name: field.default for field in type_.fields.values() if field.default not in (UNSET, "", 0, {})}
        self._values = {**own, **_VALUES.get(type_.name, {})}
        self._functions = tuple(_FUNCTIONS.get(type_.name, ()))
        self.fields: dict[str, Callable[[JSON], None]] = {}

    @property
    def has_any(self) -> bool:
        return bool(self._values or self._functions or self.fields)

    def apply(self, tree: JSON) -> None:
        if not isinstance(tree, dict):
            return
        for name, value in self._values.items():
            if tree.get(name, "") == "":
                tree[name] = copied(value)
        for function in self._functions:
            function(tree)
        for name, apply in self.fields.items():
            if (inner := tree.get(name)) is not None:
                apply(inner)


def _for_each(apply: Callable[[JSON], None]) -> Callable[[JSON], None]:
    def apply_to_all(trees: JSON) -> None:
        if isinstance(trees, list):
            for tree in trees:
                apply(tree)
        elif isinstance(trees, dict):
            for tree in trees.values():
                apply(tree)

    return apply_to_all


# --- Default values ---------------------------------------------------------------------------------------------------

_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_WEBHOOK: Mapping[str, JSON] = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "timeoutSeconds": 10,
}
_FILE_MODE = {"defaultMode": 0o644}

_VALUES: Mapping[str, Mapping[str, JSON]] = {
    "admissionregistration.v1.MatchResources": {
        name: _WEBHOOK[name] for name in ("matchPolicy", "namespaceSelector", "objectSelector")
    },
    "admissionregistration.v1.MutatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": "Never"},
    "admissionregistration.v1.NamedRuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.RuleWithOperations": {"scope": "*"},
    "admissionregistration.v1.ServiceReference": {"port": 443},
    "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"failurePolicy": "Fail"},
    "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
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
    "core.v1.ConfigMapVolumeSource": _FILE_MODE,
    "core.v1.Container": _CONTAINER,
    "core.v1.DownwardAPIVolumeSource": _FILE_MODE,
    "core.v1.EndpointPort": {"protocol": "TCP"},
    "core.v1.EphemeralContainer": _CONTAINER,
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
    "core.v1.ProjectedVolumeSource": _FILE_MODE,
    "core.v1.Secret": {"type": "Opaque"},
    "core.v1.SecretVolumeSource": _FILE_MODE,
    "core.v1.ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "discovery.v1.EndpointPort": {"name": "", "protocol": "TCP"},
    "flowcontrol.v1.ExemptPriorityLevelConfiguration": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    "flowcontrol.v1.LimitedPriorityLevelConfiguration": {"nominalConcurrencyShares": 30, "lendablePercent": 0},
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


# --- Pods -------------------------------------------------------------------------------------------------------------


def _image_pull_policy(container: JSONObject) -> None:
    container.setdefault("imagePullPolicy", _pull_policy(text_at(container, "image")))


def _image_volume(image: JSONObject) -> None:
    image.setdefault("pullPolicy", _pull_policy(text_at(image, "reference")))


def _pull_policy(image: str) -> str:
    name, _, digest = image.rpartition("/")[2].partition("@")
    tag = name.partition(":")[2] or ("" if digest else "latest")
    return "Always" if image and tag == "latest" else "IfNotPresent"


def _service_account(spec: JSONObject) -> None:
    """Copy the name to both fields, of which serviceAccount is the deprecated one."""
    if name := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = name


def _volume(volume: JSONObject) -> None:
    if volume.keys() <= {"name"}:
        volume["emptyDir"] = {}


def _pod(pod: JSONObject) -> None:
    spec = ensure_object(pod, "spec")
    spec.setdefault("enableServiceLinks", True)
    for container in [*objects_at(spec, "containers"), *objects_at(spec, "initContainers")]:
        _requests(object_at(container, "resources"))
        if spec.get("hostNetwork"):
            for port in objects_at(container, "ports"):
                port.setdefault("hostPort", port.get("containerPort"))


def _requests(resources: JSONObject) -> None:
    if limits := object_at(resources, "limits"):
        resources["requests"] = {**limits, **object_at(resources, "requests")}


# --- Workloads --------------------------------------------------------------------------------------------------------


def _deployment(spec: JSONObject) -> None:
    _rolling_update(ensure_object(spec, "strategy"), {"maxUnavailable": "25%", "maxSurge": "25%"})


def _daemon_set(spec: JSONObject) -> None:
    _rolling_update(ensure_object(spec, "updateStrategy"), {"maxUnavailable": 1, "maxSurge": 0})


def _rolling_update(strategy: JSONObject, values: Mapping[str, JSON]) -> None:
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy["rollingUpdate"] = {**values, **object_at(strategy, "rollingUpdate")}


def _stateful_set(spec: JSONObject) -> None:
    strategy = ensure_object(spec, "updateStrategy")
    if "type" not in strategy:
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        ensure_object(strategy, "rollingUpdate").setdefault("partition", 0)
    for claim in objects_at(spec, "volumeClaimTemplates"):
        claim.update(apiVersion="v1", kind="PersistentVolumeClaim")


def _replication_controller(controller: JSONObject) -> None:
    if labels := value_at(controller, "spec", "template", "metadata", "labels"):
        ensure_object(controller, "spec").setdefault("selector", copied(labels))
    _labels_of_template(controller)


def _labels_of_template(workload: JSONObject) -> None:
    if labels := value_at(workload, "spec", "template", "metadata", "labels"):
        # The same object, not a copy: labels that the server adds to a job's pods later are added to the job as well.
        ensure_object(workload, "metadata").setdefault("labels", labels)


def _definition(spec: JSONObject) -> None:
    names = ensure_object(spec, "names")
    if kind := text_at(names, "kind"):
        names["singular"] = names.get("singular") or kind.lower()
        names["listKind"] = names.get("listKind") or f"{kind}List"
    spec.setdefault("conversion", {"strategy": "None"})


def _job(job: JSONObject) -> None:
    spec = ensure_object(job, "spec")
    if "parallelism" not in spec:
        spec.setdefault("completions", 1)
        spec["parallelism"] = 1
    spec.setdefault("backoffLimit", 2**31 - 1 if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)


def _autoscaler(spec: JSONObject) -> None:
    if not spec.get("metrics"):
        target: JSONObject = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _autoscaler_behavior(behavior: JSONObject) -> None:
    up: JSONObject = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    }
    down: JSONObject = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
    behavior["scaleUp"] = {**up, **object_at(behavior, "scaleUp")}
    behavior["scaleDown"] = {**down, **object_at(behavior, "scaleDown")}


# --- Other kinds ------------------------------------------------------------------------------------------------------


def _load_balancer(service: JSONObject) -> None:
    if text_at(service, "spec", "type") == "LoadBalancer":
        for ingress in objects_at(service, "status", "loadBalancer", "ingress"):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _service(spec: JSONObject) -> None:
    kind = spec.setdefault("type", "ClusterIP")
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP" and value_at(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") is None:
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in objects_at(spec, "ports"):
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if kind in ("NodePort", "LoadBalancer") or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _secret(secret: JSONObject) -> None:
    """Move stringData to data, as base64."""
    texts = object_at(secret.pop("stringData", None))
    encoded = {name: base64.b64encode(str(text).encode()).decode() for name, text in texts.items()}
    if encoded:
        secret["data"] = {**object_at(secret, "data"), **encoded}


def _namespace(namespace: JSONObject) -> None:
    if name := text_at(namespace, "metadata", "name"):
        ensure_object(namespace, "metadata", "labels")["kubernetes.io/metadata.name"] = name


def _network_policy(spec: JSONObject) -> None:
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _subject(subject: JSONObject) -> None:
    if subject.get("kind") in ("User", "Group"):
        subject.setdefault("apiGroup", "rbac.authorization.k8s.io")


def _limit(limit: JSONObject) -> None:
    if limit.get("type") == "Container":
        _fill(limit, "default", object_at(limit, "max"))
        _fill(limit, "defaultRequest", object_at(limit, "default"), object_at(limit, "min"))


def _fill(limit: JSONObject, name: str, *others: JSONObject) -> None:
    known = {key: value for other in reversed(others) for key, value in other.items()} | object_at(limit, name)
    if known:
        limit[name] = known


def _node(status: JSONObject) -> None:
    if capacity := status.get("capacity"):
        status.setdefault("allocatable", copied(capacity))


def _device_request(request: JSONObject) -> None:
    if request.setdefault("allocationMode", "ExactCount") == "ExactCount":
        request.setdefault("count", 1)


def _mirrored(singular: str, plural: str, key: str = "") -> Callable[[JSONObject], None]:
    """A field and a list whose first element is the same value; the field wins."""

    def mirror(tree: JSONObject) -> None:
        one, many = tree.get(singular), tree.get(plural)
        first = many[0] if isinstance(many, list) and many else None
        found = first.get(key) if key and isinstance(first, dict) else first
        if one and one != found:
            tree[plural] = [{key: one} if key else one]
        elif found and not one:
            tree[singular] = found

    return mirror


_FUNCTIONS: Mapping[str, Iterable[Callable[[JSONObject], None]]] = {
    "apiextensions.v1.CustomResourceDefinitionSpec": [_definition],
    "core.v1.NodeSpec": [_mirrored("podCIDR", "podCIDRs")],
    "core.v1.PodStatus": [_mirrored("podIP", "podIPs", "ip")],
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
    "core.v1.Service": [_load_balancer],
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
