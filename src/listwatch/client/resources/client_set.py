"""The typed client: every built-in resource by attribute, every other by its class.

    async with ClientSet(config) as client:
        pod = await client.core_v1.pods("default").get("web-0")
        widgets = client.resource(Widget, namespace="default")      a kind of your own

`groups.py` finds the resources, `typed_groups.py` tells type checkers about them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from listwatch.api.references import ResourceLike, read_reference
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.discovery.rest_mapper import RESTMapper
from listwatch.client.resources.dynamic_client import DynamicClient
from listwatch.client.resources.metadata_client import MetadataClient
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.resources.resource_groups import Group, group_versions, kind_of
from listwatch.client.resources.resource_locator import locate, provisional
from listwatch.client.resources.typed_groups import Groups
from listwatch.client.rest.base_client import Connected
from listwatch.errors import RequestError
from listwatch.meta import Resource
from listwatch.objects.object import Object

__all__ = ["ClientSet"]

T = TypeVar("T", bound=Object)


class ClientSet(Groups, Connected):
    """Typed access to everything that a server has, over one set of connections."""

    @cached_property
    def discovery(self) -> DiscoveryClient:
        return DiscoveryClient(self.rest)

    @cached_property
    def mapper(self) -> RESTMapper:
        return RESTMapper(self.discovery)

    @cached_property
    def dynamic(self) -> DynamicClient:
        return DynamicClient(self.rest, mapper=self.mapper)

    @cached_property
    def metadata(self) -> MetadataClient:
        return MetadataClient(self.rest, mapper=self.mapper)

    def resource(self, kind: type[T], *, namespace: str = "") -> ResourceClient[T]:
        """The objects of a kind, built-in or your own; without a namespace, of all of them."""
        if not isinstance(kind, type):
            raise RequestError(f"{kind!r} is no class of objects: give one, as Pod, or use .dynamic.resource")
        return ResourceClient(self.rest, kind, locate(read_reference(kind), self.mapper), namespace=namespace)

    def source(
        self, of: ResourceLike, *, namespace: str, label_selector: str, field_selector: str
    ) -> tuple[type[Object], Resource, ResourceClient[Any]]:
        """What an informer needs to know: how to read objects, what they are, and where to list and watch them."""
        reference = read_reference(of)
        located = locate(reference, self.mapper)
        if isinstance(of, type):
            kind: type[Object] = of
        elif isinstance(located, Resource):
            kind = kind_of(located)
        else:
            options = {"namespace": namespace, "label_selector": label_selector, "field_selector": field_selector}
            return self.dynamic.source(of, **options)
        client = ResourceClient(self.rest, kind, located, namespace=namespace, name=str(reference))
        selected = client.selecting(label_selector=label_selector, field_selector=field_selector)
        return kind, client.resource or provisional(reference), selected

    if not TYPE_CHECKING:  # checkers know what is there, and that nothing else is

        def __getattr__(self, name):
            if name not in group_versions():
                raise AttributeError(
                    f"a ClientSet has no {name!r}; its group-versions are {', '.join(group_versions())}"
                )
            self.__dict__[name] = Group(self.rest, group_versions()[name])
            return self.__dict__[name]

        def __dir__(self):
            return sorted({*super().__dir__(), *group_versions()})
