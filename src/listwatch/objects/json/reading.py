"""Converts JSON trees to typed values, as leniently as the API server. Errors name the path of the invalid field.

`writing.py` is the inverse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from threading import RLock
from typing import Any

import msgspec
from msgspec import inspect

from listwatch.errors import DecodeError, FieldError

__all__ = [
    "DECODE_FAILURES",
    "LONE_SURROGATE",
    "Tree",
    "build_decoder",
    "convert",
    "decoder_for",
    "fields_of",
    "read",
    "reason_and_place",
    "reason_of",
    "tree_of",
    "type_info",
]

Tree = Any
"""JSON in Python types. Not `JSON`, because trees under construction also contain times and raw JSON."""

DECODE_FAILURES = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions that msgspec raises for bytes that it cannot decode."""

_building = RLock()


def build_decoder(type_: object) -> msgspec.json.Decoder[Any]:
    """A new decoder for a type, which may contain whole API objects."""
    # msgspec stores type information on a struct before it is complete. A concurrent thread that finds it incomplete
    # crashes the process, so only one thread at a time may build decoders.
    with _building:
        return msgspec.json.Decoder(type_, dec_hook=read_nested)


@cache
def decoder_for(type_: object) -> msgspec.json.Decoder[Any]:
    """The cached decoder of a type. Building one walks the whole tree of types."""
    return build_decoder(type_)


def read(tree: Tree, type_: object) -> Any:
    """Convert a tree to `type_` strictly; raises the errors of msgspec."""
    decoder_for(type_)  # builds the type information under the lock
    return msgspec.convert(tree, type_, dec_hook=read_nested)


def tree_of(part: msgspec.Raw | None) -> Tree:
    """The decoded part; None if it is absent or cannot be decoded."""
    try:
        return None if part is None else msgspec.json.decode(part)
    except DECODE_FAILURES:
        return None


def convert(tree: Tree, type_: object, *, what: str, field: str = "") -> Any:
    """Convert a tree to `type_`, accepting null for empty values and numbers for quantities."""
    try:
        if not isinstance(found := _convert(tree, type_), msgspec.ValidationError):
            return found
        lenient = _normalize(tree, type_info(type_))
        if not isinstance(found := _convert(lenient, type_), msgspec.ValidationError):
            return found
    except RecursionError:
        raise DecodeError("it is nested too deeply", object_name=what, field=field) from None
    reason, place = reason_and_place(found)
    place = name_keys(place, lenient, lambda: str(_convert(lenient, type_)) == str(found))
    raise DecodeError(reason, object_name=what, field=(field + place).removeprefix("."))


def _convert(tree: Tree, type_: object) -> object:
    """The value, or the error."""
    try:
        return read(tree, type_)
    except msgspec.ValidationError as error:
        return error


def read_nested(type_: type, tree: Tree) -> object:
    """Decode a whole object inside another type, such as a volume claim template of a StatefulSet, or a Quantity."""
    from_dict: Callable[[Tree], object] | None = getattr(type_, "from_dict", None)
    try:
        return type_(_quantity_text(tree)) if from_dict is None else from_dict(tree)
    except FieldError as error:
        raise ValueError(str(error)) from None  # msgspec adds the path


def _quantity_text(tree: Tree) -> str:
    if type(tree) not in (str, int, float):
        raise ValueError(f"expected a quantity such as '500m', got {type(tree).__name__}")
    return str(tree)


@cache
def type_info(type_: object) -> inspect.Type:
    """The type information of msgspec."""
    return inspect.type_info(type_)


@cache
def fields_of(struct: type) -> Mapping[str, inspect.Field]:
    """The fields of a struct by their wire names."""
    info = type_info(struct)
    return {each.encode_name: each for each in info.fields} if isinstance(info, inspect.StructType) else {}


def _normalize(tree: Tree, info: inspect.Type) -> Tree:
    if tree is None:
        return _empty(info)
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}) if type(tree) in (int, float):
            return str(tree)
        case inspect.Metadata(type=inner):
            return _normalize(tree, inner)
        case inspect.UnionType(types=types):
            return _normalize(tree, _matching(types, tree))
        case inspect.StructType(cls=struct) if isinstance(tree, dict):
            return _normalize_struct(tree, fields_of(struct))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item) if isinstance(tree, list):
            return [_normalize(each, item) for each in tree]
        case inspect.DictType(value_type=value) if isinstance(tree, dict):
            return {name: _normalize(each, value) for name, each in tree.items()}
        case inspect.RawType() if not isinstance(tree, msgspec.Raw):
            return msgspec.Raw(msgspec.json.encode(tree))
        case _:
            return tree


def _normalize_struct(tree: dict[str, Tree], fields: Mapping[str, inspect.Field]) -> dict[str, Tree]:
    return {
        name: _normalize(value, fields[name].type) if name in fields else value
        for name, value in tree.items()
        if value is not None or name not in fields or fields[name].required
    }


def _matching(types: tuple[inspect.Type, ...], tree: Tree) -> inspect.Type:
    """The member of a union that matches the shape of the tree."""
    real = [each for each in types if not isinstance(each, inspect.NoneType)]
    shape = inspect.StructType | inspect.DictType if isinstance(tree, dict) else inspect.ListType
    matching = [each for each in real if isinstance(tree, dict | list) and isinstance(each, shape)]
    return (matching or real)[0]


def _empty(info: inspect.Type) -> Tree:
    """The value that null means in the API."""
    match info:
        case inspect.Metadata(extra={"wire": "quantity"}):
            return "0"
        case inspect.CustomType(cls=cls) if not hasattr(cls, "from_dict"):
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


# --- errors ----------------------------------------------------------------------------------------------------------

_MESSAGE = re.compile(r"(?P<reason>.*) - at (?:`key` in )?`\$(?P<place>[^`]*)`", re.DOTALL)
_STEP = re.compile(r"\.[^.\[]+|\[[^\]]*\]")
_LONE_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_SURROGATE_MESSAGE = re.compile("truncated|hex escape|surrogate")
_MSGSPEC_PREFIXES = ("Expected ", "Invalid ", "Input ", "Integer ", "Number ", "Object ")


LONE_SURROGATE = "a string in it contains a lone surrogate"


def reason_of(error: Exception, text: bytes = b"") -> str:
    """Why msgspec could not decode the text."""
    reason, _ = reason_and_place(error)
    # msgspec reports a lone surrogate in several ways, depending on what follows it.
    if _SURROGATE_MESSAGE.search(reason) and _LONE_SURROGATE.search(text):
        return LONE_SURROGATE
    return reason


def reason_and_place(error: Exception) -> tuple[str, str]:
    """The reason, and the path such as `.containers[0].image`; empty if msgspec gives none."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply", ""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8", ""
    parsed = _MESSAGE.fullmatch(str(error))
    reason, place = parsed.groups() if parsed else (str(error), "")
    if reason.startswith(_MSGSPEC_PREFIXES):
        reason = reason[0].lower() + reason[1:].replace("`", "")
    return reason, place


def name_keys(place: str, tree: Tree, same_error: Callable[[], bool]) -> str:
    """The path with the keys of maps, which msgspec reports as `[...]`. Modifies the tree to find them."""
    named = ""
    for step in _STEP.findall(place):
        if step == "[...]" and type(tree) is not dict:
            return place  # another type of mapping, which must not be modified
        key = (
            _find_invalid_key(tree, same_error) if step == "[...]" else step[1:] if step[0] == "." else int(step[1:-1])
        )
        named += f"[{key}]" if step == "[...]" else step
        tree = tree[key]
    return named


def _find_invalid_key(entries: dict[str, object], same_error: Callable[[], bool]) -> str:
    # Binary search: a map may have thousands of entries, and be accessed repeatedly.
    candidates = list(entries.items())
    while len(candidates) > 1:
        half = candidates[: len(candidates) // 2]
        _keep(entries, half)
        candidates = half if same_error() else candidates[len(half) :]
    _keep(entries, candidates)
    return candidates[0][0]


def _keep(entries: dict[str, object], kept: list[tuple[str, object]]) -> None:
    entries.clear()
    entries.update(kept)
