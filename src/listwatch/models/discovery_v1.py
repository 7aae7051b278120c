"""The kinds and types of `discovery.k8s.io/v1` in Kubernetes v1.37.0-rc.1.

Generated from an API server's schemas and discovery. Do not edit: `make models` regenerates it.
"""

from __future__ import annotations

from msgspec import field

from listwatch._exports import only_classes
from listwatch.meta import Resource
from listwatch.models import core_v1
from listwatch.objects.declarations.model import Model, required_list
from listwatch.objects.object import Object, lazy
from listwatch.objects.object_list import ObjectList


class EndpointConditions(Model):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Endpoint(Model):
    addresses: list[str] = field(default_factory=required_list)
    conditions: EndpointConditions = field(default_factory=EndpointConditions)
    hostname: str | None = None
    target_ref: core_v1.ObjectReference | None = None
    deprecated_topology: dict[str, str] = field(default_factory=dict)
    node_name: str | None = None
    zone: str | None = None
    hints: EndpointHints | None = None


class EndpointHints(Model):
    for_zones: list[ForZone] = field(default_factory=list)
    for_nodes: list[ForNode] = field(default_factory=list)


class EndpointPort(Model):
    name: str | None = None
    protocol: str | None = None
    port: int | None = None
    app_protocol: str | None = None


class ForNode(Model):
    name: str = field(default_factory=str)


class ForZone(Model):
    name: str = field(default_factory=str)


class EndpointSlice(
    Object,
    resource=Resource(
        "discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "endpointslice",
        namespaced=True,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
):
    address_type: str = lazy(str)
    endpoints: list[Endpoint] = lazy(list[Endpoint])
    ports: list[EndpointPort] = lazy(list[EndpointPort])


class EndpointSliceList(ObjectList[EndpointSlice], item=EndpointSlice):
    """A list of objects, as returned by one request."""


__getattr__ = only_classes(__name__)
