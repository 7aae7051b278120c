"""Changes objects by the expressions of a MutatingAdmissionPolicy."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from listwatch.json_value import JSON, JSONObject
from listwatch.server.admission.policies.expressions import ExpressionError
from listwatch.server.apply.field_sets import ElementKeyError, MergeShape
from listwatch.server.apply.merging import merge
from listwatch.server.cel.library.times import duration_text, timestamp_text
from listwatch.server.cel.values import Duration, StructValue, Timestamp, Value
from listwatch.server.patch.json_patch import JSONPatchError, apply_json_patch

__all__ = ["apply_configuration", "patched"]


def apply_configuration(tree: JSONObject, applied: Value, shape: MergeShape) -> JSONObject:
    """Merge the value of an expression into an object; raises ExpressionError."""
    if not isinstance(applied, StructValue) or applied.name != "Object":
        raise ExpressionError("unsupported return type from ApplyConfiguration expression: must be Object")
    _check_names(applied, "Object")
    config = _json(applied)
    assert isinstance(config, dict)
    config = {**config, "apiVersion": tree["apiVersion"], "kind": tree["kind"]}
    if atomics := [*_atomics(config, shape, "")]:
        why = f"may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
        raise ExpressionError(f"error applying patch: invalid ApplyConfiguration: {why}")
    try:
        found = merge(tree, config, shape)
    except ElementKeyError as error:
        raise ExpressionError(f"error applying patch: {error}") from None
    assert isinstance(found, dict)
    return found


def _atomics(value: JSON, shape: MergeShape, path: str) -> Iterator[str]:
    """Yield the paths of lists and maps that a merge would replace as a whole, with fields that they do not have."""
    if isinstance(value, dict):
        if shape.is_atomic:
            yield path
        for name, each in value.items():
            if name in shape.fields:
                yield from _atomics(each, shape.fields[name], f"{path}.{name}")
    elif isinstance(value, list):
        if shape.list_type == "atomic":
            yield path
        for index, each in enumerate(value):
            yield from _atomics(each, shape.others, f"{path}[{index}]")


def patched(tree: JSONObject, operations: Value) -> JSONObject:
    """Apply the operations that an expression returned; raises ExpressionError."""
    if not isinstance(operations, list):
        raise ExpressionError("type mismatch: JSONPatchType.expression should evaluate to array")
    found: list[JSONObject] = []
    for each in operations:
        if not isinstance(each, StructValue) or each.name != "JSONPatch":
            raise ExpressionError("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch")
        if isinstance(value := each.fields.get("value"), StructValue):
            _check_names(value, value.name)
        found.append({name: _json(value) for name, value in each.fields.items()})
    try:
        result = apply_json_patch(found, tree)
    except JSONPatchError as error:
        if error.is_failed_test:
            return tree  # a patch whose test fails is not applied
        raise ExpressionError(f"JSON Patch: {error}") from None
    if not isinstance(result, dict):
        raise ExpressionError("JSON Patch: the result is not an object")
    return result


def _check_names(struct: StructValue, expected: str) -> None:
    if struct.name != expected:
        why = f'unexpected type name "{struct.name}", expected "{expected}"'
        raise ExpressionError(f"type mismatch: {why}, which matches field name path from root Object type")
    for name, value in struct.fields.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, StructValue):
                _check_names(each, f"{expected}.{name}")


def _json(value: Value) -> JSON:
    match value:
        case StructValue():
            return {name: _json(each) for name, each in value.fields.items()}
        case dict():
            return {str(name): _json(each) for name, each in value.items()}
        case list():
            return [_json(each) for each in value]
        case bytes():
            return base64.b64encode(value).decode()
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case None | bool() | str() | float():
            return value
        case int():
            return int(value)
    raise ExpressionError(f"JSONPath valueExpression evaluated to a type that could not marshal to JSON: {value!r}")
