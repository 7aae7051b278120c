"""Functions of lists and sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise

from listwatch.server.cel.declarations import Functions, Overload, function, method
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
    list_of,
    parameter,
)
from listwatch.server.cel.values import CELError, Duration, UInt, Value, compare, equal, type_of

__all__ = ["COLLECTIONS"]

_A = parameter("A")
_LIST = list_of(_A)
_SUMMABLE = {"int": INT, "uint": UINT, "double": DOUBLE, "duration": DURATION}
_COMPARABLE = {**_SUMMABLE, "bool": BOOL, "timestamp": TIMESTAMP, "string": STRING, "bytes": BYTES}
_BY_ORDER = cmp_to_key(compare)


def _is_sorted(elements: list[Value]) -> bool:
    return all(compare(left, right) <= 0 for left, right in pairwise(elements))


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def call(elements: list[Value]) -> Value:
        if isinstance(zero, Duration):
            return Duration(sum(each.nanoseconds for each in elements if isinstance(each, Duration)))
        total = sum(each for each in elements if isinstance(each, int | float))
        if isinstance(zero, float):
            return float(total)
        if isinstance(zero, UInt):
            return UInt(total)
        if not -(2**63) <= total < 2**63:
            raise CELError("integer overflow")
        return total

    return call


_ZEROS: dict[str, Value] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}


def _extreme(name: str, sign: int) -> Callable[[list[Value]], Value]:
    def call(elements: list[Value]) -> Value:
        if not elements:
            raise CELError(f"{name} called on empty list")
        found = elements[0]
        for each in elements[1:]:
            if compare(each, found) * sign > 0:
                found = each
        return found

    return call


def _index_of(elements: list[Value], wanted: Value) -> int:
    return next((index for index, each in enumerate(elements) if equal(each, wanted)), -1)


def _last_index_of(elements: list[Value], wanted: Value) -> int:
    return next((index for index in range(len(elements) - 1, -1, -1) if equal(elements[index], wanted)), -1)


def _slice(elements: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise CELError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CELError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(elements):
        raise CELError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return elements[start:end]


def _flatten(elements: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise CELError("level must be non-negative")
    found: list[Value] = []
    for each in elements:
        if isinstance(each, list) and depth:
            found += _flatten(each, depth - 1)
        else:
            found.append(each)
    return found


def _sort(elements: list[Value], keys: list[Value] | None = None) -> list[Value]:
    keys = elements if keys is None else keys
    if len({type_of(each) for each in keys}) > 1:
        raise CELError("list elements must have the same type")
    order = sorted(range(len(elements)), key=lambda index: _BY_ORDER(keys[index]))
    return [elements[index] for index in order]


def _distinct(elements: list[Value]) -> list[Value]:
    found: list[Value] = []
    for each in elements:
        if not any(equal(each, other) for other in found):
            found.append(each)
    return found


def _contains_all(elements: list[Value], wanted: list[Value]) -> bool:
    return all(any(equal(each, other) for other in elements) for each in wanted)


def _extremes(name: str, sign: int) -> tuple[Overload, ...]:
    call = _extreme(name, sign)
    return tuple(
        method(f"list_{each}_{name}_{each}", (list_of(type_),), type_, call) for each, type_ in _COMPARABLE.items()
    )


COLLECTIONS: Functions = {
    "isSorted": tuple(
        method(f"list_{each}_is_sorted_bool", (list_of(type_),), BOOL, _is_sorted)
        for each, type_ in _COMPARABLE.items()
    ),
    "sum": tuple(
        method(f"list_{each}_sum_{each}", (list_of(type_),), type_, _sum(_ZEROS[each]))
        for each, type_ in _SUMMABLE.items()
    ),
    "max": _extremes("max", 1),
    "min": _extremes("min", -1),
    "indexOf": (method("list_a_index_of_int", (_LIST, _A), INT, _index_of),),
    "lastIndexOf": (method("list_a_last_index_of_int", (_LIST, _A), INT, _last_index_of),),
    "slice": (method("list_slice", (_LIST, INT, INT), _LIST, _slice),),
    "flatten": (
        method("list_flatten", (list_of(list_of(_A)),), _LIST, _flatten),
        method("list_flatten_int", (list_of(DYN), INT), list_of(DYN), _flatten),
    ),
    "sort": tuple(
        method(f"list_{each}_sort", (list_of(type_),), list_of(type_), _sort) for each, type_ in _COMPARABLE.items()
    ),
    "@sortByAssociatedKeys": tuple(
        method(f"list_{each}_sortByAssociatedKeys", (_LIST, list_of(type_)), _LIST, _sort)
        for each, type_ in _COMPARABLE.items()
    ),
    "lists.range": (function("lists_range", (INT,), list_of(INT), lambda count: [*range(count)]),),
    "reverse": (method("list_reverse", (_LIST,), _LIST, lambda elements: elements[::-1]),),
    "distinct": (method("list_distinct", (_LIST,), _LIST, _distinct),),
    "sets.contains": (function("list_sets_contains_list", (_LIST, _LIST), BOOL, _contains_all),),
    "sets.equivalent": (
        function(
            "list_sets_equivalent_list",
            (_LIST, _LIST),
            BOOL,
            lambda left, right: _contains_all(left, right) and _contains_all(right, left),
        ),
    ),
    "sets.intersects": (
        function(
            "list_sets_intersects_list",
            (_LIST, _LIST),
            BOOL,
            lambda left, right: any(equal(each, other) for each in left for other in right),
        ),
    ),
}
