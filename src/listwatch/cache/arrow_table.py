"""Columns of an Arrow table from cached objects, by the paths of fields.

The bytes of an object are decoded by a decoder that is made for the paths: only the named fields become Python values,
and nothing is kept with the object. `pyarrow` is imported here, with the first table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, TypeVar, cast

import msgspec

from listwatch.errors import DecodeError, UsageError
from listwatch.json_value import JSON
from listwatch.keyed import Cached, describe, lazily_decoded

__all__ = ["FieldReader", "make_table"]

T = TypeVar("T", bound=Cached)

_STEP = re.compile(r"""\.?([^.\[\]"']+)|\[(\d+)\]|\[(\*)\]|\[(?:"([^"]*)"|'([^']*)')\]""")
_EVERY = "*"

_Step = str | int
"""A member of an object, an index of a list, or `*`, for every item, as an index would be written."""
_Path = tuple[tuple[bool, _Step], ...]
"""Whether each step is a member, and the step."""


class _Encodable(Protocol):
    def to_json(self) -> bytes: ...


def make_table(items: Iterable[Cached], paths: Sequence[str] | Mapping[str, str]) -> Any:
    """Return a `pyarrow.Table` with one column for each path; the keys of a mapping are the names of the columns."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError("to_arrow needs pyarrow: pip install 'listwatch[arrow]'") from None
    reader = FieldReader(paths)
    columns: list[list[JSON]] = [[] for _ in reader.names]
    adders = [each.append for each in columns]
    for item in items:
        for add, value in zip(adders, reader.read(item), strict=True):
            add(value)
    arrays = [_array(pyarrow, values) for values in columns]
    return pyarrow.table(dict(zip(reader.names, arrays, strict=True)))


class FieldReader:
    """Reads the values at some paths of objects."""

    def __init__(self, paths: Sequence[str] | Mapping[str, str]) -> None:
        if isinstance(paths, str) or not paths:
            raise UsageError('to_arrow needs the paths of fields, as in ["metadata.name", "status.phase"]')
        named = dict(paths) if isinstance(paths, Mapping) else {path: path for path in paths}
        self.names = [*named]
        self._paths = [_parse(path) for path in named.values()]
        # Members up to the first index are decoded by a struct; the rest is read from the decoded value.
        self._heads = [tuple(str(step) for _, step in _members(path)) for path in self._paths]
        self._decode = msgspec.json.Decoder(_struct_for(self._heads)).decode
        self._getters = [self._getter(path, head) for path, head in zip(self._paths, self._heads, strict=True)]

    def read(self, item: Cached) -> list[JSON]:
        """Return the values of all paths; None for a field that does not exist."""
        if lazily_decoded(type(item)) is None:
            return [_walk(item, path) for path in self._paths]
        octets = cast("_Encodable", item).to_json()
        try:
            decoded = self._decode(octets)
        except msgspec.ValidationError:
            pass  # a path leads through a value that is no object
        except msgspec.DecodeError:
            raise DecodeError("it is not valid JSON", object_name=describe(item)) from None
        else:
            return [get(decoded) for get in self._getters]
        tree: JSON = msgspec.json.decode(octets)
        return [_walk(tree, path) for path in self._paths]

    def _getter(self, path: _Path, head: tuple[str, ...]) -> Callable[[object], JSON]:
        # A shorter path that ends at a part of this one has decoded it as a value.
        depth = min([len(each) for each in self._heads if head[: len(each)] == each])
        fields, rest = tuple(_field(name) for name in head[:depth]), path[depth:]

        def get(decoded: object) -> JSON:
            for name in fields:
                if decoded is None:
                    return None
                decoded = getattr(decoded, name)
            return _walk(decoded, rest) if rest else cast("JSON", decoded)

        return get


def _parse(text: object) -> _Path:
    """Split a path into steps: `spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`."""
    steps: list[tuple[bool, _Step]] = []
    position = 0
    while isinstance(text, str) and position < len(text):
        found = _STEP.match(text, position)
        if not found:
            break
        name, index, every, *quoted = found.groups()
        if index is not None or every is not None:
            steps.append((False, _EVERY if every else int(index)))
        else:
            steps.append((True, name if name is not None else next(each for each in quoted if each is not None)))
        position = found.end()
    if not isinstance(text, str) or position < len(text) or not steps or not steps[0][0]:
        raise UsageError(f"{text!r} is not the path of a field, as in 'metadata.name' or 'spec.containers[0].image'")
    return tuple(steps)


def _members(path: _Path) -> _Path:
    end = next((at for at, (is_member, _) in enumerate(path) if not is_member), len(path))
    return path[:end]


def _field(name: str) -> str:
    """The attribute of a struct for a member of an object; any text may be the name of a member."""
    return "f_" + name.encode().hex()


def _struct_for(heads: Iterable[tuple[str, ...]]) -> type[msgspec.Struct]:
    """Return a struct that decodes only these members; others are skipped."""
    below: dict[str, list[tuple[str, ...]]] = {}
    for head in heads:
        below.setdefault(head[0], []).append(head[1:])
    fields = []
    for name, rest in below.items():
        kind: object = Any if () in rest else _struct_for(rest) | None
        fields.append((_field(name), kind, msgspec.field(name=name, default=None)))
    return msgspec.defstruct("Fields", fields, gc=False)


def _walk(value: Any, path: _Path) -> JSON:
    """Follow the steps through decoded JSON, or through attributes and dicts of other objects."""
    for at, (is_member, step) in enumerate(path):
        if value is None:
            return None
        if step == _EVERY and not is_member:
            rest = path[at + 1 :]
            return [_walk(each, rest) for each in value] if isinstance(value, list | tuple) else None
        if not is_member:
            is_inside = isinstance(value, list | tuple) and int(step) < len(value)
            value = value[int(step)] if is_inside else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list | tuple | str | int | float):
            return None
        else:
            value = getattr(value, str(step), None)
    found: JSON = value
    return found


def _array(pyarrow: ModuleType, values: list[JSON]) -> Any:
    """Return a column. Objects, and values of several types, become their JSON text."""
    kinds = {type(each) for each in values} - {type(None)}
    if dict not in kinds and (len(kinds) <= 1 or kinds == {int, float}):
        try:
            return pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
            pass  # lists of different values, or numbers beyond 64 bits
    return pyarrow.array([_text(each) for each in values], pyarrow.string())


def _text(value: JSON) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()
