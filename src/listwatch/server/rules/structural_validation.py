"""Is a custom object as the schema of its definition wants it? What is wrong is told in the real server's words.

Rules in the Common Expression Language are not looked at: nothing here can run them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from listwatch.errors import StatusCause
from listwatch.server.crd.structural_schema import member
from listwatch.server.field_errors import duplicate, invalid, not_supported, required, too_long, too_many
from listwatch.server.json_tree import Tree, same
from listwatch.server.rules.checks import Causes, dns_subdomain, inside, parsed_cidr, parsed_ip

__all__ = ["INT_OR_STRING", "list_key", "structural_problems"]

JSONSchema = dict[str, Any]

INT_OR_STRING = "x-kubernetes-int-or-string"
_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_MISSING = object()
_INT32 = range(-(2**31), 2**31)


def structural_problems(tree: Tree, schema: JSONSchema, old: Tree = _MISSING, path: str = "") -> Causes:
    """What is wrong with a value; what an update leaves as it was is not looked at again."""
    if old is not _MISSING and same(tree, old):
        return
    if tree is None and schema.get("nullable"):
        return
    if problem := _type_problem(tree, schema, path):
        yield problem
        return
    yield from _value_problems(tree, schema, path)
    yield from _junctions(tree, schema, path)
    if isinstance(tree, dict):
        yield from _members(tree, schema, old, path)
    elif isinstance(tree, list):
        yield from _elements(tree, schema, old, path)


def _said(path: str, value: Tree, what: str) -> StatusCause:
    return invalid(path, value, f"{path} in body {what}")


def _unplaced(what: str) -> StatusCause:
    return invalid("<nil>", "", what)


def _of_type(path: str, expected: str, found: str) -> StatusCause:
    cause = _said(path, found, f'must be of type {expected}: "{found}"')
    return StatusCause("FieldValueTypeInvalid", cause.message, cause.field)


def _type_problem(value: Tree, schema: JSONSchema, path: str) -> StatusCause | None:
    expected = "integer,string" if schema.get(INT_OR_STRING) else schema.get("type", "")
    found = _TYPES[type(value)]
    if isinstance(value, float) and value.is_integer():
        found = "integer"
    if not expected or found in expected.split(",") or (expected == "number" and found == "integer"):
        return None
    return _of_type(path, expected, found)


# --- One value --------------------------------------------------------------------------------------------------------


def _value_problems(value: Tree, schema: JSONSchema, path: str) -> Causes:
    allowed = schema.get("enum")
    if allowed and not any(same(value, each) for each in allowed):
        yield not_supported(path, value, [str(each) for each in allowed])
    match value:
        case bool() | None:
            return
        case str():
            yield from _text_problems(value, schema, path)
        case int() | float():
            yield from _number_problems(value, schema, path)
        case list():
            yield from _count_problems(len(value), schema, path, "Items", "items")
        case dict():
            yield from _count_problems(len(value), schema, path, "Properties", "properties")


def _text_problems(text: str, schema: JSONSchema, path: str) -> Causes:
    maximum, minimum, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if maximum is not None and len(text) > maximum:
        yield too_long(path, maximum)
    elif minimum is not None and len(text) < minimum:
        yield _said(path, text, f"should be at least {minimum} chars long")
    elif pattern and not compiled(pattern).search(text):
        yield _said(path, text, f"should match '{pattern}'")
    format_ = _FORMATS.get(schema.get("format", "").replace("-", ""))
    if format_ and not format_(text):
        yield _of_type(path, schema["format"], text)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of Go's, which means the same here but for how the end of a text is written."""
    return re.compile(pattern.replace(r"\z", r"\Z"))


def _number_problems(number: float, schema: JSONSchema, path: str) -> Causes:
    maximum, minimum, step = schema.get("maximum"), schema.get("minimum"), schema.get("multipleOf")
    if step and (number / step) % 1:
        yield _said(path, number, f"should be a multiple of {_written(step)}")
    if maximum is not None and (number >= maximum if schema.get("exclusiveMaximum") else number > maximum):
        than = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield _said(path, number, f"should be {than} {_written(maximum)}")
    if minimum is not None and (number <= minimum if schema.get("exclusiveMinimum") else number < minimum):
        than = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield _said(path, number, f"should be {than} {_written(minimum)}")
    if schema.get("format") == "int32" and number not in _INT32:
        yield _unplaced(f"Checked value must be of type integer with format int32 in {path}")


def _written(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _count_problems(count: int, schema: JSONSchema, path: str, name: str, things: str) -> Causes:
    maximum, minimum = schema.get(f"max{name}"), schema.get(f"min{name}")
    if maximum is not None and count > maximum:
        yield too_many(path, count, maximum)
    if minimum is not None and count < minimum:
        yield _said(path, count, f"should have at least {minimum} {things}")


# --- Several schemas for one value ------------------------------------------------------------------------------------


def _junctions(value: Tree, schema: JSONSchema, path: str) -> Causes:
    yield from _any_of(value, schema.get("anyOf") or [], path)
    yield from _one_of(value, schema.get("oneOf") or [], path)
    yield from _all_of(value, schema.get("allOf") or [], path)
    unwanted = schema.get("not")
    if unwanted and not list(structural_problems(value, unwanted, path=path)):
        yield _unplaced(f'"{path}" must not validate the schema (not)')


def _tried(value: Tree, schemas: list[JSONSchema], path: str) -> list[list[StatusCause]]:
    return [list(structural_problems(value, each, path=path)) for each in schemas]


def _any_of(value: Tree, schemas: list[JSONSchema], path: str) -> Causes:
    tried = _tried(value, schemas, path)
    if tried and all(tried):
        yield _unplaced(f'"{path}" must validate at least one schema (anyOf)')
        yield from min(tried, key=len)


def _one_of(value: Tree, schemas: list[JSONSchema], path: str) -> Causes:
    tried = _tried(value, schemas, path)
    valid = sum(not problems for problems in tried)
    if not tried or valid == 1:
        return
    found = f"Found {valid} valid alternatives" if valid else "Found none valid"
    yield _unplaced(f'"{path}" must validate one and only one schema (oneOf). {found}')
    if not valid:
        yield from min(tried, key=len)


def _all_of(value: Tree, schemas: list[JSONSchema], path: str) -> Causes:
    tried = _tried(value, schemas, path)
    if not any(tried):
        return
    for problems in tried:
        yield from problems
    none = "" if not all(tried) else ". None validated"
    yield _unplaced(f'"{path}" must validate all the schemas (allOf){none}')


# --- What lies inside -------------------------------------------------------------------------------------------------


def _members(tree: dict[str, Tree], schema: JSONSchema, old: Tree, path: str) -> Causes:
    names = list(schema.get("required") or [])
    if path and schema.get("x-kubernetes-embedded-resource"):
        names += ["apiVersion", "kind"]
    yield from (required(inside(path, name)) for name in names if name not in tree)
    before = old if isinstance(old, dict) else {}
    for name, value in tree.items():
        inner = member(schema, name)[1]
        if inner:
            yield from structural_problems(value, inner, before.get(name, _MISSING), inside(path, name))


def _elements(tree: list[Tree], schema: JSONSchema, old: Tree, path: str) -> Causes:
    if items := schema.get("items"):
        before = _by_key(old, schema) if isinstance(old, list) else {}
        for index, value in enumerate(tree):
            known = before.get(list_key(value, schema), _MISSING)
            yield from structural_problems(value, items, known, f"{path}[{index}]")
    yield from _repeated(tree, schema, path)


def _by_key(old: list[Tree], schema: JSONSchema) -> dict[Any, Tree]:
    return {key: item for item in old if (key := list_key(item, schema)) is not None}


def list_key(item: Tree, schema: JSONSchema) -> Any:
    """What tells an element of a set or map from the others; None in other lists."""
    match schema.get("x-kubernetes-list-type"):
        case "map" if isinstance(item, dict):
            return tuple(_hashable(item.get(name)) for name in schema["x-kubernetes-list-map-keys"])
        case "set":
            return _hashable(item)
    return None


def _hashable(value: Tree) -> Any:
    match value:
        case dict():
            return dict, frozenset((name, _hashable(each)) for name, each in value.items())
        case list():
            return list, tuple(map(_hashable, value))
        case _:
            return type(value), value


def _repeated(tree: list[Tree], schema: JSONSchema, path: str) -> Causes:
    seen: set[Any] = set()
    for index, item in enumerate(tree):
        key = list_key(item, schema)
        if key is not None and key in seen:
            names = schema.get("x-kubernetes-list-map-keys") or []
            shown = {name: item[name] for name in names if name in item} if isinstance(item, dict) and names else item
            yield duplicate(f"{path}[{index}]", shown)
        seen.add(key)


# --- Formats ----------------------------------------------------------------------------------------------------------


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    """Whether a text can be read at all."""

    def is_readable(text: str) -> bool:
        try:
            return read(text) is not None
        except (ValueError, binascii.Error):
            return False

    return is_readable


def _fits(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _ip(version: int) -> Callable[[str], bool]:
    return lambda text: (found := parsed_ip(text)) is not None and found.version == version


_UNITS = r"(ns|us|µs|ms|s|m|h|d|w|nanos?|micros?|millis?|secs?|mins?|hours?|hrs?|days?|weeks?|wks?)"
_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "datetime": lambda text: _fits(r"\d{4}-\d\d-\d\d[Tt ].*")(text) and _reads(datetime.fromisoformat)(text),
    "date": _reads(date.fromisoformat),
    "duration": _fits(rf"-?(\d+(\.\d+)?\s*{_UNITS}\s*)+|0"),
    "byte": _reads(lambda text: base64.b64decode(text, validate=True)),
    "uuid": _fits(r"[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}"),
    "ipv4": _ip(4),
    "ipv6": _ip(6),
    "cidr": lambda text: parsed_cidr(text) is not None,
    "mac": _fits(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"),
    "email": _fits(r"[^@\s]+@[^@\s]+"),
    "uri": _fits(r"([A-Za-z][A-Za-z0-9+.-]*:|/).*"),
    "hostname": lambda text: not list(dns_subdomain(text.lower())),
}
