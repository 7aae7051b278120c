"""The messages of resource_v1alpha3, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
CELDeviceSelector 1:expression:s!
DeviceSelector 1:cel:#CELDeviceSelector*@CEL
DeviceTaint 1:key:s! 2:value:s 3:effect:s! 4:timeAdded:#meta_v1.Time*
DeviceTaintRule 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#DeviceTaintRuleSpec! 3:status:#DeviceTaintRuleStatus
DeviceTaintRuleList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#DeviceTaintRule!
DeviceTaintRuleSpec 1:deviceSelector:#DeviceTaintSelector* 2:taint:#DeviceTaint
DeviceTaintRuleStatus 1:conditions:[#meta_v1.Condition
DeviceTaintSelector 2:driver:s* 3:pool:s* 4:device:s*
PartitionTypeStatus 4:attribute:s 1:type:s 2:total:i* 3:allocatable:i*
PoolStatus 1:driver:s 2:poolName:s 9:generation:l! 8:resourceSliceCount:i* 4:totalDevices:i* 5:allocatedDevices:i*
 6:availableDevices:i* 7:unavailableDevices:i* 3:nodeName:s* 10:validationError:s*
 11:partitionSummary:[#PartitionTypeStatus 13:shareableSummary:#ShareableSummaryStatus*
ResourcePoolStatusRequest 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ResourcePoolStatusRequestSpec!
 3:status:#ResourcePoolStatusRequestStatus*
ResourcePoolStatusRequestList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ResourcePoolStatusRequest!
ResourcePoolStatusRequestSpec 1:driver:s! 2:poolName:s* 3:limit:i* 4:defaultPartitionTypeAttribute:s*
ResourcePoolStatusRequestStatus 6:poolCount:i* 2:pools:[#PoolStatus 3:conditions:[#meta_v1.Condition
ShareableCapacityStatus 1:name:s 2:total:#api_resource.Quantity* 3:consumed:#api_resource.Quantity*
 4:available:#api_resource.Quantity*
ShareableSummaryStatus 1:fullyAvailableDevices:i* 2:partiallyAvailableDevices:i* 3:capacity:[#ShareableCapacityStatus
"""
