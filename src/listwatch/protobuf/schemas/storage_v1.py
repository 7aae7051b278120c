"""The messages of storage_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
CSIDriver 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#CSIDriverSpec!
CSIDriverList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#CSIDriver!
CSIDriverSpec 1:attachRequired:b* 2:podInfoOnMount:b* 3:volumeLifecycleModes:[s 4:storageCapacity:b*
 5:fsGroupPolicy:s*@FSGroupPolicy 6:tokenRequests:[#TokenRequest 7:requiresRepublish:b* 8:seLinuxMount:b*@SELinuxMount
 9:nodeAllocatableUpdatePeriodSeconds:l* 10:serviceAccountTokenInSecrets:b* 11:preventPodSchedulingIfMissing:b*
CSINode 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#CSINodeSpec! 3:status:#CSINodeStatus
CSINodeDriver 1:name:s! 2:nodeID:s! 3:topologyKeys:[s! 4:allocatable:#VolumeNodeResources*
CSINodeList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#CSINode!
CSINodeSpec 1:drivers:[#CSINodeDriver!
CSINodeStatus 1:storageHealth:[#StorageHealth
CSIStorageCapacity 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:nodeTopology:#meta_v1.LabelSelector*
 3:storageClassName:s! 4:capacity:#api_resource.Quantity* 5:maximumVolumeSize:#api_resource.Quantity*
CSIStorageCapacityList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#CSIStorageCapacity!
StorageClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:provisioner:s! 3:parameters:{s 4:reclaimPolicy:s*
 5:mountOptions:[s 6:allowVolumeExpansion:b* 7:volumeBindingMode:s* 8:allowedTopologies:[#core_v1.TopologySelectorTerm
StorageClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#StorageClass!
StorageHealth 1:name:s! 2:healthConditions:[#StorageHealthCondition
StorageHealthCondition 1:status:s! 2:reason:s! 3:message:s 4:accessMode:s* 5:volumeMode:s*
 6:lastTransitionTime:#meta_v1.Time
TokenRequest 1:audience:s! 2:expirationSeconds:l*
VolumeAttachment 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#VolumeAttachmentSpec!
 3:status:#VolumeAttachmentStatus
VolumeAttachmentList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#VolumeAttachment!
VolumeAttachmentSource 1:persistentVolumeName:s* 2:inlineVolumeSpec:#core_v1.PersistentVolumeSpec*
VolumeAttachmentSpec 1:attacher:s! 2:source:#VolumeAttachmentSource! 3:nodeName:s!
VolumeAttachmentStatus 1:attached:b! 2:attachmentMetadata:{s 3:attachError:#VolumeError* 4:detachError:#VolumeError*
VolumeAttributesClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:driverName:s! 3:parameters:{s
VolumeAttributesClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#VolumeAttributesClass!
VolumeError 1:time:#meta_v1.Time 2:message:s 3:errorCode:i*
VolumeNodeResources 1:count:i*
"""
