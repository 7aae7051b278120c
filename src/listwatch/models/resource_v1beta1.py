"""The kinds and types of `resource.k8s.io/v1beta1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import core_v1, meta_v1
from listwatch.objects.declarations.model import Model, Quantity, required_dict
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class AllocatedDeviceStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    device: str = field(default_factory=str)
    driver: str = field(default_factory=str)
    network_data: NetworkDeviceData | None = None
    pool: str = field(default_factory=str)
    share_id: str | None = field(default=None, name="shareID")


class DeviceAllocationResult(Model):
    config: list[DeviceAllocationConfiguration] = field(default_factory=list)
    results: list[DeviceRequestAllocationResult] = field(default_factory=list)


class AllocationResult(Model):
    allocation_timestamp: datetime | None = None
    devices: DeviceAllocationResult = field(default_factory=DeviceAllocationResult)
    node_selector: core_v1.NodeSelector | None = None


class BasicDevice(Model):
    all_nodes: bool | None = None
    allow_multiple_allocations: bool | None = None
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)
    binds_to_node: bool | None = None
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: list[DeviceCounterConsumption] = field(default_factory=list)
    node_allocatable_resources: dict[str, NodeAllocatableResource] = field(default_factory=dict)
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    taints: list[DeviceTaint] = field(default_factory=list)


class CELDeviceSelector(Model):
    expression: str = field(default_factory=str)


class CapacityRequestPolicy(Model):
    default: Quantity | None = None
    valid_range: CapacityRequestPolicyRange | None = None
    valid_values: list[Quantity] = field(default_factory=list)


class CapacityRequestPolicyRange(Model):
    max: Quantity | None = None
    min: Quantity = field(default_factory=lambda: "0")
    step: Quantity | None = None


class CapacityRequirements(Model):
    requests: dict[str, Quantity] = field(default_factory=dict)


class Counter(Model):
    value: Quantity = field(default_factory=lambda: "0")


class CounterSet(Model):
    counters: dict[str, Counter] = field(default_factory=required_dict)
    name: str = field(default_factory=str)


class Device(Model):
    basic: BasicDevice | None = None
    name: str = field(default_factory=str)


class DeviceAllocationConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = field(default_factory=list)
    source: str = field(default_factory=str)


class DeviceAttribute(Model):
    bool_: bool | None = None
    bools: list[bool] = field(default_factory=list)
    int_: int | None = None
    ints: list[int] = field(default_factory=list)
    string: str | None = None
    strings: list[str] = field(default_factory=list)
    version: str | None = None
    versions: list[str] = field(default_factory=list)


class DeviceCapacity(Model):
    request_policy: CapacityRequestPolicy | None = None
    value: Quantity = field(default_factory=lambda: "0")


class DeviceClaim(Model):
    config: list[DeviceClaimConfiguration] = field(default_factory=list)
    constraints: list[DeviceConstraint] = field(default_factory=list)
    requests: list[DeviceRequest] = field(default_factory=list)


class DeviceClaimConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: list[str] = field(default_factory=list)


class DeviceClassConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Model):
    config: list[DeviceClassConfiguration] = field(default_factory=list)
    extended_resource_name: str | None = None
    selectors: list[DeviceSelector] = field(default_factory=list)


class DeviceConstraint(Model):
    distinct_attribute: str | None = None
    match_attribute: str | None = None
    requests: list[str] = field(default_factory=list)


class DeviceCounterConsumption(Model):
    compatibility_groups: list[str] = field(default_factory=list)
    counter_set: str = field(default_factory=str)
    counters: dict[str, Counter] = field(default_factory=required_dict)


class DeviceDerivedAttribute(Model):
    expression: str = field(default_factory=str)
    name: str = field(default_factory=str)


class DeviceRequest(Model):
    admin_access: bool | None = None
    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    derived_attributes: list[DeviceDerivedAttribute] = field(default_factory=list)
    device_class_name: str = field(default_factory=str)
    first_available: list[DeviceSubRequest] = field(default_factory=list)
    name: str = field(default_factory=str)
    selectors: list[DeviceSelector] = field(default_factory=list)
    tolerations: list[DeviceToleration] = field(default_factory=list)


class DeviceRequestAllocationResult(Model):
    admin_access: bool | None = None
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)
    consumed_capacity: dict[str, Quantity] = field(default_factory=dict)
    device: str = field(default_factory=str)
    driver: str = field(default_factory=str)
    pool: str = field(default_factory=str)
    request: str = field(default_factory=str)
    share_id: str | None = field(default=None, name="shareID")
    skip_node_operations: list[str] = field(default_factory=list)
    tolerations: list[DeviceToleration] = field(default_factory=list)


class DeviceSelector(Model):
    cel: CELDeviceSelector | None = None


class DeviceSubRequest(Model):
    allocation_mode: str | None = None
    capacity: CapacityRequirements | None = None
    count: int | None = None
    derived_attributes: list[DeviceDerivedAttribute] = field(default_factory=list)
    device_class_name: str = field(default_factory=str)
    name: str = field(default_factory=str)
    selectors: list[DeviceSelector] = field(default_factory=list)
    tolerations: list[DeviceToleration] = field(default_factory=list)


class DeviceTaint(Model):
    effect: str = field(default_factory=str)
    key: str = field(default_factory=str)
    time_added: datetime | None = None
    value: str | None = None


class DeviceToleration(Model):
    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


class NetworkDeviceData(Model):
    hardware_address: str | None = None
    interface_name: str | None = None
    ips: list[str] = field(default_factory=list)


class NodeAllocatableMapping(Model):
    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(Model):
    per_container: Quantity | None = None
    per_pod: Quantity | None = None


class NodeAllocatableResource(Model):
    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class OpaqueDeviceConfiguration(Model):
    driver: str = field(default_factory=str)
    parameters: dict[str, Any] = field(default_factory=required_dict)


class ResourceClaimConsumerReference(Model):
    api_group: str | None = None
    name: str = field(default_factory=str)
    resource: str = field(default_factory=str)
    uid: str = field(default_factory=str)


class ResourceClaimSpec(Model):
    devices: DeviceClaim = field(default_factory=DeviceClaim)


class ResourceClaimStatus(Model):
    allocation: AllocationResult | None = None
    devices: list[AllocatedDeviceStatus] = field(default_factory=list)
    reserved_for: list[ResourceClaimConsumerReference] = field(default_factory=list)


class ResourceClaimTemplateSpec(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: ResourceClaimSpec = field(default_factory=ResourceClaimSpec)


class ResourcePool(Model):
    generation: int = field(default_factory=int)
    name: str = field(default_factory=str)
    resource_slice_count: int = field(default_factory=int)


class ResourceSliceSpec(Model):
    all_nodes: bool | None = None
    devices: list[Device] = field(default_factory=list)
    driver: str = field(default_factory=str)
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    partition_type_attribute: str | None = None
    per_device_node_selection: bool | None = None
    pool: ResourcePool = field(default_factory=ResourcePool)
    shared_counters: list[CounterSet] = field(default_factory=list)
    skip_node_operations: list[str] = field(default_factory=list)


class DeviceClass(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1beta1", "DeviceClass", "deviceclasses", "deviceclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: DeviceClassSpec = lazy(DeviceClassSpec)


class ResourceClaim(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1beta1", "ResourceClaim", "resourceclaims", "resourceclaim",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "resource.k8s.io", "v1beta1", "ResourceClaim", ("get", "patch", "update")),
        ),
    ),
):
    spec: ResourceClaimSpec = lazy(ResourceClaimSpec)
    status: ResourceClaimStatus = lazy(ResourceClaimStatus)


class ResourceClaimTemplate(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1beta1", "ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplate",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: ResourceClaimTemplateSpec = lazy(ResourceClaimTemplateSpec)


class ResourceSlice(
    Object,
    resource=Resource(
        "resource.k8s.io", "v1beta1", "ResourceSlice", "resourceslices", "resourceslice",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: ResourceSliceSpec = lazy(ResourceSliceSpec)


class DeviceClassList(ObjectList[DeviceClass], item=DeviceClass):
    """A list of objects, as returned by one request."""


class ResourceClaimList(ObjectList[ResourceClaim], item=ResourceClaim):
    """A list of objects, as returned by one request."""


class ResourceClaimTemplateList(ObjectList[ResourceClaimTemplate], item=ResourceClaimTemplate):
    """A list of objects, as returned by one request."""


class ResourceSliceList(ObjectList[ResourceSlice], item=ResourceSlice):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
