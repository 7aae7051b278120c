"""The messages of discovery_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Endpoint 1:addresses:[s! 2:conditions:#EndpointConditions 3:hostname:s* 4:targetRef:#core_v1.ObjectReference*
 5:deprecatedTopology:{s 6:nodeName:s* 7:zone:s* 8:hints:#EndpointHints*
EndpointConditions 1:ready:b* 2:serving:b* 3:terminating:b*
EndpointHints 1:forZones:[#ForZone 2:forNodes:[#ForNode
EndpointPort 1:name:s* 2:protocol:s* 3:port:i* 4:appProtocol:s*
EndpointSlice 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 4:addressType:s! 2:endpoints:[#Endpoint!
 3:ports:[#EndpointPort!
EndpointSliceList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#EndpointSlice!
ForNode 1:name:s!
ForZone 1:name:s!
"""
