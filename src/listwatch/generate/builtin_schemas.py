"""Structural schemas of the types of `listwatch.models`, for fields such as `template: PodTemplateSpec`.

They have no descriptions: with those of a PodSpec, a definition would have half a megabyte.
"""

from __future__ import annotations

from functools import cache

import msgspec

from listwatch.generate.generate_error import GenerateError
from listwatch.json_value import JSONObject
from listwatch.objects.metadata import ObjectMeta
from listwatch.server.schema.schema import FieldSchema, Shape, TypeSchema, builtin_schema

__all__ = ["ANYTHING", "ANY_OBJECT", "QUANTITY_PATTERN", "builtin_type_schema", "int_or_string", "quantity"]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
ANYTHING: JSONObject = {PRESERVE: True}
ANY_OBJECT: JSONObject = {"type": "object", PRESERVE: True}

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


def int_or_string() -> JSONObject:
    """Return the schema of a value that is an integer or a string."""
    return {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


def quantity() -> JSONObject:
    """Return the schema of a quantity."""
    return {**int_or_string(), "pattern": QUANTITY_PATTERN}


def builtin_type_schema(cls: type, place: str) -> JSONObject:
    """Return the schema of a class of `listwatch.models`."""
    if issubclass(cls, ObjectMeta):
        return {**ANY_OBJECT}
    return _type(_name_of(cls, place), place, ())


def _name_of(cls: type, place: str) -> str:
    """Return the name of a class in the schema: `core.v1.PodSpec`."""
    package = cls.__module__.rpartition(".")[2].replace("_", ".")
    names = {each for each in builtin_schema().type_names() if each.endswith(f".{cls.__name__}")}
    if (name := f"{package}.{cls.__name__}") in names:
        return name
    # The package of a group may have another name than the group.
    version = package.rpartition(".")[2]
    if len(similar := [each for each in names if each.endswith(f".{version}.{cls.__name__}")]) == 1:
        return similar[0]
    raise GenerateError(place, f"{cls.__name__} has no schema; declare the field as dict[str, Any]")


def _type(name: str, place: str, outer: tuple[str, ...]) -> JSONObject:
    if name.endswith("meta.v1.ObjectMeta"):
        return {**ANY_OBJECT}
    if name in outer:
        raise GenerateError(
            place, f"{name} contains itself, which a schema cannot express; declare the field as dict[str, Any]"
        )
    found = builtin_schema().type(name)
    if not found.fields:
        return _scalar(found)
    properties: JSONObject = {each.name: _field(each, found, place, (*outer, name)) for each in found.fields.values()}
    tree: JSONObject = {"type": "object", "properties": properties}
    if found.required:
        tree["required"] = [*found.required]
    if found.map_type:
        tree["x-kubernetes-map-type"] = found.map_type
    return tree


def _scalar(found: TypeSchema) -> JSONObject:
    if found.name.endswith("resource.Quantity"):
        return quantity()
    if found.format == "int-or-string":
        return int_or_string()
    if len(found.json_types) != 1:
        return {**ANYTHING}
    if found.json_types == ("object",):
        return {**ANY_OBJECT}
    return {"type": found.json_types[0], **({"format": found.format} if found.format else {})}


def _field(field: FieldSchema, owner: TypeSchema, place: str, outer: tuple[str, ...]) -> JSONObject:
    tree = _shape(field.type, place, outer)
    optional: JSONObject = {
        "enum": [*field.enum],
        "x-kubernetes-list-type": field.list_type,
        "x-kubernetes-list-map-keys": [*field.map_keys],
        "x-kubernetes-map-type": field.map_type,
    }
    if field.type.type != "list" or not _keys_are_set(field):
        # Servers of custom resources merge only lists whose keys are always there.
        del optional["x-kubernetes-list-map-keys"]
        optional["x-kubernetes-list-type"] = "atomic" if field.type.type == "list" and field.list_type else ""
    tree |= {name: value for name, value in optional.items() if value}
    # The keys of a list must be required or have a default; other zero values need no default.
    if field.default is not msgspec.UNSET and not field.required and (field.default or _is_key(field, owner)):
        tree["default"] = field.default
    return tree


def _keys_are_set(field: FieldSchema) -> bool:
    """True if all elements of a list have its keys, or defaults for them; also for a list without keys."""
    ref = field.type.items.ref if field.type.items else ""
    fields = builtin_schema().type(ref).fields if ref else {}
    keys = [fields[each] for each in field.map_keys if each in fields]
    return all(each.required or each.default is not msgspec.UNSET for each in keys)


def _is_key(field: FieldSchema, owner: TypeSchema) -> bool:
    return field.name in _list_keys().get(owner.name, ())


@cache
def _list_keys() -> dict[str, set[str]]:
    """Return the fields by which lists of each type are keyed, anywhere in the API."""
    keys: dict[str, set[str]] = {}
    schema = builtin_schema()
    for each in schema.type_names():
        for field in schema.type(each).fields.values():
            if field.map_keys and field.type.items is not None and field.type.items.ref:
                keys.setdefault(field.type.items.ref, set()).update(field.map_keys)
    return keys


def _shape(shape: Shape, place: str, outer: tuple[str, ...]) -> JSONObject:
    match shape.type:
        case "ref":
            return _type(shape.ref, place, outer)
        case "list":
            return {"type": "array", "items": _shape(shape.items or Shape(type="any"), place, outer)}
        case "map":
            return {"type": "object", "additionalProperties": _shape(shape.items or Shape(type="any"), place, outer)}
        case "int-or-string":
            return int_or_string()
        case "any":
            return {**ANYTHING}
        case scalar:
            return {"type": scalar, **({"format": shape.format} if shape.format else {})}
