"""The conversions between the versions of kinds, and the steps from one version to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from listwatch.errors import UsageError
from listwatch.meta import GroupKind
from listwatch.objects.declarations.custom_resource import CustomResource
from listwatch.objects.declarations.definition_options import guess_plural, options_of
from listwatch.webhooks.hooks import FunctionForm

__all__ = ["Conversion", "Conversions"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """A function that converts from one version to another."""

    source: type[CustomResource]
    target: type[CustomResource]
    form: FunctionForm


class Conversions:
    """The conversion functions of a program. Versions without a function of their own are converted in steps."""

    def __init__(self) -> None:
        self._by_kind: dict[GroupKind, dict[str, dict[str, Conversion]]] = {}
        self._plurals: dict[GroupKind, str] = {}

    def add(self, source: type[CustomResource], target: type[CustomResource], form: FunctionForm) -> None:
        """Add a function; raises UsageError if the classes are not versions of one kind."""
        for each in (source, target):
            given: object = each
            if not (isinstance(given, type) and issubclass(given, CustomResource)) or given.gvk is None:
                raise UsageError(f"{form.name}: expected a class of CustomResource, not {each!r}")
        old, new = source.gvk, target.gvk
        assert old is not None
        assert new is not None
        if old.group_kind != new.group_kind or old.version == new.version:
            raise UsageError(f"{form.name}: {old} and {new} are not two versions of one kind")
        targets = self._by_kind.setdefault(old.group_kind, {}).setdefault(old.version, {})
        if new.version in targets:
            raise UsageError(f"{form.name}: {targets[new.version].form.name} already converts {old} to {new.version}")
        self._by_kind[old.group_kind].setdefault(new.version, {})
        targets[new.version] = Conversion(source, target, form)
        given_plural = options_of(source).plural or options_of(target).plural
        self._plurals[old.group_kind] = given_plural or self._plurals.get(old.group_kind) or guess_plural(old.kind)

    def __bool__(self) -> bool:
        return bool(self._by_kind)

    def kinds(self) -> list[GroupKind]:
        """The kinds that have conversions."""
        return [*self._by_kind]

    def definition_name(self, kind: GroupKind) -> str:
        """The name of the CustomResourceDefinition of a kind."""
        return f"{self._plurals[kind]}.{kind.group}"

    def steps(self, kind: GroupKind, source: str, target: str) -> list[Conversion] | None:
        """Return the shortest path of conversions from one version to another; None if there is none."""
        versions = self._by_kind.get(kind, {})
        found: dict[str, list[Conversion]] = {source: []}
        pending = [source]
        for version in pending:
            if version == target:
                return found[version]
            for each, conversion in versions.get(version, {}).items():
                if each not in found:
                    found[each] = [*found[version], conversion]
                    pending.append(each)
        return None

    def check(self) -> None:
        """Raise UsageError if a version cannot be converted to another: servers convert in both directions."""
        for problem in self._missing():
            raise UsageError(problem)

    def _missing(self) -> Iterator[str]:
        for kind, versions in self._by_kind.items():
            for source in versions:
                for target in versions:
                    if self.steps(kind, source, target) is None:
                        yield (
                            f"{kind} cannot be converted from {source} to {target}: "
                            f"decorate a function with @hooks.convert(…)"
                        )
