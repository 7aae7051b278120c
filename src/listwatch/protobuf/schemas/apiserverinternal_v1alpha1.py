"""The messages of apiserverinternal_v1alpha1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
ServerStorageVersion 1:apiServerID:s@APIServerID 2:encodingVersion:s 3:decodableVersions:[s 4:servedVersions:[s
StorageVersion 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#StorageVersionSpec! 3:status:#StorageVersionStatus!
StorageVersionCondition 1:type:s! 2:status:s! 3:observedGeneration:l 4:lastTransitionTime:#meta_v1.Time 5:reason:s!
 6:message:s
StorageVersionList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#StorageVersion!
StorageVersionSpec
StorageVersionStatus 1:storageVersions:[#ServerStorageVersion 2:commonEncodingVersion:s*
 3:conditions:[#StorageVersionCondition
"""
