"""Derives merge shapes from schemas: of the built-in kinds, and of custom resource definitions.

Where a schema declares nothing, maps merge by member and lists are atomic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from msgspec import UNSET

from listwatch.json_value import JSON, JSONObject
from listwatch.server.apply.field_sets import UNTYPED, MergeShape
from listwatch.server.crd.structural_schema import PRESERVES_UNKNOWN
from listwatch.server.json_tree import object_at, text_at, texts_at
from listwatch.server.schema.schema import FieldSchema, Schema, Shape
from listwatch.server.schema.zero_values import is_null_when_unset

__all__ = ["builtin_shapes", "custom_shape", "empty_object"]

_SCALARS = {
    "string": MergeShape(expects="string"),
    "integer": MergeShape(expects="numeric"),
    "number": MergeShape(expects="numeric"),
    "boolean": MergeShape(expects="boolean"),
}


# --- Built-in kinds ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def builtin_shapes(schema: Schema) -> Callable[[str], MergeShape]:
    """Return a function from the name of a type in the schema to its merge shape."""

    @cache
    def of_type(name: str) -> MergeShape:
        type_ = schema.type(name)
        if type_.json_types != ("object",) or not type_.fields:
            return UNTYPED
        return MergeShape(
            fields=lambda: {field.name: of_field(field) for field in type_.fields.values()},
            is_atomic=type_.map_type == "atomic",
            is_open=False,
            expects="map",
        )

    def of_field(field: FieldSchema) -> MergeShape:
        shape = field.type
        if shape.type == "ref" and field.map_type != "atomic":
            return of_type(shape.ref)
        if shape.type == "ref":
            return MergeShape(is_atomic=True, expects="map")
        return of_shape(shape, field)

    def of_shape(shape: Shape, field: FieldSchema | None = None) -> MergeShape:
        match shape.type:
            case "ref":
                return of_type(shape.ref)
            case "list":
                return _list(shape, field)
            case "map":
                inner = shape.items or Shape(type="any")
                is_atomic = field is not None and field.map_type == "atomic"
                return MergeShape(others=lambda: of_shape(inner), is_atomic=is_atomic, expects="map")
            case scalar:
                return _SCALARS.get(scalar, UNTYPED)

    def _list(shape: Shape, field: FieldSchema | None) -> MergeShape:
        inner = shape.items or Shape(type="any")
        keys = field.map_keys if field else ()
        return MergeShape(
            others=lambda: of_shape(inner),
            list_type=(field.list_type if field else "") or "atomic",
            keys=keys,
            key_defaults=_key_defaults(inner, keys, schema),
            expects="list",
        )

    return of_type


def _key_defaults(shape: Shape, keys: tuple[str, ...], schema: Schema) -> JSONObject:
    if not keys or shape.type != "ref":
        return {}
    fields = schema.type(shape.ref).fields
    defaults = {key: fields[key].default for key in keys if key in fields}
    return {key: default for key, default in defaults.items() if default is not UNSET}


@lru_cache(maxsize=1024)
def empty_object(name: str, schema: Schema) -> JSONObject:
    """Return what the real server writes for an object without any values. It is shared: do not change it."""
    fields, type_name = schema.type(name).fields, name.rpartition(".")[2]
    return {field: _empty(each, schema) for field, each in fields.items() if _is_written(type_name, each)}


def _is_written(type_name: str, field: FieldSchema) -> bool:
    is_required = field.required and field.type.type in ("list", "map")
    return field.default is not UNSET or is_required or is_null_when_unset(type_name, field)


def _empty(field: FieldSchema, schema: Schema) -> JSON:
    if field.type.type in ("list", "map"):
        return None
    if field.type.type == "ref" and schema.type(field.type.ref).json_types == ("object",):
        return empty_object(field.type.ref, schema)
    return None if field.default is UNSET else field.default


# --- Custom resources -------------------------------------------------------------------------------------------------


def custom_shape(json_schema: JSONObject, schema: Schema) -> MergeShape:
    """Return the shape of a custom object; its metadata has the built-in type."""

    def fields() -> Mapping[str, MergeShape]:
        own = {name: _of_json(each) for name, each in object_at(json_schema, "properties").items()}
        return {**own, "metadata": builtin_shapes(schema)("meta.v1.ObjectMeta"), "apiVersion": UNTYPED, "kind": UNTYPED}

    return MergeShape(fields=fields, is_open=bool(json_schema.get(PRESERVES_UNKNOWN)), expects="map")


def _of_json(json_schema: JSON) -> MergeShape:
    if not isinstance(json_schema, dict):
        return UNTYPED
    type_, members = text_at(json_schema, "type"), object_at(json_schema, "properties")
    items = json_schema.get("items")
    if type_ in _SCALARS:
        return _SCALARS[type_]
    inner = items if type_ == "array" else json_schema.get("additionalProperties")
    keys = tuple(texts_at(json_schema, "x-kubernetes-list-map-keys"))
    return MergeShape(
        fields=lambda: {name: _of_json(each) for name, each in members.items()},
        others=lambda: _of_json(inner),
        is_atomic=json_schema.get("x-kubernetes-map-type") == "atomic",
        list_type=text_at(json_schema, "x-kubernetes-list-type") or "atomic",
        keys=keys,
        key_defaults=_json_key_defaults(items, keys),
        is_open=not members or bool(json_schema.get(PRESERVES_UNKNOWN)),
        expects={"object": "map", "array": "list"}.get(type_, ""),
    )


def _json_key_defaults(items: JSON, keys: tuple[str, ...]) -> JSONObject:
    members = {key: object_at(items, "properties", key) for key in keys}
    return {key: member["default"] for key, member in members.items() if "default" in member}
