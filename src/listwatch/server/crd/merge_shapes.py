"""How values merge: field by field, element by element, or as a whole. `apply_walks` goes by it.

It follows from the schema of the built-in kinds, or from the schema in a custom resource's definition; where neither
says anything, maps merge by their members and lists are taken as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from typing import Any

from msgspec import UNSET

from listwatch.server.crd.structural_schema import PRESERVES_UNKNOWN, JSONSchema
from listwatch.server.json_tree import Tree
from listwatch.server.schema.schema import FieldSchema, Schema, Shape

__all__ = ["UNTYPED", "MergeShape", "builtin_shape", "custom_shape", "empty_object"]


class MergeShape:
    """How one value merges, whatever it turns out to be; what lies inside of it is found when it is first met."""

    def __init__(
        self,
        *,
        fields: Callable[[], Mapping[str, MergeShape]] = dict,
        others: Callable[[], MergeShape] | None = None,
        is_atomic: bool = False,
        list_type: str = "atomic",
        keys: tuple[str, ...] = (),
        key_defaults: Mapping[str, Tree] | None = None,
        is_open: bool = True,
        expects: str = "",
    ) -> None:
        self._fields = fields
        self._others = others
        self.is_atomic = is_atomic
        """Of a map: it is taken as a whole."""
        self.list_type = list_type
        self.keys = tuple(sorted(keys))
        self.key_defaults = key_defaults or {}
        self.is_open = is_open
        """Whether there may be members that no schema names."""
        self.expects = expects
        """map, list, string, numeric or boolean; empty if anything will do."""

    @cached_property
    def fields(self) -> Mapping[str, MergeShape]:
        """The members that the schema names."""
        return self._fields()

    @cached_property
    def others(self) -> MergeShape:
        """All other members, and the elements of a list."""
        return self._others() if self._others else UNTYPED

    def member(self, name: str) -> MergeShape:
        return self.fields.get(name) or self.others

    def inside(self, step: str) -> MergeShape:
        """What a step of a field set leads to."""
        return self.member(step[2:]) if step.startswith("f:") else self.others


UNTYPED = MergeShape()
_SCALARS = {
    "string": MergeShape(expects="string"),
    "integer": MergeShape(expects="numeric"),
    "number": MergeShape(expects="numeric"),
    "boolean": MergeShape(expects="boolean"),
}


# --- Built-in kinds ---------------------------------------------------------------------------------------------------


def builtin_shape(name: str, schema: Schema) -> MergeShape:
    """Of a type, by the name that the schema has for it."""
    return _shapes(schema)(name)


@lru_cache(maxsize=8)
def _shapes(schema: Schema) -> Callable[[str], MergeShape]:
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


def _key_defaults(shape: Shape, keys: tuple[str, ...], schema: Schema) -> dict[str, Tree]:
    if not keys or shape.type != "ref":
        return {}
    fields = schema.type(shape.ref).fields
    return {key: fields[key].default for key in keys if key in fields and fields[key].default is not UNSET}


@lru_cache(maxsize=1024)
def empty_object(name: str, schema: Schema) -> dict[str, Tree]:
    """What the real server takes for an object of which nothing has been said yet; only to be read."""
    return {field: _empty(each, schema) for field, each in schema.type(name).fields.items() if _is_there(each)}


def _is_there(field: FieldSchema) -> bool:
    return field.default is not UNSET or (field.required and field.type.type in ("list", "map"))


def _empty(field: FieldSchema, schema: Schema) -> Tree:
    if field.type.type in ("list", "map"):
        return None
    if field.type.type == "ref" and schema.type(field.type.ref).json_types == ("object",):
        return empty_object(field.type.ref, schema)
    return field.default


# --- Custom resources -------------------------------------------------------------------------------------------------


def custom_shape(json_schema: JSONSchema, schema: Schema) -> MergeShape:
    """Of a whole custom object; its metadata is that of every object."""

    def fields() -> Mapping[str, MergeShape]:
        own = {name: _of_json(each) for name, each in json_schema.get("properties", {}).items()}
        return {**own, "metadata": builtin_shape("meta.v1.ObjectMeta", schema), "apiVersion": UNTYPED, "kind": UNTYPED}

    return MergeShape(fields=fields, is_open=bool(json_schema.get(PRESERVES_UNKNOWN)), expects="map")


def _of_json(json_schema: Any) -> MergeShape:
    if not isinstance(json_schema, dict):
        return UNTYPED
    type_, members, items = json_schema.get("type", ""), json_schema.get("properties", {}), json_schema.get("items")
    if type_ in _SCALARS:
        return _SCALARS[type_]
    inner = items if type_ == "array" else json_schema.get("additionalProperties")
    keys = tuple(json_schema.get("x-kubernetes-list-map-keys") or ())
    return MergeShape(
        fields=lambda: {name: _of_json(each) for name, each in members.items()},
        others=lambda: _of_json(inner),
        is_atomic=json_schema.get("x-kubernetes-map-type") == "atomic",
        list_type=json_schema.get("x-kubernetes-list-type") or "atomic",
        keys=keys,
        key_defaults=_json_key_defaults(items, keys),
        is_open=not members or bool(json_schema.get(PRESERVES_UNKNOWN)),
        expects={"object": "map", "array": "list"}.get(type_, ""),
    )


def _json_key_defaults(items: Any, keys: tuple[str, ...]) -> dict[str, Tree]:
    members = items.get("properties", {}) if isinstance(items, dict) else {}
    return {key: members[key]["default"] for key in keys if "default" in members.get(key, {})}
