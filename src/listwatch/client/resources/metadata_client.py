"""The metadata client: the metadata of any objects, which is often a hundredth of their size."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.rest_mapper import RESTMapper, locate, placeholder
from listwatch.client.resources.base_resource_client import BaseResourceClient
from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.partial_object import PartialObjectMetadata

if TYPE_CHECKING:
    from listwatch.recording.recorder import Recorder

__all__ = ["MetadataClient", "MetadataResource"]

_ACCEPT = "application/json;as={};g=meta.k8s.io;v=v1,application/json"


class MetadataResource(BaseResourceClient[PartialObjectMetadata]):
    """The objects of one resource, of which only the metadata is read."""

    _accept_object = _ACCEPT.format("PartialObjectMetadata")
    _accept_list = _ACCEPT.format("PartialObjectMetadataList")

    @classmethod
    def of(cls, other: BaseResourceClient[Any]) -> MetadataResource:
        """Return a client of the same objects: the same resource, namespace and selectors."""
        resource = other._resource or other._find
        assert resource is not None
        made = cls(other._rest, PartialObjectMetadata, resource, namespace=other._namespace, name=other._name)
        made._selectors = dict(other._selectors)
        return made

    async def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """Get the metadata of one object."""
        return (await super().get(name, resource_version=resource_version)).check()


class MetadataClient(BaseClient):
    """Metadata clients for all resources of an API server.

    Without a configuration, `load_config()` provides it.
    """

    def __init__(
        self,
        config: ClientConfig | RESTClient | None = None,
        *,
        mapper: RESTMapper | None = None,
        record: Recorder | str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(config, record=record)
        self._mapper = mapper or RESTMapper(self.rest)

    @property
    def mapper(self) -> RESTMapper:
        """Finds the resources of kinds and names."""
        return self._mapper

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> MetadataResource:
        """Return the client of a resource, which is found as by a DynamicClient."""
        reference = read_reference(of, kind)
        located = locate(reference, self._mapper)
        return MetadataResource(self.rest, PartialObjectMetadata, located, namespace=namespace, name=str(reference))

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, MetadataResource]:
        """Return the kind, the resource and the client that an informer lists and watches with."""
        client = self.resource(of, namespace=namespace)
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return PartialObjectMetadata, client.resource or placeholder(read_reference(of)), selected
