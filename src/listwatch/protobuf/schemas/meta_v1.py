"""The messages of meta_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
APIGroup 1:name:s! 2:versions:[#GroupVersionForDiscovery! 3:preferredVersion:#GroupVersionForDiscovery
 4:serverAddressByClientCIDRs:[#ServerAddressByClientCIDR
APIGroupList 1:groups:[#APIGroup!
APIResource 1:name:s! 6:singularName:s! 2:namespaced:b! 8:group:s 9:version:s 3:kind:s! 4:verbs:#Verbs!
 5:shortNames:[s 7:categories:[s 10:storageVersionHash:s
APIResourceList 1:groupVersion:s! 2:resources:[#APIResource!@APIResources
APIVersions 1:versions:[s! 2:serverAddressByClientCIDRs:[#ServerAddressByClientCIDR!
ApplyOptions 1:dryRun:[s 2:force:b! 3:fieldManager:s!
Condition 1:type:s! 2:status:s! 3:observedGeneration:l 4:lastTransitionTime:#Time! 5:reason:s! 6:message:s!
CreateOptions 1:dryRun:[s 3:fieldManager:s 4:fieldValidation:s
DeleteOptions 1:gracePeriodSeconds:l* 2:preconditions:#Preconditions* 3:orphanDependents:b* 4:propagationPolicy:s*
 5:dryRun:[s 6:ignoreStoreReadErrorWithClusterBreakingPotential:b*
Duration 1::l!@Duration
FieldSelectorRequirement 1:key:s! 2:operator:s! 3:values:[s
FieldsV1 1:Raw:y!
GetOptions 1:resourceVersion:s
GroupKind 1:group:s! 2:kind:s!
GroupResource 1:group:s! 2:resource:s!
GroupVersion 1:group:s! 2:version:s!
GroupVersionForDiscovery 1:groupVersion:s! 2:version:s!
GroupVersionKind 1:group:s! 2:version:s! 3:kind:s!
GroupVersionResource 1:group:s! 2:version:s! 3:resource:s!
LabelSelector 1:matchLabels:{s 2:matchExpressions:[#LabelSelectorRequirement
LabelSelectorRequirement 1:key:s! 2:operator:s! 3:values:[s
List 1:metadata:#ListMeta@ListMeta 2:items:[#pkg_runtime.RawExtension!
ListMeta 1:selfLink:s 2:resourceVersion:s 3:continue:s 4:remainingItemCount:l* 5:shardInfo:#ShardInfo*
ListOptions 1:labelSelector:s 2:fieldSelector:s 3:watch:b 9:allowWatchBookmarks:b 4:resourceVersion:s
 10:resourceVersionMatch:s 5:timeoutSeconds:l* 7:limit:l 8:continue:s 11:sendInitialEvents:b* 15:shardSelector:s
ManagedFieldsEntry 1:manager:s 2:operation:s 3:apiVersion:s@APIVersion 4:time:#Time* 6:fieldsType:s
 7:fieldsV1:#FieldsV1* 8:subresource:s
MicroTime 1:seconds:l! 2:nanos:i!
ObjectMeta 1:name:s 2:generateName:s 3:namespace:s 4:selfLink:s 5:uid:s@UID 6:resourceVersion:s 7:generation:l
 8:creationTimestamp:#Time~ 9:deletionTimestamp:#Time* 10:deletionGracePeriodSeconds:l* 11:labels:{s 12:annotations:{s
 13:ownerReferences:[#OwnerReference 14:finalizers:[s 17:managedFields:[#ManagedFieldsEntry
OwnerReference 5:apiVersion:s!@APIVersion 1:kind:s! 3:name:s! 4:uid:s!@UID 6:controller:b* 7:blockOwnerDeletion:b*
PartialObjectMetadata 1:metadata:#ObjectMeta@ObjectMeta
PartialObjectMetadataList 1:metadata:#ListMeta@ListMeta 2:items:[#PartialObjectMetadata!
Patch
PatchOptions 1:dryRun:[s 2:force:b* 3:fieldManager:s 4:fieldValidation:s
Preconditions 1:uid:s*@UID 2:resourceVersion:s*
RootPaths 1:paths:[s!
ServerAddressByClientCIDR 1:clientCIDR:s! 2:serverAddress:s!
ShardInfo 1:selector:s!
Status 1:metadata:#ListMeta@ListMeta 2:status:s 3:message:s 4:reason:s 5:details:#StatusDetails* 6:code:i
StatusCause 1:reason:s@Type 2:message:s 3:field:s
StatusDetails 1:name:s 2:group:s 3:kind:s 6:uid:s@UID 4:causes:[#StatusCause 5:retryAfterSeconds:i
TableOptions 1:includeObject:s
Time 1:seconds:l! 2:nanos:i!
Timestamp 1:seconds:l! 2:nanos:i!
TypeMeta 1:kind:s 2:apiVersion:s@APIVersion
UpdateOptions 1:dryRun:[s 2:fieldManager:s 3:fieldValidation:s
Verbs[] 1:items:[s!
WatchEvent 1:type:s! 2:object:#pkg_runtime.RawExtension!
"""
