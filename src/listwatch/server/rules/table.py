"""Which rules each kind has, by kind and group. To add a kind is to add a line; `validation` reads the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from listwatch.server.json_tree import Tree
from listwatch.server.rules import (
    access,
    configuration,
    definitions,
    networking,
    others,
    scaling,
    services,
    statuses,
    storage,
)
from listwatch.server.rules.checks import Change, Check, at, immutable
from listwatch.server.rules.workloads import jobs, pods, workloads

__all__ = ["NO_RULES", "RULES", "KindRules"]


def _anything(_value: Tree, _path: str) -> tuple[()]:
    return ()


def _any_change(_new: Tree, _old: Tree, _path: str) -> tuple[()]:
    return ()


class KindRules(NamedTuple):
    """What holds for an object at all times, what an update must leave alone, what holds only when it is made, and
    what holds for a status that is reported.
    """

    always: Check = _anything
    change: Change = _any_change
    created: Check = _anything
    status: Check = _anything


NO_RULES = KindRules()

RULES: Mapping[str, KindRules] = {
    "ClusterRole.rbac.authorization.k8s.io": KindRules(access.CLUSTER_ROLE),
    "ClusterRoleBinding.rbac.authorization.k8s.io": KindRules(access.CLUSTER_ROLE_BINDING, access.binding_change),
    "ConfigMap": KindRules(configuration.CONFIG_MAP, configuration.config_change),
    "ControllerRevision.apps": KindRules(others.CONTROLLER_REVISION, others.revision_change),
    "CronJob.batch": KindRules(jobs.CRON_JOB),
    "CSIDriver.storage.k8s.io": KindRules(others.VOLUME_DRIVER),
    "DaemonSet.apps": KindRules(workloads.DAEMON_SET, immutable("spec.selector")),
    "CustomResourceDefinition.apiextensions.k8s.io": KindRules(
        definitions.definition_rules, definitions.definition_change
    ),
    "Deployment.apps": KindRules(workloads.DEPLOYMENT, immutable("spec.selector"), status=statuses.DEPLOYMENT),
    "Endpoints": KindRules(services.ENDPOINTS),
    "EndpointSlice.discovery.k8s.io": KindRules(services.ENDPOINT_SLICE, immutable("addressType")),
    "Event": KindRules(others.EVENT),
    "Event.events.k8s.io": KindRules(others.EVENT),
    "HorizontalPodAutoscaler.autoscaling": KindRules(scaling.AUTOSCALER),
    "Ingress.networking.k8s.io": KindRules(networking.INGRESS),
    "IngressClass.networking.k8s.io": KindRules(networking.INGRESS_CLASS, networking.ingress_class_change),
    "Job.batch": KindRules(jobs.JOB, jobs.job_change, jobs.NEW_JOB, statuses.JOB),
    "Lease.coordination.k8s.io": KindRules(configuration.LEASE),
    "LimitRange": KindRules(configuration.LIMIT_RANGE),
    "MutatingWebhookConfiguration.admissionregistration.k8s.io": KindRules(others.WEBHOOKS),
    "Namespace": KindRules(configuration.NAMESPACE),
    "NetworkPolicy.networking.k8s.io": KindRules(networking.NETWORK_POLICY),
    "Node": KindRules(others.NODE, others.node_change),
    "PersistentVolume": KindRules(storage.PERSISTENT_VOLUME, storage.volume_change),
    "PersistentVolumeClaim": KindRules(storage.PERSISTENT_VOLUME_CLAIM, storage.claim_change),
    "Pod": KindRules(pods.POD, pods.pod_change, pods.NEW_POD),
    "PodDisruptionBudget.policy": KindRules(scaling.DISRUPTION_BUDGET, status=statuses.DISRUPTION_BUDGET),
    "PodTemplate": KindRules(at("template", pods.POD_TEMPLATE)),
    "PriorityClass.scheduling.k8s.io": KindRules(scaling.PRIORITY_CLASS, scaling.priority_class_change),
    "ReplicaSet.apps": KindRules(workloads.REPLICA_SET, immutable("spec.selector"), status=statuses.REPLICA_SET),
    "ReplicationController": KindRules(workloads.REPLICATION_CONTROLLER),
    "ResourceQuota": KindRules(configuration.RESOURCE_QUOTA),
    "Role.rbac.authorization.k8s.io": KindRules(access.ROLE),
    "RoleBinding.rbac.authorization.k8s.io": KindRules(access.ROLE_BINDING, access.binding_change),
    "RuntimeClass.node.k8s.io": KindRules(others.RUNTIME_CLASS, others.runtime_class_change),
    "Secret": KindRules(configuration.SECRET, configuration.secret_change),
    "Service": KindRules(services.SERVICE, services.service_change),
    "StatefulSet.apps": KindRules(workloads.STATEFUL_SET, workloads.stateful_set_change, status=statuses.STATEFUL_SET),
    "StorageClass.storage.k8s.io": KindRules(storage.STORAGE_CLASS, storage.storage_class_change),
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io": KindRules(others.WEBHOOKS),
    "VolumeAttachment.storage.k8s.io": KindRules(storage.VOLUME_ATTACHMENT),
}
