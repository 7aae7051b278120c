"""The kinds and types of `resource.k8s.io/v1alpha3` in Kubernetes v1.37.0-rc.1.

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


class DeviceTaint(Model):
    effect: str = field(default_factory=str)
    key: str = field(default_factory=str)
    time_added: datetime | None = None
    value: str | None = None


class DeviceTaintRuleSpec(Model):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = field(default_factory=DeviceTaint)


class DeviceTaintRuleStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class DeviceTaintSelector(Model):
    device: str | None = None
    driver: str | None = None
    pool: str | None = None


class PartitionTypeStatus(Model):
    allocatable: int = field(default_factory=int)
    attribute: str = field(default_factory=str)
    total: int = field(default_factory=int)
    type: str = field(default_factory=str)


class PoolStatus(Model):
    allocated_devices: int | None = None
    available_devices: int | None = None
    driver: str = field(default_factory=str)
    generation: int = field(default_factory=int)
    node_name: str | None = None
    partition_summary: list[PartitionTypeStatus] = field(default_factory=list)
    pool_name: str = field(default_factory=str)
    resource_slice_count: int | None = None
    shareable_summary: ShareableSummaryStatus | None = None
    total_devices: int | None = None
    unavailable_devices: int | None = None
    validation_error: str | None = None


class ResourcePoolStatusRequestSpec(Model):
    default_partition_type_attribute: str | None = None
    driver: str = field(default_factory=str)
    limit: int | None = None
    pool_name: str | None = None


class ResourcePoolStatusRequestStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    pool_count: int = field(default_factory=int)
    pools: list[PoolStatus] = field(default_factory=list)


class ShareableCapacityStatus(Model):
    available: Quantity = field(default_factory=lambda: "0")
    consumed: Quantity = field(default_factory=lambda: "0")
    name: str = field(default_factory=str)
    total: Quantity = field(default_factory=lambda: "0")


class ShareableSummaryStatus(Model):
    capacity: list[ShareableCapacityStatus] = field(default_factory=list)
    fully_available_devices: int = field(default_factory=int)
    partially_available_devices: int = field(default_factory=int)


class DeviceTaintRule(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1alpha3", "DeviceTaintRule", "devicetaintrules", "devicetaintrule",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "resource.k8s.io", "v1alpha3", "DeviceTaintRule", ("get", "patch", "update")),
        ),
    ),
):
    spec: DeviceTaintRuleSpec = lazy(DeviceTaintRuleSpec)
    status: DeviceTaintRuleStatus = lazy(DeviceTaintRuleStatus)


class ResourcePoolStatusRequest(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1alpha3", "ResourcePoolStatusRequest", "resourcepoolstatusrequests", "resourcepoolstatusrequest",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "resource.k8s.io", "v1alpha3", "ResourcePoolStatusRequest", ("get", "patch", "update")),
        ),
    ),
):
    spec: ResourcePoolStatusRequestSpec = lazy(ResourcePoolStatusRequestSpec)
    status: ResourcePoolStatusRequestStatus = lazy(ResourcePoolStatusRequestStatus)


class DeviceTaintRuleList(ObjectList[DeviceTaintRule], item=DeviceTaintRule):
    """A list of objects, as returned by one request."""


class ResourcePoolStatusRequestList(ObjectList[ResourcePoolStatusRequest], item=ResourcePoolStatusRequest):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
