"""The messages of coordination_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Lease 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#LeaseSpec
LeaseList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Lease!
LeaseSpec 1:holderIdentity:s* 2:leaseDurationSeconds:i* 3:acquireTime:#meta_v1.MicroTime*
 4:renewTime:#meta_v1.MicroTime* 5:leaseTransitions:i* 6:strategy:s* 7:preferredHolder:s*
"""
