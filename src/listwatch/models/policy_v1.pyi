"""The kinds and types of `policy/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class PodDisruptionBudgetSpec(Model):
    """PodDisruptionBudgetSpec is a description of a PodDisruptionBudget."""
    max_unavailable: int | str | None = None
    """An eviction is allowed if at most "maxUnavailable" pods selected by "selector" are unavailable after the eviction, i.e. even in absence of the evicted pod. For example, one can prevent all voluntary evictions by specifying 0. This is a mutually exclusive setting with "minAvailable".

    JSON: `maxUnavailable`. Default: absent."""
    min_available: int | str | None = None
    """An eviction is allowed if at least "minAvailable" pods selected by "selector" will still be available after the eviction, i.e. even in the absence of the evicted pod.  So for example you can prevent all voluntary evictions by specifying "100%".

    JSON: `minAvailable`. Default: absent."""
    selector: meta_v1.LabelSelector | None = None
    """Label query over pods whose evictions are managed by the disruption budget. A null selector will match no pods, while an empty ({}) selector will select all pods within the namespace.

    JSON: `selector`. Default: absent."""
    unhealthy_pod_eviction_policy: str | None = None
    """UnhealthyPodEvictionPolicy defines the criteria for when unhealthy pods should be considered for eviction. Current implementation considers healthy pods, as pods that have status.conditions item with type="Ready",status="True".

    Valid policies are IfHealthyBudget and AlwaysAllow. If no policy is specified, the default behavior will be used, which corresponds to the IfHealthyBudget policy.

    IfHealthyBudget policy means that running pods (status.phase="Running"), but not yet healthy can be evicted only if the guarded application is not disrupted (status.currentHealthy is at least equal to status.desiredHealthy). Healthy pods will be subject to the PDB for eviction.

    AlwaysAllow policy means that all running pods (status.phase="Running"), but not yet healthy are considered disrupted and can be evicted regardless of whether the criteria in a PDB is met. This means perspective running pods of a disrupted application might not get a chance to become healthy. Healthy pods will be subject to the PDB for eviction.

    Additional policies may be added in the future. Clients making eviction decisions should disallow eviction of unhealthy pods if they encounter an unrecognized policy in this field.

    Possible enum values:
     - `"AlwaysAllow"` policy means that all running pods (status.phase="Running"), but not yet healthy are considered disrupted and can be evicted regardless of whether the criteria in a PDB is met. This means perspective running pods of a disrupted application might not get a chance to become healthy. Healthy pods will be subject to the PDB for eviction.
     - `"IfHealthyBudget"` policy means that running pods (status.phase="Running"), but not yet healthy can be evicted only if the guarded application is not disrupted (status.currentHealthy is at least equal to status.desiredHealthy). Healthy pods will be subject to the PDB for eviction.

    JSON: `unhealthyPodEvictionPolicy`. Default: absent."""


class PodDisruptionBudgetStatus(Model):
    """PodDisruptionBudgetStatus represents information about the status of a PodDisruptionBudget. Status may trail the actual state of a system."""
    conditions: list[meta_v1.Condition] = []
    """Conditions contain conditions for PDB. The disruption controller sets the DisruptionAllowed condition. The following are known values for the reason field (additional reasons could be added in the future): - SyncFailed: The controller encountered an error and wasn't able to compute
                  the number of allowed disruptions. Therefore no disruptions are
                  allowed and the status of the condition will be False.
    - InsufficientPods: The number of pods are either at or below the number
                        required by the PodDisruptionBudget. No disruptions are
                        allowed and the status of the condition will be False.
    - SufficientPods: There are more pods than required by the PodDisruptionBudget.
                      The condition will be True, and the number of allowed
                      disruptions are provided by the disruptionsAllowed property.

    JSON: `conditions`. Default: absent."""
    current_healthy: int = 0
    """current number of healthy pods

    JSON: `currentHealthy`. Default: `0`."""
    desired_healthy: int = 0
    """minimum desired number of healthy pods

    JSON: `desiredHealthy`. Default: `0`."""
    disrupted_pods: dict[str, datetime] = {}
    """DisruptedPods contains information about pods whose eviction was processed by the API server eviction subresource handler but has not yet been observed by the PodDisruptionBudget controller. A pod will be in this map from the time when the API server processed the eviction request to the time when the pod is seen by PDB controller as having been marked for deletion (or after a timeout). The key in the map is the name of the pod and the value is the time when the API server processed the eviction request. If the deletion didn't occur and a pod is still there it will be removed from the list automatically by PodDisruptionBudget controller after some time. If everything goes smooth this map should be empty for the most of the time. Large number of entries in the map may indicate problems with pod deletions.

    JSON: `disruptedPods`. Default: absent."""
    disruptions_allowed: int = 0
    """Number of pod disruptions that are currently allowed.

    JSON: `disruptionsAllowed`. Default: `0`."""
    expected_pods: int = 0
    """total number of pods counted by this disruption budget

    JSON: `expectedPods`. Default: `0`."""
    observed_generation: int | None = None
    """Most recent generation observed when updating this PDB status. DisruptionsAllowed and other status information is valid only if observedGeneration equals to PDB's object generation.

    JSON: `observedGeneration`. Default: absent."""


class Eviction(Object):
    """Eviction evicts a pod from its node subject to certain policies and safety constraints. This is a subresource of Pod.  A request to cause such an eviction is created by POSTing to .../pods/<pod name>/evictions."""
    delete_options: meta_v1.DeleteOptions | None = ...
    """DeleteOptions may be provided

    JSON: `deleteOptions`. Default: absent."""


class PodDisruptionBudget(Object):
    """PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods"""
    spec: PodDisruptionBudgetSpec = ...
    """Specification of the desired behavior of the PodDisruptionBudget.

    JSON: `spec`. Default: `{}`."""
    status: PodDisruptionBudgetStatus = ...
    """Most recently observed status of the PodDisruptionBudget.

    JSON: `status`. Default: `{}`."""


class PodDisruptionBudgetList(ObjectList[PodDisruptionBudget], item=PodDisruptionBudget):
    """A list of objects, as returned by one request."""
