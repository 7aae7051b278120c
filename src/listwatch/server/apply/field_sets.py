"""Sets of fields, in the form in which managedFields tells them, and what can be done with them.

    {"f:spec": {"f:containers": {"k:{\\"name\\":\\"web\\"}": {".": {}, "f:image": {}}}}}

Names of members begin with `f:`, the keys of a list's elements with `k:`, the elements of a set with `v:`. A node is in
the set if it is empty or has a dot; else only some of what lies inside of it is. The root is never in the set.
`apply_walks` makes them of objects.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Fields", "difference", "intersection", "is_in", "node", "paths", "union"]

Fields = dict[str, Any]

_DOT: Fields = {}


def is_in(fields: Fields) -> bool:
    """Whether a node itself is in the set."""
    return not fields or "." in fields


def node(inside: Fields, *, is_member: bool) -> Fields | None:
    """A node of what lies inside of it; None if there is nothing in it, and it is not in the set either."""
    if not inside:
        return {} if is_member else None
    return {".": _DOT, **inside} if is_member else inside


def union(left: Fields, right: Fields) -> Fields:
    return _root(_union(left, right))


def difference(left: Fields, right: Fields) -> Fields:
    """What is in the left one only."""
    return _root(_difference(left, right))


def intersection(left: Fields, right: Fields) -> Fields:
    return _root(_intersection(left, right))


def _root(fields: Fields | None) -> Fields:
    return {name: inner for name, inner in (fields or {}).items() if name != "."}


def _union(left: Fields, right: Fields) -> Fields | None:
    inside = {name: inner for name, inner in left.items() if name != "."}
    for name, inner in right.items():
        if name != ".":
            inside[name] = _union(inside[name], inner) if name in inside else inner
    return node(inside, is_member=is_in(left) or is_in(right))


def _difference(left: Fields, right: Fields) -> Fields | None:
    inside = {}
    for name, inner in left.items():
        if name == ".":
            continue
        left_over = _difference(inner, right[name]) if name in right else inner
        if left_over is not None:
            inside[name] = left_over
    return node(inside, is_member=is_in(left) and not is_in(right))


def _intersection(left: Fields, right: Fields) -> Fields | None:
    inside = {}
    for name, inner in left.items():
        if name != "." and name in right:
            shared = _intersection(inner, right[name])
            if shared is not None:
                inside[name] = shared
    return node(inside, is_member=is_in(left) and is_in(right))


# --- As texts ---------------------------------------------------------------------------------------------------------


def paths(fields: Fields, path: str = "") -> list[str]:
    """Every path in the set, in order: `.spec.containers[name="web"].image`."""
    found = [path] if path and is_in(fields) else []
    for name in sorted(name for name in fields if name != "."):
        found += paths(fields[name], path + _step(name))
    return found


def _step(name: str) -> str:
    kind, _, rest = name.partition(":")
    match kind:
        case "k":
            keys = msgspec.json.decode(rest)
            return "[" + ",".join(f"{key}={msgspec.json.encode(keys[key]).decode()}" for key in sorted(keys)) + "]"
        case "v":
            return f"[={rest}]"
        case "i":
            return f"[{rest}]"
        case _:
            return f".{rest}"
