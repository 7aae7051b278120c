"""The kinds and types of `scheduling.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class AllCompositeDisruptionMode(Model):
    """Has no fields; its presence is the value."""


class AllDisruptionMode(Model):
    """Has no fields; its presence is the value."""


class BasicSchedulingPolicy(Model):
    """Has no fields; its presence is the value."""


class CompositeBasicSchedulingPolicy(Model):
    """Has no fields; its presence is the value."""


class CompositeDisruptionMode(Model):
    single: SingleCompositeDisruptionMode | None = None
    all: AllCompositeDisruptionMode | None = None


class CompositeGangSchedulingPolicy(Model):
    min_group_count: int = field(default_factory=int)


class CompositePodGroupSchedulingConstraints(Model):
    topology: list[TopologyConstraint] = field(default_factory=list)


class CompositePodGroupSchedulingPolicy(Model):
    basic: CompositeBasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class CompositePodGroupTemplate(Model):
    name: str = field(default_factory=str)
    scheduling_policy: CompositePodGroupSchedulingPolicy = field(default_factory=CompositePodGroupSchedulingPolicy)
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    disruption_mode: CompositeDisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    pod_group_templates: list[PodGroupTemplate] = field(default_factory=list)
    composite_pod_group_templates: list[CompositePodGroupTemplate] = field(default_factory=list)


class DisruptionMode(Model):
    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class GangSchedulingPolicy(Model):
    min_count: int = field(default_factory=int)


class PodGroupResourceClaim(Model):
    name: str = field(default_factory=str)
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupResourceClaimStatus(Model):
    name: str = field(default_factory=str)
    resource_claim_name: str | None = None


class PodGroupSchedulingConstraints(Model):
    topology: list[TopologyConstraint] = field(default_factory=list)


class PodGroupSchedulingPolicy(Model):
    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class PodGroupSpec(Model):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = field(default_factory=PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = field(default_factory=list)
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None


class PodGroupStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = field(default_factory=list)


class PodGroupTemplate(Model):
    name: str = field(default_factory=str)
    scheduling_policy: PodGroupSchedulingPolicy = field(default_factory=PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] = field(default_factory=list)
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None


class SingleCompositeDisruptionMode(Model):
    """Has no fields; its presence is the value."""


class SingleDisruptionMode(Model):
    """Has no fields; its presence is the value."""


class TopologyConstraint(Model):
    key: str = field(default_factory=str)


class TypedLocalObjectReference(Model):
    api_group: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)


class WorkloadReference(Model):
    workload_name: str = field(default_factory=str)
    template_name: str = field(default_factory=str)


class WorkloadSpec(Model):
    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: list[PodGroupTemplate] = field(default_factory=list)
    composite_pod_group_templates: list[CompositePodGroupTemplate] = field(default_factory=list)


class PodGroup(
    Object,
    resource=Resource(
        "scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups", "podgroup",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "scheduling.k8s.io", "v1beta1", "PodGroup", ("get", "patch", "update")),
        ),
    ),
):
    spec: PodGroupSpec = lazy(PodGroupSpec)
    status: PodGroupStatus = lazy(PodGroupStatus)


class Workload(
    Object,
    resource=Resource(
        "scheduling.k8s.io", "v1beta1", "Workload", "workloads", "workload",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: WorkloadSpec = lazy(WorkloadSpec)


class PodGroupList(ObjectList[PodGroup], item=PodGroup):
    """A list of objects, as returned by one request."""


class WorkloadList(ObjectList[Workload], item=Workload):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
