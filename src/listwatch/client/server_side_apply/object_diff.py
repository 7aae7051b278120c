"""The differences between two states of an object, by fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import TypeGuard

import msgspec

from listwatch.errors import ConflictError
from listwatch.json_value import JSON, JSONObject

__all__ = ["FieldChange", "FieldConflict", "ObjectDiff", "changed_fields"]

# The server writes these with every change.
_METADATA = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"})
_MANAGER = re.compile(r'conflict with "([^"]*)"')
_NAMES = ("name", "containerPort", "port", "key", "mountPath", "type", "ip")
"""Members that identify the items of a list."""
_SECRET_FIELDS = (".data", ".stringData")
_LAST_APPLIED = "last-applied-configuration"  # kubectl's annotation has the whole object
_INDENT = "    "


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
            return f"{self._heading} {_text(self.after)}"
        if isinstance(self.after, _Missing):
            return f"{self._heading} {_text(self.before)}"
        if _has_lines(self.before) and _has_lines(self.after):
            return "\n".join([self._heading, *_changed_lines(self.before, self.after)])
        return f"{self._heading} {_text(self.before)} -> {_text(self.after)}"

    def redacted(self) -> str:
        """Return the text of a change of a Secret, without its values."""
        is_secret = self.path.startswith(_SECRET_FIELDS) or _LAST_APPLIED in str(self)
        return f"{self._heading} (not shown)" if is_secret else str(self)

    @property
    def _heading(self) -> str:
        mark = "+" if isinstance(self.before, _Missing) else "-" if isinstance(self.after, _Missing) else "~"
        return f"{mark} {_printable(self.path)}:"


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
    """What an apply would change; false if it would change nothing. `str` has a line for each field.

    The values of Secrets are not in that text, and of texts with several lines it has the changed ones.
    """

    name: str
    exists: bool
    changes: tuple[FieldChange, ...]
    conflicts: tuple[FieldConflict, ...] = ()
    """An apply raises ConflictError because of these; `force=True` takes the ownership, which `changes` assumes."""
    uid: str = ""
    """The uid of the object; empty if it does not exist."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.conflicts)

    def __str__(self) -> str:
        is_secret = self.name.startswith("Secret ")
        changes = [each.redacted() if is_secret else str(each) for each in self.changes]
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
    return _printable(_encoded(value).decode())


def _printable(text: str) -> str:
    """Escape characters that could change a terminal, as the keys of a custom resource may contain."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _has_lines(value: JSON | _Missing) -> TypeGuard[str]:
    # Other control characters could change a terminal: they are escaped, as JSON.
    return isinstance(value, str) and "\n" in value and value.replace("\n", "").replace("\t", "").isprintable()


def _changed_lines(before: str, after: str) -> Iterator[str]:
    """Return the lines that differ, with three lines around them."""
    old, new = before.split("\n"), after.split("\n")
    for line in [*unified_diff(old, new, lineterm="")][2:]:
        yield f"{_INDENT}{line}"
