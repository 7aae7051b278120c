"""The messages of lifecycle_v1alpha1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Eviction 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#EvictionSpec! 3:status:#EvictionStatus
EvictionList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Eviction!
EvictionPodReference 1:name:s! 2:uid:s!@UID
EvictionRequest 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#EvictionRequestSpec! 3:status:#EvictionRequestStatus
EvictionRequestList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#EvictionRequest!
EvictionRequestPodReference 1:name:s! 2:uid:s!@UID
EvictionRequestSpec 1:target:#EvictionRequestTarget! 2:requester:s! 3:intent:s!
EvictionRequestStatus 1:conditions:[#meta_v1.Condition 2:observedGeneration:l*
EvictionRequestTarget 1:pod:#EvictionRequestPodReference*
EvictionSpec 1:target:#EvictionTarget!
EvictionStatus 1:conditions:[#meta_v1.Condition 2:observedGeneration:l* 3:requesters:[#Requester
 4:targetResponders:[#TargetResponder 5:responders:[#ResponderStatus
EvictionTarget 1:pod:#EvictionPodReference*
Requester 1:name:s! 2:intent:s!
ResponderStatus 1:name:s! 2:startTime:#meta_v1.Time* 3:heartbeatTime:#meta_v1.Time*
 4:expectedCompletionTime:#meta_v1.Time* 5:completionTime:#meta_v1.Time* 6:message:s*
TargetResponder 1:name:s! 2:priority:i*! 3:state:s!
"""
