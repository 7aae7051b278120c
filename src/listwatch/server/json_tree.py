"""Reads, copies and compares JSON values, and formats them as Go does in the messages of a Kubernetes API server.

The `…_at` functions follow a path of member names. If the path ends early or the value has another type, they return
the zero value of the requested type. An empty object or list returned that way is not part of the tree: use
`ensure_object` to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

from listwatch.json_value import JSON, JSONObject

T = TypeVar("T")

MAX_DEPTH = 250
"""The deepest nesting of an object. Recursive functions use up to three of Python's thousand frames for each level."""

_GO_TYPES = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    int: "int64",
    float: "float64",
    bool: "bool",
    type(None): "%!s(<nil>)",
}


def value_at(tree: JSON, *names: str) -> JSON:
    """Return the value at a path of member names; None if the path ends early."""
    for name in names:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(name)
    return tree


def object_at(tree: JSON, *names: str) -> JSONObject:
    """Return the object at a path; an empty one if there is none."""
    # Not with value_at, and so is text_at: a write calls them dozens of times.
    for name in names:
        if not isinstance(tree, dict):
            return {}
        tree = tree.get(name)
    return tree if isinstance(tree, dict) else {}


def list_at(tree: JSON, *names: str) -> list[JSON]:
    """Return the list at a path; an empty one if there is none."""
    found = value_at(tree, *names)
    return found if isinstance(found, list) else []


def objects_at(tree: JSON, *names: str) -> list[JSONObject]:
    """Return the objects in the list at a path, without its other elements."""
    found = value_at(tree, *names)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text_at(tree: JSON, *names: str) -> str:
    """Return the string at a path; an empty one if there is none."""
    for name in names:
        if not isinstance(tree, dict):
            return ""
        tree = tree.get(name)
    return tree if isinstance(tree, str) else ""


def texts_at(tree: JSON, *names: str) -> list[str]:
    """Return the strings in the list at a path, without its other elements."""
    found = value_at(tree, *names)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def integer_at(tree: JSON, *names: str, default: int = 0) -> int:
    """Return the integer at a path, or the default if there is none."""
    found = value_at(tree, *names)
    return found if type(found) is int else default


def flag_at(tree: JSON, *names: str) -> bool:
    """Return whether the value at a path is true."""
    return value_at(tree, *names) is True


def ensure_object(tree: JSONObject, *names: str) -> JSONObject:
    """Return the object at a path for writing; parts of the path that are not objects become empty objects."""
    for name in names:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {}
        tree = inner
    return tree


def copied(tree: T) -> T:
    """Return a deep copy."""
    found: Any = tree  # mypy does not see that the type stays the same in each branch
    if isinstance(tree, dict):
        found = {name: value if type(value) is str else copied(value) for name, value in tree.items()}
    elif isinstance(tree, list):
        found = [copied(item) for item in tree]
    return found  # type: ignore[no-any-return]  # see above


def is_too_deep(tree: JSON) -> bool:
    """Whether a tree has more than `MAX_DEPTH` levels, found without recursion."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def same(left: JSON, right: JSON) -> bool:
    """Whether two values are equal as JSON: unlike in Python, 1 equals neither 1.0 nor true."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def go_type(value: JSON) -> str:
    """Return Go's name for the type of a value in untyped JSON."""
    return _GO_TYPES.get(type(value), "interface {}")


def go_text(value: JSON) -> str:
    """Format a value with Go's default verb: `map[name:web ports:[80 443]]`."""
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
    """Return the text in double quotes, escaped as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def go_quoted_list(texts: Iterable[str]) -> str:
    """Format strings as Go's verb %q does: `["get" "list"]`."""
    return "[" + " ".join(map(quoted, texts)) + "]"
