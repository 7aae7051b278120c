"""The messages of scheduling_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
PriorityClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:value:i! 3:globalDefault:b 4:description:s
 5:preemptionPolicy:s*
PriorityClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#PriorityClass!
"""
