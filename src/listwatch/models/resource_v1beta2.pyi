"""The kinds and types of `resource.k8s.io/v1beta2` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from datetime import datetime
from typing import Any

from listwatch.models import core_v1, meta_v1
from listwatch.objects.declarations.model import Model, Quantity
from listwatch.objects.object import Object
from listwatch.objects.object_list import ObjectList


class AllocatedDeviceStatus(Model):
    """AllocatedDeviceStatus contains the status of an allocated device, if the driver chooses to report it. This may include driver-specific information.

    The combination of Driver, Pool, Device, and ShareID must match the corresponding key in Status.Allocation.Devices."""
    conditions: list[meta_v1.Condition] = []
    """Conditions contains the latest observation of the device's state. If the device has been configured according to the class and claim config references, the `Ready` condition should be True.

    Must not contain more than 8 entries.

    JSON: `conditions`. Default: absent."""
    data: dict[str, Any] = {}
    """Data contains arbitrary driver-specific data.

    The length of the raw data must be smaller or equal to 10 Ki.

    JSON: `data`. Default: absent."""
    device: str = ""
    """Device references one device instance via its name in the driver's resource pool. It must be a DNS label.

    JSON: `device`. Required."""
    driver: str = ""
    """Driver specifies the name of the DRA driver whose kubelet plugin should be invoked to process the allocation once the claim is needed on a node.

    Must be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters.

    JSON: `driver`. Required."""
    network_data: NetworkDeviceData | None = None
    """NetworkData contains network-related information specific to the device.

    JSON: `networkData`. Default: absent."""
    pool: str = ""
    """This name together with the driver name and the device name field identify which device was allocated (`<driver name>/<pool name>/<device name>`).

    Must not be longer than 253 characters and may contain one or more DNS sub-domains separated by slashes.

    JSON: `pool`. Required."""
    share_id: str | None = None
    """ShareID uniquely identifies an individual allocation share of the device.

    JSON: `shareID`. Default: absent."""


class DeviceAllocationResult(Model):
    """DeviceAllocationResult is the result of allocating devices."""
    config: list[DeviceAllocationConfiguration] = []
    """This field is a combination of all the claim and class configuration parameters. Drivers can distinguish between those based on a flag.

    This includes configuration parameters for drivers which have no allocated devices in the result because it is up to the drivers which configuration parameters they support. They can silently ignore unknown configuration parameters.

    JSON: `config`. Default: absent."""
    results: list[DeviceRequestAllocationResult] = []
    """Results lists all allocated devices.

    JSON: `results`. Default: absent."""


class AllocationResult(Model):
    """AllocationResult contains attributes of an allocated resource."""
    allocation_timestamp: datetime | None = None
    """AllocationTimestamp stores the time when the resources were allocated. This field is not guaranteed to be set, in which case that time is unknown.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gate.

    JSON: `allocationTimestamp`. Default: absent."""
    devices: DeviceAllocationResult = ...
    """Devices is the result of allocating devices.

    JSON: `devices`. Default: `{}`."""
    node_selector: core_v1.NodeSelector | None = None
    """NodeSelector defines where the allocated resources are available. If unset, they are available everywhere.

    JSON: `nodeSelector`. Default: absent."""


class CELDeviceSelector(Model):
    """CELDeviceSelector contains a CEL expression for selecting a device."""
    expression: str = ""
    """Expression is a CEL expression which evaluates a single device. It must evaluate to true when the device under consideration satisfies the desired criteria, and false when it does not. Any other result is an error and causes allocation of devices to abort.

    The expression's input is an object named "device", which carries the following properties:
     - driver (string): the name of the driver which defines this device.
     - attributes (map[string]object): the device's attributes, grouped by prefix
       (e.g. device.attributes["dra.example.com"] evaluates to an object with all
       of the attributes which were prefixed by "dra.example.com".
     - capacity (map[string]object): the device's capacities, grouped by prefix.
     - allowMultipleAllocations (bool): the allowMultipleAllocations property of the device
       (v1.34+ with the DRAConsumableCapacity feature enabled).

    Example: Consider a device with driver="dra.example.com", which exposes two attributes named "model" and "ext.example.com/family" and which exposes one capacity named "modules". This input to this expression would have the following fields:

        device.driver
        device.attributes["dra.example.com"].model
        device.attributes["ext.example.com"].family
        device.capacity["dra.example.com"].modules

    The device.driver field can be used to check for a specific driver, either as a high-level precondition (i.e. you only want to consider devices from this driver) or as part of a multi-clause expression that is meant to consider devices from different drivers.

    The value type of each attribute is defined by the device definition, and users who write these expressions must consult the documentation for their specific drivers. The value type of each capacity is Quantity.

    If an unknown prefix is used as a lookup in either device.attributes or device.capacity, an empty map will be returned. Any reference to an unknown field will cause an evaluation error and allocation to abort.

    A robust expression should check for the existence of attributes before referencing them.

    For ease of use, the cel.bind() function is enabled, and can be used to simplify expressions that access multiple attributes with the same domain. For example:

        cel.bind(dra, device.attributes["dra.example.com"], dra.someBool && dra.anotherBool)

    When the DRAListTypeAttributes feature gate is enabled, the includes() helper is available and it can work for both scalar and list-type attributes. It was introduced to support smooth migration from scalar attributes to list-type attributes while keeping CEL expressions simple. For example:

        device.attributes["dra.example.com"].models.includes("some-model")

    The length of the expression must be smaller or equal to 10 Ki. The cost of evaluating it is also limited based on the estimated number of logical steps.

    JSON: `expression`. Required."""


class CapacityRequestPolicy(Model):
    """CapacityRequestPolicy defines how requests consume device capacity.

    Must not set more than one ValidRequestValues."""
    default: Quantity | None = None
    """Default specifies how much of this capacity is consumed by a request that does not contain an entry for it in DeviceRequest's Capacity.

    JSON: `default`. Default: absent."""
    valid_range: CapacityRequestPolicyRange | None = None
    """ValidRange defines an acceptable quantity value range in consuming requests.

    If this field is set, Default must be defined and it must fall within the defined ValidRange.

    If the requested amount does not fall within the defined range, the request violates the policy, and this device cannot be allocated.

    If the request doesn't contain this capacity entry, Default value is used.

    JSON: `validRange`. Default: absent."""
    valid_values: list[Quantity] = []
    """ValidValues defines a set of acceptable quantity values in consuming requests.

    Must not contain more than 10 entries. Must be sorted in ascending order.

    If this field is set, Default must be defined and it must be included in ValidValues list.

    If the requested amount does not match any valid value but smaller than some valid values, the scheduler calculates the smallest valid value that is greater than or equal to the request. That is: min(ceil(requestedValue) ∈ validValues), where requestedValue ≤ max(validValues).

    If the requested amount exceeds all valid values, the request violates the policy, and this device cannot be allocated.

    JSON: `validValues`. Default: absent."""


class CapacityRequestPolicyRange(Model):
    """CapacityRequestPolicyRange defines a valid range for consumable capacity values.

      - If the requested amount is less than Min, it is rounded up to the Min value.
      - If Step is set and the requested amount is between Min and Max but not aligned with Step,
        it will be rounded up to the next value equal to Min + (n * Step).
      - If Step is not set, the requested amount is used as-is if it falls within the range Min to Max (if set).
      - If the requested or rounded amount exceeds Max (if set), the request does not satisfy the policy,
        and the device cannot be allocated."""
    max: Quantity | None = None
    """Max defines the upper limit for capacity that can be requested.

    Max must be less than or equal to the capacity value. Min and requestPolicy.default must be less than or equal to the maximum.

    JSON: `max`. Default: absent."""
    min: Quantity = "0"
    """Min specifies the minimum capacity allowed for a consumption request.

    Min must be greater than or equal to zero, and less than or equal to the capacity value. requestPolicy.default must be more than or equal to the minimum.

    JSON: `min`. Required."""
    step: Quantity | None = None
    """Step defines the step size between valid capacity amounts within the range.

    Max (if set) and requestPolicy.default must be a multiple of Step. Min + Step must be less than or equal to the capacity value.

    JSON: `step`. Default: absent."""


class CapacityRequirements(Model):
    """CapacityRequirements defines the capacity requirements for a specific device request."""
    requests: dict[str, Quantity] = {}
    """Requests represent individual device resource requests for distinct resources, all of which must be provided by the device.

    This value is used as an additional filtering condition against the available capacity on the device. This is semantically equivalent to a CEL selector with `device.capacity[<domain>].<name>.compareTo(quantity(<request quantity>)) >= 0`. For example, device.capacity['test-driver.cdi.k8s.io'].counters.compareTo(quantity('2')) >= 0.

    When a requestPolicy is defined, the requested amount is adjusted upward to the nearest valid value based on the policy. If the requested amount cannot be adjusted to a valid value—because it exceeds what the requestPolicy allows— the device is considered ineligible for allocation.

    For any capacity that is not explicitly requested: - If no requestPolicy is set, the default consumed capacity is equal to the full device capacity
      (i.e., the whole device is claimed).
    - If a requestPolicy is set, the default consumed capacity is determined according to that policy.

    If the device allows multiple allocation, the aggregated amount across all requests must not exceed the capacity value. The consumed capacity, which may be adjusted based on the requestPolicy if defined, is recorded in the resource claim’s status.devices[*].consumedCapacity field.

    JSON: `requests`. Default: absent."""


class Counter(Model):
    """Counter describes a quantity associated with a device."""
    value: Quantity = "0"
    """Value defines how much of a certain device counter is available.

    JSON: `value`. Required."""


class CounterSet(Model):
    """CounterSet defines a named set of counters that are available to be used by devices defined in the ResourcePool.

    The counters are not allocatable by themselves, but can be referenced by devices. When a device is allocated, the portion of counters it uses will no longer be available for use by other devices."""
    counters: dict[str, Counter] = {}
    """Counters defines the set of counters for this CounterSet The name of each counter must be unique in that set and must be a DNS label.

    The maximum number of counters is 32.

    JSON: `counters`. Required."""
    name: str = ""
    """Name defines the name of the counter set. It must be a DNS label.

    JSON: `name`. Required."""


class Device(Model):
    """Device represents one individual hardware instance that can be selected based on its attributes. Besides the name, exactly one field must be set."""
    all_nodes: bool | None = None
    """AllNodes indicates that all nodes have access to the device.

    Must only be set if Spec.PerDeviceNodeSelection is set to true. At most one of NodeName, NodeSelector and AllNodes can be set.

    JSON: `allNodes`. Default: absent."""
    allow_multiple_allocations: bool | None = None
    """AllowMultipleAllocations marks whether the device is allowed to be allocated to multiple DeviceRequests.

    If AllowMultipleAllocations is set to true, the device can be allocated more than once, and all of its capacity is consumable, regardless of whether the requestPolicy is defined or not.

    JSON: `allowMultipleAllocations`. Default: absent."""
    attributes: dict[str, DeviceAttribute] = {}
    """Attributes defines the set of attributes for this device. The name of each attribute must be unique in that set.

    The maximum number of attributes and capacities combined is 32.

    JSON: `attributes`. Default: absent."""
    binding_conditions: list[str] = []
    """BindingConditions defines the conditions for proceeding with binding. All of these conditions must be set in the per-device status conditions with a value of True to proceed with binding the pod to the node while scheduling the pod.

    The maximum number of binding conditions is 4.

    The conditions must be a valid condition type string.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gates.

    JSON: `bindingConditions`. Default: absent."""
    binding_failure_conditions: list[str] = []
    """BindingFailureConditions defines the conditions for binding failure. They may be set in the per-device status conditions. If any is set to "True", a binding failure occurred.

    The maximum number of binding failure conditions is 4.

    The conditions must be a valid condition type string.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gates.

    JSON: `bindingFailureConditions`. Default: absent."""
    binds_to_node: bool | None = None
    """BindsToNode indicates if the usage of an allocation involving this device has to be limited to exactly the node that was chosen when allocating the claim. If set to true, the scheduler will set the ResourceClaim.Status.Allocation.NodeSelector to match the node where the allocation was made.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gates.

    JSON: `bindsToNode`. Default: absent."""
    capacity: dict[str, DeviceCapacity] = {}
    """Capacity defines the set of capacities for this device. The name of each capacity must be unique in that set.

    The maximum number of attributes and capacities combined is 32.

    JSON: `capacity`. Default: absent."""
    consumes_counters: list[DeviceCounterConsumption] = []
    """ConsumesCounters defines a list of references to sharedCounters and the set of counters that the device will consume from those counter sets.

    There can only be a single entry per counterSet.

    The maximum number of device counter consumptions per device is 2.

    JSON: `consumesCounters`. Default: absent."""
    name: str = ""
    """Name is unique identifier among all devices managed by the driver in the pool. It must be a DNS label.

    JSON: `name`. Required."""
    node_allocatable_resources: dict[str, NodeAllocatableResource] = {}
    """NodeAllocatableResources defines the mapping of node resources that are managed by the DRA driver exposing this device. This includes resources currently reported in v1.Node `status.allocatable` that are not extended resources (see https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources). Examples include "cpu", "memory", "ephemeral-storage", and hugepages. In addition to standard requests made through the Pod `spec`, these resources can also be requested through claims and allocated by the DRA driver. For example, a CPU DRA driver might allocate exclusive CPUs or auxiliary node memory dependencies of an accelerator device. The keys of this map are the node-allocatable resource names (e.g., "cpu", "memory"). Extended resource names are not permitted as keys.

    JSON: `nodeAllocatableResources`. Default: absent."""
    node_name: str | None = None
    """NodeName identifies the node where the device is available.

    Must only be set if Spec.PerDeviceNodeSelection is set to true. At most one of NodeName, NodeSelector and AllNodes can be set.

    JSON: `nodeName`. Default: absent."""
    node_selector: core_v1.NodeSelector | None = None
    """NodeSelector defines the nodes where the device is available.

    Must use exactly one term.

    Must only be set if Spec.PerDeviceNodeSelection is set to true. At most one of NodeName, NodeSelector and AllNodes can be set.

    JSON: `nodeSelector`. Default: absent."""
    taints: list[DeviceTaint] = []
    """If specified, these are the driver-defined taints.

    The maximum number of taints is 16. If taints are set for any device in a ResourceSlice, then the maximum number of allowed devices per ResourceSlice is 64 instead of 128.

    This is a beta field and requires enabling the DRADeviceTaints feature gate.

    JSON: `taints`. Default: absent."""


class DeviceAllocationConfiguration(Model):
    """DeviceAllocationConfiguration gets embedded in an AllocationResult."""
    opaque: OpaqueDeviceConfiguration | None = None
    """Opaque provides driver-specific configuration parameters.

    JSON: `opaque`. Default: absent."""
    requests: list[str] = []
    """Requests lists the names of requests where the configuration applies. If empty, its applies to all requests.

    References to subrequests must include the name of the main request and may include the subrequest using the format <main request>[/<subrequest>]. If just the main request is given, the configuration applies to all subrequests.

    JSON: `requests`. Default: absent."""
    source: str = ""
    """Source records whether the configuration comes from a class and thus is not something that a normal user would have been able to set or from a claim.


    Possible enum values:
     - `"FromClaim"`
     - `"FromClass"`

    JSON: `source`. Required."""


class DeviceAttribute(Model):
    """DeviceAttribute must have exactly one field set."""
    bool_: bool | None = None
    """BoolValue is a true/false value.

    JSON: `bool`. Default: absent."""
    bools: list[bool] = []
    """BoolValues is a non-empty list of true/false values.

    JSON: `bools`. Default: absent."""
    int_: int | None = None
    """IntValue is a number.

    JSON: `int`. Default: absent."""
    ints: list[int] = []
    """IntValues is a non-empty list of numbers.

    This is an alpha field and requires enabling the DRAListTypeAttributes feature gate.

    JSON: `ints`. Default: absent."""
    string: str | None = None
    """StringValue is a string. Must not be longer than 64 characters.

    JSON: `string`. Default: absent."""
    strings: list[str] = []
    """StringValues is a non-empty list of strings. Each string must not be longer than 64 characters.

    This is an alpha field and requires enabling the DRAListTypeAttributes feature gate.

    JSON: `strings`. Default: absent."""
    version: str | None = None
    """VersionValue is a semantic version according to semver.org spec 2.0.0. Must not be longer than 64 characters.

    JSON: `version`. Default: absent."""
    versions: list[str] = []
    """VersionValues is a non-empty list of semantic versions according to semver.org spec 2.0.0. Each version string must not be longer than 64 characters.

    This is an alpha field and requires enabling the DRAListTypeAttributes feature gate.

    JSON: `versions`. Default: absent."""


class DeviceCapacity(Model):
    """DeviceCapacity describes a quantity associated with a device."""
    request_policy: CapacityRequestPolicy | None = None
    """RequestPolicy defines how this DeviceCapacity must be consumed when the device is allowed to be shared by multiple allocations.

    The Device must have allowMultipleAllocations set to true in order to set a requestPolicy.

    If unset, capacity requests are unconstrained: requests can consume any amount of capacity, as long as the total consumed across all allocations does not exceed the device's defined capacity. If request is also unset, default is the full capacity value.

    JSON: `requestPolicy`. Default: absent."""
    value: Quantity = "0"
    """Value defines how much of a certain capacity that device has.

    This field reflects the fixed total capacity and does not change. The consumed amount is tracked separately by scheduler and does not affect this value.

    JSON: `value`. Required."""


class DeviceClaim(Model):
    """DeviceClaim defines how to request devices with a ResourceClaim."""
    config: list[DeviceClaimConfiguration] = []
    """This field holds configuration for multiple potential drivers which could satisfy requests in this claim. It is ignored while allocating the claim.

    JSON: `config`. Default: absent."""
    constraints: list[DeviceConstraint] = []
    """These constraints must be satisfied by the set of devices that get allocated for the claim.

    JSON: `constraints`. Default: absent."""
    requests: list[DeviceRequest] = []
    """Requests represent individual requests for distinct devices which must all be satisfied. If empty, nothing needs to be allocated.

    JSON: `requests`. Default: absent."""


class DeviceClaimConfiguration(Model):
    """DeviceClaimConfiguration is used for configuration parameters in DeviceClaim."""
    opaque: OpaqueDeviceConfiguration | None = None
    """Opaque provides driver-specific configuration parameters.

    JSON: `opaque`. Default: absent."""
    requests: list[str] = []
    """Requests lists the names of requests where the configuration applies. If empty, it applies to all requests.

    References to subrequests must include the name of the main request and may include the subrequest using the format <main request>[/<subrequest>]. If just the main request is given, the configuration applies to all subrequests.

    JSON: `requests`. Default: absent."""


class DeviceClassConfiguration(Model):
    """DeviceClassConfiguration is used in DeviceClass."""
    opaque: OpaqueDeviceConfiguration | None = None
    """Opaque provides driver-specific configuration parameters.

    JSON: `opaque`. Default: absent."""


class DeviceClassSpec(Model):
    """DeviceClassSpec is used in a [DeviceClass] to define what can be allocated and how to configure it."""
    config: list[DeviceClassConfiguration] = []
    """Config defines configuration parameters that apply to each device that is claimed via this class. Some classses may potentially be satisfied by multiple drivers, so each instance of a vendor configuration applies to exactly one driver.

    They are passed to the driver, but are not considered while allocating the claim.

    JSON: `config`. Default: absent."""
    extended_resource_name: str | None = None
    """ExtendedResourceName is the extended resource name for the devices of this class. The devices of this class can be used to satisfy a pod's extended resource requests. It has the same format as the name of a pod's extended resource. It should be unique among all the device classes in a cluster. If two device classes have the same name, then the class created later is picked to satisfy a pod's extended resource requests. If two classes are created at the same time, then the name of the class lexicographically sorted first is picked.

    This is a beta field.

    JSON: `extendedResourceName`. Default: absent."""
    selectors: list[DeviceSelector] = []
    """Each selector must be satisfied by a device which is claimed via this class.

    JSON: `selectors`. Default: absent."""


class DeviceConstraint(Model):
    """DeviceConstraint must have exactly one field set besides Requests."""
    distinct_attribute: str | None = None
    """DistinctAttribute requires that all devices in question have this attribute and that its type and value are unique across those devices.

    When the DRAListTypeAttributes feature gate is enabled, comparison uses set semantics (i.e., element order and duplicates are ignored): list-valued attributes must be pairwise disjoint across devices. Scalar values are treated as singleton sets for backward compatibility.

    This acts as the inverse of MatchAttribute.

    This constraint is used to avoid allocating multiple requests to the same device by ensuring attribute-level differentiation.

    This is useful for scenarios where resource requests must be fulfilled by separate physical devices. For example, a container requests two network interfaces that must be allocated from two different physical NICs.

    JSON: `distinctAttribute`. Default: absent."""
    match_attribute: str | None = None
    """MatchAttribute requires that all devices in question have this attribute and that its type and value are the same across those devices.

    For example, if you specified "dra.example.com/numa" (a hypothetical example!), then only devices in the same NUMA node will be chosen. A device which does not have that attribute will not be chosen. All devices should use a value of the same type for this attribute because that is part of its specification, but if one device doesn't, then it also will not be chosen.

    When the DRAListTypeAttributes feature gate is enabled, comparison uses set semantics(i.e., element order and duplicates are ignored): list-valued attributes match when the intersection across all devices is non-empty. Scalar values are treated as singleton sets for backward compatibility.

    Must include the domain qualifier.

    JSON: `matchAttribute`. Default: absent."""
    requests: list[str] = []
    """Requests is a list of the one or more requests in this claim which must co-satisfy this constraint. If a request is fulfilled by multiple devices, then all of the devices must satisfy the constraint. If this is not specified, this constraint applies to all requests in this claim.

    References to subrequests must include the name of the main request and may include the subrequest using the format <main request>[/<subrequest>]. If just the main request is given, the constraint applies to all subrequests.

    JSON: `requests`. Default: absent."""


class DeviceCounterConsumption(Model):
    """DeviceCounterConsumption defines a set of counters that a device will consume from a CounterSet."""
    compatibility_groups: list[str] = []
    """CompatibilityGroups is a list of opaque group names for this counter set consumption.

    Devices that consume counters from the same counter set may only be allocated at the same time ("co-allocated") if they all share at least one common group: the intersection of the CompatibilityGroups of all co-allocated devices on that counter set must be non-empty. Devices that consume from different counter sets are never compared via this field.

    An unset field, an explicit nil, and an empty list are equivalent and mean "no groups": such a device is only co-allocatable with sibling devices on the same counter set that also have no groups, and is never co-allocatable with a device that declares one or more groups.

    Group names are opaque and meaningful only within the publishing driver's pool.

    The maximum number of groups is 2, and the names must be unique.

    JSON: `compatibilityGroups`. Default: absent."""
    counter_set: str = ""
    """CounterSet is the name of the set from which the counters defined will be consumed.

    JSON: `counterSet`. Required."""
    counters: dict[str, Counter] = {}
    """Counters defines the counters that will be consumed by the device.

    The maximum number of counters is 32.

    JSON: `counters`. Required."""


class DeviceDerivedAttribute(Model):
    """DeviceDerivedAttribute defines a derived attribute computed via CEL."""
    expression: str = ""
    """Expression is a CEL expression evaluated against each candidate device. The expression must evaluate to a primitive scalar (string, integer, boolean, or semver) or a list of these scalars ([]string, []int64, []bool, []semver) to act as a virtual grouping key. Any other return type is an error and causes CEL evaluation for the device to fail.

    The expression's input is an object named "device", which carries the same properties as in a CELDeviceSelector.

    When pod scheduling encounters CEL runtime errors (such as looking up an attribute that isn't defined) for some devices, it will abort allocation and fail scheduling for the Pod. Surfacing evaluation errors immediately prevents silent topology matching failures that are extremely hard to detect. A robust expression should, for example, check for the existence of attributes before referencing them to avoid runtime evaluation errors.

    The expression gets evaluated after a device has passed the other selector expressions for the request in which this expression is used. This allows writing expressions that are tailored towards the specific devices being requested (for example, by assuming the device is from a certain vendor and skipping those checks).

    The length of the expression must be smaller or equal to 10 Ki. The cost of evaluating it is also limited based on the estimated number of logical steps; the combined cost of all derived attributes in a claim is capped by a shared CEL cost budget.

    JSON: `expression`. Required."""
    name: str = ""
    """Name is the identifier for this derived attribute, used in constraints.

    It must be a DNS subdomain followed by a slash ("/") followed by a C identifier (e.g. "example.com/numaNode" or "derived/numaNode").

    If the chosen name matches an existing physical attribute from a driver, the derived attribute's expression will shadow the physical attribute, and its evaluated value will be used in constraints instead. When the goal is to define a derived attribute that is only used within the ResourceClaim and not meant to shadow an existing attribute, use a domain prefix that no DRA driver should be using (e.g. "derived/myAttribute").

    It is not valid to define a derived attribute that isn't used in at least one constraint.

    JSON: `name`. Required."""


class DeviceRequest(Model):
    """DeviceRequest is a request for devices required for a claim. This is typically a request for a single resource like a device, but can also ask for several identical devices. With FirstAvailable it is also possible to provide a prioritized list of requests."""
    exactly: ExactDeviceRequest | None = None
    """Exactly specifies the details for a single request that must be met exactly for the request to be satisfied.

    One of Exactly or FirstAvailable must be set.

    JSON: `exactly`. Default: absent."""
    first_available: list[DeviceSubRequest] = []
    """FirstAvailable contains subrequests, of which exactly one will be selected by the scheduler. It tries to satisfy them in the order in which they are listed here. So if there are two entries in the list, the scheduler will only check the second one if it determines that the first one can not be used.

    DRA does not yet implement scoring, so the scheduler will select the first set of devices that satisfies all the requests in the claim. And if the requirements can be satisfied on more than one node, other scheduling features will determine which node is chosen. This means that the set of devices allocated to a claim might not be the optimal set available to the cluster. Scoring will be implemented later.

    JSON: `firstAvailable`. Default: absent."""
    name: str = ""
    """Name can be used to reference this request in a pod.spec.containers[].resources.claims entry and in a constraint of the claim.

    References using the name in the DeviceRequest will uniquely identify a request when the Exactly field is set. When the FirstAvailable field is set, a reference to the name of the DeviceRequest will match whatever subrequest is chosen by the scheduler.

    Must be a DNS label.

    JSON: `name`. Required."""


class DeviceRequestAllocationResult(Model):
    """DeviceRequestAllocationResult contains the allocation result for one request."""
    admin_access: bool | None = None
    """AdminAccess indicates that this device was allocated for administrative access. See the corresponding request field for a definition of mode.

    This is an alpha field and requires enabling the DRAAdminAccess feature gate. Admin access is disabled if this field is unset or set to false, otherwise it is enabled.

    JSON: `adminAccess`. Default: absent."""
    binding_conditions: list[str] = []
    """BindingConditions contains a copy of the BindingConditions from the corresponding ResourceSlice at the time of allocation.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gates.

    JSON: `bindingConditions`. Default: absent."""
    binding_failure_conditions: list[str] = []
    """BindingFailureConditions contains a copy of the BindingFailureConditions from the corresponding ResourceSlice at the time of allocation.

    This is a beta field and requires enabling the DRADeviceBindingConditions and DRAResourceClaimDeviceStatus feature gates.

    JSON: `bindingFailureConditions`. Default: absent."""
    consumed_capacity: dict[str, Quantity] = {}
    """ConsumedCapacity tracks the amount of capacity consumed per device as part of the claim request. The consumed amount may differ from the requested amount: it is rounded up to the nearest valid value based on the device’s requestPolicy if applicable (i.e., may not be less than the requested amount).

    The total consumed capacity for each device must not exceed the DeviceCapacity's Value.

    This field is populated only for devices that allow multiple allocations. All capacity entries are included, even if the consumed amount is zero.

    JSON: `consumedCapacity`. Default: absent."""
    device: str = ""
    """Device references one device instance via its name in the driver's resource pool. It must be a DNS label.

    JSON: `device`. Required."""
    driver: str = ""
    """Driver specifies the name of the DRA driver whose kubelet plugin should be invoked to process the allocation once the claim is needed on a node.

    Must be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters.

    JSON: `driver`. Required."""
    pool: str = ""
    """This name together with the driver name and the device name field identify which device was allocated (`<driver name>/<pool name>/<device name>`).

    Must not be longer than 253 characters and may contain one or more DNS sub-domains separated by slashes.

    JSON: `pool`. Required."""
    request: str = ""
    """Request is the name of the request in the claim which caused this device to be allocated. If it references a subrequest in the firstAvailable list on a DeviceRequest, this field must include both the name of the main request and the subrequest using the format <main request>/<subrequest>.

    Multiple devices may have been allocated per request.

    JSON: `request`. Required."""
    share_id: str | None = None
    """ShareID uniquely identifies an individual allocation share of the device, used when the device supports multiple simultaneous allocations. It serves as an additional map key to differentiate concurrent shares of the same device.

    JSON: `shareID`. Default: absent."""
    skip_node_operations: list[str] = []
    """SkipNodeOperations lists node-local resource operations (gRPC calls) that will be skipped for this allocated device when determining whether operations are necessary on the node. If all allocated devices for a driver in a claim skip an operation, that gRPC call will be skipped. It is a copy of the ResourceSlice.spec.skipNodeOperations value at the time when the device was allocated.

    JSON: `skipNodeOperations`. Default: absent."""
    tolerations: list[DeviceToleration] = []
    """A copy of all tolerations specified in the request at the time when the device got allocated.

    The maximum number of tolerations is 16.

    This is a beta field and requires enabling the DRADeviceTaints feature gate.

    JSON: `tolerations`. Default: absent."""


class DeviceSelector(Model):
    """DeviceSelector must have exactly one field set."""
    cel: CELDeviceSelector | None = None
    """CEL contains a CEL expression for selecting a device.

    JSON: `cel`. Default: absent."""


class DeviceSubRequest(Model):
    """DeviceSubRequest describes a request for device provided in the claim.spec.devices.requests[].firstAvailable array. Each is typically a request for a single resource like a device, but can also ask for several identical devices.

    DeviceSubRequest is similar to ExactDeviceRequest, but doesn't expose the AdminAccess field as that one is only supported when requesting a specific device."""
    allocation_mode: str | None = None
    """AllocationMode and its related fields define how devices are allocated to satisfy this subrequest. Supported values are:

    - ExactCount: This request is for a specific number of devices.
      This is the default. The exact number is provided in the
      count field.

    - All: This subrequest is for all of the matching devices in a pool.
      Allocation will fail if some devices are already allocated,
      unless adminAccess is requested.

    If AllocationMode is not specified, the default mode is ExactCount. If the mode is ExactCount and count is not specified, the default count is one. Any other subrequests must specify this field.

    More modes may get added in the future. Clients must refuse to handle requests with unknown modes.


    Possible enum values:
     - `"All"`
     - `"ExactCount"`

    JSON: `allocationMode`. Default: absent."""
    capacity: CapacityRequirements | None = None
    """Capacity define resource requirements against each capacity.

    If this field is unset and the device supports multiple allocations, the default value will be applied to each capacity according to requestPolicy. For the capacity that has no requestPolicy, default is the full capacity value.

    Applies to each device allocation. If Count > 1, the request fails if there aren't enough devices that meet the requirements. If AllocationMode is set to All, the request fails if there are devices that otherwise match the request, and have this capacity, with a value >= the requested amount, but which cannot be allocated to this request.

    JSON: `capacity`. Default: absent."""
    count: int | None = None
    """Count is used only when the count mode is "ExactCount". Must be greater than zero. If AllocationMode is ExactCount and this field is not specified, the default is one.

    JSON: `count`. Default: absent."""
    derived_attributes: list[DeviceDerivedAttribute] = []
    """DerivedAttributes defines a set of virtual attributes computed via CEL expressions for each candidate device. These virtual attributes can be referenced in `.devices.constraints` to align and match different devices (e.g., co-allocating a GPU and a NIC on the same NUMA node) even if their drivers publish different attributes. Derived attributes are not available via `device.attributes` in the CEL environment when evaluating selector expressions.

    Derived attributes allow you to extract, transform, or normalize topology information (such as extracting a NUMA index from a complex topology string or renaming a vendor-specific attribute) into a common virtual attribute name at scheduling time. The scheduler then evaluates these virtual attributes exactly like static attributes when matching constraints.

    Every derived attribute defined in this list must be referenced by at least one MatchAttribute or DistinctAttribute constraint in the `.devices.constraints` list.

    The maximum number of derived attributes is 32.

    This is an alpha field and requires enabling the DRADerivedAttributes feature gate.

    JSON: `derivedAttributes`. Default: absent."""
    device_class_name: str = ""
    """DeviceClassName references a specific DeviceClass, which can define additional configuration and selectors to be inherited by this subrequest.

    A class is required. Which classes are available depends on the cluster.

    Administrators may use this to restrict which devices may get requested by only installing classes with selectors for permitted devices. If users are free to request anything without restrictions, then administrators can create an empty DeviceClass for users to reference.

    JSON: `deviceClassName`. Required."""
    name: str = ""
    """Name can be used to reference this subrequest in the list of constraints or the list of configurations for the claim. References must use the format <main request>/<subrequest>.

    Must be a DNS label.

    JSON: `name`. Required."""
    selectors: list[DeviceSelector] = []
    """Selectors define criteria which must be satisfied by a specific device in order for that device to be considered for this subrequest. All selectors must be satisfied for a device to be considered.

    JSON: `selectors`. Default: absent."""
    tolerations: list[DeviceToleration] = []
    """If specified, the request's tolerations.

    Tolerations for NoSchedule are required to allocate a device which has a taint with that effect. The same applies to NoExecute.

    In addition, should any of the allocated devices get tainted with NoExecute after allocation and that effect is not tolerated, then all pods consuming the ResourceClaim get deleted to evict them. The scheduler will not let new pods reserve the claim while it has these tainted devices. Once all pods are evicted, the claim will get deallocated.

    The maximum number of tolerations is 16.

    This is a beta field and requires enabling the DRADeviceTaints feature gate.

    JSON: `tolerations`. Default: absent."""


class DeviceTaint(Model):
    """The device this taint is attached to has the "effect" on any claim which does not tolerate the taint and, through the claim, to pods using the claim."""
    effect: str = ""
    """The effect of the taint on claims that do not tolerate the taint and through such claims on the pods using them.

    Valid effects are None, NoSchedule and NoExecute. PreferNoSchedule as used for nodes is not valid here. More effects may get added in the future. Consumers must treat unknown effects like None.


    Possible enum values:
     - `"NoExecute"` Evict any already-running pods that do not tolerate the device taint.
     - `"NoSchedule"` Do not allow new pods to schedule which use a tainted device unless they tolerate the taint, but allow all pods submitted to Kubelet without going through the scheduler to start, and allow all already-running pods to continue running.
     - `"None"` No effect, the taint is purely informational.

    JSON: `effect`. Required."""
    key: str = ""
    """The taint key to be applied to a device. Must be a label name.

    JSON: `key`. Required."""
    time_added: datetime | None = None
    """TimeAdded represents the time at which the taint was added or (only in a DeviceTaintRule) the effect was modified. Added automatically during create or update if not set.

    In addition, in a DeviceTaintRule a value provided during an update gets replaced with the current time if the provided value is the same as the old one and the new effect is different. Changing the key and/or value while keeping the effect unchanged is possible and does not update the time stamp because the eviction which uses it is either already started (NoExecute) or not started yet (NoEffect, NoSchedule).

    JSON: `timeAdded`. Default: absent."""
    value: str | None = None
    """The taint value corresponding to the taint key. Must be a label value.

    JSON: `value`. Default: absent."""


class DeviceTaintRuleSpec(Model):
    """DeviceTaintRuleSpec specifies the selector and one taint."""
    device_selector: DeviceTaintSelector | None = None
    """DeviceSelector defines which device(s) the taint is applied to. All selector criteria must be satisfied for a device to match. The empty selector matches all devices. Without a selector, no devices are matches.

    JSON: `deviceSelector`. Default: absent."""
    taint: DeviceTaint = ...
    """The taint that gets applied to matching devices.

    JSON: `taint`. Required."""


class DeviceTaintRuleStatus(Model):
    """DeviceTaintRuleStatus provides information about an on-going pod eviction."""
    conditions: list[meta_v1.Condition] = []
    """Conditions provide information about the state of the DeviceTaintRule and the cluster at some point in time, in a machine-readable and human-readable format.

    The following condition is currently defined as part of this API, more may get added: - Type: EvictionInProgress - Status: True if there are currently pods which need to be evicted, False otherwise
      (includes the effects which don't cause eviction).
    - Reason: not specified, may change - Message: includes information about number of pending pods and already evicted pods
      in a human-readable format, updated periodically, may change

    For `effect: None`, the condition above gets set once for each change to the spec, with the message containing information about what would happen if the effect was `NoExecute`. This feedback can be used to decide whether changing the effect to `NoExecute` will work as intended. It only gets set once to avoid having to constantly update the status.

    Must have 8 or fewer entries.

    JSON: `conditions`. Default: absent."""


class DeviceTaintSelector(Model):
    """DeviceTaintSelector defines which device(s) a DeviceTaintRule applies to. The empty selector matches all devices. Without a selector, no devices are matched."""
    device: str | None = None
    """If device is set, only devices with that name are selected. This field corresponds to slice.spec.devices[].name.

    Setting also driver and pool may be required to avoid ambiguity, but is not required.

    JSON: `device`. Default: absent."""
    driver: str | None = None
    """If driver is set, only devices from that driver are selected. This fields corresponds to slice.spec.driver.

    JSON: `driver`. Default: absent."""
    pool: str | None = None
    """If pool is set, only devices in that pool are selected.

    Also setting the driver name may be useful to avoid ambiguity when different drivers use the same pool name, but this is not required because selecting pools from different drivers may also be useful, for example when drivers with node-local devices use the node name as their pool name.

    JSON: `pool`. Default: absent."""


class DeviceToleration(Model):
    """The ResourceClaim this DeviceToleration is attached to tolerates any taint that matches the triple <key,value,effect> using the matching operator <operator>."""
    effect: str | None = None
    """Effect indicates the taint effect to match. Empty means match all taint effects. When specified, allowed values are NoSchedule and NoExecute.


    Possible enum values:
     - `"NoExecute"` Evict any already-running pods that do not tolerate the device taint.
     - `"NoSchedule"` Do not allow new pods to schedule which use a tainted device unless they tolerate the taint, but allow all pods submitted to Kubelet without going through the scheduler to start, and allow all already-running pods to continue running.
     - `"None"` No effect, the taint is purely informational.

    JSON: `effect`. Default: absent."""
    key: str | None = None
    """Key is the taint key that the toleration applies to. Empty means match all taint keys. If the key is empty, operator must be Exists; this combination means to match all values and all keys. Must be a label name.

    JSON: `key`. Default: absent."""
    operator: str | None = None
    """Operator represents a key's relationship to the value. Valid operators are Exists and Equal. Defaults to Equal. Exists is equivalent to wildcard for value, so that a ResourceClaim can tolerate all taints of a particular category.


    Possible enum values:
     - `"Equal"`
     - `"Exists"`

    JSON: `operator`. Default: `"Equal"`, set by the server."""
    toleration_seconds: int | None = None
    """TolerationSeconds represents the period of time the toleration (which must be of effect NoExecute, otherwise this field is ignored) tolerates the taint. By default, it is not set, which means tolerate the taint forever (do not evict). Zero and negative values will be treated as 0 (evict immediately) by the system. If larger than zero, the time when the pod needs to be evicted is calculated as <time when taint was adedd> + <toleration seconds>.

    JSON: `tolerationSeconds`. Default: absent."""
    value: str | None = None
    """Value is the taint value the toleration matches to. If the operator is Exists, the value must be empty, otherwise just a regular string. Must be a label value.

    JSON: `value`. Default: absent."""


class ExactDeviceRequest(Model):
    """ExactDeviceRequest is a request for one or more identical devices."""
    admin_access: bool | None = None
    """AdminAccess indicates that this is a claim for administrative access to the device(s). Claims with AdminAccess are expected to be used for monitoring or other management services for a device.  They ignore all ordinary claims to the device with respect to access modes and any resource allocations.

    This is an alpha field and requires enabling the DRAAdminAccess feature gate. Admin access is disabled if this field is unset or set to false, otherwise it is enabled.

    JSON: `adminAccess`. Default: absent."""
    allocation_mode: str | None = None
    """AllocationMode and its related fields define how devices are allocated to satisfy this request. Supported values are:

    - ExactCount: This request is for a specific number of devices.
      This is the default. The exact number is provided in the
      count field.

    - All: This request is for all of the matching devices in a pool.
      At least one device must exist on the node for the allocation to succeed.
      Allocation will fail if some devices are already allocated,
      unless adminAccess is requested.

    If AllocationMode is not specified, the default mode is ExactCount. If the mode is ExactCount and count is not specified, the default count is one. Any other requests must specify this field.

    More modes may get added in the future. Clients must refuse to handle requests with unknown modes.


    Possible enum values:
     - `"All"`
     - `"ExactCount"`

    JSON: `allocationMode`. Default: absent."""
    capacity: CapacityRequirements | None = None
    """Capacity define resource requirements against each capacity.

    If this field is unset and the device supports multiple allocations, the default value will be applied to each capacity according to requestPolicy. For the capacity that has no requestPolicy, default is the full capacity value.

    Applies to each device allocation. If Count > 1, the request fails if there aren't enough devices that meet the requirements. If AllocationMode is set to All, the request fails if there are devices that otherwise match the request, and have this capacity, with a value >= the requested amount, but which cannot be allocated to this request.

    JSON: `capacity`. Default: absent."""
    count: int | None = None
    """Count is used only when the count mode is "ExactCount". Must be greater than zero. If AllocationMode is ExactCount and this field is not specified, the default is one.

    JSON: `count`. Default: absent."""
    derived_attributes: list[DeviceDerivedAttribute] = []
    """DerivedAttributes defines a set of virtual attributes computed via CEL expressions for each candidate device. These virtual attributes can be referenced in `.devices.constraints` to align and match different devices (e.g., co-allocating a GPU and a NIC on the same NUMA node) even if their drivers publish different attributes. Derived attributes are not available via `device.attributes` in the CEL environment when evaluating selector expressions.

    Derived attributes allow you to extract, transform, or normalize topology information (such as extracting a NUMA index from a complex topology string or renaming a vendor-specific attribute) into a common virtual attribute name at scheduling time. The scheduler then evaluates these virtual attributes exactly like static attributes when matching constraints.

    Every derived attribute defined in this list must be referenced by at least one MatchAttribute or DistinctAttribute constraint in the `.devices.constraints` list.

    The maximum number of derived attributes is 32.

    This is an alpha field and requires enabling the DRADerivedAttributes feature gate.

    JSON: `derivedAttributes`. Default: absent."""
    device_class_name: str = ""
    """DeviceClassName references a specific DeviceClass, which can define additional configuration and selectors to be inherited by this request.

    A DeviceClassName is required.

    Administrators may use this to restrict which devices may get requested by only installing classes with selectors for permitted devices. If users are free to request anything without restrictions, then administrators can create an empty DeviceClass for users to reference.

    JSON: `deviceClassName`. Required."""
    selectors: list[DeviceSelector] = []
    """Selectors define criteria which must be satisfied by a specific device in order for that device to be considered for this request. All selectors must be satisfied for a device to be considered.

    JSON: `selectors`. Default: absent."""
    tolerations: list[DeviceToleration] = []
    """If specified, the request's tolerations.

    Tolerations for NoSchedule are required to allocate a device which has a taint with that effect. The same applies to NoExecute.

    In addition, should any of the allocated devices get tainted with NoExecute after allocation and that effect is not tolerated, then all pods consuming the ResourceClaim get deleted to evict them. The scheduler will not let new pods reserve the claim while it has these tainted devices. Once all pods are evicted, the claim will get deallocated.

    The maximum number of tolerations is 16.

    This is a beta field and requires enabling the DRADeviceTaints feature gate.

    JSON: `tolerations`. Default: absent."""


class NetworkDeviceData(Model):
    """NetworkDeviceData provides network-related details for the allocated device. This information may be filled by drivers or other components to configure or identify the device within a network context."""
    hardware_address: str | None = None
    """HardwareAddress represents the hardware address (e.g. MAC Address) of the device's network interface.

    Must not be longer than 128 bytes.

    JSON: `hardwareAddress`. Default: absent."""
    interface_name: str | None = None
    """InterfaceName specifies the name of the network interface associated with the allocated device. This might be the name of a physical or virtual network interface being configured in the pod.

    Must not be longer than 256 bytes.

    JSON: `interfaceName`. Default: absent."""
    ips: list[str] = []
    """IPs lists the network addresses assigned to the device's network interface. This can include both IPv4 and IPv6 addresses. The IPs are in the CIDR notation, which includes both the address and the associated subnet mask. e.g.: "192.0.2.5/24" for IPv4 and "2001:db8::5/64" for IPv6.

    JSON: `ips`. Default: absent."""


class NodeAllocatableMapping(Model):
    """NodeAllocatableMapping defines how a DRA allocation directly translates into a node allocatable resource quantity. The mapping can be derived from either the count of allocated devices (via deviceMultiplier) or the specific capacity consumed (via capacityKey and capacityMultiplier). These options are mutually exclusive. Kubelet adds this mapped resource quantity from claim to both requests and limits at the pod-level cgroup, and to limits at the container-level cgroup for each container referencing the claim."""
    capacity_key: str | None = None
    """CapacityKey references a capacity name defined as a key in the `spec.devices[*].capacity` map. When this field is set, the value associated with this key in the `status.allocation.devices.results[*].consumedCapacity` map (for a specific claim allocation) determines the base quantity for the node allocatable resource. `capacityMultiplier` must also be set and is multiplied with the base quantity. For example, if `spec.devices[*].capacity` has an entry "dra.example.com/memory": "128Gi", and this field is set to "dra.example.com/memory", then for a claim allocation that consumes { "dra.example.com/memory": "4Gi" } the base quantity for the node allocatable resource mapping will be "4Gi". The final node allocatable resource amount is `consumedCapacity[capacityKey]` * `capacityMultiplier`.

    JSON: `capacityKey`. Default: absent."""
    capacity_multiplier: Quantity | None = None
    """CapacityMultiplier is used as a multiplier for the allocated capacity consumed. It is only valid if `capacityKey` is set. The final node allocatable resource amount is `consumedCapacity[capacityKey]` * `capacityMultiplier`. For example, if a Device's capacity "dra.example.com/cores" is consumed, and each "core" provides 2 "cpu"s, the mapping would be: {ResourceName: "cpu", capacityKey: "dra.example.com/cores", capacityMultiplier: "2"}. If a claim consumes 8 "dra.example.com/cores", the CPU footprint is 8 * 2 = 16.

    JSON: `capacityMultiplier`. Default: absent."""
    device_multiplier: Quantity | None = None
    """DeviceMultiplier is used as a multiplier for the allocated device count in the claim. The final node allocatable resource amount is `deviceCount` * `deviceMultiplier`. For example, a DRA driver representing each cache complex (CCX) as a device would have {ResourceName: "cpu", deviceMultiplier: "8"} in its `nodeAllocatableResources`. If 2 devices (CCX) are allocated to the claim, 2 * 8 = 16 CPUs would be considered as allocated. It is only valid when `capacityKey` and `capacityMultiplier` are not set.

    JSON: `deviceMultiplier`. Default: absent."""


class NodeAllocatableOverhead(Model):
    """NodeAllocatableOverhead defines auxiliary resource overheads incurred when allocating a device. Overheads can be specified as a fixed cost per pod referencing the claim, a variable cost per container reference, or both. Kubelet accounts for this overhead by adding it to both the pod-level and container-level cgroups of referencing containers."""
    per_container: Quantity | None = None
    """PerContainer is applied per container reference to the claim. This models overhead scaling linearly with the number of containers actively using the device. When both PerPod and PerContainer are specified, the total overhead allocated for each pod referencing the claim is computed as: Quantity = PerPod + (PerContainer * NumReferences) Kubelet accounts for this overhead in cgroups: - Pod-level cgroup (requests and limits): Kubelet adds PerPod + (PerContainer * NumReferences). - Container-level cgroup (limits only): Kubelet adds PerPod + PerContainer for each referencing container. This allows any single container to access the pod-level overhead, while the parent cgroup caps the total usage to account for PerPod exactly once.

    JSON: `perContainer`. Default: absent."""
    per_pod: Quantity | None = None
    """PerPod is overhead applied once per pod referencing the claim on this node. This is a flat overhead incurred for every pod referencing the claim.

    JSON: `perPod`. Default: absent."""


class NodeAllocatableResource(Model):
    """NodeAllocatableResource defines the translation between the DRA device/capacity units requested to the corresponding quantity of the node allocatable resource. At least one of Mapping or Overhead must be specified. Not specifying either is an invalid configuration."""
    mapping: NodeAllocatableMapping | None = None
    """Mapping is used when the device directly models a node allocatable resource like standard CPU or memory (e.g., with a CPU DRA driver). The calculated quantity is accounted for exactly once per claim instance on the node. To prevent node cgroup isolation friction, the scheduler explicitly blocks sharing mapped device claims across multiple pods.

    JSON: `mapping`. Default: absent."""
    overhead: NodeAllocatableOverhead | None = None
    """Overhead contains fields for modeling auxiliary overhead incurred on node allocatable resources when allocating devices that are not themselves modeling a node allocatable resource (e.g., host memory overhead for GPUs). Sharing overhead-mapped claims across multiple pods is allowed. The node allocatable overhead is accounted for individually for each pod referencing the claim. Overhead is always subtracted from the node's allocatable capacity for the resource, even when mapping is specified for the same resource. Eg: If a device models memory capacity per socket as a consumable capacity pool via Mapping (with CapacityKey), any overhead specified for the same resource will be subtracted from the node's general allocatable capacity and not from the per-socket capacity pool in Mapping.

    JSON: `overhead`. Default: absent."""


class OpaqueDeviceConfiguration(Model):
    """OpaqueDeviceConfiguration contains configuration parameters for a driver in a format defined by the driver vendor."""
    driver: str = ""
    """Driver is used to determine which kubelet plugin needs to be passed these configuration parameters.

    An admission policy provided by the driver developer could use this to decide whether it needs to validate them.

    Must be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters.

    JSON: `driver`. Required."""
    parameters: dict[str, Any] = {}
    """Parameters can contain arbitrary data. It is the responsibility of the driver developer to handle validation and versioning. Typically this includes self-identification and a version ("kind" + "apiVersion" for Kubernetes types), with conversion between different versions.

    The length of the raw data must be smaller or equal to 10 Ki.

    JSON: `parameters`. Required."""


class ResourceClaimConsumerReference(Model):
    """ResourceClaimConsumerReference contains enough information to let you locate the consumer of a ResourceClaim. The user must be a resource in the same namespace as the ResourceClaim."""
    api_group: str | None = None
    """APIGroup is the group for the resource being referenced. It is empty for the core API. This matches the group in the APIVersion that is used when creating the resources.

    JSON: `apiGroup`. Default: absent."""
    name: str = ""
    """Name is the name of resource being referenced.

    JSON: `name`. Required."""
    resource: str = ""
    """Resource is the type of resource being referenced, for example "pods".

    JSON: `resource`. Required."""
    uid: str = ""
    """UID identifies exactly one incarnation of the resource.

    JSON: `uid`. Required."""


class ResourceClaimSpec(Model):
    """ResourceClaimSpec defines what is being requested in a ResourceClaim and how to configure it."""
    devices: DeviceClaim = ...
    """Devices defines how to request devices.

    JSON: `devices`. Default: `{}`."""


class ResourceClaimStatus(Model):
    """ResourceClaimStatus tracks whether the resource has been allocated and what the result of that was."""
    allocation: AllocationResult | None = None
    """Allocation is set once the claim has been allocated successfully.

    JSON: `allocation`. Default: absent."""
    devices: list[AllocatedDeviceStatus] = []
    """Devices contains the status of each device allocated for this claim, as reported by the driver. This can include driver-specific information. Entries are owned by their respective drivers.

    JSON: `devices`. Default: absent."""
    reserved_for: list[ResourceClaimConsumerReference] = []
    """ReservedFor indicates which entities are currently allowed to use the claim. A Pod which references a ResourceClaim which is not reserved for that Pod will not be started. A claim that is in use or might be in use because it has been reserved must not get deallocated.

    In a cluster with multiple scheduler instances, two pods might get scheduled concurrently by different schedulers. When they reference the same ResourceClaim which already has reached its maximum number of consumers, only one pod can be scheduled.

    Both schedulers try to add their pod to the claim.status.reservedFor field, but only the update that reaches the API server first gets stored. The other one fails with an error and the scheduler which issued it knows that it must put the pod back into the queue, waiting for the ResourceClaim to become usable again.

    There can be at most 256 such reservations. This may get increased in the future, but not reduced.

    JSON: `reservedFor`. Default: absent."""


class ResourceClaimTemplateSpec(Model):
    """ResourceClaimTemplateSpec contains the metadata and fields for a ResourceClaim."""
    metadata: meta_v1.ObjectMeta = ...
    """ObjectMeta may contain labels and annotations that will be copied into the ResourceClaim when creating it. No other fields are allowed and will be rejected during validation.

    JSON: `metadata`. Default: `{}`."""
    spec: ResourceClaimSpec = ...
    """Spec for the ResourceClaim. The entire content is copied unchanged into the ResourceClaim that gets created from this template. The same fields as in a ResourceClaim are also valid here.

    JSON: `spec`. Default: `{}`."""


class ResourcePool(Model):
    """ResourcePool describes the pool that ResourceSlices belong to."""
    generation: int = 0
    """Generation tracks the change in a pool over time. Whenever a driver changes something about one or more of the resources in a pool, it must change the generation in all ResourceSlices which are part of that pool. Consumers of ResourceSlices should only consider resources from the pool with the highest generation number. The generation may be reset by drivers, which should be fine for consumers, assuming that all ResourceSlices in a pool are updated to match or deleted.

    Combined with ResourceSliceCount, this mechanism enables consumers to detect pools which are comprised of multiple ResourceSlices and are in an incomplete state.

    JSON: `generation`. Required."""
    name: str = ""
    """Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.

    It must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.

    JSON: `name`. Required."""
    resource_slice_count: int = 0
    """ResourceSliceCount is the total number of ResourceSlices in the pool at this generation number. Must be greater than zero.

    Consumers can use this to check whether they have seen all ResourceSlices belonging to the same pool.

    JSON: `resourceSliceCount`. Required."""


class ResourceSliceSpec(Model):
    """ResourceSliceSpec contains the information published by the driver in one ResourceSlice."""
    all_nodes: bool | None = None
    """AllNodes indicates that all nodes have access to the resources in the pool.

    Exactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set.

    JSON: `allNodes`. Default: absent."""
    devices: list[Device] = []
    """Devices lists some or all of the devices in this pool.

    Must not have more than 128 entries. If any device uses taints or consumes counters the limit is 64.

    Only one of Devices and SharedCounters can be set in a ResourceSlice.

    JSON: `devices`. Default: absent."""
    driver: str = ""
    """Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.

    Must be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.

    JSON: `driver`. Required."""
    node_name: str | None = None
    """NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.

    This field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.

    Exactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.

    JSON: `nodeName`. Default: absent."""
    node_selector: core_v1.NodeSelector | None = None
    """NodeSelector defines which nodes have access to the resources in the pool, when that pool is not limited to a single node.

    Must use exactly one term.

    Exactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set.

    JSON: `nodeSelector`. Default: absent."""
    partition_type_attribute: str | None = None
    """PartitionTypeAttribute names a string device attribute (by fully qualified name, e.g. "gpu.example.com/profile") whose value labels each device with its partition type, such as "Full" or "Half" for a MIG-style GPU.

    When set, every partitionable device in the slice must carry the attribute and devices sharing a value must share the same ConsumesCounters cost.

    JSON: `partitionTypeAttribute`. Default: absent."""
    per_device_node_selection: bool | None = None
    """PerDeviceNodeSelection defines whether the access from nodes to resources in the pool is set on the ResourceSlice level or on each device. If it is set to true, every device defined the ResourceSlice must specify this individually.

    Exactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set.

    JSON: `perDeviceNodeSelection`. Default: absent."""
    pool: ResourcePool = ...
    """Pool describes the pool that this ResourceSlice belongs to.

    JSON: `pool`. Required."""
    shared_counters: list[CounterSet] = []
    """SharedCounters defines a list of counter sets, each of which has a name and a list of counters available.

    The names of the counter sets must be unique in the ResourcePool.

    Only one of Devices and SharedCounters can be set in a ResourceSlice.

    The maximum number of counter sets is 8.

    JSON: `sharedCounters`. Default: absent."""
    skip_node_operations: list[str] = []
    """SkipNodeOperations lists node-local resource operations (gRPC calls) that will be skipped for the devices in this slice when determining whether operations are necessary on the node. If all allocated devices for a driver in a claim skip an operation, that gRPC call will be skipped. Valid values are:

    - "NodePrepareResources": NodePrepareResources gRPC calls are skipped. This
      value cannot be specified unless "NodeUnprepareResources" is also listed
      (or "*" is specified).
    - "NodeUnprepareResources": NodeUnprepareResources gRPC calls are skipped. - "*": All node-local resource operations are skipped.

    Other values may be added in the future. The kubelet must ignore unknown values.

    JSON: `skipNodeOperations`. Default: absent."""


class DeviceClass(Object):
    """DeviceClass is a vendor- or admin-provided resource that contains device configuration and selectors. It can be referenced in the device requests of a claim to apply these presets. Cluster scoped.

    This is an alpha type and requires enabling the DynamicResourceAllocation feature gate."""
    spec: DeviceClassSpec = ...
    """Spec defines what can be allocated and how to configure it.

    This is mutable. Consumers have to be prepared for classes changing at any time, either because they get updated or replaced. Claim allocations are done once based on whatever was set in classes at the time of allocation.

    Changing the spec automatically increments the metadata.generation number.

    JSON: `spec`. Default: `{}`."""


class DeviceTaintRule(Object):
    """DeviceTaintRule adds one taint to all devices which match the selector. This has the same effect as if the taint was specified directly in the ResourceSlice by the DRA driver."""
    spec: DeviceTaintRuleSpec = ...
    """Spec specifies the selector and one taint.

    Changing the spec automatically increments the metadata.generation number.

    JSON: `spec`. Required."""
    status: DeviceTaintRuleStatus = ...
    """Status provides information about what was requested in the spec.

    JSON: `status`. Default: `{}`."""


class ResourceClaim(Object):
    """ResourceClaim describes a request for access to resources in the cluster, for use by workloads. For example, if a workload needs an accelerator device with specific properties, this is how that request is expressed. The status stanza tracks whether this claim has been satisfied and what specific resources have been allocated.

    This is an alpha type and requires enabling the DynamicResourceAllocation feature gate."""
    spec: ResourceClaimSpec = ...
    """Spec describes what is being requested and how to configure it. The spec is immutable.

    JSON: `spec`. Default: `{}`."""
    status: ResourceClaimStatus = ...
    """Status describes whether the claim is ready to use and what has been allocated.

    JSON: `status`. Default: `{}`."""


class ResourceClaimTemplate(Object):
    """ResourceClaimTemplate is used to produce ResourceClaim objects.

    This is an alpha type and requires enabling the DynamicResourceAllocation feature gate."""
    spec: ResourceClaimTemplateSpec = ...
    """Describes the ResourceClaim that is to be generated.

    This field is immutable. A ResourceClaim will get created by the control plane for a Pod when needed and then not get updated anymore.

    JSON: `spec`. Default: `{}`."""


class ResourceSlice(Object):
    """ResourceSlice represents one or more resources in a pool of similar resources, managed by a common driver. A pool may span more than one ResourceSlice, and exactly how many ResourceSlices comprise a pool is determined by the driver.

    At the moment, the only supported resources are devices with attributes and capacities. Each device in a given pool, regardless of how many ResourceSlices, must have a unique name. The ResourceSlice in which a device gets published may change over time. The unique identifier for a device is the tuple <driver name>, <pool name>, <device name>.

    Whenever a driver needs to update a pool, it increments the pool.Spec.Pool.Generation number and updates all ResourceSlices with that new number and new resource definitions. A consumer must only use ResourceSlices with the highest generation number and ignore all others.

    When allocating all resources in a pool matching certain criteria or when looking for the best solution among several different alternatives, a consumer should check the number of ResourceSlices in a pool (included in each ResourceSlice) to determine whether its view of a pool is complete and if not, should wait until the driver has completed updating the pool.

    For resources that are not local to a node, the node name is not set. Instead, the driver may use a node selector to specify where the devices are available.

    This is an alpha type and requires enabling the DynamicResourceAllocation feature gate."""
    spec: ResourceSliceSpec = ...
    """Contains the information published by the driver.

    Changing the spec automatically increments the metadata.generation number.

    JSON: `spec`. Required."""


class DeviceClassList(ObjectList[DeviceClass], item=DeviceClass):
    """A list of objects, as returned by one request."""


class DeviceTaintRuleList(ObjectList[DeviceTaintRule], item=DeviceTaintRule):
    """A list of objects, as returned by one request."""


class ResourceClaimList(ObjectList[ResourceClaim], item=ResourceClaim):
    """A list of objects, as returned by one request."""


class ResourceClaimTemplateList(ObjectList[ResourceClaimTemplate], item=ResourceClaimTemplate):
    """A list of objects, as returned by one request."""


class ResourceSliceList(ObjectList[ResourceSlice], item=ResourceSlice):
    """A list of objects, as returned by one request."""
