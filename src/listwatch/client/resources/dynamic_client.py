"""The dynamic client: any resource, custom ones included, without a model.

async with DynamicClient(config) as dynamic:
    deployments = dynamic.resource("apps/v1", "Deployment").namespace("default")
    for each in await deployments.list():
        print(each.name, each["spec"]["replicas"])
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from listwatch.api.discovery import ServerVersion
from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper, locate, placeholder
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.base_client import BaseClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

if TYPE_CHECKING:
    from listwatch.recording.recorder import Recorder

__all__ = ["DynamicClient"]


class DynamicClient(BaseClient):
    """Untyped clients for all resources of an API server; custom resources are found by discovery.

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

    async def version(self) -> ServerVersion:
        """Get the version of the server; `str` of it is its git version, such as `v1.36.3`."""
        return await DiscoveryClient(self.rest).server_version()

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> ResourceClient[Unstructured]:
        """Return the client of a resource: by apiVersion and kind, GroupVersionResource, or a name such as `po`.

        Nothing is sent yet. The first request raises NoMatchError if the server has no such resource.
        """
        reference = read_reference(of, kind)
        located = locate(reference, self._mapper)
        return ResourceClient(self.rest, Unstructured, located, namespace=namespace, name=str(reference))

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, ResourceClient[Unstructured]]:
        """Return the kind, the resource and the client that an informer lists and watches with."""
        client = self.resource(of, namespace=namespace)
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return Unstructured, client.resource or placeholder(read_reference(of)), selected
