"""Normalizes custom objects by their structural schema: prunes unknown fields, fills in defaults, drops nulls.

The schema is the JSON tree of the definition. `rules.definition_schemas` validates schemas, and `rules.custom_objects`
validates objects.
"""

from __future__ import annotations

from listwatch.json_value import JSON, JSONObject
from listwatch.server.codec.typed_decoding import FieldPath, StrictErrors
from listwatch.server.json_tree import copied, object_at

__all__ = ["PRESERVES_UNKNOWN", "JSONSchema", "apply_structural_defaults", "drop_nulls", "member", "prune"]

JSONSchema = JSONObject

PRESERVES_UNKNOWN = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_MAX_REPORTED = 1000
_OBJECT_MEMBERS = frozenset({"apiVersion", "kind", "metadata"})


def member(schema: JSONSchema, name: str) -> tuple[bool, JSONSchema | None]:
    """Return whether an object may have a member, and the member's schema, if it has one."""
    found = object_at(schema, "properties").get(name)
    if isinstance(found, dict):
        return True, found
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        return True, others
    return bool(others), None


# --- Unknown fields ---------------------------------------------------------------------------------------------------


def prune(tree: JSONObject, schema: JSONSchema, errors: StrictErrors | None = None) -> None:
    """Drop fields that the schema does not declare, in place, and report them; metadata is never pruned."""
    found: list[FieldPath] = []
    _prune(tree, {**schema, _EMBEDDED: True}, None, found)
    if errors is not None:
        errors.add_all_unknown(found)


def _prune(value: JSON, schema: JSONSchema | None, path: FieldPath, found: list[FieldPath]) -> None:
    if isinstance(value, dict):
        _prune_members(value, schema or {}, path, found)
    elif isinstance(value, list):
        keeps = bool(schema and schema.get(PRESERVES_UNKNOWN))
        items = object_at(schema, "items")
        if not keeps or items:
            for index, item in enumerate(value):
                _prune(item, items, (path, "", index), found)


def _prune_members(value: JSONObject, schema: JSONSchema, path: FieldPath, found: list[FieldPath]) -> None:
    keeps, embedded = schema.get(PRESERVES_UNKNOWN), schema.get(_EMBEDDED)
    for name in list(value):
        if embedded and name in _OBJECT_MEMBERS:
            continue
        is_known, inner = member(schema, name)
        if is_known:
            _prune(value[name], inner, (path, "", name), found)
        elif not keeps:
            if len(found) < _MAX_REPORTED:
                found.append((path, "", name))
            del value[name]


# --- Defaults and nulls -----------------------------------------------------------------------------------------------


def apply_structural_defaults(tree: JSON, schema: JSONSchema | None) -> None:
    """Fill in defaults, in place."""
    if not schema:
        return
    if isinstance(tree, dict):
        for name, inner in object_at(schema, "properties").items():
            if name not in tree and isinstance(inner, dict) and inner.get("default") is not None:
                tree[name] = copied(inner["default"])
        for name, value in tree.items():
            known = member(schema, name)[1]
            tree[name] = _replace_null(value, known)
            apply_structural_defaults(tree[name], known)
    elif isinstance(tree, list) and (items := object_at(schema, "items")):
        for index, value in enumerate(tree):
            tree[index] = _replace_null(value, items)
            apply_structural_defaults(tree[index], items)


def _replace_null(value: JSON, schema: JSONSchema | None) -> JSON:
    """Return the default in place of a null that is not allowed."""
    return copied(schema.get("default")) if schema and _is_forbidden_null(value, schema) else value


def drop_nulls(tree: JSON, schema: JSONSchema | None) -> None:
    """Drop members that are null but not nullable, in place; list elements are kept."""
    if not schema:
        return
    if isinstance(tree, dict):
        for name in list(tree):
            inner = member(schema, name)[1]
            if inner and _is_forbidden_null(tree[name], inner):
                del tree[name]
            else:
                drop_nulls(tree[name], inner)
    elif isinstance(tree, list):
        for item in tree:
            drop_nulls(item, object_at(schema, "items"))


def _is_forbidden_null(value: JSON, schema: JSONSchema) -> bool:
    return value is None and not schema.get("nullable")
