"""The messages of policy_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Eviction 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:deleteOptions:#meta_v1.DeleteOptions*
PodDisruptionBudget 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#PodDisruptionBudgetSpec
 3:status:#PodDisruptionBudgetStatus
PodDisruptionBudgetList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#PodDisruptionBudget!
PodDisruptionBudgetSpec 1:minAvailable:#util_intstr.IntOrString* 2:selector:#meta_v1.LabelSelector*
 3:maxUnavailable:#util_intstr.IntOrString* 4:unhealthyPodEvictionPolicy:s*
PodDisruptionBudgetStatus 1:observedGeneration:l 2:disruptedPods:{#meta_v1.Time 3:disruptionsAllowed:i!
 4:currentHealthy:i! 5:desiredHealthy:i! 6:expectedPods:i! 7:conditions:[#meta_v1.Condition
"""
