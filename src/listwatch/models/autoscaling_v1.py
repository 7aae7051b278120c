"""The kinds and types of `autoscaling/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import GroupVersionKind, Resource, Subresource
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class CrossVersionObjectReference(Model):
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    api_version: str | None = None


class HorizontalPodAutoscalerSpec(Model):
    scale_target_ref: CrossVersionObjectReference = field(default_factory=CrossVersionObjectReference)
    min_replicas: int | None = None
    max_replicas: int = field(default_factory=int)
    target_cpu_utilization_percentage: int | None = field(default=None, name="targetCPUUtilizationPercentage")


class HorizontalPodAutoscalerStatus(Model):
    observed_generation: int | None = None
    last_scale_time: datetime | None = None
    current_replicas: int = field(default_factory=int)
    desired_replicas: int = field(default_factory=int)
    current_cpu_utilization_percentage: int | None = field(default=None, name="currentCPUUtilizationPercentage")


class ScaleSpec(Model):
    replicas: int = field(default_factory=int)


class ScaleStatus(Model):
    replicas: int = field(default_factory=int)
    selector: str | None = None


class HorizontalPodAutoscaler(
    Object,
    resource=Resource(
        "autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "horizontalpodautoscaler",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("hpa",),
        categories=("all",),
        subresources=(
            Subresource("status", "autoscaling", "v1", "HorizontalPodAutoscaler", ("get", "patch", "update")),
        ),
    ),
):
    spec: HorizontalPodAutoscalerSpec = lazy(HorizontalPodAutoscalerSpec)
    status: HorizontalPodAutoscalerStatus = lazy(HorizontalPodAutoscalerStatus)


class Scale(
    Object,
    gvk=GroupVersionKind("autoscaling", "v1", "Scale"),
):
    spec: ScaleSpec = lazy(ScaleSpec)
    status: ScaleStatus = lazy(ScaleStatus)


class HorizontalPodAutoscalerList(ObjectList[HorizontalPodAutoscaler], item=HorizontalPodAutoscaler):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
