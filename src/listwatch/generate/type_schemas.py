"""Python types as structural schemas, as CustomResourceDefinitions need them.

    Annotated[int, Meta(ge=1)]     {"type": "integer", "format": "int64", "minimum": 1}
    Literal["a", "b"]              {"type": "string", "enum": ["a", "b"]}
    a Model                        {"type": "object", "properties": …, "required": …}

A structural schema gives every value one type. What has none, such as `str | list[str]`, is a GenerateError.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from listwatch import quantity as quantities
from listwatch.errors import EncodeError
from listwatch.generate.builtin_schemas import ANY_OBJECT, ANYTHING, builtin_type_schema, int_or_string, quantity
from listwatch.generate.generate_error import GenerateError
from listwatch.generate.source_descriptions import class_description, field_descriptions
from listwatch.json_value import JSON, JSONObject
from listwatch.objects.declarations.custom_resource import CustomField, CustomResource
from listwatch.objects.declarations.definition_options import Rule, rules_of
from listwatch.objects.declarations.model import Model
from listwatch.objects.object import Object
from listwatch.objects.writing import to_tree

__all__ = ["VALIDATIONS", "object_schema"]

VALIDATIONS = "x-kubernetes-validations"
_EMBEDDED: JSONObject = {"type": "object", "x-kubernetes-embedded-resource": True, **ANYTHING}
_SCALARS: Mapping[object, JSONObject] = {
    str: {"type": "string"},
    int: {"type": "integer", "format": "int64"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    Any: ANYTHING,
    object: ANYTHING,
    msgspec.Raw: ANYTHING,
}
# Not sent, or no valid default: an empty string is no base64 for servers.
_EMPTY: tuple[object, ...] = ([], {}, (), b"")
_LITERALS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
_OBJECT_LENGTHS = ("minProperties", "maxProperties")


class _Field(NamedTuple):
    """A field of a class."""

    attribute: str
    wire: str
    hint: object
    default: object


def object_schema(cls: type[CustomResource]) -> JSONObject:
    """Return the schema of a custom resource; GenerateError names the field that cannot be expressed."""
    declared = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base).get("__annotations__", {}))
    fields = [
        _Field(name, field.wire, field.type, field.default)
        for name in declared
        if isinstance(field := cls.lazy_fields.get(name), CustomField)
    ]
    tree = _object(cls, fields, ())
    properties = tree.setdefault("properties", {})
    assert isinstance(properties, dict)
    # Servers set the status, so a default of the class is not one of the API.
    if isinstance(status := properties.get("status"), dict):
        status.pop("default", None)
    common: JSONObject = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    tree["properties"] = {**common, **properties}
    return tree


def _object(cls: type, fields: Iterable[_Field], outer: tuple[type, ...]) -> JSONObject:
    """Return the schema of a class with these fields, in the order of the keys that people write."""
    described = field_descriptions(cls)
    properties: JSONObject = {}
    required: list[JSON] = []
    for field in fields:
        properties[field.wire] = _property(cls, field, described.get(field.attribute, ""), (*outer, cls))
        if field.default is msgspec.NODEFAULT:
            required.append(field.wire)
    tree: JSONObject = {}
    if text := class_description(cls):
        tree["description"] = text
    tree["type"] = "object"
    if properties:
        tree["properties"] = properties
    if required:
        tree["required"] = required
    if rules := rules_of(cls):
        tree[VALIDATIONS] = [each.to_dict() for each in rules]
    return tree


def _property(cls: type, field: _Field, description: str, outer: tuple[type, ...]) -> JSONObject:
    place = f"{cls.__name__}.{field.attribute}"
    tree = _schema(field.hint, place, outer)
    if description:
        tree = {"description": description, **{name: each for name, each in tree.items() if name != "description"}}
    if field.default is msgspec.NODEFAULT:
        if _allows_none(field.hint):
            tree["nullable"] = True
    elif not (field.default is None or field.default is msgspec.UNSET or field.default in _EMPTY):
        tree["default"] = _default(field, tree, place)
    return tree


def _default(field: _Field, schema: JSONObject, place: str) -> JSON:
    try:
        tree: JSON = to_tree(field.default, field.hint, what=place)
    except EncodeError as error:
        raise GenerateError(place, f"its default cannot be written: {error.message}") from None
    return _without_inner_defaults(tree, schema)


def _without_inner_defaults(tree: JSON, schema: JSON) -> JSON:
    """Return a default without what the defaults inside its schema add anyway."""
    if not (isinstance(tree, dict) and isinstance(schema, dict)):
        return tree
    properties = schema.get("properties")
    # Servers check rules on a default before they add those inside it.
    if not isinstance(properties, dict) or schema.get(VALIDATIONS):
        return tree
    kept: JSONObject = {}
    for name, value in tree.items():
        inner = properties.get(name)
        value = _without_inner_defaults(value, inner)
        if not (isinstance(inner, dict) and "default" in inner and inner["default"] == value):
            kept[name] = value
    return kept


# --- types -----------------------------------------------------------------------------------------------------------


def _schema(hint: object, place: str, outer: tuple[type, ...]) -> JSONObject:
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        tree = quantity() if _is_quantity(marks) else _schema(inner, place, outer)
        return _annotated(tree, marks, place)
    if hint in _SCALARS:
        return {**_SCALARS[hint]}
    arguments = get_args(hint)
    match get_origin(hint):
        case origin if origin is Union or origin is UnionType:
            return _union(arguments, place, outer)
        case origin if origin is Literal:
            return _enumeration([each for each in arguments if each is not None], place)
        case origin if origin in (list, tuple):
            return {"type": "array", "items": _schema(arguments[0], place, outer)}
        case origin if origin is dict:
            return _map(arguments[0], arguments[1], place, outer)
    if hint is dict:
        return {**ANY_OBJECT}
    if hint is list:
        return {"type": "array", "items": {**ANYTHING}}
    if isinstance(hint, type):
        return _class(hint, place, outer)
    raise GenerateError(place, f"{_shown(hint)} cannot be expressed in a schema; declare Any, or one type")


def _class(cls: type, place: str, outer: tuple[type, ...]) -> JSONObject:
    if cls is quantities.Quantity:
        return quantity()
    if issubclass(cls, Object):
        return {**_EMBEDDED}
    if issubclass(cls, Enum):
        return _enumeration([each.value for each in cls], place)
    if not issubclass(cls, Model):
        raise GenerateError(
            place, f"{cls.__name__} cannot be expressed in a schema; write `class {cls.__name__}(lw.Model):`"
        )
    if cls.__module__.startswith("listwatch."):
        return builtin_type_schema(cls, place)
    if cls in outer:
        raise GenerateError(
            place,
            f"{cls.__name__} contains itself, which a schema cannot express; "
            "declare the field as dict[str, Any], or Any, and convert it with from_dict()",
        )
    config = cls.__struct_config__
    if config.array_like or config.tag is not None:
        raise GenerateError(place, f"{cls.__name__} is declared with array_like or tag, which schemas do not express")
    return _object(cls, _fields_of(cls), outer)


def _fields_of(cls: type[Model]) -> list[_Field]:
    return [_Field(each.name, each.encode_name, each.type, _default_of(each)) for each in msgspec.structs.fields(cls)]


def _default_of(field: msgspec.structs.FieldInfo) -> object:
    """Return the default; None for a factory whose results differ, such as the current time."""
    factory = field.default_factory
    if factory is msgspec.NODEFAULT:
        return field.default
    value = factory()
    return value if isinstance(factory, type | partial) or factory() == value else None


def _union(types: tuple[object, ...], place: str, outer: tuple[type, ...]) -> JSONObject:
    inner = [each for each in types if each not in (NoneType, msgspec.UnsetType)]
    if len(inner) == 1:
        return _schema(inner[0], place, outer)
    if {*map(_bare, inner)} == {int, str}:
        return _annotated(int_or_string(), [mark for each in inner for mark in _marks(each)], place)
    if {*map(_bare, inner)} == {int, float}:
        return _annotated({"type": "number"}, [mark for each in inner for mark in _marks(each)], place)
    shown = " | ".join(map(_shown, inner))
    raise GenerateError(place, f"a schema gives a value one type, so {shown} cannot be expressed; declare one, or Any")


def _map(key: object, value: object, place: str, outer: tuple[type, ...]) -> JSONObject:
    if _bare(key) is not str:
        raise GenerateError(
            place,
            f"a schema cannot restrict the keys of a map; write dict[str, {_shown(value)}], and a rule for the keys",
        )
    if value in (Any, object):
        return {**ANY_OBJECT}
    return {"type": "object", "additionalProperties": _schema(value, place, outer)}


def _enumeration(values: list[object], place: str) -> JSONObject:
    types = {type(each) for each in values}
    if len(types) != 1 or not (types & _LITERALS.keys()):
        raise GenerateError(place, f"the values of an enum are of one type, str or int; got {values!r}")
    kind = types.pop()
    tree: JSONObject = {"type": _LITERALS[kind], "enum": values}  # type: ignore[dict-item]  # checked above
    return {**tree, "format": "int64"} if kind is int else tree


# --- annotations -----------------------------------------------------------------------------------------------------


def _annotated(tree: JSONObject, marks: Iterable[object], place: str) -> JSONObject:
    rules: list[JSON] = []
    for mark in marks:
        if isinstance(mark, Meta):
            _apply(mark, tree, place)
        elif isinstance(mark, Rule):
            rules.append(mark.to_dict())
    if rules:
        given = tree.get(VALIDATIONS)
        tree[VALIDATIONS] = [*(given if isinstance(given, list) else []), *rules]
    return tree


def _apply(meta: Meta, tree: JSONObject, place: str) -> None:
    numbers = {"minimum": _number(meta.ge, meta.gt), "maximum": _number(meta.le, meta.lt)}
    tree |= {name: value for name, value in numbers.items() if value is not None}
    if meta.gt is not None:
        tree["exclusiveMinimum"] = True
    if meta.lt is not None:
        tree["exclusiveMaximum"] = True
    if meta.multiple_of is not None:
        tree["multipleOf"] = meta.multiple_of
    if meta.pattern is not None:
        tree["pattern"] = meta.pattern
    lengths = _LENGTHS.get(str(tree.get("type")), _OBJECT_LENGTHS)
    for name, length in zip(lengths, (meta.min_length, meta.max_length), strict=True):
        if length is not None:
            # Bytes are sent as base64.
            tree[name] = -(-length // 3) * 4 if tree.get("format") == "byte" else length
    for name, text in (("title", meta.title), ("description", meta.description)):
        if text:
            tree[name] = text
    for name, value in (meta.extra_json_schema or {}).items():
        if not isinstance(name, str):
            raise GenerateError(place, f"the key {name!r} of extra_json_schema is not a string")
        tree[name] = value


def _number(inclusive: float | None, exclusive: float | None) -> float | None:
    return inclusive if inclusive is not None else exclusive


def _is_quantity(marks: Iterable[object]) -> bool:
    return any(isinstance(each, Meta) and (each.extra or {}).get("wire") == "quantity" for each in marks)


def _bare(hint: object) -> object:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _marks(hint: object) -> tuple[object, ...]:
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _allows_none(hint: object) -> bool:
    hint = _bare(hint)
    if get_origin(hint) in (Union, UnionType):
        return any(map(_allows_none, get_args(hint)))
    return hint is NoneType or (get_origin(hint) is Literal and None in get_args(hint))


def _shown(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint).replace("typing.", "")
