"""The rules for the schemas of custom resources: only where they are structural can an object be pruned and merged.

`structural_schema` and `structural_validation` use such schemas; `definitions` has the rules for what is around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from listwatch.server.field_errors import forbidden, invalid, not_supported, required
from listwatch.server.rules.checks import Causes
from listwatch.server.rules.structural_validation import INT_OR_STRING, compiled, structural_problems

__all__ = ["field_at", "schema_rules"]

JSONSchema = dict[str, Any]

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
_EITHER = [{"type": "integer"}, {"type": "string"}]


def schema_rules(schema: JSONSchema, path: str) -> Causes:
    """What is wrong with the schema of a whole object."""
    if schema.get("additionalProperties"):
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if schema.get("type", "object") != "object":
        yield invalid(f"{path}.type", schema["type"], "must be object at the root")
    yield from _metadata(schema, path)
    yield from _rules(schema, path, "at the root")


def _metadata(schema: JSONSchema, path: str) -> Causes:
    metadata = schema.get("properties", {}).get("metadata")
    if metadata is None:
        return
    place = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        yield invalid(f"{place}.type", metadata.get("type", ""), "must be object")
    more = metadata.keys() - {"type", "properties", "description"}
    if more or metadata.get("properties", {}).keys() - {"name", "generateName"}:
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield forbidden(place, why)


def _rules(schema: JSONSchema, path: str, where: str) -> Causes:
    yield from _type(schema, path, where)
    yield from _not_supported(schema, path)
    yield from _list(schema, path)
    yield from _map(schema, path)
    yield from _default(schema, path)
    yield from _junctions(schema, path)
    for inner, place, inner_where in _inside(schema, path):
        yield from _rules(inner, place, inner_where)


def _inside(schema: JSONSchema, path: str) -> Iterator[tuple[JSONSchema, str, str]]:
    for name, inner in schema.get("properties", {}).items():
        yield inner, f"{path}.properties[{name}]", "for specified object fields"
    if isinstance(inner := schema.get("items"), dict):
        yield inner, f"{path}.items", "for specified array items"
    if isinstance(inner := schema.get("additionalProperties"), dict):
        yield inner, f"{path}.additionalProperties", "for specified object fields"


def _type(schema: JSONSchema, path: str, where: str) -> Causes:
    found = schema.get("type", "")
    if found and found not in _TYPES:
        yield not_supported(f"{path}.type", found, _TYPES)
    if found == "array" and not schema.get("items"):
        yield required(f"{path}.items", "must be specified")
    if schema.get(_EMBEDDED):
        yield from _embedded(schema, path)
    elif not found and not schema.get(INT_OR_STRING) and not schema.get(_PRESERVES):
        yield required(f"{path}.type", f"must not be empty {where}")
    if schema.get(INT_OR_STRING):
        for name in (_PRESERVES, _EMBEDDED):
            if schema.get(name):
                yield invalid(f"{path}.{name}", True, "must be false if x-kubernetes-int-or-string is true")
    if schema.get(_PRESERVES) is False:
        yield invalid(f"{path}.{_PRESERVES}", False, "must be true or undefined")


def _embedded(schema: JSONSchema, path: str) -> Causes:
    why = "must be object if x-kubernetes-embedded-resource is true"
    if not schema.get("type"):
        yield required(f"{path}.type", why)
    elif schema["type"] != "object":
        yield invalid(f"{path}.type", schema["type"], why)
    if not schema.get(_PRESERVES) and not schema.get("properties"):
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        yield required(f"{path}.properties", why)
    if schema.get("additionalProperties"):
        why = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", why)


def _not_supported(schema: JSONSchema, path: str) -> Causes:
    for name in _NOT_SUPPORTED:
        if schema.get(name):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", why)
    if isinstance(schema.get("additionalProperties"), dict) and schema.get("properties"):
        why = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", why)
    yield from _pattern(schema, path)


def _pattern(schema: JSONSchema, path: str) -> Causes:
    pattern = schema.get("pattern", "")
    try:
        compiled(pattern)
    except re.error as error:
        why = f"must be a valid regular expression, but isn't: error parsing regexp: {error}"
        yield invalid(f"{path}.pattern", pattern, why)


def _default(schema: JSONSchema, path: str) -> Causes:
    default = schema.get("default")
    if default is None:
        return
    for cause in structural_problems(default, schema):
        inner = cause.field.removeprefix("<nil>")
        yield type(cause)(cause.reason, cause.message, f"{path}.default{'.' if inner else ''}{inner}")


# --- Lists and maps ---------------------------------------------------------------------------------------------------


def _list(schema: JSONSchema, path: str) -> Causes:
    kind, keys, items = schema.get(_LIST_TYPE), schema.get(_MAP_KEYS) or [], schema.get("items") or {}
    if kind is not None and schema.get("type") != "array":
        why = "must be array if x-kubernetes-list-type is specified"
        yield invalid(f"{path}.type", schema["type"], why) if schema.get("type") else required(f"{path}.type", why)
    elif kind == "set" and items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        why = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield invalid(f"{path}.items.{_MAP_TYPE}", None, why)
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.{_LIST_TYPE}", kind, ("atomic", "set", "map"))
    if keys and kind != "map":
        why = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield invalid(f"{path}.{_LIST_TYPE}", kind, why) if kind else required(f"{path}.{_LIST_TYPE}", why)
    if kind == "map":
        yield from _map_list(keys, items, path)


def _map_list(keys: list[str], items: JSONSchema, path: str) -> Causes:
    if not keys:
        yield required(f"{path}.{_MAP_KEYS}", "must not be empty if x-kubernetes-list-type is map")
    if items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), why)
        return
    for key in keys:
        found = items.get("properties", {}).get(key)
        if found is None:
            yield invalid(f"{path}.{_MAP_KEYS}", keys, "entries must all be names of item properties")
            continue
        place = f"{path}.items.properties[{key}]"
        if found.get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{place}.type", items["type"], why)
        if found.get("default") is None and key not in (items.get("required") or ()):
            why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            yield required(f"{place}.default", why)
    if len(set(keys)) != len(keys):
        yield invalid(f"{path}.{_MAP_KEYS}", keys, "must not contain duplicate entries")


def _map(schema: JSONSchema, path: str) -> Causes:
    kind = schema.get(_MAP_TYPE)
    if kind is not None and schema.get("type") != "object":
        why = "must be object if x-kubernetes-map-type is specified"
        yield invalid(f"{path}.type", schema["type"], why) if schema.get("type") else required(f"{path}.type", why)
    if kind not in (None, "atomic", "granular"):
        yield not_supported(f"{path}.{_MAP_TYPE}", kind, ("atomic", "granular"))


# --- allOf, anyOf, oneOf, not -----------------------------------------------------------------------------------------


def _junctions(schema: JSONSchema, path: str) -> Causes:
    """What is said of a value in a junction may only narrow what is said outside of it."""
    for name in ("allOf", "anyOf", "oneOf"):
        alternatives = schema.get(name) or []
        if name == "anyOf" and alternatives == _EITHER and schema.get(INT_OR_STRING):
            continue
        for index, inner in enumerate(alternatives):
            yield from _nested(inner, f"{path}.{name}[{index}]", is_first=name == "allOf" and index == 0)
    if inner := schema.get("not"):
        yield from _nested(inner, f"{path}.not")


def _nested(schema: JSONSchema, path: str, *, is_first: bool = False) -> Causes:
    for name, must_be in _NOT_IN_JUNCTIONS.items():
        if schema.get(name):
            yield forbidden(f"{path}.{name}", f"must be {must_be} to be structural")
    if "metadata" in schema.get("properties", {}):
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")
    yield from _pattern(schema, path)
    # An integer or a string may say so in the first of its junctions.
    alternatives = {**schema, INT_OR_STRING: True} if is_first else schema
    yield from _junctions(alternatives, path)
    for inner, place, _ in _inside(schema, path):
        yield from _nested(inner, place)


def field_at(schema: JSONSchema, path: str) -> JSONSchema | None:
    """The schema of what is at a place of member names, as `.spec.color`; None if it knows of none."""
    for name in path.lstrip(".").split("."):
        inner = schema.get("properties", {}).get(name)
        if inner is None:
            return None
        schema = inner
    return schema
