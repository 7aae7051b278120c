"""Finds resources by kind or name in the result of discovery. `references.py` has the forms of references; names are:

pods  pod  po  Pod       plural, singular, short name or kind, in the first group that has it
deployments.apps         in a group with this name, or else with this prefix
deployments.v1.apps      in a group and version
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from listwatch.api.references import KindReference, NameReference, Reference
from listwatch.meta import GroupResource, GroupVersionResource, Resource

__all__ = ["Match", "ResourceMap"]


class Match(NamedTuple):
    """The resource of a reference, and the resources of lower precedence with the same short name."""

    resource: Resource
    also: tuple[GroupResource, ...] = ()


class _ParsedName(NamedTuple):
    """One interpretation of a name."""

    name: str
    group: str | None = None
    version: str | None = None

    def accepts(self, resource: Resource) -> bool:
        return self.group in (None, resource.group) and self.version in (None, resource.version)

    def accepts_group_prefix(self, resource: Resource) -> bool:
        return bool(self.group) and self.version is None and resource.group.startswith(self.group or "")


class ResourceMap:
    """Resources by kind, name, short name and category. Their order is their precedence."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._all = tuple(resources)
        self._by_kind: dict[tuple[str, str], list[Resource]] = defaultdict(list)
        self._by_name: dict[str, list[Resource]] = defaultdict(list)
        self._by_short_name: dict[str, list[Resource]] = defaultdict(list)
        for resource in self._all:
            self._by_kind[resource.group, resource.kind].append(resource)
            for name in {resource.plural, resource.singular, resource.kind.lower()}:
                self._by_name[name].append(resource)
            for name in resource.short_names:
                self._by_short_name[name].append(resource)

    def find(self, reference: Reference) -> Match | None:
        """Return the resource of a reference."""
        match reference:
            case Resource():
                return Match(reference)
            case KindReference(group, kind, version):
                found = self.of_kind(group, kind, version)
            case GroupVersionResource(group, version, plural):
                found = self.at(group, version, plural)
            case NameReference(name, attribute) if attribute:
                found = next((each for each in self._all if (each.attribute, each.plural) == (attribute, name)), None)
            case NameReference(name):
                return self.named(name)
        return Match(found) if found else None

    def of_kind(self, group: str, kind: str, version: str = "") -> Resource | None:
        """Return the resource of a kind, in this version or the preferred one."""
        found = self._by_kind.get((group, kind), ())
        return next((each for each in found if version in ("", each.version)), None)

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the resource with this group, version and plural."""
        found = self._by_name.get(plural, ())
        return next(
            (each for each in found if (each.group, each.version, each.plural) == (group, version, plural)), None
        )

    def named(self, text: str) -> Match | None:
        """Return the resource of a name, in any of the forms above."""
        parsed = list(_parse_name(text.lower()))
        for name in parsed:
            if resource := next(filter(name.accepts, self._by_name.get(name.name, ())), None):
                return Match(resource)
        for name in parsed:
            if found := list(filter(name.accepts, self._by_short_name.get(name.name, ()))):
                return _ranked(found)
        for name in parsed:
            candidates = (*self._by_name.get(name.name, ()), *self._by_short_name.get(name.name, ()))
            if resource := next(filter(name.accepts_group_prefix, candidates), None):
                return Match(resource)
        return None

    def similar(self, text: str) -> list[str]:
        """Return the plurals of up to three resources with a similar name, the most similar first."""
        from difflib import get_close_matches  # not needed by most programs

        name = text.lower().partition(".")[0]
        plurals = {short: each[0].plural for short, each in self._by_short_name.items()}
        plurals |= {known: each[0].plural for known, each in self._by_name.items()}
        return [*dict.fromkeys(plurals[near] for near in get_close_matches(name, plurals, n=3, cutoff=0.7))]

    def in_category(self, name: str) -> tuple[Resource, ...]:
        """Return the resources of a category such as `all`, each in one version."""
        found: dict[GroupResource, Resource] = {}
        for resource in self._all:
            if name in resource.categories:
                found.setdefault(resource.group_resource, resource)
        return tuple(found.values())

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return f"<ResourceMap of {len(self)} resources>"


def _parse_name(text: str) -> Iterator[_ParsedName]:
    """Yield the interpretations: `a.b.c` is resource a in version b of group c, or resource a in group b.c."""
    name, dot, rest = text.partition(".")
    if not dot:
        yield _ParsedName(name)
        return
    version, _, group = rest.partition(".")
    yield _ParsedName(name, group, version)
    yield _ParsedName(name, rest)


def _ranked(found: list[Resource]) -> Match:
    first = found[0]
    others = dict.fromkeys(each.group_resource for each in found if each.group_resource != first.group_resource)
    return Match(first, tuple(others))
