"""The messages of storagemigration_v1beta1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
StorageVersionMigration 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#StorageVersionMigrationSpec
 3:status:#StorageVersionMigrationStatus
StorageVersionMigrationList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#StorageVersionMigration!
StorageVersionMigrationSpec 1:resource:#meta_v1.GroupResource!
StorageVersionMigrationStatus 1:conditions:[#meta_v1.Condition 2:resourceVersion:s
"""
