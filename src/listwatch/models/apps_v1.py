"""The kinds and types of `apps/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import core_v1, meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class DaemonSetCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class DaemonSetUpdateStrategy(Model):
    type: str | None = None
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(Model):
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy = field(default_factory=DaemonSetUpdateStrategy)
    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None


class DaemonSetStatus(Model):
    current_number_scheduled: int = field(default_factory=int)
    number_misscheduled: int = field(default_factory=int)
    desired_number_scheduled: int = field(default_factory=int)
    number_ready: int = field(default_factory=int)
    observed_generation: int | None = None
    updated_number_scheduled: int | None = None
    number_available: int | None = None
    number_unavailable: int | None = None
    collision_count: int | None = None
    conditions: list[DaemonSetCondition] = field(default_factory=list)


class DeploymentCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_update_time: datetime | None = None
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class DeploymentStrategy(Model):
    type: str | None = None
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(Model):
    replicas: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    strategy: DeploymentStrategy = field(default_factory=DeploymentStrategy)
    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None


class DeploymentStatus(Model):
    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    unavailable_replicas: int | None = None
    terminating_replicas: int | None = None
    conditions: list[DeploymentCondition] = field(default_factory=list)
    collision_count: int | None = None


class ReplicaSetCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class ReplicaSetSpec(Model):
    replicas: int | None = None
    min_ready_seconds: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)


class ReplicaSetStatus(Model):
    replicas: int = field(default_factory=int)
    fully_labeled_replicas: int | None = None
    ready_replicas: int | None = None
    available_replicas: int | None = None
    terminating_replicas: int | None = None
    observed_generation: int | None = None
    conditions: list[ReplicaSetCondition] = field(default_factory=list)


class RollingUpdateDaemonSet(Model):
    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


class RollingUpdateDeployment(Model):
    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


class RollingUpdateStatefulSetStrategy(Model):
    partition: int | None = None
    max_unavailable: int | str | None = None


class StatefulSetCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None


class StatefulSetOrdinals(Model):
    start: int = field(default_factory=int)


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    when_deleted: str | None = None
    when_scaled: str | None = None


class StatefulSetUpdateStrategy(Model):
    type: str | None = None
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class StatefulSetSpec(Model):
    replicas: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    volume_claim_templates: list[core_v1.PersistentVolumeClaim] = field(default_factory=list)
    service_name: str = field(default_factory=str)
    pod_management_policy: str | None = None
    update_strategy: StatefulSetUpdateStrategy = field(default_factory=StatefulSetUpdateStrategy)
    revision_history_limit: int | None = None
    min_ready_seconds: int | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    ordinals: StatefulSetOrdinals | None = None


class StatefulSetStatus(Model):
    observed_generation: int | None = None
    replicas: int = field(default_factory=int)
    ready_replicas: int | None = None
    current_replicas: int | None = None
    updated_replicas: int | None = None
    current_revision: str | None = None
    update_revision: str | None = None
    collision_count: int | None = None
    conditions: list[StatefulSetCondition] = field(default_factory=list)
    available_replicas: int = field(default_factory=int)


class ControllerRevision(
    Object,
    resource=Resource(
        "apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    data: dict[str, Any] = lazy(dict[str, Any])
    revision: int = lazy(int)


class DaemonSet(
    Object,
    resource=Resource(
        "apps", "v1", "DaemonSet", "daemonsets", "daemonset",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ds",),
        categories=("all",),
        subresources=(
            Subresource("status", "apps", "v1", "DaemonSet", ("get", "patch", "update")),
        ),
    ),
):
    spec: DaemonSetSpec = lazy(DaemonSetSpec)
    status: DaemonSetStatus = lazy(DaemonSetStatus)


class Deployment(
    Object,
    resource=Resource(
        "apps", "v1", "Deployment", "deployments", "deployment",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("deploy",),
        categories=("all",),
        subresources=(
            Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),
            Subresource("status", "apps", "v1", "Deployment", ("get", "patch", "update")),
        ),
    ),
):
    spec: DeploymentSpec = lazy(DeploymentSpec)
    status: DeploymentStatus = lazy(DeploymentStatus)


class ReplicaSet(
    Object,
    resource=Resource(
        "apps", "v1", "ReplicaSet", "replicasets", "replicaset",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("rs",),
        categories=("all",),
        subresources=(
            Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),
            Subresource("status", "apps", "v1", "ReplicaSet", ("get", "patch", "update")),
        ),
    ),
):
    spec: ReplicaSetSpec = lazy(ReplicaSetSpec)
    status: ReplicaSetStatus = lazy(ReplicaSetStatus)


class StatefulSet(
    Object,
    resource=Resource(
        "apps", "v1", "StatefulSet", "statefulsets", "statefulset",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("sts",),
        categories=("all",),
        subresources=(
            Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),
            Subresource("status", "apps", "v1", "StatefulSet", ("get", "patch", "update")),
        ),
    ),
):
    spec: StatefulSetSpec = lazy(StatefulSetSpec)
    status: StatefulSetStatus = lazy(StatefulSetStatus)


class ControllerRevisionList(ObjectList[ControllerRevision], item=ControllerRevision):
    """A list of objects, as returned by one request."""


class DaemonSetList(ObjectList[DaemonSet], item=DaemonSet):
    """A list of objects, as returned by one request."""


class DeploymentList(ObjectList[Deployment], item=Deployment):
    """A list of objects, as returned by one request."""


class ReplicaSetList(ObjectList[ReplicaSet], item=ReplicaSet):
    """A list of objects, as returned by one request."""


class StatefulSetList(ObjectList[StatefulSet], item=StatefulSet):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
