"""Access to the metadata of any objects, which is often a hundredth of them: all that a garbage collector, an owner
lookup or a count of labels needs."""

from __future__ import annotations

from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.resource_editor import ResourceEditor
from listwatch.client.resources.resource_locator import locate, provisional
from listwatch.client.rest.base_client import Connected
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata

__all__ = ["MetadataClient", "MetadataResource"]

_ACCEPT = "application/json;as={};g=meta.k8s.io;v=v1,application/json"


class MetadataResource(ResourceEditor[PartialObjectMetadata]):
    """The metadata of the objects of one resource: to read, to patch, and to delete them by."""

    accept_one = _ACCEPT.format("PartialObjectMetadata")
    accept_list = _ACCEPT.format("PartialObjectMetadataList")

    async def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        return (await super().get(name, resource_version=resource_version)).check()


class MetadataClient(Connected):
    """Every resource of a server, with no more of its objects than their metadata."""

    def __init__(self, config: ClientConfig | RESTClient, *, mapper: RESTMapper | None = None) -> None:
        super().__init__(config)
        self.mapper = mapper or RESTMapper(DiscoveryClient(self.rest))

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> MetadataResource:
        """By kind, by GroupVersionResource, or by a name, as a DynamicClient finds them."""
        reference = read_reference(of, kind)
        located = locate(reference, self.mapper)
        return MetadataResource(self.rest, PartialObjectMetadata, located, namespace=namespace, name=str(reference))

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, MetadataResource]:
        """What an informer needs to know: how to read objects, what they are, and where to list and watch them."""
        client = self.resource(of, namespace=namespace)
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return PartialObjectMetadata, client.resource or provisional(read_reference(of)), selected
