"""Resources by attribute, as in `client.core_v1.pods("default")`, from the table of all of them.

`typed_groups.py` says the same to type checkers and completions. No model is imported before its resource is used.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from listwatch import models
from listwatch.client.resources.resource_client import ResourceClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.meta import Resource
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["Clusterwide", "Group", "Namespaced", "group_versions", "kind_of"]

T = TypeVar("T", bound=Object)


@cache
def group_versions() -> dict[str, dict[str, Resource]]:
    """The built-in resources by the name of their group-version in Python, as `core_v1`, and by their plural."""
    from listwatch.models.table import MODULES

    found: dict[str, dict[str, Resource]] = {}
    for resource in models.resources():
        name = MODULES.get(resource.api_version, resource.attribute)
        found.setdefault(name, {})[resource.plural] = resource
    return found


def kind_of(resource: Resource) -> type[Object]:
    """The model to read its objects as."""
    return models.lookup(resource.api_version, resource.kind) or Unstructured


class _Entry(Generic[T]):
    def __init__(self, rest: RESTClient, resource: Resource) -> None:
        self._rest = rest
        self._resource = resource

    @cached_property
    def _everywhere(self) -> ResourceClient[Any]:
        return ResourceClient(self._rest, kind_of(self._resource), self._resource)

    def __repr__(self) -> str:
        return f"<{self._resource.group_resource} of {self._resource.api_version}>"


class Namespaced(_Entry[T]):
    """A resource whose objects live in namespaces: call it with one of them, or with none for all."""

    def __call__(self, namespace: str = "") -> ResourceClient[T]:
        return self._everywhere.namespace(namespace)


class Clusterwide(_Entry[T]):
    """A resource whose objects live in no namespace."""

    def __call__(self) -> ResourceClient[T]:
        return self._everywhere


class Group:
    """The resources of one group-version."""

    def __init__(self, rest: RESTClient, resources: dict[str, Resource]) -> None:
        self._rest = rest
        self._resources = resources

    if not TYPE_CHECKING:  # checkers know what is there, and that nothing else is

        def __getattr__(self, plural):
            if plural.startswith("_") or plural not in self._resources:
                raise AttributeError(f"there is no resource {plural!r} here, but {', '.join(self.__dir__())}")
            resource = self._resources[plural]
            self.__dict__[plural] = (Namespaced if resource.namespaced else Clusterwide)(self._rest, resource)
            return self.__dict__[plural]

        def __dir__(self):
            return sorted(self._resources)
