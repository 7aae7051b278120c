"""Goes through objects for server-side apply: which fields they have, how two differ, and what becomes of both.

`merge_shapes` says how values merge, `field_sets` what can be done with the sets of fields that are found here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from listwatch.server.apply.field_sets import Fields, is_in, node, paths
from listwatch.server.codec.scalars import json_type
from listwatch.server.crd.merge_shapes import MergeShape
from listwatch.server.json_tree import Tree, go_text, same

__all__ = [
    "Misfit",
    "compare",
    "fields_of",
    "fields_of_new",
    "merged",
    "problems_of_applied",
    "removed",
    "with_parents",
]

_MISSING: Any = object()
_LEAF: Fields = {}
_SCALARS = frozenset({str, int, float, bool})


class Misfit(Exception):  # noqa: N818  # a verdict that never leaves this room
    """What was applied does not fit its schema; the message is the real server's."""


# --- Elements of lists ------------------------------------------------------------------------------------------------


def _step(item: Tree, shape: MergeShape) -> str:
    """What a field set calls an element of a set or map."""
    if not shape.keys:
        if item is None or isinstance(item, dict):
            what = "an explicit null" if item is None else "a map type"
            raise Misfit(f"associative list without keys has an element that's {what}")
        return f"v:{_json(item)}"
    if not isinstance(item, dict):
        raise Misfit("associative list with keys may not have non-map elements")
    found = {key: item.get(key, shape.key_defaults.get(key)) for key in shape.keys}
    present = {key: value for key, value in found.items() if value is not None}
    if not present:
        names = " ".join(f'"{key}"' for key in shape.keys)
        why = f"has an element that omits all key fields [{names}] (and doesn't have default values for any key fields)"
        raise Misfit(f"associative list with keys {why}")
    return f"k:{_json(present)}"


def _json(value: Tree) -> str:
    return msgspec.json.encode(value).decode()


def _by_step(items: list[Tree], shape: MergeShape) -> dict[str, Tree]:
    return {_step(item, shape): item for item in items}


def _is_whole(value: Tree, shape: MergeShape) -> bool:
    """Whether a value is taken as a whole."""
    if isinstance(value, dict):
        return shape.is_atomic
    return not isinstance(value, list) or shape.list_type == "atomic"


def problems_of_applied(value: Tree, shape: MergeShape, path: str = "") -> list[str]:
    """What is wrong with what is to be applied: types, members that nobody knows, elements that come twice."""
    if value is None:
        return []
    if not _is_expected(value, shape.expects):
        return [f"{path}: {_unexpected(value, shape.expects)}"]
    if isinstance(value, dict):
        return _problems_of_members(value, shape, path)
    return _problems_of_elements(value, shape, path) if isinstance(value, list) else []


def _problems_of_members(value: dict[str, Tree], shape: MergeShape, path: str) -> list[str]:
    found: list[str] = []
    for name in sorted(value):
        if name not in shape.fields and not shape.is_open:
            return [*found, f"{path}.{name}: field not declared in schema"]
        found += problems_of_applied(value[name], shape.member(name), f"{path}.{name}")
    return found


def _problems_of_elements(value: list[Tree], shape: MergeShape, path: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        place = f"[{index}]"
        if shape.list_type != "atomic":
            try:
                step = _step(item, shape)
            except Misfit as error:
                return [*found, f"{path}: element {index}: {error}"]
            place = paths({step: {}})[0]
            if step in seen:
                found.append(f"{path}: duplicate entries for key {place}")
            seen.add(step)
        found += problems_of_applied(item, shape.others, path + place)
    return found


_EXPECTED: dict[str, tuple[type, ...]] = {
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "numeric": (int, float),
    "boolean": (bool,),
}


def _is_expected(value: Tree, expects: str) -> bool:
    # Of these, only bool is also an int to Python.
    return not expects or type(value) in _EXPECTED[expects]


def _unexpected(value: Tree, expects: str) -> str:
    """In the words of the real server, which shows what it has in three ways."""
    match expects:
        case "string":
            return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
        case "numeric":
            return f"expected numeric (int or float), got {json_type(value)}"
        case _:
            return f"expected {expects}, got &{{{go_text(value)}}}"


def _go_syntax(value: Tree) -> str:
    match value:
        case dict():
            return "map[string]interface {}{" + ", ".join(f"{_json(k)}:{_go_syntax(v)}" for k, v in value.items()) + "}"
        case list():
            return "[]interface {}{" + ", ".join(map(_go_syntax, value)) + "}"
        case _:
            return _json(value)


# --- What there is ----------------------------------------------------------------------------------------------------


def fields_of(tree: dict[str, Tree], shape: MergeShape) -> Fields:
    """The fields that somebody names who applies the tree."""
    return _fields(tree, shape) or {}


def _fields(value: Tree, shape: MergeShape) -> Fields | None:
    if value is None or _is_whole(value, shape):
        return _LEAF
    inside = {}
    if isinstance(value, list):
        for item in value:
            found = _fields(item, shape.others)
            inside[_step(item, shape)] = {".": _LEAF, **found} if found else _LEAF
        return inside or None
    for name, item in value.items():
        found = _fields(item, shape.member(name))
        if found is not None:
            # The keys of a map count themselves; the fields of a struct only if there is nothing in them.
            inside[f"f:{name}"] = {".": _LEAF, **found} if found and name not in shape.fields else found
    return inside or _LEAF


def fields_of_new(tree: dict[str, Tree], empty: dict[str, Tree], shape: MergeShape) -> Fields:
    """The same as `compare` finds new where there was nothing yet, in a fraction of the time: for what is created."""
    found = {}
    for name, value in tree.items():
        if name not in empty:
            found[f"f:{name}"] = _all_of(value, shape.member(name))
        elif isinstance(value, dict) and isinstance(empty[name], dict) and not shape.member(name).is_atomic:
            if inside := fields_of_new(value, empty[name], shape.member(name)):
                found[f"f:{name}"] = inside
        elif not same(value, empty[name]):
            # What is always there, if only as nothing, does not count itself.
            inside = _all_of(value, shape.member(name))
            found[f"f:{name}"] = {step: inside[step] for step in inside if step != "."}
    return found


def _all_of(value: Tree, shape: MergeShape) -> Fields:
    """All that is in a value, and the value itself."""
    if type(value) in _SCALARS or not value or _is_whole(value, shape):
        return _LEAF
    if isinstance(value, list):
        return {".": _LEAF, **{_step(item, shape): _all_of(item, shape.others) for item in value}}
    return {".": _LEAF, **{f"f:{name}": _all_of(item, shape.member(name)) for name, item in value.items()}}


# --- What differs -----------------------------------------------------------------------------------------------------


def compare(old: dict[str, Tree], new: dict[str, Tree], shape: MergeShape) -> tuple[Fields, Fields]:
    """What is new or otherwise in the new tree, and what is only in the old one."""
    changed, gone = _compare(old, new, shape)
    return changed or {}, gone or {}


def _compare(old: Tree, new: Tree, shape: MergeShape) -> tuple[Fields | None, Fields | None]:
    parts = None if type(new) in _SCALARS else _parts(old, new, shape)
    if parts is None:
        return _compare_whole(old, new)
    before, after, of = parts
    changed, gone = {}, {}
    for step, value in after.items():
        more, less = _compare(before.get(step, _MISSING), value, of(step))
        if more is not None:
            changed[step] = more
        if less is not None:
            gone[step] = less
    for step in before.keys() - after.keys():
        gone[step] = _compare(before[step], _MISSING, of(step))[1] or _LEAF
    return node(changed, is_member=old is _MISSING), node(gone, is_member=new is _MISSING)


def _compare_whole(old: Tree, new: Tree) -> tuple[Fields | None, Fields | None]:
    if new is _MISSING:
        return None, _LEAF
    if old is _MISSING or not same(old, new):
        return _LEAF, None
    return None, None


def _parts(old: Tree, new: Tree, shape: MergeShape) -> tuple[dict[str, Tree], dict[str, Tree], Any] | None:
    """The parts by which two values are compared; None if they are compared as a whole, or are both empty."""
    values = [value for value in (old, new) if value is not _MISSING and value is not None]
    if not any(values) or any(_is_whole(value, shape) for value in values):
        return None
    if all(isinstance(value, dict) for value in values):
        return _members(old), _members(new), shape.inside
    if all(isinstance(value, list) for value in values):
        before, after = (_by_step(value, shape) if isinstance(value, list) else {} for value in (old, new))
        return before, after, shape.inside
    return None


def _members(value: Tree) -> dict[str, Tree]:
    return {f"f:{name}": item for name, item in value.items()} if isinstance(value, dict) else {}


# --- What becomes of both ---------------------------------------------------------------------------------------------


def merged(live: Tree, applied: Tree, shape: MergeShape) -> Tree:
    """The live value with what was applied put into it; neither is changed."""
    if applied is None and not _is_whole(live, shape):
        return live
    if live is None or type(live) is not type(applied) or _is_whole(applied, shape):
        return applied
    if isinstance(applied, dict):
        found = {
            name: merged(live[name], item, shape.member(name)) if name in live else item
            for name, item in applied.items()
        }
        return {**live, **found}
    return _merged_list(live, applied, shape)


def _merged_list(live: list[Tree], applied: list[Tree], shape: MergeShape) -> list[Tree]:
    """In the order of what was applied; other elements stay behind those that they stood behind."""
    before, after = _by_step(live, shape), _by_step(applied, shape)
    left, right = list(before), list(after)
    shared = iter([step for step in right if step in before])
    next_shared = next(shared, None)
    found: dict[str, Tree] = {}
    here = there = 0

    def take(step: str) -> None:
        found[step] = merged(before[step], after[step], shape.others) if step in before else after[step]

    while here < len(left) or there < len(right):
        if here < len(left):
            step = left[here]
            if there < len(right) and step == right[there]:
                take(step)
                here, there, next_shared = here + 1, there + 1, next(shared, None)
                continue
            if there < len(right) and step in after and next_shared not in (None, step):
                here += 1
                continue
            if step not in after:
                found[step] = before[step]
                here += 1
                continue
            if step in found:
                here += 1
        if there < len(right):
            step = right[there]
            take(step)
            there += 1
            if step == next_shared:
                next_shared = next(shared, None)
    return list(found.values())


def removed(value: Tree, fields: Fields, shape: MergeShape) -> Tree:
    """The value without these fields; a list or map of which nothing is left is None."""
    if _is_whole(value, shape):
        return None if isinstance(value, dict | list) else value
    if isinstance(value, list):
        kept = [_kept(item, _step(item, shape), fields, shape) for item in value]
        return [item for item in kept if item is not _MISSING] or None
    found = {name: _kept(item, f"f:{name}", fields, shape) for name, item in value.items()}
    return {name: item for name, item in found.items() if item is not _MISSING} or None


def _kept(item: Tree, step: str, fields: Fields, shape: MergeShape) -> Tree:
    found = fields.get(step)
    if found is None:
        return item
    return _MISSING if is_in(found) else removed(item, found, shape.inside(step))


def with_parents(fields: Fields, shape: MergeShape) -> Fields:
    """The same set, and with each field the named ones that it is in."""
    found = {}
    for step, inner in fields.items():
        if step == ".":
            found[step] = inner
            continue
        deeper = with_parents(inner, shape.inside(step))
        is_named = step.startswith("f:") and step[2:] in shape.fields
        found[step] = {".": _LEAF, **deeper} if deeper and is_named else deeper
    return found
