"""Rules for the schemas in a CustomResourceDefinition: pruning and merging need structural schemas."""

from __future__ import annotations

from collections.abc import Iterator

from listwatch.server.crd.structural_schema import JSONSchema
from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.json_tree import list_at, object_at, objects_at, text_at, texts_at, value_at
from listwatch.server.regexp.parsing import RegexpSyntaxError, parse
from listwatch.server.rules.checks import Causes
from listwatch.server.rules.custom_objects import INT_OR_STRING, Effort, structural_problems

__all__ = ["field_at", "schema_rules"]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_NOT_SUPPORTED = ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id")
_NOT_IN_JUNCTIONS = {
    "type": "empty",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    "additionalProperties": "undefined",
    "x-kubernetes-preserve-unknown-fields": "false",
    "x-kubernetes-embedded-resource": "false",
    "x-kubernetes-int-or-string": "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
_PRESERVES, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_LIST_TYPE, _MAP_TYPE, _MAP_KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
_INTEGER_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def schema_rules(schema: JSONSchema, path: str) -> Causes:
    """Return what is wrong with the schema of a whole object."""
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    if schema.get("additionalProperties"):
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if schema.get("type", "object") != "object":
        yield invalid(f"{path}.type", schema["type"], "must be object at the root")
    yield from _metadata(schema, path)
    yield from _rules(schema, path, "at the root", Effort())


def _metadata(schema: JSONSchema, path: str) -> Causes:
    if "metadata" not in object_at(schema, "properties"):
        return
    metadata = object_at(schema, "properties", "metadata")
    field = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        yield invalid(f"{field}.type", text_at(metadata, "type"), "must be object")
    more = metadata.keys() - {"type", "properties", "description"}
    if more or object_at(metadata, "properties").keys() - {"name", "generateName"}:
        detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield forbidden(field, detail)


def _rules(schema: JSONSchema, path: str, position: str, effort: Effort) -> Causes:
    yield from _type(schema, path, position)
    yield from _not_supported(schema, path)
    yield from _list(schema, path)
    yield from _map(schema, path)
    yield from _default(schema, path, effort)
    yield from _junctions(schema, path)
    for inner, field, inner_position in _subschemas(schema, path):
        yield from _rules(inner, field, inner_position, effort)


def _subschemas(schema: JSONSchema, path: str) -> Iterator[tuple[JSONSchema, str, str]]:
    for name in (properties := object_at(schema, "properties")):
        yield object_at(properties, name), f"{path}.properties[{name}]", "for specified object fields"
    if isinstance(inner := schema.get("items"), dict):
        yield inner, f"{path}.items", "for specified array items"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        yield inner, f"{path}.additionalProperties", "for specified object fields"


def _type(schema: JSONSchema, path: str, position: str) -> Causes:
    type_ = text_at(schema, "type")
    if type_ and type_ not in _TYPES:
        yield not_supported(f"{path}.type", type_, _TYPES)
    items = schema.get("items")
    if isinstance(items, list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    elif type_ == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if schema.get(_EMBEDDED):
        yield from _embedded(schema, path)
    elif not type_ and not schema.get(INT_OR_STRING) and not schema.get(_PRESERVES) and not schema.get("$ref"):
        yield required(f"{path}.type", f"must not be empty {position}")
    if schema.get(INT_OR_STRING):
        for name in (_PRESERVES, _EMBEDDED):
            if schema.get(name):
                yield invalid(f"{path}.{name}", True, "must be false if x-kubernetes-int-or-string is true")
    if schema.get(_PRESERVES) is False:
        yield invalid(f"{path}.{_PRESERVES}", False, "must be true or undefined")


def _embedded(schema: JSONSchema, path: str) -> Causes:
    detail = "must be object if x-kubernetes-embedded-resource is true"
    if not schema.get("type"):
        yield required(f"{path}.type", detail)
    elif schema["type"] != "object":
        yield invalid(f"{path}.type", schema["type"], detail)
    if not schema.get(_PRESERVES) and not schema.get("properties"):
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield required(f"{path}.properties", detail)
    if schema.get("additionalProperties"):
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", detail)


def _not_supported(schema: JSONSchema, path: str) -> Causes:
    for name in _NOT_SUPPORTED:
        if schema.get(name):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if schema.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", detail)
    if isinstance(schema.get("additionalProperties"), dict) and schema.get("properties"):
        detail = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", detail)
    yield from _pattern(schema, path)


def _pattern(schema: JSONSchema, path: str) -> Causes:
    pattern = text_at(schema, "pattern")
    try:
        parse(pattern)
    except RegexpSyntaxError as error:
        detail = f"must be a valid regular expression, but isn't: {error}"
        yield invalid(f"{path}.pattern", pattern, detail)


def _default(schema: JSONSchema, path: str, effort: Effort) -> Causes:
    default = schema.get("default")
    if default is None:
        return
    for cause in structural_problems(default, schema, effort=effort):
        inner = cause.field.removeprefix("<nil>")
        yield type(cause)(cause.reason, cause.message, f"{path}.default{'.' if inner else ''}{inner}")


# --- lists and maps ---------------------------------------------------------------------------------------------------


def _list(schema: JSONSchema, path: str) -> Causes:
    kind, keys, items = schema.get(_LIST_TYPE), texts_at(schema, _MAP_KEYS), object_at(schema, "items")
    if kind is not None and schema.get("type") != "array":
        detail = "must be array if x-kubernetes-list-type is specified"
        yield (
            invalid(f"{path}.type", schema["type"], detail) if schema.get("type") else required(f"{path}.type", detail)
        )
    elif kind == "set" and items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield invalid(f"{path}.items.{_MAP_TYPE}", None, detail)
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.{_LIST_TYPE}", kind, ("atomic", "set", "map"))
    if keys and kind != "map":
        detail = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield invalid(f"{path}.{_LIST_TYPE}", kind, detail) if kind else required(f"{path}.{_LIST_TYPE}", detail)
    if kind == "map":
        yield from _map_list(keys, items, path)


def _map_list(keys: list[str], items: JSONSchema, path: str) -> Causes:
    if not keys:
        yield required(f"{path}.{_MAP_KEYS}", "must not be empty if x-kubernetes-list-type is map")
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", text_at(items, "type"), detail)
        return
    for key in keys:
        if key not in object_at(items, "properties"):
            yield invalid(f"{path}.{_MAP_KEYS}", keys, "entries must all be names of item properties")
            continue
        found = object_at(items, "properties", key)
        field = f"{path}.items.properties[{key}]"
        if found.get("type") in ("array", "object"):
            detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{field}.type", items["type"], detail)
        if found.get("default") is None and key not in (list_at(items, "required")):
            detail = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            )
            yield required(f"{field}.default", detail)
    if len(set(keys)) != len(keys):
        yield invalid(f"{path}.{_MAP_KEYS}", keys, "must not contain duplicate entries")


def _map(schema: JSONSchema, path: str) -> Causes:
    kind = schema.get(_MAP_TYPE)
    if kind is not None and schema.get("type") != "object":
        detail = "must be object if x-kubernetes-map-type is specified"
        yield (
            invalid(f"{path}.type", schema["type"], detail) if schema.get("type") else required(f"{path}.type", detail)
        )
    if kind not in (None, "atomic", "granular"):
        yield not_supported(f"{path}.{_MAP_TYPE}", kind, ("atomic", "granular"))


# --- allOf, anyOf, oneOf, not -----------------------------------------------------------------------------------------


def _junctions(schema: JSONSchema, path: str) -> Causes:
    """Schemas in allOf, anyOf, oneOf and not may only narrow what the schema around them declares."""
    for name in ("allOf", "anyOf", "oneOf"):
        alternatives = objects_at(schema, name)
        if name == "anyOf" and alternatives == _INTEGER_OR_STRING and schema.get(INT_OR_STRING):
            continue
        for index, inner in enumerate(alternatives):
            yield from _nested(inner, f"{path}.{name}[{index}]", is_first=name == "allOf" and index == 0)
    if inner := object_at(schema, "not"):
        yield from _nested(inner, f"{path}.not")


def _nested(schema: JSONSchema, path: str, *, is_first: bool = False) -> Causes:
    for name, must_be in _NOT_IN_JUNCTIONS.items():
        if schema.get(name):
            yield forbidden(f"{path}.{name}", f"must be {must_be} to be structural")
    if "metadata" in object_at(schema, "properties"):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")
    yield from _pattern(schema, path)
    # The first schema of allOf may repeat the alternatives of x-kubernetes-int-or-string.
    alternatives = {**schema, INT_OR_STRING: True} if is_first else schema
    yield from _junctions(alternatives, path)
    for inner, field, _ in _subschemas(schema, path):
        yield from _nested(inner, field)


def field_at(schema: JSONSchema, path: str) -> JSONSchema | None:
    """Return the schema of the field at a JSON path such as `.spec.color`; None if the schema declares none."""
    for name in path.lstrip(".").split("."):
        inner = value_at(schema, "properties", name)
        if not isinstance(inner, dict):
            return None
        schema = inner
    return schema
