"""Finds the resource that a kind, a path or a name stands for on one server. `api/resource_map.py` does the finding."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from listwatch.api.discovery import Discovered
from listwatch.api.references import At, ByKind, Named, Reference, ResourceLike, read_reference
from listwatch.api.resource_map import Match, ResourceMap
from listwatch.client.discovery.discovery_cache import DiscoveryCache
from listwatch.client.discovery.discovery_client import DiscoveryClient
from listwatch.errors import NoMatchError
from listwatch.meta import GroupVersionKind, Resource

__all__ = ["RESTMapper"]

_log = logging.getLogger(__name__)

Found = TypeVar("Found")


class RESTMapper:
    """Knows what a server serves, and looks again when somebody asks for what it does not know.

    A short name that several groups use means the first of them; `on_warning` is told of the others, or else the log.
    """

    def __init__(
        self, discovery: DiscoveryCache | DiscoveryClient, *, on_warning: Callable[[str], None] | None = None
    ) -> None:
        self._cache = discovery if isinstance(discovery, DiscoveryCache) else DiscoveryCache(discovery)
        self._warn = on_warning or _log.warning
        self._warned: set[str] = set()
        self._discovered: Discovered | None = None
        self._map = ResourceMap(())

    async def resource_for(self, of: ResourceLike, kind: str = "") -> Resource:
        """What is meant, in any of the ways of `api/references.py`; NoMatchError if the server has no such thing."""
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
        """The kind of the objects of a resource."""
        return (await self.resource_for(of)).gvk

    async def in_category(self, name: str) -> tuple[Resource, ...]:
        """The members of a category such as `all`; NoMatchError if it has none."""
        members = await self._find(lambda known: known.in_category(name) or None)
        if members is None:
            raise NoMatchError(f"the server has no resources in a category {name!r}")
        return members

    async def resources(self) -> ResourceMap:
        """All that is known."""
        discovered = await self._cache.discovered()
        if discovered is not self._discovered:
            self._discovered, self._map = discovered, ResourceMap(discovered.by_preference())
        return self._map

    def invalidate(self) -> None:
        """Ask the server at the next opportunity."""
        self._cache.invalidate()

    async def _find(self, look: Callable[[ResourceMap], Found | None]) -> Found | None:
        before = self._cache.begun
        found = look(await self.resources())
        if found is None and self._cache.begun == before:
            # What is known was asked for before the question was: a definition may have been installed since.
            self._cache.invalidate()
            found = look(await self.resources())
        return found

    def _warn_once(self, name: str, match: Match) -> None:
        if name not in self._warned:
            self._warned.add(name)
            others = ", ".join(map(str, match.also))
            self._warn(f"{name!r} is taken for {match.resource.group_resource}; it could also mean {others}")


def _hint(known: ResourceMap, reference: Reference) -> str:
    """A plural where a kind belongs, a kind in lower case, another version: people mean something that is there."""
    match reference:
        case ByKind(kind=name) | At(plural=name) | Named(name=name):
            near = known.named(name.rpartition("/")[2])
            if near is not None:
                return f"did you mean {near.resource.gvk}?"
    return "is its CustomResourceDefinition installed?"
