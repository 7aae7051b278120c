"""The messages of rbac_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
AggregationRule 1:clusterRoleSelectors:[#meta_v1.LabelSelector
ClusterRole 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:rules:[#PolicyRule! 3:aggregationRule:#AggregationRule*
ClusterRoleBinding 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:subjects:[#Subject 3:roleRef:#RoleRef!
ClusterRoleBindingList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ClusterRoleBinding!
ClusterRoleList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ClusterRole!
PolicyRule 1:verbs:[s! 2:apiGroups:[s@APIGroups 3:resources:[s 4:resourceNames:[s 5:nonResourceURLs:[s
Role 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:rules:[#PolicyRule!
RoleBinding 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:subjects:[#Subject 3:roleRef:#RoleRef!
RoleBindingList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#RoleBinding!
RoleList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Role!
RoleRef 1:apiGroup:s!@APIGroup 2:kind:s! 3:name:s!
Subject 1:kind:s! 2:apiGroup:s@APIGroup 3:name:s! 4:namespace:s
"""
