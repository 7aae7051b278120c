"""The clients for programs without an event loop; `face.py` makes them of their twins, name by name."""

from __future__ import annotations

from typing import Generic, TypeVar

from listwatch.blocking.face import Face, Opened, waiting_function
from listwatch.client import manifests as files
from listwatch.client.discovery import discovery_client, rest_mapper
from listwatch.client.resources import (
    base_resource_client,
    client_set,
    dynamic_client,
    metadata_client,
    resource_client,
    subresource_client,
)
from listwatch.client.resources import resource_groups as groups
from listwatch.client.rest import base_client as connected
from listwatch.client.rest import request, rest_client
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata

__all__ = [
    "BaseResourceClient",
    "ClientSet",
    "DiscoveryClient",
    "DynamicClient",
    "MetadataClient",
    "MetadataResource",
    "RESTClient",
    "RESTMapper",
    "Request",
    "ResourceClient",
    "SubresourceClient",
    "apply_files",
]

T = TypeVar("T", bound=Object)

# ruff: noqa: D101  # their documentation is their twins'


class Request(Face, twin=request.Request, without="open_stream open_watch"): ...


class RESTClient(Opened, twin=rest_client.RESTClient):
    def close(self) -> None:
        _close(self)

    def __exit__(self, *_: object) -> None:
        self.close()


class Connected(Opened, twin=connected.Connected):
    def close(self) -> None:
        _close(self)

    def __exit__(self, *_: object) -> None:
        self.close()


class BaseResourceClient(Face, Generic[T], twin=base_resource_client.BaseResourceClient): ...


class ResourceClient(BaseResourceClient[T], twin=resource_client.ResourceClient): ...


class SubresourceClient(Face, Generic[T], twin=subresource_client.SubresourceClient): ...


class MetadataResource(BaseResourceClient[PartialObjectMetadata], twin=metadata_client.MetadataResource): ...


class Namespaced(Face, Generic[T], twin=groups.Namespaced): ...


class ClusterScoped(Face, Generic[T], twin=groups.ClusterScoped): ...


class Group(Face, twin=groups.Group): ...


class ClientSet(Connected, twin=client_set.ClientSet, without="source"): ...


class DynamicClient(Connected, twin=dynamic_client.DynamicClient, without="source"): ...


class MetadataClient(Connected, twin=metadata_client.MetadataClient, without="source"): ...


class DiscoveryClient(Connected, twin=discovery_client.DiscoveryClient): ...


class RESTMapper(Opened, twin=rest_mapper.RESTMapper): ...


apply_files = waiting_function(files.apply_files)


def _close(client: RESTClient | Connected) -> None:
    if client._lease.is_open:
        client._lease.wait(client._twin.aclose, doing=f"{type(client).__name__}.close")
        client._give_back()
