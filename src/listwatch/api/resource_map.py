"""Finds resources by the names that people and objects have for them, in what `discovery.py` learnt.

`references.py` has all the ways to say which one is meant; as text they are:

pods  pod  po  Pod       by plural, singular, short name or kind, in whichever group comes first
deployments.apps         in that group, also by the beginning of its name
deployments.v1.apps      in that group and version
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from listwatch.api.references import At, ByKind, Named, Reference
from listwatch.meta import GroupResource, Resource

__all__ = ["Match", "ResourceMap"]


class Match(NamedTuple):
    """What a name stands for, and which resources of lower rank have the same short name."""

    resource: Resource
    also: tuple[GroupResource, ...] = ()


class _Wanted(NamedTuple):
    """One way to read a name."""

    name: str
    group: str | None = None
    version: str | None = None

    def accepts(self, resource: Resource) -> bool:
        return self.group in (None, resource.group) and self.version in (None, resource.version)

    def nearly_accepts(self, resource: Resource) -> bool:
        return bool(self.group) and self.version is None and resource.group.startswith(self.group or "")


class ResourceMap:
    """Resources by kind, name, short name and category; what is to be preferred comes first."""

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
        """What a reference means."""
        match reference:
            case Resource():
                return Match(reference)
            case ByKind(group, kind, version):
                found = self.of_kind(group, kind, version)
            case At(group, version, plural):
                found = self.at(group, version, plural)
            case Named(name, attribute) if attribute:
                found = next((each for each in self._all if (each.attribute, each.plural) == (attribute, name)), None)
            case Named(name):
                return self.named(name)
        return Match(found) if found else None

    def of_kind(self, group: str, kind: str, version: str = "") -> Resource | None:
        """The resource of a kind, in that version or the preferred one."""
        found = self._by_kind.get((group, kind), ())
        return next((each for each in found if version in ("", each.version)), None)

    def at(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource of a path."""
        found = self._by_name.get(plural, ())
        return next(
            (each for each in found if (each.group, each.version, each.plural) == (group, version, plural)), None
        )

    def named(self, text: str) -> Match | None:
        """What somebody calls by this name, in any of the forms above."""
        readings = list(_readings(text.lower()))
        for wanted in readings:
            if resource := next(filter(wanted.accepts, self._by_name.get(wanted.name, ())), None):
                return Match(resource)
        for wanted in readings:
            if found := list(filter(wanted.accepts, self._by_short_name.get(wanted.name, ()))):
                return _ranked(found)
        for wanted in readings:
            candidates = (*self._by_name.get(wanted.name, ()), *self._by_short_name.get(wanted.name, ()))
            if resource := next(filter(wanted.nearly_accepts, candidates), None):
                return Match(resource)
        return None

    def in_category(self, name: str) -> tuple[Resource, ...]:
        """The members of a category such as `all`, each in one version."""
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
        return f"<ResourceMap of {len(self)}>"


def _readings(text: str) -> Iterator[_Wanted]:
    """`a.b.c` may be the resource a of version b in group c, or the resource a of group b.c."""
    name, dot, rest = text.partition(".")
    if not dot:
        yield _Wanted(name)
        return
    version, _, group = rest.partition(".")
    yield _Wanted(name, group, version)
    yield _Wanted(name, rest)


def _ranked(found: list[Resource]) -> Match:
    first = found[0]
    others = dict.fromkeys(each.group_resource for each in found if each.group_resource != first.group_resource)
    return Match(first, tuple(others))
