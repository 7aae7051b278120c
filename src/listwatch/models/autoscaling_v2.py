"""The kinds and types of `autoscaling/v2` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import meta_v1
from listwatch.objects.declarations.model import Model, Quantity
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class MetricTarget(Model):
    type: str = field(default_factory=str)
    value: Quantity | None = None
    average_value: Quantity | None = None
    average_utilization: int | None = None


class ContainerResourceMetricSource(Model):
    name: str = field(default_factory=str)
    target: MetricTarget = field(default_factory=MetricTarget)
    container: str = field(default_factory=str)


class MetricValueStatus(Model):
    value: Quantity | None = None
    average_value: Quantity | None = None
    average_utilization: int | None = None


class ContainerResourceMetricStatus(Model):
    name: str = field(default_factory=str)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    container: str = field(default_factory=str)


class CrossVersionObjectReference(Model):
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    api_version: str | None = None


class MetricIdentifier(Model):
    name: str = field(default_factory=str)
    selector: meta_v1.LabelSelector | None = None


class ExternalMetricSource(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    target: MetricTarget = field(default_factory=MetricTarget)


class ExternalMetricStatus(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)


class HPAScalingPolicy(Model):
    type: str = field(default_factory=str)
    value: int = field(default_factory=int)
    period_seconds: int = field(default_factory=int)


class HPAScalingRules(Model):
    stabilization_window_seconds: int | None = None
    select_policy: str | None = None
    policies: list[HPAScalingPolicy] = field(default_factory=list)
    tolerance: Quantity | None = None


class HorizontalPodAutoscalerBehavior(Model):
    scale_up: HPAScalingRules | None = None
    scale_down: HPAScalingRules | None = None


class HorizontalPodAutoscalerCondition(Model):
    type: str = field(default_factory=str)
    status: str = field(default_factory=str)
    last_transition_time: datetime | None = None
    reason: str | None = None
    message: str | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscalerSpec(Model):
    scale_target_ref: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    min_replicas: int | None = None
    max_replicas: int = field(default_factory=int)
    metrics: list[MetricSpec] = field(default_factory=list)
    behavior: HorizontalPodAutoscalerBehavior | None = None


class HorizontalPodAutoscalerStatus(Model):
    observed_generation: int | None = None
    last_scale_time: datetime | None = None
    current_replicas: int | None = None
    desired_replicas: int = field(default_factory=int)
    current_metrics: list[MetricStatus] = field(default_factory=list)
    conditions: list[HorizontalPodAutoscalerCondition] = field(default_factory=list)


class MetricSpec(Model):
    type: str = field(default_factory=str)
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None


class MetricStatus(Model):
    type: str = field(default_factory=str)
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None


class ObjectMetricSource(Model):
    described_object: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    target: MetricTarget = field(default_factory=MetricTarget)
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)


class ObjectMetricStatus(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    described_object: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)


class PodsMetricSource(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    target: MetricTarget = field(default_factory=MetricTarget)


class PodsMetricStatus(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)


class ResourceMetricSource(Model):
    name: str = field(default_factory=str)
    target: MetricTarget = field(default_factory=MetricTarget)


class ResourceMetricStatus(Model):
    name: str = field(default_factory=str)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)


class HorizontalPodAutoscaler(
    Object,
    resource=Resource(
        "autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "horizontalpodautoscaler",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("hpa",),
        categories=("all",),
        subresources=(
            Subresource("status", "autoscaling", "v2", "HorizontalPodAutoscaler", ("get", "patch", "update")),
        ),
    ),
):
    spec: HorizontalPodAutoscalerSpec = lazy(HorizontalPodAutoscalerSpec)
    status: HorizontalPodAutoscalerStatus = lazy(HorizontalPodAutoscalerStatus)


class HorizontalPodAutoscalerList(ObjectList[HorizontalPodAutoscaler], item=HorizontalPodAutoscaler):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
