"""The kinds and types of `scheduling.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import meta_v1
from listwatch.objects.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class AllCompositeDisruptionMode(Model):
    ...


class AllDisruptionMode(Model):
    ...


class BasicSchedulingPolicy(Model):
    ...


class CompositeBasicSchedulingPolicy(Model):
    ...


class CompositeDisruptionMode(Model):
    all: AllCompositeDisruptionMode | None = None
    """JSON: `all`. Default: absent."""
    single: SingleCompositeDisruptionMode | None = None
    """JSON: `single`. Default: absent."""


class CompositeGangSchedulingPolicy(Model):
    min_group_count: int = 0
    """JSON: `minGroupCount`. Required."""


class CompositePodGroupSchedulingConstraints(Model):
    topology: list[TopologyConstraint] = []
    """JSON: `topology`. Default: absent."""


class CompositePodGroupSchedulingPolicy(Model):
    basic: CompositeBasicSchedulingPolicy | None = None
    """JSON: `basic`. Default: absent."""
    gang: CompositeGangSchedulingPolicy | None = None
    """JSON: `gang`. Default: absent."""


class CompositePodGroupTemplate(Model):
    composite_pod_group_templates: list[CompositePodGroupTemplate] = []
    """JSON: `compositePodGroupTemplates`. Default: absent."""
    disruption_mode: CompositeDisruptionMode | None = None
    """JSON: `disruptionMode`. Default: absent."""
    name: str = ""
    """JSON: `name`. Required."""
    pod_group_templates: list[PodGroupTemplate] = []
    """JSON: `podGroupTemplates`. Default: absent."""
    preemption_policy: str | None = None
    """JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """JSON: `priorityClassName`. Default: absent."""
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    """JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: CompositePodGroupSchedulingPolicy = ...
    """JSON: `schedulingPolicy`. Required."""


class DisruptionMode(Model):
    all: AllDisruptionMode | None = None
    """JSON: `all`. Default: absent."""
    single: SingleDisruptionMode | None = None
    """JSON: `single`. Default: absent."""


class GangSchedulingPolicy(Model):
    min_count: int = 0
    """JSON: `minCount`. Required."""


class PodGroupResourceClaim(Model):
    name: str = ""
    """JSON: `name`. Required."""
    resource_claim_name: str | None = None
    """JSON: `resourceClaimName`. Default: absent."""
    resource_claim_template_name: str | None = None
    """JSON: `resourceClaimTemplateName`. Default: absent."""


class PodGroupResourceClaimStatus(Model):
    name: str = ""
    """JSON: `name`. Required."""
    resource_claim_name: str | None = None
    """JSON: `resourceClaimName`. Default: absent."""


class PodGroupSchedulingConstraints(Model):
    topology: list[TopologyConstraint] = []
    """JSON: `topology`. Default: absent."""


class PodGroupSchedulingPolicy(Model):
    basic: BasicSchedulingPolicy | None = None
    """JSON: `basic`. Default: absent."""
    gang: GangSchedulingPolicy | None = None
    """JSON: `gang`. Default: absent."""


class PodGroupSpec(Model):
    disruption_mode: DisruptionMode | None = None
    """JSON: `disruptionMode`. Default: `{"single": {}}`, set by the server."""
    parent_composite_pod_group_name: str | None = None
    """JSON: `parentCompositePodGroupName`. Default: absent."""
    preemption_policy: str | None = None
    """JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """JSON: `priorityClassName`. Default: absent."""
    resource_claims: list[PodGroupResourceClaim] = []
    """JSON: `resourceClaims`. Default: absent."""
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    """JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: PodGroupSchedulingPolicy = ...
    """JSON: `schedulingPolicy`. Required."""
    workload_ref: WorkloadReference | None = None
    """JSON: `workloadRef`. Default: absent."""


class PodGroupStatus(Model):
    conditions: list[meta_v1.Condition] = []
    """JSON: `conditions`. Default: absent."""
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = []
    """JSON: `resourceClaimStatuses`. Default: absent."""


class PodGroupTemplate(Model):
    disruption_mode: DisruptionMode | None = None
    """JSON: `disruptionMode`. Default: absent."""
    name: str = ""
    """JSON: `name`. Required."""
    preemption_policy: str | None = None
    """JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """JSON: `priorityClassName`. Default: absent."""
    resource_claims: list[PodGroupResourceClaim] = []
    """JSON: `resourceClaims`. Default: absent."""
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    """JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: PodGroupSchedulingPolicy = ...
    """JSON: `schedulingPolicy`. Required."""


class SingleCompositeDisruptionMode(Model):
    ...


class SingleDisruptionMode(Model):
    ...


class TopologyConstraint(Model):
    key: str = ""
    """JSON: `key`. Required."""


class TypedLocalObjectReference(Model):
    api_group: str | None = None
    """JSON: `apiGroup`. Default: absent."""
    kind: str = ""
    """JSON: `kind`. Required."""
    name: str = ""
    """JSON: `name`. Required."""


class WorkloadReference(Model):
    template_name: str = ""
    """JSON: `templateName`. Required."""
    workload_name: str = ""
    """JSON: `workloadName`. Required."""


class WorkloadSpec(Model):
    composite_pod_group_templates: list[CompositePodGroupTemplate] = []
    """JSON: `compositePodGroupTemplates`. Default: absent."""
    controller_ref: TypedLocalObjectReference | None = None
    """JSON: `controllerRef`. Default: absent."""
    pod_group_templates: list[PodGroupTemplate] = []
    """JSON: `podGroupTemplates`. Default: absent."""


class PodGroup(Object):
    spec: PodGroupSpec = ...
    """JSON: `spec`. Required."""
    status: PodGroupStatus = ...
    """JSON: `status`. Default: `{}`."""


class Workload(Object):
    spec: WorkloadSpec = ...
    """JSON: `spec`. Required."""


class PodGroupList(ObjectList[PodGroup], item=PodGroup):
    """A list of objects, as returned by one request."""


class WorkloadList(ObjectList[Workload], item=Workload):
    """A list of objects, as returned by one request."""
