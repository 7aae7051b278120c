"""The kinds and types of `scheduling.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class AllCompositeDisruptionMode(Model):
    """AllCompositeDisruptionMode means that children of a CompositePodGroup can only be disrupted or preempted together."""


class AllDisruptionMode(Model):
    """AllDisruptionMode specifies that children can only be disrupted together."""


class BasicSchedulingPolicy(Model):
    """BasicSchedulingPolicy indicates that standard Kubernetes scheduling behavior should be used."""


class CompositeBasicSchedulingPolicy(Model):
    """CompositeBasicSchedulingPolicy indicates that the groups belonging to the composite group should be scheduled independently."""


class CompositeDisruptionMode(Model):
    """CompositeDisruptionMode defines how individual entities within a composite pod group can be disrupted. Exactly one mode must be set."""
    all: AllCompositeDisruptionMode | None = None
    """all specifies that all children groups can only be disrupted together.

    JSON: `all`. Default: absent."""
    single: SingleCompositeDisruptionMode | None = None
    """single specifies that children groups can be disrupted independently from each other.

    JSON: `single`. Default: absent."""


class CompositeGangSchedulingPolicy(Model):
    """CompositeGangSchedulingPolicy indicates that the groups belonging to the composite group should be scheduled using all-or-nothing semantics."""
    min_group_count: int = 0
    """minGroupCount is the minimum number of child groups that must be schedulable or scheduled at the same time for the scheduler to admit the entire group. It must be a positive integer.

    JSON: `minGroupCount`. Required."""


class CompositePodGroupSchedulingConstraints(Model):
    """CompositePodGroupSchedulingConstraints defines scheduling constraints (e.g. topology) for a CompositePodGroup."""
    topology: list[TopologyConstraint] = []
    """topology defines the topology constraints for the composite pod group. Currently only a single topology constraint can be specified. This may change in the future.

    JSON: `topology`. Default: absent."""


class CompositePodGroupSchedulingPolicy(Model):
    """CompositePodGroupSchedulingPolicy defines the scheduling configuration for a CompositePodGroup. Exactly one policy must be set."""
    basic: CompositeBasicSchedulingPolicy | None = None
    """basic specifies that the groups of this composite group should be scheduled independently. This field is immutable.

    JSON: `basic`. Default: absent."""
    gang: CompositeGangSchedulingPolicy | None = None
    """gang specifies that the groups of this composite group should be scheduled using all-or-nothing semantics.

    JSON: `gang`. Default: absent."""


class CompositePodGroupTemplate(Model):
    """CompositePodGroupTemplate represents a template for a CompositePodGroup with a scheduling policy."""
    composite_pod_group_templates: list[CompositePodGroupTemplate] = []
    """compositePodGroupTemplates is the list of templates for children CompositePodGroups. The maximum number of templates is 8. At least one entry in CompositePodGroupTemplates or PodGroupTemplates must be set.

    JSON: `compositePodGroupTemplates`. Default: absent."""
    disruption_mode: CompositeDisruptionMode | None = None
    """disruptionMode defines the mode in which a given CompositePodGroup can be disrupted. One of Single, All. This field is immutable.

    JSON: `disruptionMode`. Default: absent."""
    name: str = ""
    """name is a unique identifier for the CompositePodGroupTemplate within the Workload. It must be a DNS label. This field is required.

    JSON: `name`. Required."""
    pod_group_templates: list[PodGroupTemplate] = []
    """podGroupTemplates is the list of templates for children PodGroups. The maximum number of templates is 8. At least one entry in CompositePodGroupTemplates or PodGroupTemplates must be set.

    JSON: `podGroupTemplates`. Default: absent."""
    preemption_policy: str | None = None
    """preemptionPolicy is the Policy for preempting pods/podgroups with lower priority. One of Never, PreemptLowerPriority. This field is immutable. This field is available only when the PodGroupPreemptionPolicy feature gate is enabled.

    JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """priority is the value of priority of composite pod groups created from this template. Various system components use this field to find the priority of the composite pod group. When Priority Admission Controller is enabled, it prevents users from setting this field. The admission controller populates this field from PriorityClassName. The higher the value, the higher the priority. This field is immutable.

    JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """priorityClassName indicates the priority that should be considered when scheduling a composite pod group created from this template. If no priority class is specified, admission control can set this to the global default priority class if it exists. Otherwise, composite pod groups created from this template will have the priority set to zero. This field is immutable.

    JSON: `priorityClassName`. Default: absent."""
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    """schedulingConstraints defines optional scheduling constraints (e.g. topology) for this CompositePodGroupTemplate. This field is immutable.

    JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: CompositePodGroupSchedulingPolicy = ...
    """schedulingPolicy defines the scheduling policy for this template.

    JSON: `schedulingPolicy`. Required."""


class DisruptionMode(Model):
    """DisruptionMode defines how individual entities within a group can be disrupted. Exactly one mode can be set."""
    all: AllDisruptionMode | None = None
    """all specifies that all children can only be disrupted together.

    JSON: `all`. Default: absent."""
    single: SingleDisruptionMode | None = None
    """single specifies that children can be disrupted independently from each other.

    JSON: `single`. Default: absent."""


class GangSchedulingPolicy(Model):
    """GangSchedulingPolicy defines the parameters for gang scheduling."""
    min_count: int = 0
    """minCount is the minimum number of pods that must be schedulable or scheduled at the same time for the scheduler to admit the entire group. It must be a positive integer. This field is mutable to support workload scaling.

    Note that the scheduler operates on an eventually consistent model. Updates to minCount may not be immediately reflected in scheduling decisions due to propagation delays. If minCount is updated while a scheduling cycle is in progress for that group, the new value may not take effect until the next cycle. Moreover, minCount is only enforced during scheduling, meaning that modifications to this field do not affect already-scheduled pods, applying only to those evaluated in future cycles.

    JSON: `minCount`. Required."""


class PodGroupResourceClaim(Model):
    """PodGroupResourceClaim references exactly one ResourceClaim, either directly or by naming a ResourceClaimTemplate which is then turned into a ResourceClaim for the PodGroup.

    It adds a name to it that uniquely identifies the ResourceClaim inside the PodGroup. Pods that need access to the ResourceClaim define a matching reference in its own Spec.ResourceClaims. The Pod's claim must match all fields of the PodGroup's claim exactly."""
    name: str = ""
    """name uniquely identifies this resource claim inside the PodGroup. This must be a DNS_LABEL.

    JSON: `name`. Required."""
    resource_claim_name: str | None = None
    """resourceClaimName is the name of a ResourceClaim object in the same namespace as this PodGroup. The ResourceClaim will be reserved for the PodGroup instead of its individual pods.

    Exactly one of ResourceClaimName and ResourceClaimTemplateName must be set.

    JSON: `resourceClaimName`. Default: absent."""
    resource_claim_template_name: str | None = None
    """resourceClaimTemplateName is the name of a ResourceClaimTemplate object in the same namespace as this PodGroup.

    The template will be used to create a new ResourceClaim, which will be bound to this PodGroup. When this PodGroup is deleted, the ResourceClaim will also be deleted. The PodGroup name and resource name, along with a generated component, will be used to form a unique name for the ResourceClaim, which will be recorded in podgroup.status.resourceClaimStatuses.

    This field is immutable and no changes will be made to the corresponding ResourceClaim by the control plane after creating the ResourceClaim.

    Exactly one of ResourceClaimName and ResourceClaimTemplateName must be set.

    JSON: `resourceClaimTemplateName`. Default: absent."""


class PodGroupResourceClaimStatus(Model):
    """PodGroupResourceClaimStatus is stored in the PodGroupStatus for each PodGroupResourceClaim which references a ResourceClaimTemplate. It stores the generated name for the corresponding ResourceClaim."""
    name: str = ""
    """name uniquely identifies this resource claim inside the PodGroup. This must match the name of an entry in podgroup.spec.resourceClaims, which implies that the string must be a DNS_LABEL.

    JSON: `name`. Required."""
    resource_claim_name: str | None = None
    """resourceClaimName is the name of the ResourceClaim that was generated for the PodGroup in the namespace of the PodGroup. If this is unset, then generating a ResourceClaim was not necessary. The podgroup.spec.resourceClaims entry can be ignored in this case.

    JSON: `resourceClaimName`. Default: absent."""


class PodGroupSchedulingConstraints(Model):
    """PodGroupSchedulingConstraints defines scheduling constraints (e.g. topology) for a PodGroup."""
    topology: list[TopologyConstraint] = []
    """topology defines the topology constraints for the pod group. Currently only a single topology constraint can be specified. This may change in the future.

    JSON: `topology`. Default: absent."""


class PodGroupSchedulingPolicy(Model):
    """PodGroupSchedulingPolicy defines the scheduling configuration for a PodGroup. Exactly one policy must be set. The policy is chosen at creation time by setting either the Basic or Gang field. The PodGroup may not change policy after creation. Fields within chosen policy may be updated after creation when their individual fields allow it."""
    basic: BasicSchedulingPolicy | None = None
    """basic specifies that the pods in this group should be scheduled using standard Kubernetes scheduling behavior. Setting this field at group creation time opts this group to basic scheduling; this field cannot be changed afterward.

    JSON: `basic`. Default: absent."""
    gang: GangSchedulingPolicy | None = None
    """gang specifies that the pods in this group should be scheduled using all-or-nothing semantics. Setting this field at group creation time opts this group to gang scheduling; this field cannot be set or unset afterward. The minCount field within Gang scheduling policy remains mutable after group creation.

    JSON: `gang`. Default: absent."""


class PodGroupSpec(Model):
    """PodGroupSpec defines the desired state of a PodGroup."""
    disruption_mode: DisruptionMode | None = None
    """disruptionMode defines the mode in which a given PodGroup can be disrupted. Controllers are expected to fill this field by copying it from a PodGroupTemplate. One of Single, All. Defaults to Single if unset. This field is immutable.

    JSON: `disruptionMode`. Default: `{"single": {}}`, set by the server."""
    parent_composite_pod_group_name: str | None = None
    """parentCompositePodGroupName contains the name of the parent composite pod group within the same namespace as this pod group. If it's nil, then this pod group is a root of a workload's hierarchy. This field is used only when the CompositePodGroup feature gate is enabled. This field is immutable.

    JSON: `parentCompositePodGroupName`. Default: absent."""
    preemption_policy: str | None = None
    """preemptionPolicy is the Policy for preempting pods/podgroups with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset. When Priority Admission Controller is enabled, it populates this field from PriorityClassName, and defaults to PreemptLowerPriority if value is unset in PriorityClass. This field is immutable. This field is available only when the PodGroupPreemptionPolicy feature gate is enabled.

    JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """priority is the value of priority of this pod group. Various system components use this field to find the priority of the pod group. When Priority Admission Controller is enabled, it prevents users from setting this field. The admission controller populates this field from PriorityClassName. The higher the value, the higher the priority. This field is immutable.

    JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """priorityClassName defines the priority that should be considered when scheduling this pod group. Controllers are expected to fill this field by copying it from a PodGroupTemplate. Otherwise, it is validated and resolved similarly to the PriorityClassName on PodGroupTemplate (i.e. if no priority class is specified, admission control can set this to the global default priority class if it exists. Otherwise, the pod group's priority will be zero). This field is immutable.

    JSON: `priorityClassName`. Default: absent."""
    resource_claims: list[PodGroupResourceClaim] = []
    """resourceClaims defines which ResourceClaims may be shared among Pods in the group. Pods consume the devices allocated to a PodGroup's claim by defining a claim in its own Spec.ResourceClaims that matches the PodGroup's claim exactly. The claim must have the same name and refer to the same ResourceClaim or ResourceClaimTemplate.

    This is a beta-level field and requires that the DRAWorkloadResourceClaims feature gate is enabled.

    This field is immutable.

    JSON: `resourceClaims`. Default: absent."""
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    """schedulingConstraints defines optional scheduling constraints (e.g. topology) for this PodGroup. Controllers are expected to fill this field by copying it from a PodGroupTemplate. This field is immutable. This field is only available when the TopologyAwareWorkloadScheduling feature gate is enabled.

    JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: PodGroupSchedulingPolicy = ...
    """schedulingPolicy defines the scheduling policy for this instance of the PodGroup. Controllers are expected to fill this field by copying it from a PodGroupTemplate.

    JSON: `schedulingPolicy`. Required."""
    workload_ref: WorkloadReference | None = None
    """workloadRef references an optional PodGroup template within the Workload object that was used to create the PodGroup. This field is immutable.

    JSON: `workloadRef`. Default: absent."""


class PodGroupStatus(Model):
    """PodGroupStatus represents information about the status of a pod group."""
    conditions: list[meta_v1.Condition] = []
    """conditions represent the latest observations of the PodGroup's state.

    Known condition types: - "PodGroupInitiallyScheduled": Indicates whether the scheduling requirement has been satisfied. Once this condition transitions to True, it serves as a terminal state and will never revert to False, even if pods are subsequently evicted and group constraints are no longer met. - "DisruptionTarget": Indicates whether the PodGroup is about to be terminated
      due to disruption such as preemption.

    Known reasons for the PodGroupInitiallyScheduled condition: - "Unschedulable": The PodGroup cannot be scheduled due to resource constraints,
      affinity/anti-affinity rules, or insufficient capacity for the gang.
    - "SchedulerError": The PodGroup cannot be scheduled due to some internal error
      that happened during scheduling, for example due to nodeAffinity parsing errors.

    Known reasons for the DisruptionTarget condition: - "PreemptionByScheduler": The PodGroup was preempted by the scheduler to make room for
      higher-priority PodGroups or Pods.

    JSON: `conditions`. Default: absent."""
    resource_claim_statuses: list[PodGroupResourceClaimStatus] = []
    """resourceClaimStatuses is status of resource claims.

    JSON: `resourceClaimStatuses`. Default: absent."""


class PodGroupTemplate(Model):
    """PodGroupTemplate represents a template for a set of pods with a scheduling policy."""
    disruption_mode: DisruptionMode | None = None
    """disruptionMode defines the mode in which a given PodGroup can be disrupted. One of Single, All. This field is immutable.

    JSON: `disruptionMode`. Default: absent."""
    name: str = ""
    """name is a unique identifier for the PodGroupTemplate within the Workload. It must be a DNS label. This field is immutable.

    JSON: `name`. Required."""
    preemption_policy: str | None = None
    """preemptionPolicy is the Policy for preempting pods/podgroups with lower priority. One of Never, PreemptLowerPriority. This field is immutable. This field is available only when the PodGroupPreemptionPolicy feature gate is enabled.

    JSON: `preemptionPolicy`. Default: absent."""
    priority: int | None = None
    """priority is the value of priority of pod groups created from this template. Various system components use this field to find the priority of the pod group. The higher the value, the higher the priority. This field is immutable.

    JSON: `priority`. Default: absent."""
    priority_class_name: str | None = None
    """priorityClassName indicates the priority that should be considered when scheduling a pod group created from this template. This field is immutable.

    JSON: `priorityClassName`. Default: absent."""
    resource_claims: list[PodGroupResourceClaim] = []
    """resourceClaims defines which ResourceClaims may be shared among Pods in the group. Pods consume the devices allocated to a PodGroup's claim by defining a claim in its own Spec.ResourceClaims that matches the PodGroup's claim exactly. The claim must have the same name and refer to the same ResourceClaim or ResourceClaimTemplate.

    This is a beta-level field and requires that the DRAWorkloadResourceClaims feature gate is enabled.

    This field is immutable.

    JSON: `resourceClaims`. Default: absent."""
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    """schedulingConstraints defines optional scheduling constraints (e.g. topology) for this PodGroupTemplate. This field is only available when the TopologyAwareWorkloadScheduling feature gate is enabled. This field is immutable.

    JSON: `schedulingConstraints`. Default: absent."""
    scheduling_policy: PodGroupSchedulingPolicy = ...
    """schedulingPolicy defines the scheduling policy for this PodGroupTemplate.

    JSON: `schedulingPolicy`. Required."""


class SingleCompositeDisruptionMode(Model):
    """SingleCompositeDisruptionMode means that individual children of a CompositePodGroup can be disrupted or preempted independently."""


class SingleDisruptionMode(Model):
    """SingleDisruptionMode specifies that children can be disrupted independently."""


class TopologyConstraint(Model):
    """TopologyConstraint defines a topology constraint for a PodGroup."""
    key: str = ""
    """key specifies the key of the node label representing the topology domain. All pods within the PodGroup must be colocated within the same domain instance. Different PodGroups can land on different domain instances even if they derive from the same PodGroupTemplate. Examples: "topology.kubernetes.io/rack"

    JSON: `key`. Required."""


class TypedLocalObjectReference(Model):
    """TypedLocalObjectReference allows to reference typed object inside the same namespace."""
    api_group: str | None = None
    """apiGroup is the group for the resource being referenced. If apiGroup is empty, the specified Kind must be in the core API group. For any other third-party types, setting apiGroup is required. It must be a DNS subdomain.

    JSON: `apiGroup`. Default: absent."""
    kind: str = ""
    """kind is the type of resource being referenced. It must be a path segment name.

    JSON: `kind`. Required."""
    name: str = ""
    """name is the name of resource being referenced. It must be a path segment name.

    JSON: `name`. Required."""


class WorkloadReference(Model):
    """WorkloadReference references the Workload object together with the template that was used to create a particular PodGroup."""
    template_name: str = ""
    """templateName is the name of a template within the Workload object that was used to create a pod group. It must be a DNS label. This field is required.

    JSON: `templateName`. Required."""
    workload_name: str = ""
    """workloadName is the name of the Workload object that contains a template that was used when creating a pod group. It must be a DNS name. This field is required.

    JSON: `workloadName`. Required."""


class WorkloadSpec(Model):
    """WorkloadSpec defines the desired state of a Workload."""
    composite_pod_group_templates: list[CompositePodGroupTemplate] = []
    """compositePodGroupTemplates is the list of CompositePodGroup templates that make up the Workload. The maximum number of templates is 8. This field is immutable. Exactly one of CompositePodGroupTemplates and PodGroupTemplates must be set.

    This field is used only when the CompositePodGroup feature gate is enabled.

    JSON: `compositePodGroupTemplates`. Default: absent."""
    controller_ref: TypedLocalObjectReference | None = None
    """controllerRef is an optional reference to the controlling object, such as a Deployment or Job. This field is intended for use by tools like CLIs to provide a link back to the original workload definition. This field is immutable.

    JSON: `controllerRef`. Default: absent."""
    pod_group_templates: list[PodGroupTemplate] = []
    """podGroupTemplates is the list of templates that make up the Workload. The maximum number of templates is 8. Templates cannot be added or removed after the workload is created. Existing templates may still be updated where their individual fields allow it. Exactly one of CompositePodGroupTemplates and PodGroupTemplates must be set.

    JSON: `podGroupTemplates`. Default: absent."""


class PodGroup(Object):
    """PodGroup represents a runtime instance of pods grouped together. PodGroups are created by workload controllers (Job, LWS, JobSet, etc...) from Workload.podGroupTemplates. PodGroup API enablement is toggled by the GenericWorkload feature gate."""
    spec: PodGroupSpec = ...
    """spec defines the desired state of the PodGroup.

    JSON: `spec`. Required."""
    status: PodGroupStatus = ...
    """status represents the current observed state of the PodGroup.

    JSON: `status`. Default: `{}`."""


class Workload(Object):
    """Workload allows for expressing scheduling constraints that should be used when managing the lifecycle of workloads from the scheduling perspective, including scheduling, preemption, eviction and other phases. Workload API enablement is toggled by the GenericWorkload feature gate."""
    spec: WorkloadSpec = ...
    """spec defines the desired behavior of a Workload.

    JSON: `spec`. Required."""


class PodGroupList(ObjectList[PodGroup], item=PodGroup):
    """A list of objects, as returned by one request."""


class WorkloadList(ObjectList[Workload], item=Workload):
    """A list of objects, as returned by one request."""
