"""The messages of apidiscovery_v2, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
APIGroupDiscovery 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:versions:[#APIVersionDiscovery
APIGroupDiscoveryList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#APIGroupDiscovery!
APIResourceDiscovery 1:resource:s! 2:responseKind:#meta_v1.GroupVersionKind* 3:scope:s! 4:singularResource:s!
 5:verbs:[s! 6:shortNames:[s 7:categories:[s 8:subresources:[#APISubresourceDiscovery
APISubresourceDiscovery 1:subresource:s! 2:responseKind:#meta_v1.GroupVersionKind*
 3:acceptedTypes:[#meta_v1.GroupVersionKind 4:verbs:[s!
APIVersionDiscovery 1:version:s! 2:resources:[#APIResourceDiscovery 3:freshness:s
"""
