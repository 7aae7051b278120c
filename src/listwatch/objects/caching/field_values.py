"""The text of one field of an API object, by its wire path such as `spec.nodeName`: what field selectors compare.

Only that field is decoded, and nothing is cached in the object.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import inspect

from listwatch.errors import DecodeError, SelectorError
from listwatch.objects.fields import LazyParts
from listwatch.objects.json.json_scan import parts_of
from listwatch.objects.json.reading import DECODE_FAILURES, fields_of, tree_of, type_info
from listwatch.objects.writing import to_tree

__all__ = ["FieldReader", "field_reader"]


@lru_cache(maxsize=256)
def field_reader(kind: type[LazyParts], path: str) -> FieldReader:
    """Return the reader of a field of a kind; raises SelectorError for a field that the kind does not have."""
    return FieldReader(kind, path)


class FieldReader:
    """Reads one field of the objects of one kind."""

    def __init__(self, kind: type[LazyParts], path: str) -> None:
        self.part, *self._inside = path.split(".")
        self._decoder = msgspec.json.Decoder(_only(self._inside))
        self._absent = _absent(_type_at(kind, path))

    def text(self, value: object) -> str:
        """Return the text of the field in the value of its part, which may be raw JSON.

        That of an absent field is `false`, `0` or empty by its type, as on a server.
        """
        value = self._decoded(value) if type(value) is msgspec.Raw else _at(value, self._inside)
        return self._absent if value is None else _text(value)

    def _decoded(self, part: msgspec.Raw) -> object:
        try:
            value: object = self._decoder.decode(part)
        except msgspec.ValidationError:
            return None  # the path leads through a value of another type
        except DECODE_FAILURES:
            return _scanned(part, self._inside)
        for _ in self._inside:
            value = getattr(value, "inner", None)
        return value


def _scanned(part: msgspec.Raw, path: list[str]) -> object:
    """Return the value at this path of a part that is nested too deeply, or invalid in another place."""
    try:
        for name in path:
            part = parts_of(bytes(part))[name]
    except (DecodeError, KeyError):
        return None
    return tree_of(part)


def _only(path: list[str]) -> Any:  # a type expression
    """Return a type with only the field at this path, so that decoding skips everything else."""
    if not path:
        return Any
    name, *rest = path
    return msgspec.defstruct("Part", [("inner", _only(rest) | None, msgspec.field(default=None, name=name))]) | None


def _at(value: object, path: list[str]) -> object:
    """Return the value at this path of a decoded value."""
    for name in path:
        match value:
            case msgspec.Struct():
                field = fields_of(type(value)).get(name)
                value = None if field is None else getattr(value, field.name)
            case dict():
                value = value.get(name)
            case _:
                return None
    return value


def _text(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case dict() | list() | msgspec.Struct():
            return ""
        case _:
            return str(to_tree(value, Any, what="a field"))


# --- The type of a field ----------------------------------------------------------------------------------


def _type_at(kind: type[LazyParts], path: str) -> inspect.Type:
    part, *inside = path.split(".")
    of_part = {field.wire: field.type for field in kind.lazy_fields.values()}
    if part not in of_part and kind._has_any_field:
        return inspect.AnyType()
    found = type_info(of_part[part]) if part in of_part else None
    for name in inside:
        found = None if found is None else _below(found, name)
    if found is None:
        raise SelectorError(f"{kind.__name__} has no field {path!r}; select by an existing field", text=path)
    return found


def _below(info: inspect.Type, name: str) -> inspect.Type | None:
    match info:
        case inspect.StructType(cls=struct):
            field = fields_of(struct).get(name)
            return None if field is None else field.type
        case inspect.DictType(value_type=inner):
            return inner
        case inspect.Metadata(type=inner):
            return _below(inner, name)
        case inspect.UnionType(types=types):
            return next((found for each in types if (found := _below(each, name))), None)
        case inspect.AnyType() | inspect.RawType():
            return inspect.AnyType()
        case _:
            return None


def _absent(info: inspect.Type) -> str:
    match info:
        case inspect.BoolType():
            return "false"
        case inspect.IntType() | inspect.FloatType():
            return "0"
        case inspect.Metadata(type=inner):
            return _absent(inner)
        case inspect.UnionType(types=types):
            real = [each for each in types if not isinstance(each, inspect.NoneType)]
            return _absent(real[0]) if len(real) == 1 else ""
        case _:
            return ""
