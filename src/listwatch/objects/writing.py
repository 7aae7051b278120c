"""Converts values to JSON trees: wire names, times as strings; values that JSON cannot represent are rejected.

`reading.py` is the inverse.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import inspect

from listwatch.errors import EncodeError, FieldError
from listwatch.objects.json.reading import Tree, fields_of, read, type_info
from listwatch.objects.lists import leave_out_empty

__all__ = ["clone", "encode", "finish", "plain", "to_json", "to_tree", "unchanged"]

_encoder = msgspec.json.Encoder()

# Types that are encoded as they are.
_PLAIN_TYPES = frozenset({str, int, bool, type(None), msgspec.Raw})


def to_tree(value: object, type_: object, *, what: str, field: str = "") -> Tree:
    """The value as new dicts and lists under wire names."""
    tree = finish(plain(value, what=what, field=field), type_, what=what, field=field)
    return msgspec.json.decode(encode(tree, what=what, field=field))


def to_json(tree: Tree, *, what: str) -> bytes:
    """The JSON of a user's tree, which may contain models and times."""
    try:
        # First, because it detects recursive trees, on which `_is_finished` would not end.
        raw = _encoder.encode(tree)
        if _is_finished(tree):
            return raw
    except (TypeError, ValueError, RecursionError):
        pass  # the slow path reports the reason and the path
    return encode(finish(plain(tree, what=what), Any, what=what), what=what)


def plain(value: object, *, what: str, field: str = "") -> Tree:
    """The value as new dicts and lists under wire names. Times and raw JSON are not converted."""
    whole = [_builtins(value, what, field)]
    if _make_lists(whole):
        leave_out_empty(value, whole[0])
    return whole[0]


def _builtins(value: object, what: str, field: str) -> Tree:
    try:
        return msgspec.to_builtins(value, builtin_types=(datetime, msgspec.Raw), enc_hook=_write_nested, str_keys=True)
    except RecursionError:
        raise EncodeError("it is nested too deeply, or contains itself", object_name=what, field=field) from None
    except (TypeError, ValueError, OverflowError, FieldError) as error:
        raise EncodeError(str(error), object_name=what, field=field) from None


def unchanged(value: object, seen: object) -> bool:
    """True if both values certainly have the same encoding. If False, compare `plain` of both."""
    try:
        return bool(value == seen) and _encoder.encode(value) == _encoder.encode(seen)
    except (TypeError, ValueError, OverflowError, RecursionError, FieldError):
        return False


def finish(tree: Tree, type_: object, *, what: str, field: str = "") -> Tree:
    """Convert times to strings, in place; raise EncodeError for values that JSON cannot represent."""
    try:
        return tree if _is_finished(tree) else _finish(tree, type_info(type_), "")
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name=what, field=field) from None
    except EncodeError as error:
        place = (field + error.field).removeprefix(".")
        raise EncodeError(error.message, object_name=what, field=place) from None


def encode(tree: Tree, *, what: str, field: str = "") -> bytes:
    """A finished tree as JSON."""
    try:
        return _encoder.encode(tree)
    except UnicodeEncodeError:
        raise EncodeError("a string in it contains a lone surrogate", object_name=what, field=field) from None
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name=what, field=field) from None
    except (TypeError, ValueError) as error:
        raise EncodeError(str(error), object_name=what, field=field) from None


def clone(value: object, type_: object) -> Any:
    """A deep copy."""
    try:
        return read(_builtins(value, "", ""), type_)
    except (FieldError, msgspec.ValidationError, RecursionError):
        pass  # The value does not match its type. Encoding it will raise.
    try:
        return copy.deepcopy(value)
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name="a copy") from None


def _write_nested(value: object) -> Tree:
    to_dict: Callable[[], Tree] | None = getattr(value, "to_dict", None)
    if to_dict:
        return to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    from listwatch.quantity import Quantity  # loads `decimal`; few programs have quantities in their own types

    if isinstance(value, Quantity):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be part of an API object")


def _is_finished(tree: Tree) -> bool:
    # Nearly every tree is finished, and this check costs a fraction of a conversion that tracks types and paths.
    left: list[Tree] = [[tree]]
    while left:
        inside = left.pop()
        for each in inside.values() if type(inside) is dict else inside:
            if type(each) is dict or type(each) is list:
                left.append(each)
            elif type(each) not in _PLAIN_TYPES:
                return False
    return True


def _make_lists(tree: Tree) -> bool:
    """Replace tuples by lists, in place. True if there is an empty list."""
    left, empty = [tree], False
    while left:
        inside = left.pop()
        for name, each in inside.items() if type(inside) is dict else enumerate(inside):
            if type(each) is tuple:
                each = inside[name] = list(each)
            if each and (type(each) is dict or type(each) is list):
                left.append(each)
            elif type(each) is list:
                empty = True
    return empty


def _finish(tree: Tree, info: inspect.Type | None, place: str) -> Tree:
    match tree:
        case dict():
            for name, each in tree.items():
                if type(each) not in _PLAIN_TYPES:
                    tree[name] = _finish(each, _below(info, name), f"{place}.{name}")
        case list():
            for index, each in enumerate(tree):
                if type(each) not in _PLAIN_TYPES:
                    tree[index] = _finish(each, _below(info, ""), f"{place}[{index}]")
        case datetime():
            return _time_text(tree, info, place)
        case float() if not math.isfinite(tree):
            raise EncodeError(f"JSON cannot represent {tree}", field=place)
    return tree


def _below(info: inspect.Type | None, name: str) -> inspect.Type | None:
    """The type of a field, entry or element, if it is known."""
    match info:
        case inspect.StructType(cls=struct) if name in fields_of(struct):
            return fields_of(struct)[name].type
        case (
            inspect.DictType(value_type=inner)
            | inspect.ListType(item_type=inner)
            | inspect.VarTupleType(item_type=inner)
        ):
            return inner
        case inspect.UnionType(types=types):
            return next((found for each in types if (found := _below(each, name))), None)
        case _:
            return None


def _time_text(time: datetime, info: inspect.Type | None, place: str) -> str:
    if time.tzinfo is None:
        raise EncodeError("a time needs a time zone, as in datetime(2026, 1, 2, tzinfo=UTC)", field=place)
    precision = "microseconds" if _is_micro(info) else "auto"
    try:
        return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"
    except OverflowError:
        raise EncodeError("in UTC, this time is outside of the years 1 to 9999", field=place) from None


def _is_micro(info: inspect.Type | None) -> bool:
    match info:
        case inspect.Metadata(extra={"wire": "microtime"}):
            return True
        case inspect.UnionType(types=types):
            return any(_is_micro(each) for each in types)
        case _:
            return False
