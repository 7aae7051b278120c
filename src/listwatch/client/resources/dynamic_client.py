"""Access to any resource, custom ones included, without a model of it.

async with DynamicClient(config) as dynamic:
    deployments = dynamic.resource("apps/v1", "Deployment").namespace("default")
    for each in await deployments.list():
        print(each.name, each["spec"]["replicas"])
"""

from __future__ import annotations

from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.resources.resource_locator import locate, provisional
from listwatch.client.rest.base_client import Connected
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["DynamicClient"]


class DynamicClient(Connected):
    """Every resource of a server, with its objects as Unstructured; what is not built in is looked for when needed."""

    def __init__(self, config: ClientConfig | RESTClient, *, mapper: RESTMapper | None = None) -> None:
        super().__init__(config)
        self.mapper = mapper or RESTMapper(DiscoveryClient(self.rest))

    def resource(self, of: ResourceLike, kind: str = "", *, namespace: str = "") -> ResourceClient[Unstructured]:
        """By apiVersion and kind, by GroupVersionResource, or by a name as `deployments.apps` or `po`.

        Nothing is asked yet. The first request raises NoMatchError if the server has no such resource.
        """
        reference = read_reference(of, kind)
        located = locate(reference, self.mapper)
        return ResourceClient(self.rest, Unstructured, located, namespace=namespace, name=str(reference))

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, ResourceClient[Unstructured]]:
        """What an informer needs to know: how to read objects, what they are, and where to list and watch them."""
        client = self.resource(of, namespace=namespace)
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return Unstructured, client.resource or provisional(read_reference(of)), selected
