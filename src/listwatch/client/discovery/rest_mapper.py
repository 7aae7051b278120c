"""Finds the resource of a kind, a GroupVersionResource or a name: in the built-in table, or else by discovery."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Self, TypeVar

from listwatch.api.discovery import DiscoveryResult
from listwatch.api.references import KindReference, NameReference, Reference, ResourceLike, read_reference
from listwatch.api.resource_map import Match, ResourceMap
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.client.rest.rest_client import RESTClient
from listwatch.errors import NoMatchError
from listwatch.meta import GroupVersionKind, GroupVersionResource, Resource
from listwatch.models import resources

__all__ = ["RESTMapper", "builtin_resources", "is_builtin", "locate", "placeholder"]

_log = logging.getLogger("listwatch.client")

Found = TypeVar("Found")


class RESTMapper:
    """Finds resources in the cached discovery of a server, and renews the cache once if it does not find one.

    A short name of several groups resolves to the first of them; the others are reported to `on_warning`, or logged.

    `discovery` is a DiscoveryCache or DiscoveryClient to share, or the argument of a new one: a ClientConfig, a
    RESTClient to share, or nothing for `load_config()`. What is shared is not closed with the mapper.
    """

    def __init__(
        self,
        discovery: DiscoveryCache | DiscoveryClient | ClientConfig | RESTClient | None = None,
        *,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        self._owns_cache = not isinstance(discovery, DiscoveryCache)
        self._cache = discovery if isinstance(discovery, DiscoveryCache) else DiscoveryCache(discovery)
        self._on_warning = on_warning
        self._warned: set[str] = set()
        self._discovered: DiscoveryResult | None = None
        self._map = ResourceMap(())

    async def resource_for(self, of: ResourceLike, kind: str = "") -> Resource:
        """Return the resource of a kind, a GroupVersionResource or a name; NoMatchError if the server has none.

        `kind` is passed with an apiVersion, as in `resource_for("apps/v1", "Deployment")`.
        """
        reference = read_reference(of, kind)
        if isinstance(reference, Resource):
            return reference
        match = await self._find(lambda known: known.find(reference))
        if match is None:
            raise NoMatchError(f"the server has no resource {reference}; {_hint(self._map, reference)}")
        if match.also:
            self._warn_once(str(reference), match)
        return match.resource

    async def kind_for(self, of: ResourceLike) -> GroupVersionKind:
        """Return the kind of a resource's objects."""
        return (await self.resource_for(of)).gvk

    async def in_category(self, name: str) -> tuple[Resource, ...]:
        """Return the resources of a category such as `all`; NoMatchError if there are none."""
        members = await self._find(lambda known: known.in_category(name) or None)
        if members is None:
            raise NoMatchError(f"the server has no resources in the category {name!r}")
        return members

    async def resources(self) -> ResourceMap:
        """Return all resources of the server."""
        discovered = await self._cache.discovered()
        if discovered is not self._discovered:
            self._discovered, self._map = discovered, ResourceMap(discovered.by_preference())
        return self._map

    def invalidate(self) -> None:
        """Discard the cache; the next call performs discovery."""
        self._cache.invalidate()

    async def aclose(self) -> None:
        """Close all connections, unless they are shared."""
        if self._owns_cache:
            await self._cache.aclose()

    async def __aenter__(self) -> Self:
        await self._cache.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<RESTMapper of {self._cache!r}>"

    async def _find(self, lookup: Callable[[ResourceMap], Found | None]) -> Found | None:
        before = self._cache.discoveries
        found = lookup(await self.resources())
        if found is None and self._cache.discoveries == before:
            # The cache is older than this call: a definition may have been installed since.
            self._cache.invalidate()
            found = lookup(await self.resources())
        return found

    def _warn_once(self, name: str, match: Match) -> None:
        if name not in self._warned:
            self._warned.add(name)
            others = ", ".join(map(str, match.also))
            message = f"{name!r} is ambiguous: using {match.resource.group_resource}; also known: {others}"
            if self._on_warning is None:
                _log.warning("%s", message, extra={"resource": name})
            else:
                self._on_warning(message)


def _hint(known: ResourceMap, reference: Reference) -> str:
    """Suggest a resource that has the name in another form: a plural for a kind, or another version."""
    match reference:
        case KindReference(kind=name) | GroupVersionResource(resource=name) | NameReference(name=name):
            near = known.named(name.rpartition("/")[2])
            if near is not None:
                return f"did you mean {near.resource.gvk}?"
            if isinstance(reference, NameReference) and (similar := known.similar(name)):
                return f"did you mean {' or '.join(similar)}?"
    return "is its CustomResourceDefinition installed?"


# --- built-in resources ----------------------------------------------------------------------------------------------


@cache
def builtin_resources() -> ResourceMap:
    """Return the resources that every server has. No model is imported."""
    return ResourceMap(resources())


def is_builtin(resource: Resource) -> bool:
    """Whether the resource is part of Kubernetes, and not custom."""
    return builtin_resources().at(resource.group, resource.version, resource.plural) is not None


def locate(reference: Reference, mapper: RESTMapper) -> Resource | Callable[[], Awaitable[Resource]]:
    """Return the resource if it is built in, else a function that finds it by discovery.

    A kind or path with a version is the same on every server. The meaning of a bare name depends on the server.
    """
    if _has_version(reference) and (match := builtin_resources().find(reference)):
        return match.resource
    return lambda: mapper.resource_for(reference)


def placeholder(reference: Reference) -> Resource:
    """Return a resource to name in messages until discovery has found the real one."""
    if match := builtin_resources().find(reference):
        return match.resource
    match reference:
        case GroupVersionResource(group, version, plural):
            return Resource(group, version, "", plural)
        case KindReference(group, kind, version):
            return Resource(group, version, kind, kind.lower())
        case NameReference(name):
            return Resource("", "", "", name)
        case Resource():
            return reference


def _has_version(reference: Reference) -> bool:
    match reference:
        case KindReference(version=version):
            return bool(version)
        case NameReference(attribute=attribute):
            return bool(attribute)
        case _:
            return True
