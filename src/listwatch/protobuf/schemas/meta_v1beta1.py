"""The messages of meta_v1beta1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
PartialObjectMetadataList 2:metadata:#meta_v1.ListMeta@ListMeta 1:items:[#meta_v1.PartialObjectMetadata!
"""
