"""From a tree to a type: as the API's own reader takes it, with the place of what does not fit.

`writing.py` is the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from threading import RLock
from typing import Any

import msgspec
from msgspec import inspect

from listwatch.errors import DecodeError, FieldError
from listwatch.objects.reasons import UNREADABLE, name_keys, reason_and_place

__all__ = ["Tree", "build_decoder", "convert", "decoder_for", "fields_of", "read", "tree_of", "type_info"]

Tree = Any
"""JSON as Python has it: dict, list, str, int, float, bool and None, under wire names."""

_building = RLock()


def build_decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    """A new decoder of a type, which knows the API's whole objects too."""
    # msgspec notes what it finds of a struct with the struct, and before it has found all. A thread that meets such a
    # note half written crashes the process, so only one may walk through types at a time.
    with _building:
        return msgspec.json.Decoder(type_, dec_hook=read_nested)


@cache
def decoder_for(type_: Any) -> msgspec.json.Decoder[Any]:
    """The one decoder of a type. Made on first use: building it walks the whole tree of types."""
    return build_decoder(type_)


def read(tree: Tree, type_: Any) -> Any:
    """Read a tree as `type_` and as it stands; msgspec's own error tells what does not fit."""
    decoder_for(type_)  # so that msgspec knows all of the type, and need not walk through it without the lock
    return msgspec.convert(tree, type_, dec_hook=read_nested)


def tree_of(part: msgspec.Raw | None) -> Tree:
    """What a part says; None if it says nothing, or nothing that can be read."""
    try:
        return None if part is None else msgspec.json.decode(part)
    except UNREADABLE:
        return None


def convert(tree: Tree, type_: Any, *, what: str, field: str = "") -> Any:
    """Read a tree as `type_`, forgiving what servers and people do write: null for empty, numbers for quantities."""
    try:
        if not isinstance(found := _convert(tree, type_), msgspec.ValidationError):
            return found
        forgiven = _forgive(tree, type_info(type_))
        if not isinstance(found := _convert(forgiven, type_), msgspec.ValidationError):
            return found
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name=what, field=field) from None
    reason, place = reason_and_place(found)
    place = name_keys(place, forgiven, lambda: str(_convert(forgiven, type_)) == str(found))
    raise DecodeError(reason, object_name=what, field=(field + place).removeprefix("."))


def _convert(tree: Tree, type_: Any) -> Any:
    """The value, or the error that says why there is none."""
    try:
        return read(tree, type_)
    except msgspec.ValidationError as error:
        return error


def read_nested(type_: type, tree: Tree) -> Any:
    """Read what msgspec does not know: whole objects inside other types, as a StatefulSet's volume claim templates."""
    try:
        return type_.from_dict(tree)  # type: ignore[attr-defined]  # each such type is an Object
    except FieldError as error:
        raise ValueError(str(error)) from None  # msgspec adds where it is


@cache
def type_info(type_: Any) -> inspect.Type:
    """What msgspec knows of a type."""
    return inspect.type_info(type_)


@cache
def fields_of(struct: type) -> Mapping[str, inspect.Field]:
    """The fields of a struct by their wire names."""
    info = type_info(struct)
    return {each.encode_name: each for each in info.fields} if isinstance(info, inspect.StructType) else {}


def _forgive(tree: Tree, info: inspect.Type) -> Tree:
    if tree is None:
        return _empty(info)
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}) if type(tree) in (int, float):
            return str(tree)
        case inspect.Metadata(type=inner):
            return _forgive(tree, inner)
        case inspect.UnionType(types=types):
            return _forgive(tree, _fitting(types, tree))
        case inspect.StructType(cls=struct) if isinstance(tree, dict):
            return _forgive_struct(tree, fields_of(struct))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item) if isinstance(tree, list):
            return [_forgive(each, item) for each in tree]
        case inspect.DictType(value_type=value) if isinstance(tree, dict):
            return {name: _forgive(each, value) for name, each in tree.items()}
        case inspect.RawType() if not isinstance(tree, msgspec.Raw):
            return msgspec.Raw(msgspec.json.encode(tree))
        case _:
            return tree


def _forgive_struct(tree: dict[str, Tree], fields: Mapping[str, inspect.Field]) -> dict[str, Tree]:
    return {
        name: _forgive(value, fields[name].type) if name in fields else value
        for name, value in tree.items()
        if value is not None or name not in fields or fields[name].required
    }


def _fitting(types: tuple[inspect.Type, ...], tree: Tree) -> inspect.Type:
    """The one of several types that a tree of this shape can only be."""
    real = [each for each in types if not isinstance(each, inspect.NoneType)]
    shape = inspect.StructType | inspect.DictType if isinstance(tree, dict) else inspect.ListType
    fitting = [each for each in real if isinstance(tree, dict | list) and isinstance(each, shape)]
    return (fitting or real)[0]


def _empty(info: inspect.Type) -> Tree:
    """What null stands for, as the API's own reader takes it."""
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}):
            return "0"
        case inspect.Metadata(type=inner):
            return _empty(inner)
        case inspect.UnionType(types=types):
            return None if any(isinstance(each, inspect.NoneType) for each in types) else _empty(types[0])
        case inspect.ListType() | inspect.VarTupleType():
            return []
        case inspect.StructType() | inspect.DictType() | inspect.CustomType():
            return {}
        case inspect.StrType() | inspect.BytesType():
            return ""
        case inspect.IntType() | inspect.FloatType():
            return 0
        case inspect.BoolType():
            return False
        case _:
            return None
