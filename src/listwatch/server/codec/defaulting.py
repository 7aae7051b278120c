"""Fills in what a client left to the server, as the real one does for each type: `default_values` says what.

An object is walked by the schema, and only where there is something to fill in: which way that lies is found out once
for each type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from msgspec import UNSET

from listwatch.server.codec.default_values import FUNCTIONS, VALUES
from listwatch.server.json_tree import Tree, copied
from listwatch.server.schema.schema import Schema, Shape, TypeSchema

__all__ = ["apply_defaults"]

Map = dict[str, Any]


def apply_defaults(tree: Map, schema: Schema) -> None:
    """Completes the tree in place. It has been decoded: its types are right, and its empty optional values are gone."""
    known = schema.type_of(tree.get("apiVersion", ""), tree.get("kind", ""))
    if known and (defaults := _all_defaults(schema).of_type(known.name)):
        defaults.apply(tree)


@lru_cache(maxsize=8)
def _all_defaults(schema: Schema) -> _AllDefaults:
    return _AllDefaults(schema)


class _AllDefaults:
    """The defaults of a schema's types, each found when it is first asked for."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types: dict[str, _Defaults | None] = {}

    def of_type(self, name: str) -> _Defaults | None:
        """None if nothing is ever filled in, at any depth."""
        if name not in self._types:
            self._types[name] = None  # for a type that contains itself, which adds nothing new
            defaults = _Defaults(self._schema.type(name))
            for field in self._schema.type(name).fields.values():
                if inner := self._inside(field.type):
                    defaults.inside[field.name] = inner
            self._types[name] = defaults if defaults.fills_in else None
        return self._types[name]

    def _inside(self, shape: Shape) -> Callable[[Tree], None] | None:
        match shape.type:
            case "ref":
                found = self.of_type(shape.ref)
                return found.apply if found else None
            case "list" | "map" if shape.items and (each := self._inside(shape.items)):
                return _applied_to_all(each)
        return None


class _Defaults:
    """What is filled into one type, and into what lies inside of it."""

    def __init__(self, type_: TypeSchema) -> None:
        own = {field.name: field.default for field in type_.fields.values() if field.default not in (UNSET, "", 0, {})}
        self._values = {**own, **VALUES.get(type_.name, {})}
        self._functions = tuple(FUNCTIONS.get(type_.name, ()))
        self.inside: dict[str, Callable[[Tree], None]] = {}

    @property
    def fills_in(self) -> bool:
        return bool(self._values or self._functions or self.inside)

    def apply(self, tree: Map) -> None:
        for name, value in self._values.items():
            if tree.get(name, "") == "":
                tree[name] = copied(value)
        for function in self._functions:
            function(tree)
        for name, apply in self.inside.items():
            if (inner := tree.get(name)) is not None:
                apply(inner)


def _applied_to_all(apply: Callable[[Tree], None]) -> Callable[[Tree], None]:
    def apply_to_all(trees: Tree) -> None:
        for tree in trees.values() if isinstance(trees, dict) else trees:
            apply(tree)

    return apply_to_all
