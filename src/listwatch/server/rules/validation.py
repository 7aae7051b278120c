"""Validates objects before they are stored, by the rules of their kind.

Objects arrive decoded and defaulted, so every field has the type that the API declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from listwatch.errors import StatusCause
from listwatch.json_value import JSONObject
from listwatch.meta import Resource
from listwatch.server.field_errors import forbidden, invalid, required
from listwatch.server.json_tree import text_at
from listwatch.server.rules import (
    access,
    admission,
    cluster,
    configuration,
    definitions,
    networking,
    scaling,
    services,
    storage,
)
from listwatch.server.rules.checks import (
    Causes,
    Check,
    Format,
    UpdateCheck,
    at,
    canonical_ip,
    config_key,
    cron_job_name,
    dns_label,
    dns_subdomain,
    elements,
    field_path,
    immutable,
    path_segment,
    path_segment_prefix,
)
from listwatch.server.rules.metadata import (
    annotation_rules,
    finalizers,
    labels,
    new_finalizers,
    owners,
    standard_finalizer,
)
from listwatch.server.rules.workloads import controllers, jobs, pods
from listwatch.server.schema.registry import builtin_traits
from listwatch.server.schema.schema import builtin_schema

__all__ = ["RULES", "bounded", "validate_create", "validate_update"]

# Updates through these subresources are updates of the whole object. The others change one part, by their own rules.
_WHOLE_OBJECT = ("", "scale")
_POD_SPEC = ("ephemeralcontainers", "resize")

_MAX_CAUSES = 1000
_MAX_SIZE = 1 << 20
_NAME_FORMATS: Mapping[str, Format] = {
    "dns_subdomain": dns_subdomain,
    "dns_label": dns_label,
    "path_segment": path_segment,
    "any": path_segment,
    "config_key": config_key,
    "cron_job": cron_job_name,
    "ip_address": canonical_ip,
    # The name of a signer may precede a subdomain.
    "trust_bundle": lambda name: dns_subdomain(name.rpartition(":")[2]),
}


def validate_create(tree: JSONObject, resource: Resource) -> list[StatusCause]:
    """Return the causes for rejecting a new object, whose name has been generated if need be."""
    metadata, rules = _rules(resource)
    return bounded(chain(metadata(tree, ""), rules.always(tree, ""), rules.on_create(tree, "")))


def validate_update(
    tree: JSONObject, old: JSONObject, resource: Resource, *, subresource: str = ""
) -> list[StatusCause]:
    """Return the causes for rejecting an object that replaces the old one."""
    metadata, rules = _rules(resource)
    causes = [metadata(tree, ""), new_finalizers(tree, old, "")]
    if subresource in _WHOLE_OBJECT:
        checks = [rules.always(tree, ""), rules.on_update(tree, old, "")]
        causes += reversed(checks) if rules.is_update_first else checks
    elif subresource == "status":
        causes += [rules.status(tree, ""), rules.on_status_update(tree, old, "")]
    elif subresource in _POD_SPEC:
        causes += [rules.always(tree, ""), pods.ephemeral_update(tree, old, "")]
    return bounded(chain.from_iterable(causes))


def bounded(causes: Iterable[StatusCause]) -> list[StatusCause]:
    """Return the first causes, without repetitions, up to a number and a size; the others are not even computed."""
    found: dict[StatusCause, None] = {}
    size = 0
    for cause in causes:
        found[cause] = None
        size += len(cause.message) + len(cause.field)
        if len(found) >= _MAX_CAUSES or size > _MAX_SIZE:
            found[StatusCause("", "further problems are not reported by the embedded server")] = None
            break
    return list(found)


@lru_cache(maxsize=1024)
def _rules(resource: Resource) -> tuple[Check, KindRules]:
    """Return the rules for the metadata of a resource, and those for the rest of it."""
    return _metadata(resource), RULES.get(str(resource.gvk.group_kind), _NO_RULES)


def _metadata(resource: Resource) -> Check:
    built_in = builtin_schema().type_of(resource.api_version, resource.kind) is not None
    rule: str = builtin_traits(resource).name_rule if built_in else "dns_subdomain"
    if resource.gvk.group_kind == ("batch", "CronJob"):
        rule = "cron_job"
    return _metadata_rules(name_rule=rule, namespaced=resource.namespaced, built_in=built_in)


# --- the metadata of every kind ---------------------------------------------------------------------------------------


def _metadata_rules(*, name_rule: str, namespaced: bool, built_in: bool) -> Check:
    """Return the check for the metadata of a kind; a generated name has been set before."""
    return at(
        "metadata",
        _names(name_rule),
        _namespace if namespaced else _no_namespace,
        at("labels", labels),
        at("annotations", annotation_rules),
        at("ownerReferences", owners),
        at("finalizers", finalizers, *([elements(standard_finalizer)] if built_in else [])),
    )


def _names(rule: str) -> Check:
    format_ = _NAME_FORMATS[rule]

    # Not generators, and so are others of these: every write passes through them.
    def check(metadata: JSONObject, path: str) -> list[StatusCause]:
        causes: list[StatusCause] = []
        if prefix := text_at(metadata, "generateName"):
            causes += [invalid(f"{path}.generateName", prefix, each) for each in _prefix_problems(prefix, format_)]
        if name := text_at(metadata, "name"):
            if problems := tuple(format_(name)):
                causes += [invalid(f"{path}.name", name, each) for each in problems]
        else:
            causes.append(required(f"{path}.name", "name or generateName is required"))
        return causes

    return check


def _prefix_problems(prefix: str, format_: Format) -> list[str]:
    """Return what is wrong with every name that starts with the prefix. The prefix itself may end in a dash."""
    if format_ is path_segment:
        return path_segment_prefix(prefix)
    return list(format_(f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix))


def _namespace(metadata: JSONObject, path: str) -> Sequence[StatusCause]:
    if namespace := text_at(metadata, "namespace"):
        problems = dns_label(namespace)
        return [invalid(f"{path}.namespace", namespace, each) for each in problems] if problems else ()
    return [required(f"{path}.namespace")]


def _no_namespace(metadata: JSONObject, path: str) -> Causes:
    if metadata.get("namespace"):
        yield forbidden(field_path(path, "namespace"), "not allowed on this type")


# --- the rules of each kind ------------------------------------------------------------------------------------------


def _no_check(_value: JSONObject, _path: str) -> tuple[()]:
    return ()


def _no_update_check(_new: JSONObject, _old: JSONObject, _path: str) -> tuple[()]:
    return ()


class KindRules(NamedTuple):
    """The checks of one kind.

    `always` runs on every write of the object, `on_update` and `on_create` in addition; `status` and
    `on_status_update` run alone, on updates of the status subresource. With `is_update_first`, the problems of
    `on_update` are listed before those of `always`.
    """

    always: Check = _no_check
    on_update: UpdateCheck = _no_update_check
    on_create: Check = _no_check
    status: Check = _no_check
    on_status_update: UpdateCheck = _no_update_check
    is_update_first: bool = False


_NO_RULES = KindRules()

RULES: Mapping[str, KindRules] = {  # by kind and group
    "ClusterRole.rbac.authorization.k8s.io": KindRules(access.CLUSTER_ROLE),
    "ClusterRoleBinding.rbac.authorization.k8s.io": KindRules(access.CLUSTER_ROLE_BINDING, access.binding_update),
    "ConfigMap": KindRules(configuration.CONFIG_MAP, configuration.config_update, is_update_first=True),
    "ControllerRevision.apps": KindRules(controllers.CONTROLLER_REVISION, controllers.revision_update),
    "CronJob.batch": KindRules(jobs.CRON_JOB),
    "CSIDriver.storage.k8s.io": KindRules(storage.CSI_DRIVER, storage.csi_driver_update),
    "DaemonSet.apps": KindRules(controllers.DAEMON_SET, immutable("spec.selector"), is_update_first=True),
    "CustomResourceDefinition.apiextensions.k8s.io": KindRules(
        definitions.definition_rules, definitions.definition_update
    ),
    "Deployment.apps": KindRules(
        controllers.DEPLOYMENT, immutable("spec.selector"), status=controllers.DEPLOYMENT_STATUS
    ),
    "Endpoints": KindRules(services.ENDPOINTS),
    "EndpointSlice.discovery.k8s.io": KindRules(services.ENDPOINT_SLICE, immutable("addressType", missing="")),
    "Event": KindRules(cluster.EVENT),
    "Event.events.k8s.io": KindRules(cluster.EVENT),
    "HorizontalPodAutoscaler.autoscaling": KindRules(scaling.AUTOSCALER),
    "IPAddress.networking.k8s.io": KindRules(networking.IP_ADDRESS, immutable("spec.parentRef")),
    "Ingress.networking.k8s.io": KindRules(networking.INGRESS),
    "IngressClass.networking.k8s.io": KindRules(
        networking.ingress_class, networking.ingress_class_update, is_update_first=True
    ),
    "Job.batch": KindRules(jobs.JOB, jobs.job_update, jobs.NEW_JOB, jobs.JOB_STATUS),
    "Lease.coordination.k8s.io": KindRules(configuration.LEASE),
    "LimitRange": KindRules(configuration.LIMIT_RANGE),
    "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": KindRules(admission.MUTATING_BINDING),
    "MutatingWebhookConfiguration.admissionregistration.k8s.io": KindRules(admission.webhooks),
    "Namespace": KindRules(configuration.NAMESPACE),
    "NetworkPolicy.networking.k8s.io": KindRules(networking.NETWORK_POLICY),
    "Node": KindRules(cluster.NODE, cluster.node_update),
    "PersistentVolume": KindRules(storage.PERSISTENT_VOLUME, storage.volume_update),
    "PersistentVolumeClaim": KindRules(storage.PERSISTENT_VOLUME_CLAIM, storage.claim_update),
    "Pod": KindRules(pods.POD, pods.pod_update, pods.NEW_POD, on_status_update=pods.status_update),
    "PodDisruptionBudget.policy": KindRules(scaling.DISRUPTION_BUDGET, status=scaling.DISRUPTION_BUDGET_STATUS),
    "PodTemplate": KindRules(at("template", pods.POD_TEMPLATE)),
    "PriorityClass.scheduling.k8s.io": KindRules(
        on_update=scaling.priority_class_update, on_create=scaling.PRIORITY_CLASS
    ),
    "ReplicaSet.apps": KindRules(
        controllers.REPLICA_SET, immutable("spec.selector"), status=controllers.REPLICA_SET_STATUS
    ),
    "ReplicationController": KindRules(controllers.REPLICATION_CONTROLLER),
    "ResourceQuota": KindRules(configuration.RESOURCE_QUOTA),
    "Role.rbac.authorization.k8s.io": KindRules(access.ROLE),
    "RoleBinding.rbac.authorization.k8s.io": KindRules(access.ROLE_BINDING, access.binding_update),
    "RuntimeClass.node.k8s.io": KindRules(cluster.RUNTIME_CLASS, cluster.runtime_class_update),
    "Secret": KindRules(configuration.SECRET, configuration.secret_update, is_update_first=True),
    "Service": KindRules(
        services.SERVICE, services.service_update, status=services.SERVICE_STATUS, is_update_first=True
    ),
    "StatefulSet.apps": KindRules(
        controllers.STATEFUL_SET,
        controllers.stateful_set_update,
        controllers.NEW_STATEFUL_SET,
        status=controllers.STATEFUL_SET_STATUS,
    ),
    "StorageClass.storage.k8s.io": KindRules(storage.STORAGE_CLASS, storage.storage_class_update),
    "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": KindRules(admission.VALIDATING_BINDING),
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io": KindRules(admission.webhooks),
    "VolumeAttachment.storage.k8s.io": KindRules(storage.VOLUME_ATTACHMENT),
}
