"""What the schema of a custom resource makes of an object: unknown fields and nulls go, defaults come.

The schema is a tree, as the definition has it: `rules.structural` has checked it, `structural_validation` says what is
wrong with an object.
"""

from __future__ import annotations

from typing import Any

from listwatch.server.codec.typed_decoding import FieldPath, StrictErrors
from listwatch.server.json_tree import Tree, copied

__all__ = ["PRESERVES_UNKNOWN", "JSONSchema", "apply_structural_defaults", "drop_nulls", "member", "prune"]

JSONSchema = dict[str, Any]

PRESERVES_UNKNOWN = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_OF_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})
_MISSING = object()


def member(schema: JSONSchema, name: str) -> tuple[bool, JSONSchema | None]:
    """Whether an object may have that member, and what it is; None for one of which nothing is known."""
    found = schema.get("properties", {}).get(name)
    if found is not None:
        return True, found
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        return True, others
    return bool(others), None


# --- Unknown fields ---------------------------------------------------------------------------------------------------


def prune(tree: dict[str, Tree], schema: JSONSchema, problems: StrictErrors | None = None) -> None:
    """Drop what the schema does not know, in place, and report it; the object's own metadata is not its business."""
    found: list[FieldPath] = []
    _prune(tree, {**schema, _EMBEDDED: True}, None, found)
    if problems is not None:
        problems.add_all_unknown(found)


def _prune(value: Tree, schema: JSONSchema | None, path: FieldPath, found: list[FieldPath]) -> None:
    if isinstance(value, dict):
        _prune_members(value, schema or {}, path, found)
    elif isinstance(value, list):
        keeps = bool(schema and schema.get(PRESERVES_UNKNOWN))
        items = schema.get("items") if schema else None
        if not keeps or items:
            for index, item in enumerate(value):
                _prune(item, items, (path, "", index), found)


def _prune_members(value: dict[str, Tree], schema: JSONSchema, path: FieldPath, found: list[FieldPath]) -> None:
    keeps, embedded = schema.get(PRESERVES_UNKNOWN), schema.get(_EMBEDDED)
    for name in list(value):
        if embedded and name in _OF_EVERY_OBJECT:
            continue
        is_known, inner = member(schema, name)
        if is_known:
            _prune(value[name], inner, (path, "", name), found)
        elif not keeps:
            found.append((path, "", name))
            del value[name]


# --- Defaults and nulls -----------------------------------------------------------------------------------------------


def default_of(schema: JSONSchema) -> Tree:
    """A copy of its default; `...` if it has none."""
    found = schema.get("default")
    return ... if found is None else copied(found)


def apply_structural_defaults(tree: Tree, schema: JSONSchema | None) -> None:
    """Fill in what is missing, in place."""
    if not schema:
        return
    if isinstance(tree, dict):
        for name, inner in schema.get("properties", {}).items():
            _fill(tree, name, tree.get(name, _MISSING), inner)
        for name, value in tree.items():
            inner = member(schema, name)[1]
            _fill(tree, name, value, inner)
            apply_structural_defaults(tree[name], inner)
    elif isinstance(tree, list) and (items := schema.get("items")):
        for index, value in enumerate(tree):
            _fill(tree, index, value, items)
            apply_structural_defaults(tree[index], items)


def _fill(container: Any, place: Any, value: Tree, schema: JSONSchema | None) -> None:
    if schema and (value is _MISSING or _is_forbidden_null(value, schema)):
        default = default_of(schema)
        if default is not ...:
            container[place] = default


def drop_nulls(tree: Tree, schema: JSONSchema | None) -> None:
    """A null that stands where none may be is as good as nothing; elements of lists cannot be left out."""
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
            drop_nulls(item, schema.get("items"))


def _is_forbidden_null(value: Tree, schema: JSONSchema) -> bool:
    return value is None and not schema.get("nullable")
