"""The messages of resource_v1beta2, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
AllocatedDeviceStatus 1:driver:s! 2:pool:s! 3:device:s! 7:shareID:s* 4:conditions:[#meta_v1.Condition!
 5:data:#pkg_runtime.RawExtension* 6:networkData:#NetworkDeviceData*
AllocationResult 1:devices:#DeviceAllocationResult 3:nodeSelector:#core_v1.NodeSelector*
 5:allocationTimestamp:#meta_v1.Time*
CELDeviceSelector 1:expression:s!
CapacityRequestPolicy 1:default:#api_resource.Quantity*! 3:validValues:[#api_resource.Quantity
 4:validRange:#CapacityRequestPolicyRange*
CapacityRequestPolicyRange 1:min:#api_resource.Quantity* 2:max:#api_resource.Quantity* 3:step:#api_resource.Quantity*
CapacityRequirements 1:requests:{#api_resource.Quantity
Counter 1:value:#api_resource.Quantity!
CounterSet 1:name:s! 2:counters:{#Counter
Device 1:name:s! 2:attributes:{#DeviceAttribute 3:capacity:{#DeviceCapacity
 4:consumesCounters:[#DeviceCounterConsumption 5:nodeName:s* 6:nodeSelector:#core_v1.NodeSelector* 7:allNodes:b*
 8:taints:[#DeviceTaint 9:bindsToNode:b* 10:bindingConditions:[s 11:bindingFailureConditions:[s
 12:allowMultipleAllocations:b* 14:nodeAllocatableResources:{#NodeAllocatableResource
DeviceAllocationConfiguration 1:source:s! 2:requests:[s 3::#DeviceConfiguration!@DeviceConfiguration
DeviceAllocationResult 1:results:[#DeviceRequestAllocationResult 2:config:[#DeviceAllocationConfiguration
DeviceAttribute 2:int:l*@IntValue 3:bool:b*@BoolValue 4:string:s*@StringValue 5:version:s*@VersionValue
 6:ints:[l@IntValues 7:bools:[b@BoolValues 8:strings:[s@StringValues 9:versions:[s@VersionValues
DeviceCapacity 1:value:#api_resource.Quantity! 2:requestPolicy:#CapacityRequestPolicy*
DeviceClaim 1:requests:[#DeviceRequest! 2:constraints:[#DeviceConstraint 3:config:[#DeviceClaimConfiguration
DeviceClaimConfiguration 1:requests:[s 2::#DeviceConfiguration!@DeviceConfiguration
DeviceClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#DeviceClassSpec!
DeviceClassConfiguration 1::#DeviceConfiguration!@DeviceConfiguration
DeviceClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#DeviceClass!
DeviceClassSpec 1:selectors:[#DeviceSelector 2:config:[#DeviceClassConfiguration 4:extendedResourceName:s*
DeviceConfiguration 1:opaque:#OpaqueDeviceConfiguration*
DeviceConstraint 1:requests:[s 2:matchAttribute:s* 3:distinctAttribute:s*
DeviceCounterConsumption 1:counterSet:s! 2:counters:{#Counter 3:compatibilityGroups:[s
DeviceDerivedAttribute 1:name:s! 2:expression:s!
DeviceRequest 1:name:s! 2:exactly:#ExactDeviceRequest* 3:firstAvailable:[#DeviceSubRequest
DeviceRequestAllocationResult 1:request:s! 2:driver:s! 3:pool:s! 4:device:s! 5:adminAccess:b*
 6:tolerations:[#DeviceToleration 7:bindingConditions:[s 8:bindingFailureConditions:[s 9:shareID:s*
 10:consumedCapacity:{#api_resource.Quantity 11:skipNodeOperations:[s
DeviceSelector 1:cel:#CELDeviceSelector*@CEL
DeviceSubRequest 1:name:s! 2:deviceClassName:s! 3:selectors:[#DeviceSelector 4:allocationMode:s 5:count:l
 6:tolerations:[#DeviceToleration 7:capacity:#CapacityRequirements* 8:derivedAttributes:[#DeviceDerivedAttribute
DeviceTaint 1:key:s! 2:value:s 3:effect:s! 4:timeAdded:#meta_v1.Time*
DeviceTaintRule 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#DeviceTaintRuleSpec! 3:status:#DeviceTaintRuleStatus
DeviceTaintRuleList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#DeviceTaintRule!
DeviceTaintRuleSpec 1:deviceSelector:#DeviceTaintSelector* 2:taint:#DeviceTaint
DeviceTaintRuleStatus 1:conditions:[#meta_v1.Condition
DeviceTaintSelector 2:driver:s* 3:pool:s* 4:device:s*
DeviceToleration 1:key:s 2:operator:s 3:value:s 4:effect:s 5:tolerationSeconds:l*
ExactDeviceRequest 1:deviceClassName:s! 2:selectors:[#DeviceSelector 3:allocationMode:s 4:count:l 5:adminAccess:b*
 6:tolerations:[#DeviceToleration 7:capacity:#CapacityRequirements* 8:derivedAttributes:[#DeviceDerivedAttribute
NetworkDeviceData 1:interfaceName:s 2:ips:[s@IPs 3:hardwareAddress:s
NodeAllocatableMapping 1:capacityKey:s* 2:capacityMultiplier:#api_resource.Quantity*
 3:deviceMultiplier:#api_resource.Quantity*
NodeAllocatableOverhead 1:perPod:#api_resource.Quantity* 2:perContainer:#api_resource.Quantity*
NodeAllocatableResource 3:mapping:#NodeAllocatableMapping* 4:overhead:#NodeAllocatableOverhead*
OpaqueDeviceConfiguration 1:driver:s! 2:parameters:#pkg_runtime.RawExtension!
ResourceClaim 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ResourceClaimSpec! 3:status:#ResourceClaimStatus
ResourceClaimConsumerReference 1:apiGroup:s@APIGroup 3:resource:s! 4:name:s! 5:uid:s!@UID
ResourceClaimList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ResourceClaim!
ResourceClaimSpec 1:devices:#DeviceClaim!
ResourceClaimStatus 1:allocation:#AllocationResult* 2:reservedFor:[#ResourceClaimConsumerReference
 4:devices:[#AllocatedDeviceStatus
ResourceClaimTemplate 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ResourceClaimTemplateSpec!
ResourceClaimTemplateList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ResourceClaimTemplate!
ResourceClaimTemplateSpec 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ResourceClaimSpec!
ResourcePool 1:name:s! 2:generation:l! 3:resourceSliceCount:l!
ResourceSlice 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ResourceSliceSpec!
ResourceSliceList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ResourceSlice!
ResourceSliceSpec 1:driver:s! 2:pool:#ResourcePool! 3:nodeName:s* 4:nodeSelector:#core_v1.NodeSelector* 5:allNodes:b*
 6:devices:[#Device 7:perDeviceNodeSelection:b* 8:sharedCounters:[#CounterSet 9:partitionTypeAttribute:s*
 10:skipNodeOperations:[s
"""
