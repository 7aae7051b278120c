"""The typed client: built-in resources as attributes, custom resources by their class.

    async with ClientSet(config) as client:
        pod = await client.core_v1.pods("default").get("web-0")
        widgets = client.resource(Widget, namespace="default")      a custom kind

`resource_groups.py` implements the attributes, `typed_groups.py` declares them for type checkers.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from listwatch._exports import unknown_attribute
from listwatch.api.discovery import ServerVersion
from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper, locate, placeholder
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.resources.resource_groups import Group, group_versions, model_of
from listwatch.client.resources.typed_groups import Groups
from listwatch.client.rest.base_client import BaseClient
from listwatch.errors import RequestError
from listwatch.meta import Resource
from listwatch.models import attributes_of
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured
from listwatch.tasks.async_only import missing_attribute

__all__ = ["ClientSet"]

T = TypeVar("T", bound=Object)


class ClientSet(Groups, BaseClient):
    """Typed clients for all resources of an API server, over one connection pool.

    Without a configuration, `load_config()` provides it.
    """

    @cached_property
    def discovery(self) -> DiscoveryClient:
        """The discovery client over the same connections."""
        return DiscoveryClient(self.rest)

    @cached_property
    def mapper(self) -> RESTMapper:
        """Finds the resources of kinds and names; shared by the dynamic and the metadata client."""
        return RESTMapper(self.discovery)

    @cached_property
    def dynamic(self) -> DynamicClient:
        """The dynamic client over the same connections."""
        return DynamicClient(self.rest, mapper=self.mapper)

    @cached_property
    def metadata(self) -> MetadataClient:
        """The metadata client over the same connections."""
        return MetadataClient(self.rest, mapper=self.mapper)

    async def version(self) -> ServerVersion:
        """Get the version of the server; `str` of it is its git version, such as `v1.36.3`."""
        return await self.discovery.server_version()

    def resource(self, kind: type[T], *, namespace: str = "") -> ResourceClient[T]:
        """Return the client of a built-in or custom kind; without a namespace, for all namespaces."""
        if not isinstance(kind, type):
            raise RequestError(f"expected a class such as Pod, not {kind!r}; for names use `.dynamic.resource`")
        reference = read_reference(kind)
        located = locate(reference, self.mapper)
        name = "" if isinstance(located, Resource) else str(reference)
        return ResourceClient(self.rest, kind, located, namespace=namespace, name=name)

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, ResourceClient[Object] | ResourceClient[Unstructured]]:
        """Return the kind, the resource and the client that an informer lists and watches with."""
        reference = read_reference(of)
        located = locate(reference, self.mapper)
        if isinstance(of, type):
            kind: type[Object] = of
        elif isinstance(located, Resource):
            kind = model_of(located)
        else:
            return self.dynamic.source(
                of, namespace=namespace, label_selector=label_selector, field_selector=field_selector
            )
        client = ResourceClient(self.rest, kind, located, namespace=namespace, name=str(reference))
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return kind, client.resource or placeholder(reference), selected

    if not TYPE_CHECKING:  # type checkers read the declared attributes instead

        def __getattr__(self, name):
            if name == "close":
                raise missing_attribute(self, name)
            if name not in group_versions():
                raise unknown_attribute("ClientSet", name, group_versions(), elsewhere=attributes_of(name))
            self.__dict__[name] = Group(name, self.rest, group_versions()[name])
            return self.__dict__[name]

        def __dir__(self):
            return sorted({*super().__dir__(), *group_versions()})
