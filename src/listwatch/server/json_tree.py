"""Plain JSON in Python's own types: copying, comparing, and naming it as the API server does in its answers.

`patching`, `validation` and their neighbours work on these trees; none of them holds on to one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Tree = Any
"""dict, list, str, int, float, bool and None, under wire names."""

_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    type(None): "%!s(<nil>)",
}


def copied(tree: Tree) -> Tree:
    """The same again, sharing nothing that can change."""
    match tree:
        case dict():
            return {name: copied(value) for name, value in tree.items()}
        case list():
            return [copied(item) for item in tree]
        case _:
            return tree


def same(left: Tree, right: Tree) -> bool:
    """Equal as JSON: unlike for Python, 1 is neither 1.0 nor true."""
    if type(left) is not type(right):
        return False
    match left:
        case dict():
            return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
        case list():
            return len(left) == len(right) and all(map(same, left, right))
        case _:
            return bool(left == right)


def child(tree: Tree, *names: str) -> Tree:
    """What lies at a path of member names; None if it ends early."""
    for name in names:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(name)
    return tree


def children(tree: Tree, *names: str) -> Iterator[Tree]:
    """The objects of the list that lies at a path of member names; nothing if there is none."""
    found = child(tree, *names)
    return (item for item in found if isinstance(item, dict)) if isinstance(found, list) else iter(())


def go_type(value: Tree) -> str:
    """What Go calls the type of a value in untyped JSON."""
    return _GO_TYPES.get(type(value), "interface {}")


def go_text(value: Tree) -> str:
    """A value as Go prints it by default: `map[name:web ports:[80 443]]`."""
    match value:
        case dict():
            return "map[" + " ".join(f"{name}:{go_text(value[name])}" for name in sorted(value)) + "]"
        case list():
            return "[" + " ".join(map(go_text, value)) + "]"
        case bool() | None:
            return {True: "true", False: "false", None: "<nil>"}[value]
        case _:
            return str(value)


def quoted(text: str) -> str:
    """A text in double quotes."""
    return json.dumps(text, ensure_ascii=False)
