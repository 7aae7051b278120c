"""The messages of coordination_v1alpha2, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
LeaseCandidate 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#LeaseCandidateSpec
LeaseCandidateList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#LeaseCandidate!
LeaseCandidateSpec 1:leaseName:s! 2:pingTime:#meta_v1.MicroTime* 3:renewTime:#meta_v1.MicroTime* 4:binaryVersion:s!
 5:emulationVersion:s 6:strategy:s
"""
