"""The messages of node_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Overhead 1:podFixed:{#api_resource.Quantity
RuntimeClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:handler:s! 3:overhead:#Overhead* 4:scheduling:#Scheduling*
RuntimeClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#RuntimeClass!
Scheduling 1:nodeSelector:{s 2:tolerations:[#core_v1.Toleration
"""
