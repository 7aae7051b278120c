"""Attribute access to the built-in resources, as in `client.core_v1.pods("default")`.

`typed_groups.py` declares the same attributes for type checkers. A model is imported when its resource is first used.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from listwatch import models
from listwatch._exports import unknown_attribute
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.models import attributes_of
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["ClusterScoped", "Group", "Namespaced", "group_versions", "model_of"]

T = TypeVar("T", bound=Object)


@cache
def group_versions() -> dict[str, dict[str, Resource]]:
    """Return the built-in resources by the attribute of their group-version, such as `core_v1`, and by their plural."""
    from listwatch.models.table import MODULES

    found: dict[str, dict[str, Resource]] = {}
    for resource in models.resources():
        name = MODULES.get(resource.api_version, resource.attribute)
        found.setdefault(name, {})[resource.plural] = resource
    return found


def model_of(resource: Resource) -> type[Object]:
    """Return the model of a resource, or Unstructured if it has none."""
    return models.lookup(resource.api_version, resource.kind) or Unstructured


class _ResourceAttribute(Generic[T]):
    """A resource of a group-version; calling it returns a client."""

    def __init__(self, rest: RESTClient, resource: Resource) -> None:
        self._rest = rest
        self._resource = resource

    @cached_property
    def _client(self) -> ResourceClient[T]:
        # `typed_groups.py`, generated from the same table, declares the model of each resource.
        return ResourceClient(self._rest, cast(type[T], model_of(self._resource)), self._resource)

    def __repr__(self) -> str:
        return f"<{self._resource.group_resource} of {self._resource.api_version}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            resource = self._resource
            place = f"client.{resource.attribute}.{resource.plural}"
            call, every = (
                ('("default")', f", or {place}().{name} for all namespaces") if resource.namespaced else ("()", "")
            )
            if not hasattr(ResourceClient, name):
                known = [each for each in dir(ResourceClient) if not each.startswith("_")]
                raise unknown_attribute(f"{place}{call}", name, known)
            raise AttributeError(f"{place} must be called before .{name}: {place}{call}.{name}{every}")


class Namespaced(_ResourceAttribute[T]):
    """A namespaced resource: call it with a namespace, or without one for all namespaces."""

    def __call__(self, namespace: str = "") -> ResourceClient[T]:
        return self._client.namespace(namespace)


class ClusterScoped(_ResourceAttribute[T]):
    """A cluster-scoped resource."""

    def __call__(self) -> ResourceClient[T]:
        return self._client


class Group:
    """The resources of one group-version."""

    def __init__(self, name: str, rest: RESTClient, resources: dict[str, Resource]) -> None:
        self._name = name
        self._rest = rest
        self._resources = resources

    def __repr__(self) -> str:
        version = next((each.api_version for each in self._resources.values()), "")
        return f"<resources of {version}: {', '.join(self._resources)}>"

    if not TYPE_CHECKING:  # type checkers read the declared attributes instead

        def __getattr__(self, plural):
            if plural.startswith("_") or plural not in self._resources:
                elsewhere = attributes_of(plural)
                raise unknown_attribute(f"the client's {self._name}", plural, self._resources, elsewhere=elsewhere)
            resource = self._resources[plural]
            self.__dict__[plural] = (Namespaced if resource.namespaced else ClusterScoped)(self._rest, resource)
            return self.__dict__[plural]

        def __dir__(self):
            return sorted(self._resources)
