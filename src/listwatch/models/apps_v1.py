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
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class DaemonSetUpdateStrategy(Model):
    rolling_update: RollingUpdateDaemonSet | None = None
    type: str | None = None


class DaemonSetSpec(Model):
    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy = field(default_factory=DaemonSetUpdateStrategy)


class DaemonSetStatus(Model):
    collision_count: int | None = None
    conditions: list[DaemonSetCondition] = field(default_factory=list)
    current_number_scheduled: int = field(default_factory=int)
    desired_number_scheduled: int = field(default_factory=int)
    number_available: int | None = None
    number_misscheduled: int = field(default_factory=int)
    number_ready: int = field(default_factory=int)
    number_unavailable: int | None = None
    observed_generation: int | None = None
    updated_number_scheduled: int | None = None


class DeploymentCondition(Model):
    last_transition_time: datetime | None = None
    last_update_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class DeploymentStrategy(Model):
    rolling_update: RollingUpdateDeployment | None = None
    type: str | None = None


class DeploymentSpec(Model):
    min_ready_seconds: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    strategy: DeploymentStrategy = field(default_factory=DeploymentStrategy)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)


class DeploymentStatus(Model):
    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: list[DeploymentCondition] = field(default_factory=list)
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    terminating_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class ReplicaSetCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class ReplicaSetSpec(Model):
    min_ready_seconds: int | None = None
    replicas: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)


class ReplicaSetStatus(Model):
    available_replicas: int | None = None
    conditions: list[ReplicaSetCondition] = field(default_factory=list)
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = field(default_factory=int)
    terminating_replicas: int | None = None


class RollingUpdateDaemonSet(Model):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class RollingUpdateDeployment(Model):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class RollingUpdateStatefulSetStrategy(Model):
    max_unavailable: int | str | None = None
    partition: int | None = None


class StatefulSetCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class StatefulSetOrdinals(Model):
    start: int = field(default_factory=int)


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    when_deleted: str | None = None
    when_scaled: str | None = None


class StatefulSetUpdateStrategy(Model):
    rolling_update: RollingUpdateStatefulSetStrategy | None = None
    type: str | None = None


class StatefulSetSpec(Model):
    min_ready_seconds: int | None = None
    ordinals: StatefulSetOrdinals | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    pod_management_policy: str | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    service_name: str = field(default_factory=str)
    template: core_v1.PodTemplateSpec = field(default_factory=core_v1.PodTemplateSpec)
    update_strategy: StatefulSetUpdateStrategy = field(default_factory=StatefulSetUpdateStrategy)
    volume_claim_templates: list[core_v1.PersistentVolumeClaim] = field(default_factory=list)


class StatefulSetStatus(Model):
    available_replicas: int = field(default_factory=int)
    collision_count: int | None = None
    conditions: list[StatefulSetCondition] = field(default_factory=list)
    current_replicas: int | None = None
    current_revision: str | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = field(default_factory=int)
    update_revision: str | None = None
    updated_replicas: int | None = None


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
