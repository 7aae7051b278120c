"""Checks whether a JSON tree can be encoded without a loss: all of its fields are known and have the declared types.

A server decodes JSON more strictly than an encoder of protobuf would: it reports unknown fields and wrong types, which
protobuf cannot represent. What does not fit is therefore sent as JSON.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cache

from listwatch.json_value import JSON
from listwatch.protobuf.schema import FieldSchema, find_kind, read_message
from listwatch.protobuf.unknown_fields import UNKNOWN

__all__ = ["fits"]

_INT32, _INT64 = 2**31, 2**63
_SCHEMA = "apiextensions_v1.JSONSchemaProps"
_TYPE_FIELDS = ("apiVersion", "kind")


def fits(tree: JSON, api_version: str, kind: str) -> bool:
    """Whether an object of this kind can be encoded without a loss."""
    name = find_kind(api_version, kind)
    try:
        return bool(name) and _fits_message(tree, name)
    except RecursionError:
        return False


def _fits_message(tree: JSON, name: str) -> bool:
    if check := _SPECIAL.get(name):
        return check(tree)
    if read_message(name).is_list:
        (items,) = read_message(name).fields
        return _fits_field(tree, items)
    if not isinstance(tree, dict):
        return False
    fields = _fields(name)
    for member, value in tree.items():
        field = fields.get(member)
        if field is None:
            # An object inside another one may name its kind, which protobuf leaves out.
            is_type = member in _TYPE_FIELDS and "metadata" in fields
            if not is_type and not member.startswith(UNKNOWN):
                return False
        elif value is not None and not _fits_field(value, field):
            return False
    return True


@cache
def _fields(name: str) -> dict[str, FieldSchema]:
    """The fields of a message by their JSON names, with those of inlined structs."""
    found: dict[str, FieldSchema] = {}
    for field in read_message(name).fields:
        found.update({field.json_name: field} if field.json_name else _fields(field.message))
    return found


def _fits_field(value: JSON, field: FieldSchema) -> bool:
    if field.container == "[":
        return isinstance(value, list) and all(_fits_value(each, field) for each in value)
    if field.container:
        return isinstance(value, dict) and all(_fits_value(each, field) for each in value.values())
    return _fits_value(value, field)


def _fits_value(value: JSON, field: FieldSchema) -> bool:
    return _fits_message(value, field.message) if field.message else _SCALARS[field.scalar](value)


# --- Scalars, and messages whose JSON is no object with their fields --------------------------------------------------


def _is_text(value: JSON) -> bool:
    return isinstance(value, str)


def _is_int(value: JSON, limit: int) -> bool:
    return type(value) is int and -limit <= value < limit


def _is_base64(value: JSON) -> bool:
    with suppress(ValueError):
        return isinstance(value, str) and base64.b64encode(base64.b64decode(value, validate=True)).decode() == value
    return False


def _is_time(value: JSON) -> bool:
    with suppress(ValueError):
        return isinstance(value, str) and value.endswith("Z") and datetime.fromisoformat(value).year > 0
    return False


def _is_schema_or(value: JSON, other: Callable[[JSON], bool]) -> bool:
    return _fits_message(value, _SCHEMA) if isinstance(value, dict) else other(value)


def _are_texts(value: JSON) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_schemas(value: JSON) -> bool:
    return isinstance(value, list) and all(_fits_message(each, _SCHEMA) for each in value)


_SCALARS: dict[str, Callable[[JSON], bool]] = {
    "s": _is_text,
    "b": lambda value: isinstance(value, bool),
    "i": lambda value: _is_int(value, _INT32),
    "l": lambda value: _is_int(value, _INT64),
    "d": lambda value: type(value) in (int, float),
    "y": _is_base64,
}
_SPECIAL: dict[str, Callable[[JSON], bool]] = {
    "api_resource.Quantity": _is_text,
    "meta_v1.Time": _is_time,
    "meta_v1.MicroTime": _is_time,
    "util_intstr.IntOrString": lambda value: isinstance(value, str) or _is_int(value, _INT32),
    "meta_v1.FieldsV1": lambda value: value is not None,
    "pkg_runtime.RawExtension": lambda value: value is not None,
    "apiextensions_v1.JSON": lambda value: value is not None,
    "apiextensions_v1.JSONSchemaPropsOrArray": lambda value: _is_schema_or(value, _are_schemas),
    "apiextensions_v1.JSONSchemaPropsOrBool": lambda value: _is_schema_or(value, lambda each: isinstance(each, bool)),
    "apiextensions_v1.JSONSchemaPropsOrStringArray": lambda value: _is_schema_or(value, _are_texts),
}
