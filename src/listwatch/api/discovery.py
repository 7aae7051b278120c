"""What a server offers, as values. `discovery_documents.py` reads it, `resource_map.py` finds things in it.

`client/discovery/discovery_client.py` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from listwatch.errors import DiscoveryError
from listwatch.meta import Resource
from listwatch.objects.reading import convert

__all__ = ["APIGroup", "Discovered", "discovered_from_dict", "discovered_to_dict", "found_despite"]


@dataclass(frozen=True, slots=True)
class APIGroup:
    """A group and its versions, in the order in which the server names them; the core group has no name."""

    name: str
    versions: tuple[str, ...]
    preferred_version: str = ""

    @property
    def by_preference(self) -> tuple[str, ...]:
        """The versions, the preferred one first."""
        return tuple(sorted(self.versions, key=lambda version: version != self.preferred_version))


@dataclass(frozen=True, slots=True)
class Discovered:
    """What is served, and by group-version why something could not be learnt."""

    groups: tuple[APIGroup, ...] = ()
    resources: tuple[Resource, ...] = ()
    failures: Mapping[str, Exception] = field(default_factory=dict)

    def __add__(self, other: Discovered) -> Discovered:
        return Discovered(
            self.groups + other.groups, self.resources + other.resources, {**self.failures, **other.failures}
        )

    def checked(self) -> Discovered:
        """Itself if it is complete; else DiscoveryError, which carries it."""
        if self.failures:
            raise DiscoveryError("not all of the API could be discovered", failures=self.failures, found=self)
        return self

    def by_preference(self) -> list[Resource]:
        """All resources: the core group first, then as the server orders groups, preferred versions first."""
        groups = sorted(self.groups, key=lambda group: group.name != "")
        ranks = {(group.name, version): rank for rank, (group, version) in enumerate(_versions(groups))}
        return sorted(self.resources, key=lambda each: ranks.get((each.group, each.version), len(ranks)))

    def preferred(self) -> tuple[Resource, ...]:
        """Each resource once, in its group's preferred version, or else in the first version that has it."""
        found: dict[tuple[str, str], Resource] = {}
        for resource in self.by_preference():
            found.setdefault(resource.group_resource, resource)
        return tuple(found.values())


def found_despite(error: DiscoveryError) -> Discovered:
    """What could be learnt nevertheless."""
    return error.found if isinstance(error.found, Discovered) else Discovered()


def _versions(groups: Iterable[APIGroup]) -> Iterator[tuple[APIGroup, str]]:
    return ((group, version) for group in groups for version in group.by_preference)


# --- to keep on a disk -----------------------------------------------------------------------------------------------


class _Kept(msgspec.Struct):
    groups: tuple[APIGroup, ...]
    resources: tuple[Resource, ...]


def discovered_to_dict(discovered: Discovered) -> dict[str, Any]:
    """All but the failures, which are not worth keeping."""
    tree: dict[str, Any] = msgspec.to_builtins(_Kept(discovered.groups, discovered.resources))
    return tree


def discovered_from_dict(tree: Any) -> Discovered:
    """What `discovered_to_dict` wrote; DecodeError for anything else."""
    kept: _Kept = convert(tree, _Kept, what="kept discovery")
    return Discovered(kept.groups, kept.resources)
