"""The messages of networking_v1, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
HTTPIngressPath 1:path:s 3:pathType:s*! 2:backend:#IngressBackend!
HTTPIngressRuleValue 1:paths:[#HTTPIngressPath!
IPAddress 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#IPAddressSpec
IPAddressList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#IPAddress!
IPAddressSpec 1:parentRef:#ParentReference*
IPBlock 1:cidr:s!@CIDR 2:except:[s
Ingress 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#IngressSpec 3:status:#IngressStatus
IngressBackend 4:service:#IngressServiceBackend* 3:resource:#core_v1.TypedLocalObjectReference*
IngressClass 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#IngressClassSpec
IngressClassList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#IngressClass!
IngressClassParametersReference 1:apiGroup:s*@APIGroup 2:kind:s! 3:name:s! 4:scope:s*! 5:namespace:s*
IngressClassSpec 1:controller:s 2:parameters:#IngressClassParametersReference*
IngressList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#Ingress!
IngressLoadBalancerIngress 1:ip:s@IP 2:hostname:s 4:ports:[#IngressPortStatus
IngressLoadBalancerStatus 1:ingress:[#IngressLoadBalancerIngress
IngressPortStatus 1:port:i! 2:protocol:s! 3:error:s*
IngressRule 1:host:s 2::#IngressRuleValue!@IngressRuleValue
IngressRuleValue 1:http:#HTTPIngressRuleValue*@HTTP
IngressServiceBackend 1:name:s! 2:port:#ServiceBackendPort
IngressSpec 4:ingressClassName:s* 1:defaultBackend:#IngressBackend* 2:tls:[#IngressTLS@TLS 3:rules:[#IngressRule
IngressStatus 1:loadBalancer:#IngressLoadBalancerStatus
IngressTLS 1:hosts:[s 2:secretName:s
NetworkPolicy 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#NetworkPolicySpec
NetworkPolicyEgressRule 1:ports:[#NetworkPolicyPort 2:to:[#NetworkPolicyPeer
NetworkPolicyIngressRule 1:ports:[#NetworkPolicyPort 2:from:[#NetworkPolicyPeer
NetworkPolicyList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#NetworkPolicy!
NetworkPolicyPeer 1:podSelector:#meta_v1.LabelSelector* 2:namespaceSelector:#meta_v1.LabelSelector*
 3:ipBlock:#IPBlock*@IPBlock
NetworkPolicyPort 1:protocol:s* 2:port:#util_intstr.IntOrString* 3:endPort:i*
NetworkPolicySpec 1:podSelector:#meta_v1.LabelSelector! 2:ingress:[#NetworkPolicyIngressRule
 3:egress:[#NetworkPolicyEgressRule 4:policyTypes:[s
ParentReference 1:group:s 2:resource:s 3:namespace:s 4:name:s
ServiceBackendPort 1:name:s 2:number:i
ServiceCIDR 1:metadata:#meta_v1.ObjectMeta@ObjectMeta 2:spec:#ServiceCIDRSpec 3:status:#ServiceCIDRStatus
ServiceCIDRList 1:metadata:#meta_v1.ListMeta@ListMeta 2:items:[#ServiceCIDR!
ServiceCIDRSpec 1:cidrs:[s@CIDRs
ServiceCIDRStatus 1:conditions:[#meta_v1.Condition
"""
