"""Who manages which fields of an object: `metadata.managedFields`, and how it changes with each write.

    update, patch, create    whoever changes a field manages it, and nobody else does
    apply                    whoever applies a field manages it, with all others who want it so; to want it otherwise
                             than another is a conflict

`applying` and `verbs` write by it; `apply_walks` finds the fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from listwatch.errors import ConflictError, StatusCause, StatusDetails
from listwatch.server.apply.apply_walks import compare, fields_of, fields_of_new, merged, removed, with_parents
from listwatch.server.apply.field_sets import Fields, difference, intersection, paths, union
from listwatch.server.crd.merge_shapes import MergeShape
from listwatch.server.json_tree import Tree, same

__all__ = [
    "APPLY",
    "BEFORE_FIRST_APPLY",
    "UPDATE",
    "Applied",
    "Managed",
    "Manager",
    "after_apply",
    "after_update",
    "differ_only_in_times",
    "is_reset",
    "managed_at_birth",
    "manager_name",
    "read_managed",
    "write_managed",
]

APPLY, UPDATE = "Apply", "Update"
BEFORE_FIRST_APPLY = "before-first-apply"
_MAX_NAME = 128
_MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"
# What no manager can have: it is the server's, or the object's identity.
_NOBODYS = frozenset(
    {
        *("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation"),
        *("managedFields", "resourceVersion"),
    }
)


class Manager(NamedTuple):
    """One who writes, in one way, through one door; who applies is the same in all versions."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    @property
    def shown(self) -> str:
        """In the words of a conflict."""
        door = f' with subresource "{self.subresource}"' if self.subresource else ""
        version = f" using {self.api_version}" if self.operation == UPDATE else ""
        return f'"{self.name}"{door}{version}'


@dataclass(frozen=True, slots=True)
class Holding:
    """What one manages, in the words of a version, and since when."""

    fields: Fields
    api_version: str
    time: str = ""


Managed = dict[Manager, Holding]


def manager_name(field_manager: str, user_agent: str) -> str:
    """What who writes is called: as they say, or else as their program does."""
    name = field_manager or user_agent.partition("/")[0] or "unknown"
    return name.encode()[:_MAX_NAME].decode("utf-8", "ignore")


# --- As it is written -------------------------------------------------------------------------------------------------


def read_managed(entries: Any) -> Managed | None:
    """None if it cannot be read: nothing is known then."""
    try:
        return dict(_read(entry) for entry in entries or ())
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _read(entry: Mapping[str, Any]) -> tuple[Manager, Holding]:
    operation, version = entry["operation"], entry.get("apiVersion", "")
    if operation not in (APPLY, UPDATE) or entry.get("fieldsType") != "FieldsV1":
        raise ValueError(f"no such entry: {operation}")
    name = entry.get("manager", "")
    manager = Manager(name, operation, version if operation == UPDATE else "", entry.get("subresource", ""))
    fields = entry.get("fieldsV1") or {}
    if not _is_set(fields):
        raise ValueError("no set of fields")
    return manager, Holding(fields, version, entry.get("time") or "")


def _is_set(fields: Tree) -> bool:
    return isinstance(fields, dict) and all(
        (step == "." or step[:2] in ("f:", "k:", "v:", "i:")) and _is_set(inner) for step, inner in fields.items()
    )


def write_managed(managed: Managed) -> list[Tree]:
    def order(each: tuple[Manager, Holding]) -> tuple[str, ...]:
        manager, holding = each
        return manager.operation, holding.time, manager.name, holding.api_version, manager.subresource

    return [_written(*each) for each in sorted(_capped(managed).items(), key=order)]


def _written(manager: Manager, holding: Holding) -> Tree:
    entry: dict[str, Tree] = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": holding.api_version,
        "time": holding.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": holding.fields,
        "subresource": manager.subresource,
    }
    return {name: value for name, value in entry.items() if value or name == "fieldsV1"}


def _capped(managed: Managed) -> Managed:
    """Of many who have updated, the oldest are put together."""
    updaters = [each for each in managed.items() if each[0].operation == UPDATE]
    too_many = len(updaters) - _MAX_UPDATERS
    if too_many <= 0:
        return managed
    updaters.sort(key=lambda each: (each[1].time, each[0].name))
    kept = dict(managed)
    for manager, holding in updaters[: too_many + 1]:
        del kept[manager]
        ancient = Manager(_ANCIENT, UPDATE, holding.api_version)
        before = kept.get(ancient, Holding({}, holding.api_version))
        time = max(before.time, holding.time)
        kept[ancient] = Holding(union(before.fields, holding.fields), holding.api_version, time)
    return kept


def managed_at_birth(new: Tree, empty: Tree, manager: Manager, shape: MergeShape, *, now: str) -> list[Tree]:
    """What is written of a new object: who has made it manages all of it."""
    fields = fields_of_new(_manageable(new), empty, shape)
    return [_written(manager, Holding(fields, manager.api_version, now))] if fields else []


# --- Writes -----------------------------------------------------------------------------------------------------------


def after_update(old: Tree, new: Tree, managed: Managed, manager: Manager, shape: MergeShape, *, now: str) -> Managed:
    """Who manages what when the old tree has become the new one."""
    changed, gone = compare(_manageable(old), _manageable(new), shape)
    if not changed and not gone:
        return managed
    kept = _without(_without(managed, changed), gone)
    if changed:
        before = kept.get(manager)
        fields = union(before.fields, changed) if before else changed
        kept[manager] = Holding(fields, manager.api_version, now)
    return kept


def _manageable(tree: Tree) -> Tree:
    """What of an object can have a manager."""
    metadata = {name: value for name, value in tree.get("metadata", {}).items() if name not in _NOBODYS}
    return {**{name: tree[name] for name in tree if name not in ("apiVersion", "kind")}, "metadata": metadata}


def _without(managed: Managed, fields: Fields) -> Managed:
    if not fields:
        return dict(managed)
    left = {
        manager: replace(holding, fields=difference(holding.fields, fields)) for manager, holding in managed.items()
    }
    return {manager: holding for manager, holding in left.items() if holding.fields}


@dataclass(frozen=True, slots=True)
class Applied:
    """What was applied, by whom, and whether they insist."""

    tree: Tree
    manager: Manager
    api_version: str
    is_forced: bool = False
    ignored: tuple[str, ...] = ()
    """Members that cannot be changed this way, and are not managed therefore."""

    def considered(self, fields: Fields) -> Fields:
        return {step: inner for step, inner in fields.items() if step[2:] not in self.ignored}


def after_apply(live: Tree, applied: Applied, managed: Managed, shape: MergeShape, *, now: str) -> tuple[Tree, Managed]:
    """The object as it shall be, and who manages what then; raises ConflictError if another wants it otherwise."""
    before = managed.get(applied.manager)
    wanted = applied.considered(fields_of(_manageable(applied.tree), shape))
    wanted = wanted if wanted.get("f:metadata") else {step: wanted[step] for step in wanted if step != "f:metadata"}
    # An entry with nothing in it counts while it is found out who wants what.
    others = {each: holding for each, holding in managed.items() if each != applied.manager}
    new = merged(live, applied.tree, shape)
    if before:
        new = _without_abandoned(new, before.fields, [wanted, *(each.fields for each in others.values())], shape)
    changed, gone = map(applied.considered, compare(_manageable(live), _manageable(new), shape))
    if not applied.is_forced:
        _check_conflicts(others, changed)
    kept = _without(_without(others, changed), gone)
    if wanted:
        # Who only agrees with what is there has no time, or that of when they last changed something.
        time = now if changed or gone else before.time if before else ""
        kept[applied.manager] = Holding(wanted, applied.api_version, time)
    return new, kept


def _without_abandoned(tree: Tree, before: Fields, wanted: Iterable[Fields], shape: MergeShape) -> Tree:
    """The tree without what was wanted before and is wanted by nobody any more."""
    still: Fields = {"f:metadata": {}}  # an object always has some
    for fields in wanted:
        still = union(still, fields)
    abandoned = difference(with_parents(before, shape), with_parents(still, shape))
    return removed(tree, abandoned, shape) or {} if abandoned else tree


def _check_conflicts(others: Managed, changed: Fields) -> None:
    found = [
        (manager, path)
        for manager, holding in sorted(others.items())
        for path in paths(intersection(holding.fields, changed))
    ]
    if not found:
        return
    causes = tuple(
        StatusCause("FieldManagerConflict", f"conflict with {manager.shown}", path) for manager, path in found
    )
    raise ConflictError(_conflict_message(found), details=StatusDetails(causes=causes))


def _conflict_message(found: list[tuple[Manager, str]]) -> str:
    if len(found) == 1:
        manager, path = found[0]
        return f"Apply failed with 1 conflict: conflict with {manager.shown}: {path}"
    lines = []
    for manager in dict.fromkeys(manager for manager, _ in found):
        lines.append(f"conflicts with {manager.shown}:")
        lines += [f"- {path}" for each, path in found if each == manager]
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)


def differ_only_in_times(new: Tree, old: Tree) -> bool:
    """Whether nothing is new of an object but since when who manages what."""
    mine, yours = (_timeless(tree["metadata"].get("managedFields", ())) for tree in (new, old))
    if not same(mine, yours):
        return False
    new, old = ({**tree, "metadata": {**tree["metadata"], "managedFields": []}} for tree in (new, old))
    return same(new, old)


def _timeless(entries: Iterable[Tree]) -> list[Tree]:
    return [{name: value for name, value in entry.items() if name != "time"} for entry in entries]


def is_reset(entries: Tree) -> bool:
    """Whether somebody wants all to be forgotten."""
    return entries in ([], [{}])
