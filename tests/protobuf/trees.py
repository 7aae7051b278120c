"""Random JSON trees of any message, and what they mean."""

import base64
from functools import cache
from typing import Any

from hypothesis import strategies as st

from listwatch.protobuf.schema import FieldSchema, read_message

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
TIMES = st.integers(-(10**9), 10**10)
INT32 = st.integers(-(2**31), 2**31 - 1)
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "s": TEXTS,
    "b": st.booleans(),
    "i": INT32,
    "l": st.integers(-(2**63), 2**63 - 1),
    "d": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53),
    "y": st.binary(max_size=12).map(lambda data: base64.b64encode(data).decode()),
}
SCHEMA = "apiextensions_v1.JSONSchemaProps"


def timestamp(seconds: int, microseconds: int | None = None) -> str:
    from datetime import UTC, datetime, timedelta

    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=microseconds or 0)
    precision = "seconds" if microseconds is None else "microseconds"
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def special(name: str, depth: int) -> st.SearchStrategy[Any] | None:
    match name:
        case "api_resource.Quantity":
            return st.sampled_from(["0", "500m", "1Gi", "12e6", "-3"])
        case "meta_v1.Time":
            return TIMES.map(timestamp)
        case "meta_v1.MicroTime":
            return st.builds(timestamp, TIMES, st.integers(0, 999_999))
        case "util_intstr.IntOrString":
            return INT32 | TEXTS
        case "meta_v1.FieldsV1" | "pkg_runtime.RawExtension" | "apiextensions_v1.JSON":
            return JSON_VALUES.filter(lambda value: value is not None)
        case "apiextensions_v1.JSONSchemaPropsOrArray":
            return trees(SCHEMA, depth + 1) | st.lists(trees(SCHEMA, depth + 1), min_size=1, max_size=2)
        case "apiextensions_v1.JSONSchemaPropsOrBool":
            return trees(SCHEMA, depth + 1) | st.booleans()
        case "apiextensions_v1.JSONSchemaPropsOrStringArray":
            return trees(SCHEMA, depth + 1) | st.lists(TEXTS, min_size=1, max_size=2)
    return None


@cache
def trees(name: str, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a message: some of its fields, fewer the deeper it is."""
    if (found := special(name, depth)) is not None:
        return found
    schema = read_message(name)
    if schema.is_list:
        return st.lists(TEXTS, max_size=2)
    return st.composite(draw_tree)(schema.fields, depth)


def draw_tree(draw: st.DrawFn, fields: tuple[FieldSchema, ...], depth: int) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    inlined = [field for field in fields if not field.json_name]
    named = [field for field in fields if field.json_name and (depth < 5 or not field.message)]
    most = max(1, 4 - depth)
    chosen = draw(st.lists(st.sampled_from(named), max_size=most, unique=True)) if named else []
    if depth == 0:
        chosen += [field for field in named if field.json_name in ("spec", "status", "items") and field not in chosen]
    for field in inlined:
        tree |= draw(trees(field.message, depth + 1))
    for field in chosen:
        value = trees(field.message, depth + 1) if field.message else SCALARS[field.scalar]
        if field.container == "{":
            value = st.dictionaries(TEXTS, value, max_size=2)
        elif field.container:
            value = st.lists(value, max_size=2)
        tree[field.json_name] = draw(value)
    return tree


def meaning(tree: Any, name: str) -> Any:
    """A tree without what means the same as no value: zero values except of pointers, empty lists and empty maps."""
    if name == SCHEMA or (special(name, 9) is None and not read_message(name).is_list):
        found: dict[str, Any] = {}
        for field in _all_fields(name):
            value = tree.get(field.json_name)
            if field.container == "{":
                value = {key: _item(item, field) for key, item in (value or {}).items()} or None
            elif field.container:
                value = [_item(item, field) for item in value or []] or None
            elif field.message and not field.is_pointer:
                value = _item({} if value is None and _is_plain(field.message) else value, field)
            elif value is not None:
                value = _item(value, field)
            if value is None or (not field.message and not field.is_pointer and not field.container and not value):
                continue
            found[field.json_name] = value
        return found
    match tree:
        case dict() if "Or" in name and "JSONSchemaProps" in name:
            return meaning(tree, SCHEMA)
        case list() if name.endswith("JSONSchemaPropsOrArray"):
            return [meaning(item, SCHEMA) for item in tree]
        case None if name == "api_resource.Quantity":
            return "0"
        case None if name == "util_intstr.IntOrString":
            return 0
        case [] if name.endswith((".Verbs", ".ExtraValue")):
            return None
    return tree


def _is_plain(name: str) -> bool:
    return special(name, 9) is None and not read_message(name).is_list


def _item(value: Any, field: FieldSchema) -> Any:
    return meaning(value, field.message) if field.message else value


def _all_fields(name: str) -> list[FieldSchema]:
    fields = []
    for field in read_message(name).fields:
        fields += [field] if field.json_name else _all_fields(field.message)
    return fields
