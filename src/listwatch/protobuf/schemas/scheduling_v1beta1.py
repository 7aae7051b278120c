"""The messages of scheduling_v1beta1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
AllCompositeDisruptionMode
AllDisruptionMode
BasicSchedulingPolicy
CompositeBasicSchedulingPolicy
CompositeDisruptionMode 1:single:#SingleCompositeDisruptionMode* 2:all:#AllCompositeDisruptionMode*
CompositeGangSchedulingPolicy 1:minGroupCount:i!
CompositePodGroupSchedulingConstraints 1:topology:[#TopologyConstraint
CompositePodGroupSchedulingPolicy 1:basic:#CompositeBasicSchedulingPolicy* 2:gang:#CompositeGangSchedulingPolicy*
CompositePodGroupTemplate 1:name:s! 2:schedulingPolicy:#CompositePodGroupSchedulingPolicy!
 3:schedulingConstraints:#CompositePodGroupSchedulingConstraints* 4:disruptionMode:#CompositeDisruptionMode*
 5:priorityClassName:s 6:priority:i* 7:preemptionPolicy:s* 8:podGroupTemplates:[#PodGroupTemplate
 9:compositePodGroupTemplates:[#CompositePodGroupTemplate
DisruptionMode 1:single:#SingleDisruptionMode* 2:all:#AllDisruptionMode*
GangSchedulingPolicy 1:minCount:i!
PodGroup 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#PodGroupSpec! 3:status:#PodGroupStatus
PodGroupList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#PodGroup!
PodGroupResourceClaim 1:name:s! 2:resourceClaimName:s* 3:resourceClaimTemplateName:s*
PodGroupResourceClaimStatus 1:name:s! 2:resourceClaimName:s*
PodGroupSchedulingConstraints 1:topology:[#TopologyConstraint
PodGroupSchedulingPolicy 1:basic:#BasicSchedulingPolicy* 2:gang:#GangSchedulingPolicy*
PodGroupSpec 1:parentCompositePodGroupName:s* 2:workloadRef:#WorkloadReference*
 3:schedulingPolicy:#PodGroupSchedulingPolicy! 4:schedulingConstraints:#PodGroupSchedulingConstraints*
 5:resourceClaims:[#PodGroupResourceClaim 6:disruptionMode:#DisruptionMode* 7:priorityClassName:s 8:priority:i*
 9:preemptionPolicy:s*
PodGroupStatus 1:conditions:[#meta_v1.Condition 2:resourceClaimStatuses:[#PodGroupResourceClaimStatus
PodGroupTemplate 1:name:s! 2:schedulingPolicy:#PodGroupSchedulingPolicy!
 3:schedulingConstraints:#PodGroupSchedulingConstraints*! 4:resourceClaims:[#PodGroupResourceClaim
 5:disruptionMode:#DisruptionMode* 6:priorityClassName:s 7:priority:i* 8:preemptionPolicy:s*
PriorityClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:value:i! 3:globalDefault:b 4:description:s
 5:preemptionPolicy:s*
PriorityClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#PriorityClass!
SingleCompositeDisruptionMode
SingleDisruptionMode
TopologyConstraint 1:key:s!
TypedLocalObjectReference 1:apiGroup:s@APIGroup 2:kind:s! 3:name:s!
Workload 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#WorkloadSpec!
WorkloadList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Workload!
WorkloadReference 1:workloadName:s! 2:templateName:s!
WorkloadSpec 1:controllerRef:#TypedLocalObjectReference* 2:podGroupTemplates:[#PodGroupTemplate!
 3:compositePodGroupTemplates:[#CompositePodGroupTemplate
"""
