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
    average_utilization: int | None = None
    average_value: Quantity | None = None
    type: str = field(default_factory=str)
    value: Quantity | None = None


class ContainerResourceMetricSource(Model):
    container: str = field(default_factory=str)
    name: str = field(default_factory=str)
    target: MetricTarget = field(default_factory=MetricTarget)


class MetricValueStatus(Model):
    average_utilization: int | None = None
    average_value: Quantity | None = None
    value: Quantity | None = None


class ContainerResourceMetricStatus(Model):
    container: str = field(default_factory=str)
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    name: str = field(default_factory=str)


class CrossVersionObjectReference(Model):
    api_version: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)


class MetricIdentifier(Model):
    name: str = field(default_factory=str)
    selector: meta_v1.LabelSelector | None = None


class ExternalMetricSource(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    target: MetricTarget = field(default_factory=MetricTarget)


class ExternalMetricStatus(Model):
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)


class HPAScalingPolicy(Model):
    period_seconds: int = field(default_factory=int)
    type: str = field(default_factory=str)
    value: int = field(default_factory=int)


class HPAScalingRules(Model):
    policies: list[HPAScalingPolicy] = field(default_factory=list)
    select_policy: str | None = None
    stabilization_window_seconds: int | None = None
    tolerance: Quantity | None = None


class HorizontalPodAutoscalerBehavior(Model):
    scale_down: HPAScalingRules | None = None
    scale_up: HPAScalingRules | None = None


class HorizontalPodAutoscalerCondition(Model):
    last_transition_time: datetime | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = field(default_factory=str)
    type: str = field(default_factory=str)


class HorizontalPodAutoscalerSpec(Model):
    behavior: HorizontalPodAutoscalerBehavior | None = None
    max_replicas: int = field(default_factory=int)
    metrics: list[MetricSpec] = field(default_factory=list)
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)


class HorizontalPodAutoscalerStatus(Model):
    conditions: list[HorizontalPodAutoscalerCondition] = field(default_factory=list)
    current_metrics: list[MetricStatus] = field(default_factory=list)
    current_replicas: int | None = None
    desired_replicas: int = field(default_factory=int)
    last_scale_time: datetime | None = None
    observed_generation: int | None = None


class MetricSpec(Model):
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    type: str = field(default_factory=str)


class MetricStatus(Model):
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    type: str = field(default_factory=str)


class ObjectMetricSource(Model):
    described_object: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    target: MetricTarget = field(default_factory=MetricTarget)


class ObjectMetricStatus(Model):
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    described_object: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)


class PodsMetricSource(Model):
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)
    target: MetricTarget = field(default_factory=MetricTarget)


class PodsMetricStatus(Model):
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    metric: MetricIdentifier = field(default_factory=MetricIdentifier)


class ResourceMetricSource(Model):
    name: str = field(default_factory=str)
    target: MetricTarget = field(default_factory=MetricTarget)


class ResourceMetricStatus(Model):
    current: MetricValueStatus = field(default_factory=MetricValueStatus)
    name: str = field(default_factory=str)


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
