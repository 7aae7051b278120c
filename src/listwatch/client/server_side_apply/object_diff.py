"""The differences between two states of an object, by fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from listwatch.errors import ConflictError
from listwatch.json_value import JSON, JSONObject

__all__ = ["FieldChange", "FieldConflict", "ObjectDiff", "changed_fields"]

# The server writes these with every change.
_METADATA = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"})
_MANAGER = re.compile(r'conflict with "([^"]*)"')
_NAMES = ("name", "containerPort", "port", "key", "mountPath", "type", "ip")
"""Members that identify the items of a list."""
_SECRET = "(not shown)"


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()
"""The value of a field that does not exist."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field: its path, and its values before and after; `MISSING` for a field that does not exist."""

    path: str
    before: JSON | _Missing = field(repr=False)
    after: JSON | _Missing = field(repr=False)

    def __str__(self) -> str:
        if isinstance(self.before, _Missing):
            return f"+ {self.path}: {_text(self.after)}"
        if isinstance(self.after, _Missing):
            return f"- {self.path}: {_text(self.before)}"
        return f"~ {self.path}: {_text(self.before)} -> {_text(self.after)}"


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that another manager owns with another value."""

    path: str
    manager: str

    @classmethod
    def of(cls, error: ConflictError) -> tuple[FieldConflict, ...]:
        """Return the conflicts of an apply."""
        causes = [each for each in error.causes if each.reason == "FieldManagerConflict"]
        return tuple(
            cls(each.field, found[1] if (found := _MANAGER.search(each.message)) else each.message) for each in causes
        )

    def __str__(self) -> str:
        return f"! {self.path}: owned by {self.manager}"


@dataclass(frozen=True, slots=True)
class ObjectDiff:
    """What an apply would change; false if it would change nothing. `str` has one line for each field."""

    name: str
    exists: bool
    changes: tuple[FieldChange, ...]
    conflicts: tuple[FieldConflict, ...] = ()
    """An apply raises ConflictError because of these; `force=True` takes the ownership, which `changes` assumes."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.conflicts)

    def __str__(self) -> str:
        is_secret = self.name.startswith("Secret ")
        changes = [
            f"{str(each).partition(': ')[0]}: {_SECRET}" if is_secret and "ata" in each.path else str(each)
            for each in self.changes
        ]
        heading = self.name if self.exists else f"{self.name} (new)"
        return "\n".join([heading, *changes, *map(str, self.conflicts)])


def changed_fields(before: JSONObject, after: JSONObject) -> tuple[FieldChange, ...]:
    """Return the fields that differ, without those that the server writes with every change."""
    return tuple(_compare("", _without_written(before), _without_written(after)))


def _without_written(tree: JSONObject) -> JSONObject:
    metadata = tree.get("metadata")
    if not isinstance(metadata, dict):
        return tree
    return tree | {"metadata": {name: value for name, value in metadata.items() if name not in _METADATA}}


def _compare(path: str, before: JSON | _Missing, after: JSON | _Missing) -> Iterator[FieldChange]:
    if _encoded(before) == _encoded(after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            yield from _compare(f"{path}.{name}", before.get(name, MISSING), after.get(name, MISSING))
    elif isinstance(before, list) and isinstance(after, list) and (name := _identifying(before, after)):
        old, new = _by_name(before, name), _by_name(after, name)
        for key in [*old, *(each for each in new if each not in old)]:
            yield from _compare(f"{path}[{name}={key}]", old.get(key, MISSING), new.get(key, MISSING))
    else:
        yield FieldChange(path, before, after)


def _identifying(before: list[JSON], after: list[JSON]) -> str:
    """Return the member that identifies the items of both lists; empty if there is none."""
    for name in _NAMES:
        if all(_has_own(items, name) for items in (before, after)):
            return name
    return ""


def _has_own(items: list[JSON], name: str) -> bool:
    values = [each.get(name) if isinstance(each, dict) else None for each in items]
    return None not in values and len({*map(repr, values)}) == len(values)


def _by_name(items: list[JSON], name: str) -> dict[str, JSON]:
    return {str(each[name]): each for each in items if isinstance(each, dict)}


def _encoded(value: JSON | _Missing) -> bytes:
    # Not `==`: for Python, 1 and true are equal.
    return b"" if isinstance(value, _Missing) else msgspec.json.encode(value, order="sorted")


def _text(value: JSON | _Missing) -> str:
    return _encoded(value).decode()
