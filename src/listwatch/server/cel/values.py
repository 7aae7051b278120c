"""Values of expressions: JSON values are themselves, and there are classes for what JSON does not have.

`equal` and `compare` follow CEL: numbers of different types compare by value, and lists of type set or map compare
without regard to order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from listwatch.server.cel.type_system import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    object_type,
    opaque,
    optional_of,
    type_of_type,
)

__all__ = [
    "NO_VALUE",
    "CELError",
    "CostLimitError",
    "Duration",
    "Failed",
    "GrowingList",
    "KeyedList",
    "Opaque",
    "OptionalValue",
    "StructValue",
    "Timestamp",
    "TypeValue",
    "UInt",
    "Value",
    "compare",
    "equal",
    "no_such_overload",
    "size_of",
    "type_of",
]

Value: TypeAlias = object
"""A value of an expression; only the type checker knows more."""


class CELError(Exception):
    """An expression that failed: `no such key: color`."""


class CostLimitError(Exception):
    """An expression that costs more than one evaluation may. No operator can ignore it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def no_such_overload() -> CELError:
    return CELError("no such overload")


@dataclass(frozen=True, slots=True)
class Failed:
    """A field whose value could not be made; reading it raises the error."""

    error: CELError


class UInt(int):
    """An unsigned integer."""


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, in nanoseconds since 1970."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: `type(1) == int`."""

    name: str


@dataclass(frozen=True, slots=True)
class OptionalValue:
    """A value that may be missing."""

    value: Value = None
    has_value: bool = True


NO_VALUE = OptionalValue(has_value=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type with functions of its own, such as an IP address; `value` is compared."""

    type: Type
    value: Value
    size: int = 1


@dataclass(slots=True, eq=False)
class StructValue:
    """An object made by an expression: `Object.spec{replicas: 3}`."""

    name: str
    fields: dict[str, Value] = field(default_factory=dict)


class GrowingList(list[object]):
    """The result of a comprehension while it is made; elements are added in place."""


class KeyedList(list[object]):
    """A list of type set or map: equal to one with the same elements in another order."""

    def __init__(self, elements: Sequence[object], key: Callable[[object], Hashable], *, is_set: bool) -> None:
        super().__init__(elements)
        self.key = key
        self.is_set = is_set

    def plus(self, more: Sequence[object]) -> KeyedList:
        """Elements with the key of a present one replace it in a map, and are left out in a set."""
        found = {self.key(each): each for each in self}
        for each in more:
            key = self.key(each)
            if not (self.is_set and key in found):
                found[key] = each
        return KeyedList([*found.values()], self.key, is_set=self.is_set)


_SIMPLE: Mapping[type, Type] = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
    Timestamp: TIMESTAMP,
    Duration: DURATION,
    TypeValue: type_of_type(DYN),
    OptionalValue: optional_of(DYN),
}


def type_of(value: Value) -> Type:
    """Return the type of a value; the elements of lists and maps are not looked at."""
    found = _SIMPLE.get(type(value))
    if found is not None:
        return found
    match value:
        case list():
            return list_of(DYN)
        case dict():
            return map_of(DYN, DYN)
        case Opaque():
            return value.type
        case StructValue():
            return object_type(value.name)
    return opaque(type(value).__name__)


def size_of(value: Value) -> int:
    """Return the size that costs are computed with; 1 for what has no size."""
    if isinstance(value, str | list | dict | bytes):
        return len(value)
    if isinstance(value, OptionalValue) and value.has_value:
        return size_of(value.value)
    return value.size if isinstance(value, Opaque) else 1


def _is_number(value: Value) -> bool:
    return type(value) in (int, float, UInt)


def equal(left: Value, right: Value) -> bool:
    """Values of different types are not equal, except numbers."""
    if _is_number(left) and _is_number(right):
        return left == right
    if type(left) is bool or type(right) is bool:
        return left is right
    match left, right:
        case list(), list():
            return _equal_lists(left, right)
        case dict(), dict():
            return len(left) == len(right) and all(
                key in right and equal(value, right[key]) for key, value in left.items()
            )
        case OptionalValue(), OptionalValue():
            return left.has_value == right.has_value and equal(left.value, right.value)
        case StructValue(), StructValue():
            return left.name == right.name and equal(left.fields, right.fields)
    return type(left) is type(right) and left == right


def _equal_lists(left: list[object], right: list[object]) -> bool:
    if len(left) != len(right):
        return False
    if isinstance(left, KeyedList):
        others = {left.key(each): each for each in right}
        return all((key := left.key(each)) in others and equal(each, others[key]) for each in left)
    if isinstance(right, KeyedList):
        return _equal_lists(right, left)
    return all(map(equal, left, right))


def compare(left: Value, right: Value) -> int:
    """Return a negative number, 0 or a positive one; raises CELError if the values have no order, as with NaN."""
    if _is_number(left) and _is_number(right):
        if math.isnan(left) or math.isnan(right):  # type: ignore[arg-type]  # both are numbers
            raise CELError("NaN values cannot be ordered")
        return int(left > right) - int(left < right)  # type: ignore[operator]  # both are numbers
    if type(left) is type(right) and type(left) in (str, bytes, bool, Timestamp, Duration):
        if isinstance(left, str) and isinstance(right, str):
            left, right = left.encode(), right.encode()
        return int(left > right) - int(left < right)  # type: ignore[operator]  # both are of one of these types
    raise no_such_overload()
