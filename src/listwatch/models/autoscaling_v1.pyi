"""The kinds and types of `autoscaling/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime

from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class CrossVersionObjectReference(Model):
    """CrossVersionObjectReference contains enough information to let you identify the referred resource."""
    api_version: str | None = None
    """apiVersion is the API version of the referent

    JSON: `apiVersion`. Default: absent."""
    kind: str = ""
    """kind is the kind of the referent; More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds

    JSON: `kind`. Required."""
    name: str = ""
    """name is the name of the referent; More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names

    JSON: `name`. Required."""


class HorizontalPodAutoscalerSpec(Model):
    """specification of a horizontal pod autoscaler."""
    max_replicas: int = 0
    """maxReplicas is the upper limit for the number of pods that can be set by the autoscaler; cannot be smaller than MinReplicas.

    JSON: `maxReplicas`. Required."""
    min_replicas: int | None = None
    """minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one Object or External metric is configured.  Scaling is active as long as at least one metric value is available.

    JSON: `minReplicas`. Default: absent."""
    scale_target_ref: CrossVersionObjectReference = ...
    """reference to scaled resource; horizontal pod autoscaler will learn the current resource consumption and will set the desired number of pods by using its Scale subresource.

    JSON: `scaleTargetRef`. Required."""
    target_cpu_utilization_percentage: int | None = None
    """targetCPUUtilizationPercentage is the target average CPU utilization (represented as a percentage of requested CPU) over all the pods; if not specified the default autoscaling policy will be used.

    JSON: `targetCPUUtilizationPercentage`. Default: absent."""


class HorizontalPodAutoscalerStatus(Model):
    """current status of a horizontal pod autoscaler"""
    current_cpu_utilization_percentage: int | None = None
    """currentCPUUtilizationPercentage is the current average CPU utilization over all pods, represented as a percentage of requested CPU, e.g. 70 means that an average pod is using now 70% of its requested CPU.

    JSON: `currentCPUUtilizationPercentage`. Default: absent."""
    current_replicas: int = 0
    """currentReplicas is the current number of replicas of pods managed by this autoscaler.

    JSON: `currentReplicas`. Required."""
    desired_replicas: int = 0
    """desiredReplicas is the  desired number of replicas of pods managed by this autoscaler.

    JSON: `desiredReplicas`. Required."""
    last_scale_time: datetime | None = None
    """lastScaleTime is the last time the HorizontalPodAutoscaler scaled the number of pods; used by the autoscaler to control how often the number of pods is changed.

    JSON: `lastScaleTime`. Default: absent."""
    observed_generation: int | None = None
    """observedGeneration is the most recent generation observed by this autoscaler.

    JSON: `observedGeneration`. Default: absent."""


class ScaleSpec(Model):
    """ScaleSpec describes the attributes of a scale subresource."""
    replicas: int = 0
    """replicas is the desired number of instances for the scaled object.

    JSON: `replicas`. Default: `0`."""


class ScaleStatus(Model):
    """ScaleStatus represents the current status of a scale subresource."""
    replicas: int = 0
    """replicas is the actual number of observed instances of the scaled object.

    JSON: `replicas`. Required."""
    selector: str | None = None
    """selector is the label query over pods that should match the replicas count. This is same as the label selector but in the string format to avoid introspection by clients. The string will be in the same format as the query-param syntax. More info about label selectors: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/

    JSON: `selector`. Default: absent."""


class HorizontalPodAutoscaler(Object):
    """configuration of a horizontal pod autoscaler."""
    spec: HorizontalPodAutoscalerSpec = ...
    """spec defines the behaviour of autoscaler. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status.

    JSON: `spec`. Required."""
    status: HorizontalPodAutoscalerStatus = ...
    """status is the current information about the autoscaler.

    JSON: `status`. Default: `{}`."""


class Scale(Object):
    """Scale represents a scaling request for a resource."""
    spec: ScaleSpec = ...
    """spec defines the behavior of the scale. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status.

    JSON: `spec`. Default: `{}`."""
    status: ScaleStatus = ...
    """status is the current status of the scale. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status. Read-only.

    JSON: `status`. Default: `{}`."""


class HorizontalPodAutoscalerList(ObjectList[HorizontalPodAutoscaler], item=HorizontalPodAutoscaler):
    """A list of objects, as returned by one request."""
