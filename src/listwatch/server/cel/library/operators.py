"""Operators, conversions between types, sizes and optional values."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from listwatch.server.cel.declarations import Functions, Overload, function, method
from listwatch.server.cel.library.times import TIME_CONVERSIONS, shifted
from listwatch.server.cel.type_system import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
    parameter,
    type_of_type,
)
from listwatch.server.cel.values import (
    NO_VALUE,
    CELError,
    Duration,
    GrowingList,
    KeyedList,
    OptionalValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    compare,
    equal,
    type_of,
)

__all__ = ["OPERATORS", "double_text", "zero_of"]

_A, _B = parameter("A"), parameter("B")
_LIST, _MAP, _OPTIONAL = list_of(_A), map_of(_A, _B), optional_of(_A)
_INT64, _UINT64 = range(-(2**63), 2**63), range(2**64)
_INTEGER = re.compile(r"[+-]?[0-9]+")
_BOOLS = {"1": True, "t": True, "true": True, "TRUE": True, "True": True, "T": True} | {
    "0": False,
    "f": False,
    "false": False,
    "FALSE": False,
    "False": False,
    "F": False,
}
_NUMBERS = {"int64": INT, "uint64": UINT, "double": DOUBLE}
_ORDERED = {**_NUMBERS, "bool": BOOL, "string": STRING, "bytes": BYTES, "timestamp": TIMESTAMP, "duration": DURATION}


# --- Arithmetic -------------------------------------------------------------------------------------------------------


def _int64(value: int) -> int:
    if value not in _INT64:
        raise CELError("integer overflow")
    return value


def _uint64(value: int) -> UInt:
    if value not in _UINT64:
        raise CELError("unsigned integer overflow")
    return UInt(value)


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise CELError("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise CELError("modulus by zero")
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _divided(left: float, right: float) -> float:
    if right:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _arithmetic(
    name: str, integers: Callable[[int, int], int], doubles: Callable[[float, float], float] | None
) -> tuple[Overload, ...]:
    found = [
        function(f"{name}_int64", (INT, INT), INT, lambda left, right: _int64(integers(left, right))),
        function(f"{name}_uint64", (UINT, UINT), UINT, lambda left, right: _uint64(integers(left, right))),
    ]
    if doubles:
        found.append(function(f"{name}_double", (DOUBLE, DOUBLE), DOUBLE, doubles))
    return tuple(found)


def _concatenated(left: list[Value], right: list[Value]) -> Value:
    if isinstance(left, GrowingList):
        left.extend(right)
        return left
    return left.plus(right) if isinstance(left, KeyedList) else [*left, *right]


def _shift_overloads(name: str, sign: int) -> tuple[Overload, ...]:
    overloads = [
        function(f"{name}_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, lambda at, by: shifted(at, by, sign)),
        function(f"{name}_duration_duration", (DURATION, DURATION), DURATION, lambda at, by: shifted(at, by, sign)),
    ]
    if sign > 0:
        call: Callable[..., Value] = lambda by, at: shifted(at, by, 1)  # noqa: E731  # one of a table
        overloads.append(function(f"{name}_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, call))
    else:

        def difference(left: Timestamp, right: Timestamp) -> Duration:
            return Duration(left.nanoseconds - right.nanoseconds)

        overloads.append(function(f"{name}_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, difference))
    return tuple(overloads)


# --- Comparisons ------------------------------------------------------------------------------------------------------


def _comparison(name: str, decide: Callable[[int, int], bool]) -> tuple[Overload, ...]:
    def call(left: Value, right: Value) -> bool:
        return decide(compare(left, right), 0)

    same = [function(f"{name}_{each}", (type_, type_), BOOL, call) for each, type_ in _ORDERED.items()]
    mixed = [
        function(f"{name}_{first}_{second}", (_NUMBERS[first], _NUMBERS[second]), BOOL, call)
        for first in _NUMBERS
        for second in _NUMBERS
        if first != second
    ]
    return (*same, *mixed)


def _in_list(value: Value, elements: list[Value]) -> bool:
    return any(equal(value, each) for each in elements)


def _in_map(value: Value, entries: dict[Value, Value]) -> bool:
    return isinstance(value, str | int | float) and value in entries


# --- Conversions ------------------------------------------------------------------------------------------------------


def double_text(value: float) -> str:
    """Format a number as Go does, without an exponent between 1e-4 and 1e21."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value)) if value or math.copysign(1, value) > 0 else "-0"
    text = repr(value)
    if "e" not in text:
        return text
    if 1e-4 <= abs(value) < 1e21:
        return format(Decimal(text), "f")
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa.removesuffix('.0')}e{exponent[0]}{int(exponent[1:]):02d}"


def _wrong_text(type_: str) -> CELError:
    return CELError(f"type conversion error from 'string' to '{type_}'")


def _parsed_int(text: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > 30 or int(text) not in _INT64:
        raise _wrong_text("int")
    return int(text)


def _parsed_uint(text: str) -> UInt:
    if not text.isdecimal() or not text.isascii() or len(text) > 30 or int(text) not in _UINT64:
        raise _wrong_text("uint")
    return UInt(int(text))


def _parsed_double(text: str) -> float:
    try:
        if "_" in text or text != text.strip():
            raise ValueError
        return float(text)
    except ValueError:
        raise _wrong_text("double") from None


def _truncated(value: float) -> int:
    if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
        raise CELError("integer overflow")
    return int(value)


def _unsigned(value: float) -> UInt:
    if math.isnan(value) or not 0 <= value < 2.0**64:
        raise CELError("unsigned integer overflow")
    return UInt(int(value))


def _parsed_bool(text: str) -> bool:
    if text not in _BOOLS:
        raise _wrong_text("bool")
    return _BOOLS[text]


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CELError("invalid UTF-8 in bytes, cannot convert to string") from None


def _same(value: Value) -> Value:
    return value


def _type(value: Value) -> TypeValue:
    found = type_of(value)
    names = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}
    return TypeValue(found.name if found.kind in ("opaque", "object") else names.get(found.kind, found.kind))


_CONVERSIONS: Mapping[str, tuple[Overload, ...]] = {
    "bool": (function("bool_to_bool", (BOOL,), BOOL, _same), function("string_to_bool", (STRING,), BOOL, _parsed_bool)),
    "bytes": (
        function("bytes_to_bytes", (BYTES,), BYTES, _same),
        function("string_to_bytes", (STRING,), BYTES, str.encode),
    ),
    "double": (
        function("double_to_double", (DOUBLE,), DOUBLE, _same),
        function("int64_to_double", (INT,), DOUBLE, float),
        function("uint64_to_double", (UINT,), DOUBLE, float),
        function("string_to_double", (STRING,), DOUBLE, _parsed_double),
    ),
    "int": (
        function("int64_to_int64", (INT,), INT, _same),
        function("double_to_int64", (DOUBLE,), INT, _truncated),
        function("uint64_to_int64", (UINT,), INT, lambda value: _int64(int(value))),
        function("string_to_int64", (STRING,), INT, _parsed_int),
    ),
    "uint": (
        function("uint64_to_uint64", (UINT,), UINT, _same),
        function("double_to_uint64", (DOUBLE,), UINT, _unsigned),
        function("int64_to_uint64", (INT,), UINT, _uint64),
        function("string_to_uint64", (STRING,), UINT, _parsed_uint),
    ),
    "string": (
        function("string_to_string", (STRING,), STRING, _same),
        function("bool_to_string", (BOOL,), STRING, lambda value: "true" if value else "false"),
        function("bytes_to_string", (BYTES,), STRING, _decoded),
        function("double_to_string", (DOUBLE,), STRING, double_text),
        function("int64_to_string", (INT,), STRING, str),
        function("uint64_to_string", (UINT,), STRING, lambda value: str(int(value))),
    ),
    "dyn": (function("to_dyn", (_A,), DYN, _same),),
    "type": (function("type", (_A,), type_of_type(_A), _type),),
}


# --- Optional values --------------------------------------------------------------------------------------------------


def _value(optional: OptionalValue) -> Value:
    if not optional.has_value:
        raise CELError("optional.none() dereference")
    return optional.value


_ZEROS: Mapping[type, Value] = {str: "", bytes: b"", list: [], dict: {}}


def zero_of(value: Value) -> bool:
    """Whether a value is the zero value of its type."""
    return value is None or equal(value, _ZEROS.get(type(value), 0)) or value is False


_OPTIONALS: Functions = {
    "optional.of": (function("optional_of", (_A,), _OPTIONAL, OptionalValue),),
    "optional.ofNonZeroValue": (
        function(
            "optional_ofNonZeroValue",
            (_A,),
            _OPTIONAL,
            lambda value: NO_VALUE if zero_of(value) else OptionalValue(value),
        ),
    ),
    "optional.none": (function("optional_none", (), _OPTIONAL, lambda: NO_VALUE),),
    "value": (method("optional_value", (_OPTIONAL,), _A, _value),),
    "hasValue": (method("optional_hasValue", (_OPTIONAL,), BOOL, lambda optional: optional.has_value),),
    "or": (
        method(
            "optional_or_optional",
            (_OPTIONAL, _OPTIONAL),
            _OPTIONAL,
            lambda first, second: first if first.has_value else second,
        ),
    ),
    "orValue": (
        method(
            "optional_orValue_value",
            (_OPTIONAL, _A),
            _A,
            lambda optional, other: optional.value if optional.has_value else other,
        ),
    ),
}


def _never(*_: Value) -> Value:
    raise AssertionError("the evaluator has this operator itself")


def _inserted(entries: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    if key in entries:
        raise CELError(f"insert failed: key {key} already exists")
    entries[key] = value
    return entries


def _inserted_all(entries: dict[Value, Value], more: dict[Value, Value]) -> dict[Value, Value]:
    for key, value in more.items():
        _inserted(entries, key, value)
    return entries


def _sizes() -> tuple[Overload, ...]:
    sized: dict[str, Type] = {"string": STRING, "bytes": BYTES, "list": _LIST, "map": _MAP}
    return (
        *(function(f"size_{name}", (type_,), INT, len) for name, type_ in sized.items()),
        *(method(f"{name}_size", (type_,), INT, len) for name, type_ in sized.items()),
    )


def _negated_int(value: int) -> int:
    return _int64(-value)


_MAP_OVERLOADS = (
    function("cel_@mapInsert_map_key_value", (_MAP, _A, _B), _MAP, _inserted),
    function("cel_@mapInsert_map_map", (_MAP, _MAP), _MAP, _inserted_all),
)
_INDICES = (
    function("index_list", (_LIST, INT), _A, _never),
    function("index_map", (_MAP, _A), _B, _never),
    function("optional_list_index_int", (optional_of(_LIST), INT), _OPTIONAL, _never),
    function("optional_map_index_value", (optional_of(_MAP), _A), optional_of(_B), _never),
)
_OPTIONAL_INDICES = (
    function("list_optindex_optional_int", (_LIST, INT), _OPTIONAL, _never),
    function("map_optindex_optional_value", (_MAP, _A), optional_of(_B), _never),
    function("optional_list_optindex_optional_int", (optional_of(_LIST), INT), _OPTIONAL, _never),
    function("optional_map_optindex_optional_value", (optional_of(_MAP), _A), optional_of(_B), _never),
)

OPERATORS: Functions = {
    "_?_:_": (function("conditional", (BOOL, _A, _A), _A, _never),),
    "_&&_": (function("logical_and", (BOOL, BOOL), BOOL, _never),),
    "_||_": (function("logical_or", (BOOL, BOOL), BOOL, _never),),
    "!_": (function("logical_not", (BOOL,), BOOL, operator.not_),),
    "-_": (
        function("negate_int64", (INT,), INT, _negated_int),
        function("negate_double", (DOUBLE,), DOUBLE, operator.neg),
    ),
    "@not_strictly_false": (function("not_strictly_false", (BOOL,), BOOL, _never),),
    "_==_": (function("equals", (_A, _A), BOOL, equal),),
    "_!=_": (function("not_equals", (_A, _A), BOOL, lambda left, right: not equal(left, right)),),
    "_<_": _comparison("less", operator.lt),
    "_<=_": _comparison("less_equals", operator.le),
    "_>_": _comparison("greater", operator.gt),
    "_>=_": _comparison("greater_equals", operator.ge),
    "_+_": (
        *_arithmetic("add", operator.add, operator.add),
        function("add_string", (STRING, STRING), STRING, operator.add),
        function("add_bytes", (BYTES, BYTES), BYTES, operator.add),
        function("add_list", (_LIST, _LIST), _LIST, _concatenated),
        *_shift_overloads("add", 1),
    ),
    "_-_": (*_arithmetic("subtract", operator.sub, operator.sub), *_shift_overloads("subtract", -1)),
    "_*_": _arithmetic("multiply", operator.mul, operator.mul),
    "_/_": _arithmetic("divide", _quotient, _divided),
    "_%_": _arithmetic("modulo", _remainder, None),
    "_[_]": _INDICES,
    "_[?_]": _OPTIONAL_INDICES,
    "@in": (function("in_list", (_A, _LIST), BOOL, _in_list), function("in_map", (_A, _MAP), BOOL, _in_map)),
    "size": _sizes(),
    "cel.@mapInsert": _MAP_OVERLOADS,
    **_OPTIONALS,
    **{
        name: (*_CONVERSIONS.get(name, ()), *TIME_CONVERSIONS.get(name, ()))
        for name in (*_CONVERSIONS, *TIME_CONVERSIONS)
    },
}
