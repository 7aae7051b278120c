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
    driver: str = field(default_factory=str)
    pool: str = field(default_factory=str)
    device: str = field(default_factory=str)
    share_id: str | None = field(default=None, name="shareID")
    conditions: list[meta_v1.Condition] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    network_data: NetworkDeviceData | None = None


class DeviceAllocationResult(Model):
    results: list[DeviceRequestAllocationResult] = field(default_factory=list)
    config: list[DeviceAllocationConfiguration] = field(default_factory=list)


class AllocationResult(Model):
    devices: DeviceAllocationResult = field(default_factory=DeviceAllocationResult)
    node_selector: core_v1.NodeSelector | None = None
    allocation_timestamp: datetime | None = None


class BasicDevice(Model):
    attributes: dict[str, DeviceAttribute] = field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: list[DeviceCounterConsumption] = field(default_factory=list)
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    all_nodes: bool | None = None
    taints: list[DeviceTaint] = field(default_factory=list)
    binds_to_node: bool | None = None
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: dict[str, NodeAllocatableResource] = field(default_factory=dict)


class CELDeviceSelector(Model):
    expression: str = field(default_factory=str)


class CapacityRequestPolicy(Model):
    default: Quantity | None = None
    valid_values: list[Quantity] = field(default_factory=list)
    valid_range: CapacityRequestPolicyRange | None = None


class CapacityRequestPolicyRange(Model):
    min: Quantity = field(default_factory=lambda: "0")
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequirements(Model):
    requests: dict[str, Quantity] = field(default_factory=dict)


class Counter(Model):
    value: Quantity = field(default_factory=lambda: "0")


class CounterSet(Model):
    name: str = field(default_factory=str)
    counters: dict[str, Counter] = field(default_factory=required_dict)


class Device(Model):
    name: str = field(default_factory=str)
    basic: BasicDevice | None = None


class DeviceAllocationConfiguration(Model):
    source: str = field(default_factory=str)
    requests: list[str] = field(default_factory=list)
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAttribute(Model):
    int_: int | None = None
    bool_: bool | None = None
    string: str | None = None
    version: str | None = None
    ints: list[int] = field(default_factory=list)
    bools: list[bool] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


class DeviceCapacity(Model):
    value: Quantity = field(default_factory=lambda: "0")
    request_policy: CapacityRequestPolicy | None = None


class DeviceClaim(Model):
    requests: list[DeviceRequest] = field(default_factory=list)
    constraints: list[DeviceConstraint] = field(default_factory=list)
    config: list[DeviceClaimConfiguration] = field(default_factory=list)


class DeviceClaimConfiguration(Model):
    requests: list[str] = field(default_factory=list)
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassConfiguration(Model):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Model):
    selectors: list[DeviceSelector] = field(default_factory=list)
    config: list[DeviceClassConfiguration] = field(default_factory=list)
    extended_resource_name: str | None = None


class DeviceConstraint(Model):
    requests: list[str] = field(default_factory=list)
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceCounterConsumption(Model):
    counter_set: str = field(default_factory=str)
    counters: dict[str, Counter] = field(default_factory=required_dict)
    compatibility_groups: list[str] = field(default_factory=list)


class DeviceDerivedAttribute(Model):
    name: str = field(default_factory=str)
    expression: str = field(default_factory=str)


class DeviceRequest(Model):
    name: str = field(default_factory=str)
    device_class_name: str = field(default_factory=str)
    selectors: list[DeviceSelector] = field(default_factory=list)
    allocation_mode: str | None = None
    count: int | None = None
    admin_access: bool | None = None
    first_available: list[DeviceSubRequest] = field(default_factory=list)
    tolerations: list[DeviceToleration] = field(default_factory=list)
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] = field(default_factory=list)


class DeviceRequestAllocationResult(Model):
    request: str = field(default_factory=str)
    driver: str = field(default_factory=str)
    pool: str = field(default_factory=str)
    device: str = field(default_factory=str)
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] = field(default_factory=list)
    binding_conditions: list[str] = field(default_factory=list)
    binding_failure_conditions: list[str] = field(default_factory=list)
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] = field(default_factory=dict)
    skip_node_operations: list[str] = field(default_factory=list)


class DeviceSelector(Model):
    cel: CELDeviceSelector | None = None


class DeviceSubRequest(Model):
    name: str = field(default_factory=str)
    device_class_name: str = field(default_factory=str)
    selectors: list[DeviceSelector] = field(default_factory=list)
    allocation_mode: str | None = None
    count: int | None = None
    tolerations: list[DeviceToleration] = field(default_factory=list)
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] = field(default_factory=list)


class DeviceTaint(Model):
    key: str = field(default_factory=str)
    value: str | None = None
    effect: str = field(default_factory=str)
    time_added: datetime | None = None


class DeviceToleration(Model):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class NetworkDeviceData(Model):
    interface_name: str | None = None
    ips: list[str] = field(default_factory=list)
    hardware_address: str | None = None


class NodeAllocatableMapping(Model):
    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(Model):
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResource(Model):
    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class OpaqueDeviceConfiguration(Model):
    driver: str = field(default_factory=str)
    parameters: dict[str, Any] = field(default_factory=required_dict)


class ResourceClaimConsumerReference(Model):
    api_group: str | None = None
    resource: str = field(default_factory=str)
    name: str = field(default_factory=str)
    uid: str = field(default_factory=str)


class ResourceClaimSpec(Model):
    devices: DeviceClaim = field(default_factory=DeviceClaim)


class ResourceClaimStatus(Model):
    allocation: AllocationResult | None = None
    reserved_for: list[ResourceClaimConsumerReference] = field(default_factory=list)
    devices: list[AllocatedDeviceStatus] = field(default_factory=list)


class ResourceClaimTemplateSpec(Model):
    metadata: meta_v1.ObjectMeta = field(default_factory=meta_v1.ObjectMeta)
    spec: ResourceClaimSpec = field(default_factory=ResourceClaimSpec)


class ResourcePool(Model):
    name: str = field(default_factory=str)
    generation: int = field(default_factory=int)
    resource_slice_count: int = field(default_factory=int)


class ResourceSliceSpec(Model):
    driver: str = field(default_factory=str)
    pool: ResourcePool = field(default_factory=ResourcePool)
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    all_nodes: bool | None = None
    devices: list[Device] = field(default_factory=list)
    per_device_node_selection: bool | None = None
    shared_counters: list[CounterSet] = field(default_factory=list)
    partition_type_attribute: str | None = None
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
