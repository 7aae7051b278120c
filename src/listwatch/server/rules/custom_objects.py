"""Validates custom objects against the schema of their definition, with the messages of the real server.

Validation rules in the Common Expression Language are in `custom_rules`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import Literal

from listwatch.errors import RequestEntityTooLargeError, StatusCause
from listwatch.json_value import JSON, JSONObject
from listwatch.server.crd.definitions import ScalePaths
from listwatch.server.crd.structural_schema import JSONSchema, member
from listwatch.server.field_errors import duplicate, invalid, not_supported, required, too_long, too_many
from listwatch.server.json_tree import go_text, go_type, list_at, object_at, objects_at, same, text_at, texts_at
from listwatch.server.regexp.matching import Regexp, TooMuchWorkError
from listwatch.server.regexp.parsing import RegexpSyntaxError, parse
from listwatch.server.rules.checks import Causes, dns_subdomain, field_path, parsed_cidr, parsed_ip

__all__ = [
    "INT_OR_STRING",
    "Effort",
    "duplicate_problems",
    "kind_problems",
    "list_key",
    "scale_problems",
    "structural_problems",
]

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
_SCALARS: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}
_CONSTRAINTS = frozenset(
    {
        *("enum", "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "multipleOf"),
        *("allOf", "anyOf", "oneOf", "not", INT_OR_STRING),
    }
)
# They take several seconds.
_MAX_STEPS = 200_000
_CHARACTERS_PER_STEP = 50
_THREADS_PER_STEP = 5
# The longest part of a path in a message; the path repeats the names of all parents.
_MAX_NAME = 1000
_INT32 = range(-(2**31), 2**31)


class _Missing(Enum):
    """The old value of a field that an update adds. Not None, which is a valid value."""

    MISSING = 0


_MISSING = _Missing.MISSING


class Effort:
    """The steps that the validation of one object may take; a schema can multiply the work by its own size."""

    def __init__(self, steps: int = _MAX_STEPS) -> None:
        self._steps_left = steps

    def spend(self, steps: int) -> None:
        """Raises RequestEntityTooLargeError when there are no steps left."""
        self._steps_left -= steps
        if self._steps_left < 0:
            raise _too_costly()


def _too_costly() -> RequestEntityTooLargeError:
    return RequestEntityTooLargeError(
        "Request entity too large: the embedded server stopped the validation of this object by the schema of its "
        "definition, because it takes too many steps; use a smaller object, or a simpler schema or pattern"
    )


def structural_problems(
    tree: JSON,
    schema: JSONSchema,
    old: JSON | Literal[_Missing.MISSING] = _MISSING,
    path: str = "",
    effort: Effort | None = None,
) -> Causes:
    """Return what the schema rejects in a value. Parts that an update does not change are not validated again."""
    effort = effort or Effort()
    effort.spend(1)
    if old is not _MISSING and same(tree, old):
        return
    if tree is None and schema.get("nullable"):
        return
    if problem := _type_problem(tree, schema, path):
        yield problem
        return
    yield from _value_problems(tree, schema, path, effort)
    yield from _junctions(tree, schema, path, effort)
    if isinstance(tree, dict):
        yield from _members(tree, schema, old, path, effort)
    elif isinstance(tree, list):
        yield from _elements(tree, schema, old, path, effort)


def kind_problems(tree: JSONObject, kind: str) -> Causes:
    """Return the problem of an object of another kind."""
    if (found := text_at(tree, "kind")) != kind:
        yield invalid("kind", found, f"must be {kind}")


def duplicate_problems(tree: JSONObject, schema: JSONSchema, old: JSONObject | None = None) -> Causes:
    """Return duplicates in lists of type set or map. An object that had some before an update may have others."""
    if old is None or not any(_all_duplicates(old, schema, "")):
        yield from _all_duplicates(tree, schema, "")


def _all_duplicates(tree: JSON, schema: JSONSchema, path: str) -> Causes:
    if isinstance(tree, dict):
        declared = object_at(schema, "properties")
        for name, value in tree.items():
            if inner := member(schema, name)[1]:
                shown = name[:_MAX_NAME]
                yield from _all_duplicates(
                    value, inner, field_path(path, shown) if name in declared else f"{path}[{shown}]"
                )
    elif isinstance(tree, list):
        yield from _duplicates(tree, schema, path)
        if items := object_at(schema, "items"):
            for index, value in enumerate(tree):
                yield from _all_duplicates(value, items, f"{path}[{index}]")


def _duplicates(tree: list[JSON], schema: JSONSchema, path: str) -> Causes:
    """Return the second of each group of equal elements."""
    times: dict[Hashable, int] = {}
    for index, item in enumerate(tree):
        if (key := list_key(item, schema)) is None:
            continue
        times[key] = times.get(key, 0) + 1
        if times[key] == 2:
            names = texts_at(schema, "x-kubernetes-list-map-keys")
            shown = {name: item[name] for name in names if name in item} if isinstance(item, dict) and names else item
            yield duplicate(f"{path}[{index}]", shown)


def _in_body(path: str, value: JSON, problem: str) -> StatusCause:
    return invalid(path, value, f"{path} in body {problem}")


def _without_path(detail: str) -> StatusCause:
    return invalid("<nil>", "", detail)


_NUMBER_FORMATS = {"integer": "int64", "number": "float64"}


def _wrong_type(path: str, expected: str, found: str) -> StatusCause:
    cause = _in_body(path, found, f'must be of type {expected}: "{found}"')
    return StatusCause("FieldValueTypeInvalid", cause.message, cause.field)


def _type_problem(value: JSON, schema: JSONSchema, path: str) -> StatusCause | None:
    expected = "integer,string" if schema.get(INT_OR_STRING) else text_at(schema, "type")
    found, types, format_ = _TYPES[type(value)], expected.split(","), _checked_format(schema)
    is_valid = (
        not expected
        or found in types
        or (found == "integer" and "number" in types)
        or (isinstance(value, float) and value.is_integer() and "integer" in types)
    )
    # As in kube-apiserver, the format of a field is its type for values that are neither strings nor lists.
    if format_ and isinstance(value, str | list) and not {"number", "integer"} & {*types}:
        return None
    if format_ and not is_valid and not isinstance(value, str | list | None):
        return _wrong_type(path, format_, _NUMBER_FORMATS.get(found, ""))
    return None if is_valid else _wrong_type(path, expected, found)


def _checked_format(schema: JSONSchema) -> str:
    """Return the format of a schema; empty if it is not known for the type."""
    format_ = text_at(schema, "format")
    match text_at(schema, "type"):
        case "" | "string":
            return format_ if format_.replace("-", "") in _FORMATS else ""
        case "integer":
            return format_ if format_ in ("int32", "int64") else ""
        case "number":
            return format_ if format_ in ("float", "double") else ""
    return ""


def _is_plainly_valid(value: JSON, schema: JSONSchema) -> bool:
    """Whether a scalar has the declared type, and the schema declares nothing else. Faster than all checks."""
    return type(value) is _SCALARS.get(text_at(schema, "type")) and _CONSTRAINTS.isdisjoint(schema)


# --- one value --------------------------------------------------------------------------------------------------------


def _value_problems(value: JSON, schema: JSONSchema, path: str, effort: Effort) -> Causes:
    allowed = list_at(schema, "enum")
    effort.spend(len(allowed))
    if allowed and not any(same(value, each) for each in allowed):
        yield not_supported(path, value, [str(each) for each in allowed])
    match value:
        case bool() | None:
            return
        case str():
            yield from _text_problems(value, schema, path, effort)
        case int() | float():
            yield from _number_problems(value, schema, path)
        case list():
            yield from _count_problems(len(value), schema, path, "Items", "items")
        case dict():
            yield from _count_problems(len(value), schema, path, "Properties", "properties")


def _text_problems(text: str, schema: JSONSchema, path: str, effort: Effort) -> Causes:
    maximum, minimum = _limit(schema, "maxLength"), _limit(schema, "minLength")
    pattern, format_ = text_at(schema, "pattern"), text_at(schema, "format")
    if maximum is not None and len(text) > maximum:
        yield too_long(path, int(maximum))
    elif minimum is not None and len(text) < minimum:
        yield _in_body(path, text, f"should be at least {minimum} chars long")
    elif pattern and not _matches_pattern(pattern, text, effort):
        yield _in_body(path, text, f"should match '{pattern}'")
    has_format = _FORMATS.get(format_.replace("-", ""))
    if has_format and not has_format(text):
        yield _wrong_type(path, format_, text)


def _matches_pattern(pattern: str, text: str, effort: Effort) -> bool:
    effort.spend(1 + len(text) // _CHARACTERS_PER_STEP)
    try:
        regexp = _compiled(pattern)
        found = regexp.search(text)
    except RegexpSyntaxError:
        return True  # stored before such patterns were rejected
    except TooMuchWorkError:
        raise _too_costly() from None
    # Otherwise each of many strings could take as long as one search may.
    effort.spend(regexp.steps // _THREADS_PER_STEP)
    return found


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Regexp:
    return Regexp(parse(pattern))


def _number_problems(number: float, schema: JSONSchema, path: str) -> Causes:
    maximum, minimum, step = (_limit(schema, name) for name in ("maximum", "minimum", "multipleOf"))
    if step and (number / step) % 1:
        yield _in_body(path, number, f"should be a multiple of {_shown(step)}")
    if maximum is not None and (number >= maximum if schema.get("exclusiveMaximum") else number > maximum):
        than = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        yield _in_body(path, number, f"should be {than} {_shown(maximum)}")
    if minimum is not None and (number <= minimum if schema.get("exclusiveMinimum") else number < minimum):
        than = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        yield _in_body(path, number, f"should be {than} {_shown(minimum)}")
    if schema.get("format") == "int32" and number not in _INT32:
        yield _without_path(f"Checked value must be of type integer with format int32 in {path}")


def _limit(schema: JSONSchema, name: str) -> int | float | None:
    value = schema.get(name)
    return value if isinstance(value, int | float) else None


def _shown(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _count_problems(count: int, schema: JSONSchema, path: str, name: str, unit: str) -> Causes:
    maximum, minimum = _limit(schema, f"max{name}"), _limit(schema, f"min{name}")
    if maximum is not None and count > maximum:
        yield too_many(path, count, int(maximum))
    if minimum is not None and count < minimum:
        yield _in_body(path, count, f"should have at least {minimum} {unit}")


# --- several schemas for one value ------------------------------------------------------------------------------------


def _junctions(value: JSON, schema: JSONSchema, path: str, effort: Effort) -> Causes:
    yield from _any_of(value, objects_at(schema, "anyOf"), path, effort)
    yield from _one_of(value, objects_at(schema, "oneOf"), path, effort)
    yield from _all_of(value, objects_at(schema, "allOf"), path, effort)
    unwanted = object_at(schema, "not")
    if unwanted and not list(structural_problems(value, unwanted, path=path, effort=effort)):
        yield _without_path(f'"{path}" must not validate the schema (not)')


def _results(value: JSON, schemas: list[JSONSchema], path: str, effort: Effort) -> list[list[StatusCause]]:
    return [list(structural_problems(value, each, path=path, effort=effort)) for each in schemas]


def _any_of(value: JSON, schemas: list[JSONSchema], path: str, effort: Effort) -> Causes:
    results = _results(value, schemas, path, effort)
    if results and all(results):
        yield _without_path(f'"{path}" must validate at least one schema (anyOf)')
        yield from min(results, key=len)


def _one_of(value: JSON, schemas: list[JSONSchema], path: str, effort: Effort) -> Causes:
    results = _results(value, schemas, path, effort)
    valid = sum(not problems for problems in results)
    if not results or valid == 1:
        return
    found = f"Found {valid} valid alternatives" if valid else "Found none valid"
    yield _without_path(f'"{path}" must validate one and only one schema (oneOf). {found}')
    if not valid:
        yield from min(results, key=len)


def _all_of(value: JSON, schemas: list[JSONSchema], path: str, effort: Effort) -> Causes:
    results = _results(value, schemas, path, effort)
    if not any(results):
        return
    for problems in results:
        yield from problems
    none = "" if not all(results) else ". None validated"
    yield _without_path(f'"{path}" must validate all the schemas (allOf){none}')


# --- members and elements --------------------------------------------------------------------------------------------


def _members(
    tree: JSONObject, schema: JSONSchema, old: JSON | Literal[_Missing.MISSING], path: str, effort: Effort
) -> Causes:
    names = texts_at(schema, "required")
    if path and schema.get("x-kubernetes-embedded-resource"):
        names += ["apiVersion", "kind"]
    yield from (required(field_path(path, name)) for name in names if name not in tree)
    before = old if isinstance(old, dict) else {}
    for name, value in tree.items():
        inner = member(schema, name)[1]
        if inner:
            yield from structural_problems(
                value, inner, before.get(name, _MISSING), field_path(path, name[:_MAX_NAME]), effort
            )


def _elements(
    tree: list[JSON], schema: JSONSchema, old: JSON | Literal[_Missing.MISSING], path: str, effort: Effort
) -> Causes:
    if items := object_at(schema, "items"):
        before = _by_key(old, schema) if isinstance(old, list) else {}
        for index, value in enumerate(tree):
            if _is_plainly_valid(value, items):
                continue
            previous = before.get(list_key(value, schema), _MISSING)
            yield from structural_problems(value, items, previous, f"{path}[{index}]", effort)


def _by_key(old: list[JSON], schema: JSONSchema) -> dict[Hashable, JSON]:
    return {key: item for item in old if (key := list_key(item, schema)) is not None}


def list_key(item: JSON, schema: JSONSchema) -> Hashable:
    """Return what identifies an element of a list of type set or map; None for other lists."""
    match schema.get("x-kubernetes-list-type"):
        case "map" if isinstance(item, dict):
            return tuple(_hashable(item.get(name)) for name in texts_at(schema, "x-kubernetes-list-map-keys"))
        case "set":
            return _hashable(item)
    return None


def _hashable(value: JSON) -> Hashable:
    match value:
        case dict():
            return dict, frozenset((name, _hashable(each)) for name, each in value.items())
        case list():
            return list, tuple(map(_hashable, value))
        case _:
            return type(value), value


# --- formats ----------------------------------------------------------------------------------------------------------


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a format: the strings that the function parses."""

    def is_parsed(text: str) -> bool:
        try:
            return parse(text) is not None
        except (ValueError, binascii.Error):
            return False

    return is_parsed


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _ip(version: int) -> Callable[[str], bool]:
    return lambda text: (found := parsed_ip(text)) is not None and found.version == version


_UNITS = r"(ns|us|µs|ms|s|m|h|d|w|nanos?|micros?|millis?|secs?|mins?|hours?|hrs?|days?|weeks?|wks?)"
_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "datetime": lambda text: _matches(r"\d{4}-\d\d-\d\d[Tt ].*")(text) and _parses(datetime.fromisoformat)(text),
    "date": _parses(date.fromisoformat),
    "duration": _matches(rf"-?(\d+(\.\d+)?\s*{_UNITS}\s*)+|0"),
    "byte": lambda text: bool(text) and _parses(lambda data: base64.b64decode(data, validate=True))(text),
    "uuid": _matches(r"[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}"),
    "ipv4": _ip(4),
    "ipv6": _ip(6),
    "cidr": lambda text: parsed_cidr(text) is not None,
    "mac": _matches(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"),
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "uri": _matches(r"([A-Za-z][A-Za-z0-9+.-]*:|/).*"),
    "hostname": lambda text: not list(dns_subdomain(text.lower())),
}


# --- the scale subresource -------------------------------------------------------------------------------------------

_MAX_REPLICAS = 2**31 - 1


def scale_problems(tree: JSONObject, paths: ScalePaths, *, is_status: bool) -> Causes:
    """Yield the problems of the numbers of replicas; a status update can change only one of them."""
    for path in (paths.status_replicas,) if is_status else (paths.spec_replicas, paths.status_replicas):
        number, problem = _nested_integer(tree, path)
        if not problem and number < 0:
            problem = "should be a non-negative integer"
        elif not problem and number > _MAX_REPLICAS:
            problem = f"should be less than or equal to {_MAX_REPLICAS}"
        if problem:
            yield invalid("".join(f".{name}" for name in path), number, problem)


def _nested_integer(tree: JSON, path: tuple[str, ...]) -> tuple[int, str]:
    """Return the integer at a path, 0 if there is none, and why it cannot be read."""
    shown = ""
    for name in path:
        shown += f".{name}"
        if not isinstance(tree, dict):
            return 0, f"{shown} accessor error: {_of_type(tree)}, expected map[string]interface{{}}"
        if name not in tree:
            return 0, ""
        tree = tree[name]
    if isinstance(tree, int) and not isinstance(tree, bool):
        return tree, ""
    return 0, f"{shown} accessor error: {_of_type(tree)}, expected int64"


def _of_type(value: JSON) -> str:
    return f"{go_text(value)} is of the type {go_type(value)}"
