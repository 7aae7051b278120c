"""Merges apply configurations into live objects, and removes fields from them."""

from __future__ import annotations

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.server.apply.field_sets import (
    MISSING,
    ElementKeyError,
    FieldSet,
    MergeShape,
    element_step,
    elements_by_step,
    is_atomic,
    is_member,
    paths,
)
from listwatch.server.codec.scalars import json_type
from listwatch.server.json_tree import go_text

__all__ = ["merge", "remove_fields", "validate_applied"]

_EXPECTED: dict[str, tuple[type, ...]] = {
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "numeric": (int, float),
    "boolean": (bool,),
}


def merge(live: JSON, applied: JSON, shape: MergeShape) -> JSON:
    """Return the live value with the applied one merged into it; neither is changed."""
    if applied is None and not is_atomic(live, shape):
        return live
    if live is None or type(live) is not type(applied) or is_atomic(applied, shape):
        return applied
    if isinstance(live, dict) and isinstance(applied, dict):
        found = {
            name: merge(live[name], item, shape.member(name)) if name in live else item
            for name, item in applied.items()
        }
        return {**live, **found}
    if isinstance(live, list) and isinstance(applied, list):
        return _merge_lists(live, applied, shape)
    return applied


def _merge_lists(live: list[JSON], applied: list[JSON], shape: MergeShape) -> list[JSON]:
    """Merge in the order of the applied list; each other element stays after the one that it followed."""
    before, after = elements_by_step(live, shape), elements_by_step(applied, shape)
    left, right = list(before), list(after)
    shared = iter([step for step in right if step in before])
    next_shared = next(shared, None)
    found: JSONObject = {}
    here = there = 0

    def take(step: str) -> None:
        found[step] = merge(before[step], after[step], shape.others) if step in before else after[step]

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


def remove_fields(value: JSON, fields: FieldSet, shape: MergeShape) -> JSON:
    """Return the value without these fields; None for a list or map that is empty then."""
    if is_atomic(value, shape):
        return None if isinstance(value, dict | list) else value
    if isinstance(value, list):
        kept = [_without_field(item, element_step(item, shape), fields, shape) for item in value]
        return [item for item in kept if item is not MISSING] or None
    assert isinstance(value, dict)  # scalars are atomic
    found = {name: _without_field(item, f"f:{name}", fields, shape) for name, item in value.items()}
    return {name: item for name, item in found.items() if item is not MISSING} or None


def _without_field(item: JSON, step: str, fields: FieldSet, shape: MergeShape) -> JSON:
    found = fields.get(step)
    if found is None:
        return item
    return MISSING if is_member(found) else remove_fields(item, found, shape.child(step))


# --- Validation -------------------------------------------------------------------------------------------------------


def validate_applied(value: JSON, shape: MergeShape, path: str = "", *, allow_duplicates: bool = False) -> list[str]:
    """Return the errors of an apply configuration: wrong types, undeclared members, duplicate list elements.

    Objects of updates are allowed to have duplicate elements.
    """
    if value is None:
        return []
    # The exact type: to Python, a bool is an int.
    if shape.expects and type(value) not in _EXPECTED[shape.expects]:
        return [f"{path}: {_type_error(value, shape.expects)}"]
    if isinstance(value, dict):
        return _validate_members(value, shape, path, allow_duplicates)
    return _validate_elements(value, shape, path, allow_duplicates) if isinstance(value, list) else []


def _validate_members(value: JSONObject, shape: MergeShape, path: str, allow_duplicates: bool) -> list[str]:  # noqa: FBT001  # private
    found: list[str] = []
    for name in sorted(value):
        if name not in shape.fields and not shape.is_open:
            return [*found, f"{path}.{name}: field not declared in schema"]
        member = f"{path}.{name}"
        found += validate_applied(value[name], shape.member(name), member, allow_duplicates=allow_duplicates)
    return found


def _validate_elements(value: list[JSON], shape: MergeShape, path: str, allow_duplicates: bool) -> list[str]:  # noqa: FBT001  # private
    found: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(value):
        place = f"[{index}]"
        if shape.list_type != "atomic":
            try:
                step = element_step(item, shape)
            except ElementKeyError as error:
                return [*found, f"{path}: element {index}: {error}"]
            place = paths({step: {}})[0]
            if step in seen and not allow_duplicates:
                found.append(f"{path}: duplicate entries for key {place}")
            seen.add(step)
        found += validate_applied(item, shape.others, path + place, allow_duplicates=allow_duplicates)
    return found


def _type_error(value: JSON, expects: str) -> str:
    """Return the real server's message, which formats the value in three ways."""
    match expects:
        case "string":
            return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
        case "numeric":
            return f"expected numeric (int or float), got {json_type(value)}"
        case _:
            return f"expected {expects}, got &{{{go_text(value)}}}"


def _go_syntax(value: JSON) -> str:
    match value:
        case dict():
            members = ", ".join(f"{_go_syntax(name)}:{_go_syntax(item)}" for name, item in value.items())
            return f"map[string]interface {{}}{{{members}}}"
        case list():
            return "[]interface {}{" + ", ".join(map(_go_syntax, value)) + "}"
        case _:
            return msgspec.json.encode(value).decode()
