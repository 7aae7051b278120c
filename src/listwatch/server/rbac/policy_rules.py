"""The rules of roles: which requests they allow, and which other rules they cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from listwatch.json_value import JSONObject
from listwatch.server.json_tree import go_quoted_list, texts_at
from listwatch.server.protocol.routes import RequestInfo

__all__ = ["EVERYTHING", "PolicyRule", "compact", "uncovered"]

Names = tuple[str, ...]
_ALL = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule of a role. It is about resources, or about paths that are not resources."""

    verbs: Names = ()
    api_groups: Names = ()
    resources: Names = ()
    resource_names: Names = ()
    paths: Names = ()

    @classmethod
    def of(cls, tree: JSONObject) -> Self:
        """Read a rule of a Role or ClusterRole."""
        names = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
        return cls(*(tuple(texts_at(tree, name)) for name in names))

    def allows(self, request: RequestInfo) -> bool:
        if not _has(self.verbs, request.verb):
            return False
        if not request.is_resource:
            return any(_covers_path(path, request.path) for path in self.paths)
        return (
            _has(self.api_groups, request.group)
            and self._has_resource(request.resource, request.subresource)
            and (not self.resource_names or request.name in self.resource_names)
        )

    def _has_resource(self, resource: str, subresource: str) -> bool:
        if _ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    def split(self) -> Iterator[PolicyRule]:
        """Yield rules of one verb, resource and name, or of one verb and path, that allow the same together."""
        for group in self.api_groups:
            for resource in self.resources:
                for verb in self.verbs:
                    rule = PolicyRule((verb,), (group,), (resource,))
                    if not self.resource_names:
                        yield rule
                    yield from (replace(rule, resource_names=(name,)) for name in self.resource_names)
        for path in self.paths:
            for verb in self.verbs:
                yield PolicyRule((verb,), paths=(path,))

    def covers(self, part: PolicyRule) -> bool:
        """Whether this rule allows all that a rule from `split` allows."""
        return (
            all(_has(self.verbs, verb) for verb in part.verbs)
            and all(_has(self.api_groups, group) for group in part.api_groups)
            and all(self._has_resource(*_split_resource(resource)) for resource in part.resources)
            and all(any(_covers_path(own, path) for own in self.paths) for path in part.paths)
            and (
                not self.resource_names or (bool(part.resource_names) and part.resource_names[0] in self.resource_names)
            )
        )

    def __str__(self) -> str:
        parts = {
            "APIGroups": self.api_groups,
            "Resources": self.resources,
            "NonResourceURLs": self.paths,
            "ResourceNames": self.resource_names,
            "Verbs": self.verbs,
        }
        return "{" + ", ".join(f"{name}:{go_quoted_list(values)}" for name, values in parts.items() if values) + "}"

    def to_json(self) -> JSONObject:
        """Return the rule in the form of the API."""
        values = {
            "verbs": self.verbs,
            "apiGroups": self.api_groups,
            "resources": self.resources,
            "resourceNames": self.resource_names,
            "nonResourceURLs": self.paths,
        }
        return {name: [*each] for name, each in values.items() if each}


EVERYTHING = (PolicyRule((_ALL,), (_ALL,), (_ALL,)), PolicyRule((_ALL,), paths=(_ALL,)))
"""The rules that allow every request."""


def uncovered(owned: Sequence[PolicyRule], rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Return what the rules allow and the owned ones do not, in parts of one verb and resource."""
    return [part for rule in rules for part in rule.split() if not any(each.covers(part) for each in owned)]


def compact(parts: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Merge the verbs of rules that are otherwise equal, except those about paths."""
    merged: dict[PolicyRule, list[str]] = {}
    rules: list[PolicyRule] = []
    for part in parts:
        if part.paths:
            rules.append(part)
        else:
            merged.setdefault(PolicyRule((), part.api_groups, part.resources, part.resource_names), []).extend(
                part.verbs
            )
    for rule, verbs in merged.items():
        rules.append(PolicyRule(tuple(verbs), rule.api_groups, rule.resources, rule.resource_names))
    return rules


def _has(names: Names, name: str) -> bool:
    return _ALL in names or name in names


def _split_resource(resource: str) -> tuple[str, str]:
    name, _, subresource = resource.partition("/")
    return name, subresource


def _covers_path(own: str, path: str) -> bool:
    return own == path or (own.endswith(_ALL) and path.startswith(own.rstrip(_ALL)))
