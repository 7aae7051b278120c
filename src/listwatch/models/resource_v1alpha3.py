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
    key: str = field(default_factory=str)
    value: str | None = None
    effect: str = field(default_factory=str)
    time_added: datetime | None = None


class DeviceTaintRuleSpec(Model):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = field(default_factory=DeviceTaint)


class DeviceTaintRuleStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class DeviceTaintSelector(Model):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class PartitionTypeStatus(Model):
    attribute: str = field(default_factory=str)
    type: str = field(default_factory=str)
    total: int = field(default_factory=int)
    allocatable: int = field(default_factory=int)


class PoolStatus(Model):
    driver: str = field(default_factory=str)
    pool_name: str = field(default_factory=str)
    generation: int = field(default_factory=int)
    resource_slice_count: int | None = None
    total_devices: int | None = None
    allocated_devices: int | None = None
    available_devices: int | None = None
    unavailable_devices: int | None = None
    node_name: str | None = None
    validation_error: str | None = None
    partition_summary: list[PartitionTypeStatus] = field(default_factory=list)
    shareable_summary: ShareableSummaryStatus | None = None


class ResourcePoolStatusRequestSpec(Model):
    driver: str = field(default_factory=str)
    pool_name: str | None = None
    limit: int | None = None
    default_partition_type_attribute: str | None = None


class ResourcePoolStatusRequestStatus(Model):
    pool_count: int = field(default_factory=int)
    pools: list[PoolStatus] = field(default_factory=list)
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class ShareableCapacityStatus(Model):
    name: str = field(default_factory=str)
    total: Quantity = field(default_factory=lambda: "0")
    consumed: Quantity = field(default_factory=lambda: "0")
    available: Quantity = field(default_factory=lambda: "0")


class ShareableSummaryStatus(Model):
    fully_available_devices: int = field(default_factory=int)
    partially_available_devices: int = field(default_factory=int)
    capacity: list[ShareableCapacityStatus] = field(default_factory=list)


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
