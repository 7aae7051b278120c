"""The kinds and types of `scheduling.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class PriorityClass(Object):
    """PriorityClass defines mapping from a priority class name to the priority integer value. The value can be any valid integer."""
    description: str | None = ...
    """description is an arbitrary string that usually provides guidelines on when this priority class should be used.

    JSON: `description`. Default: absent."""
    global_default: bool | None = ...
    """globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.

    JSON: `globalDefault`. Default: absent."""
    preemption_policy: str | None = ...
    """preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.

    Possible enum values:
     - `"Never"` means that pod never preempts other pods with lower priority.
     - `"PreemptLowerPriority"` means that pod can preempt other pods with lower priority.

    JSON: `preemptionPolicy`. Default: absent."""
    value: int = ...
    """value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.

    JSON: `value`. Default: `0`."""


class PriorityClassList(ObjectList[PriorityClass], item=PriorityClass):
    """A list of objects, as returned by one request."""
