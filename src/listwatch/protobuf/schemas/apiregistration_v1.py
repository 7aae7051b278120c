"""The messages of apiregistration_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
APIService 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#APIServiceSpec 3:status:#APIServiceStatus
APIServiceCondition 1:type:s! 2:status:s! 3:lastTransitionTime:#meta_v1.Time 4:reason:s 5:message:s
APIServiceList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#APIService!
APIServiceSpec 1:service:#ServiceReference* 2:group:s 3:version:s 4:insecureSkipTLSVerify:b 5:caBundle:y@CABundle
 7:groupPriorityMinimum:i! 8:versionPriority:i!
APIServiceStatus 1:conditions:[#APIServiceCondition
ServiceReference 1:namespace:s 2:name:s 3:port:i*
"""
