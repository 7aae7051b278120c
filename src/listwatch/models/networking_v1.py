"""The kinds and types of `networking.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource, Subresource
from listwatch.models import core_v1, meta_v1
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class IngressBackend(Model):
    service: IngressServiceBackend | None = None
    resource: core_v1.TypedLocalObjectReference | None = None


class HTTPIngressPath(Model):
    path: str | None = None
    path_type: str = field(default_factory=str)
    backend: IngressBackend = field(default_factory=IngressBackend)


class HTTPIngressRuleValue(Model):
    paths: list[HTTPIngressPath] = field(default_factory=required_list)


class ParentReference(Model):
    group: str | None = None
    resource: str = field(default_factory=str)
    namespace: str | None = None
    name: str = field(default_factory=str)


class IPAddressSpec(Model):
    parent_ref: ParentReference = field(default_factory=ParentReference)


class IPBlock(Model):
    cidr: str = field(default_factory=str)
    except_: list[str] = field(default_factory=list)


class IngressClassParametersReference(Model):
    api_group: str | None = None
    kind: str = field(default_factory=str)
    name: str = field(default_factory=str)
    scope: str | None = None
    namespace: str | None = None


class IngressClassSpec(Model):
    controller: str | None = None
    parameters: IngressClassParametersReference | None = None


class IngressLoadBalancerIngress(Model):
    ip: str | None = None
    hostname: str | None = None
    ports: list[IngressPortStatus] = field(default_factory=list)


class IngressLoadBalancerStatus(Model):
    ingress: list[IngressLoadBalancerIngress] = field(default_factory=list)


class IngressPortStatus(Model):
    port: int = field(default_factory=int)
    protocol: str = field(default_factory=str)
    error: str | None = None


class IngressRule(Model):
    host: str | None = None
    http: HTTPIngressRuleValue | None = None


class ServiceBackendPort(Model):
    name: str | None = None
    number: int | None = None


class IngressServiceBackend(Model):
    name: str = field(default_factory=str)
    port: ServiceBackendPort = field(default_factory=ServiceBackendPort)


class IngressSpec(Model):
    ingress_class_name: str | None = None
    default_backend: IngressBackend | None = None
    tls: list[IngressTLS] = field(default_factory=list)
    rules: list[IngressRule] = field(default_factory=list)


class IngressStatus(Model):
    load_balancer: IngressLoadBalancerStatus = field(default_factory=IngressLoadBalancerStatus)


class IngressTLS(Model):
    hosts: list[str] = field(default_factory=list)
    secret_name: str | None = None


class NetworkPolicyEgressRule(Model):
    ports: list[NetworkPolicyPort] = field(default_factory=list)
    to: list[NetworkPolicyPeer] = field(default_factory=list)


class NetworkPolicyIngressRule(Model):
    ports: list[NetworkPolicyPort] = field(default_factory=list)
    from_: list[NetworkPolicyPeer] = field(default_factory=list)


class NetworkPolicyPeer(Model):
    pod_selector: meta_v1.LabelSelector | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    ip_block: IPBlock | None = None


class NetworkPolicyPort(Model):
    protocol: str | None = None
    port: int | str | None = None
    end_port: int | None = None


class NetworkPolicySpec(Model):
    pod_selector: meta_v1.LabelSelector = field(default_factory=meta_v1.LabelSelector)
    ingress: list[NetworkPolicyIngressRule] = field(default_factory=list)
    egress: list[NetworkPolicyEgressRule] = field(default_factory=list)
    policy_types: list[str] = field(default_factory=list)


class ServiceCIDRSpec(Model):
    cidrs: list[str] = field(default_factory=list)


class ServiceCIDRStatus(Model):
    conditions: list[meta_v1.Condition] = field(default_factory=list)


class IPAddress(
    Object,
    resource=Resource(
        "networking.k8s.io", "v1", "IPAddress", "ipaddresses", "ipaddress",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ip",),
    ),
):
    spec: IPAddressSpec = lazy(IPAddressSpec)


class Ingress(
    Object,
    resource=Resource(
        "networking.k8s.io", "v1", "Ingress", "ingresses", "ingress",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("ing",),
        subresources=(
            Subresource("status", "networking.k8s.io", "v1", "Ingress", ("get", "patch", "update")),
        ),
    ),
):
    spec: IngressSpec = lazy(IngressSpec)
    status: IngressStatus = lazy(IngressStatus)


class IngressClass(
    Object,
    resource=Resource(
        "networking.k8s.io", "v1", "IngressClass", "ingressclasses", "ingressclass",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    spec: IngressClassSpec = lazy(IngressClassSpec)


class NetworkPolicy(
    Object,
    resource=Resource(
        "networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "networkpolicy",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        short_names=("netpol",),
    ),
):
    spec: NetworkPolicySpec = lazy(NetworkPolicySpec)


class ServiceCIDR(
    Object,
    resource=Resource(
        "networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", "servicecidr",
        namespaced=False,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
        subresources=(
            Subresource("status", "networking.k8s.io", "v1", "ServiceCIDR", ("get", "patch", "update")),
        ),
    ),
):
    spec: ServiceCIDRSpec = lazy(ServiceCIDRSpec)
    status: ServiceCIDRStatus = lazy(ServiceCIDRStatus)


class IPAddressList(ObjectList[IPAddress], item=IPAddress):
    """A list of objects, as returned by one request."""


class IngressClassList(ObjectList[IngressClass], item=IngressClass):
    """A list of objects, as returned by one request."""


class IngressList(ObjectList[Ingress], item=Ingress):
    """A list of objects, as returned by one request."""


class NetworkPolicyList(ObjectList[NetworkPolicy], item=NetworkPolicy):
    """A list of objects, as returned by one request."""


class ServiceCIDRList(ObjectList[ServiceCIDR], item=ServiceCIDR):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
