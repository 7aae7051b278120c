"""Estimates what an expression can cost at most, from the largest sizes that a schema allows.

A definition is rejected if one of its rules could cost too much. Estimates are those of Kubernetes, because a rule that
is accepted here has to be accepted there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from listwatch.server.cel.call_costs import (
    CHEAP,
    CHECK_COST,
    COMPARISONS,
    LIST_TRAVERSALS,
    PATTERN_FACTOR,
    SCANS,
    STRING_FACTOR,
)
from listwatch.server.cel.evaluation import LIST_COST, MAP_COST, STRUCT_COST
from listwatch.server.cel.macros import ACCUMULATOR
from listwatch.server.cel.syntax import (
    Call,
    Comprehension,
    Expression,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    Struct,
)
from listwatch.server.cel.type_system import Type

__all__ = ["UNLIMITED", "Range", "estimated_cost"]

UNLIMITED = 2**64 - 1
_SCALARS = ("bool", "double", "duration", "int", "timestamp", "uint")

Path = tuple[str, ...]
MaximumSize = Callable[[Path], int | None]
"""Returns the largest size of the value at a path such as `("self", "spec", "@items")`; None if it is not known."""


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the most of a size or a cost."""

    least: int
    most: int

    def __add__(self, other: Range) -> Range:
        return Range(_bounded(self.least + other.least), _bounded(self.most + other.most))

    def __mul__(self, other: Range) -> Range:
        return Range(_bounded(self.least * other.least), _bounded(self.most * other.most))

    def __or__(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))

    def scaled(self, factor: float) -> Range:
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))


def _bounded(value: int) -> int:
    return min(value, UNLIMITED)


def _scaled(value: int, factor: float) -> int:
    return UNLIMITED if factor and value >= UNLIMITED / factor else min(math.ceil(value * factor), UNLIMITED)


_NONE, _ONE, _ANY = Range(0, 0), Range(1, 1), Range(0, UNLIMITED)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The sizes of the keys and the values of a list or map."""

    key: Range
    value: Range


@dataclass(frozen=True, slots=True)
class _Variable:
    path: Path
    size: Range | None
    entries: _Entries | None = None


def estimated_cost(root: Expression, maximum_size: MaximumSize) -> Range:
    """Return the least and the most that an expression whose types were checked can cost."""
    return _Estimator(maximum_size).cost(root)


class _Estimator:
    def __init__(self, maximum_size: MaximumSize) -> None:
        self._maximum_size = maximum_size
        self._variables: dict[str, list[_Variable]] = {}
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}

    def cost(self, node: Expression) -> Range:
        match node:
            case Literal():
                return _NONE
            case Ident():
                variable = self._variable(node.name)
                self._paths[id(node)] = variable.path if variable else (node.name,)
                return _ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Struct():
                return sum((self.cost(value) for _, value, _ in node.fields), Range(STRUCT_COST, STRUCT_COST))
            case Comprehension():
                is_binding = isinstance(node.range, ListLiteral) and not node.range.elements
                return self._binding(node) if is_binding and node.accumulator != ACCUMULATOR else self._loop(node)

    def _variable(self, name: str) -> _Variable | None:
        found = self._variables.get(name)
        return found[-1] if found else None

    def _select(self, node: Select) -> Range:
        if node.type.kind == "type":
            self._paths[id(node)] = (node.field_name,)
            return _ONE
        total = self.cost(node.operand)
        if node.is_test:
            return total
        if node.operand.type.kind in ("map", "object", "parameter"):
            total += _ONE
        self._paths[id(node)] = (*self._path(node.operand), node.field_name)
        return total

    # --- Calls

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            total = self.cost(node.arguments[0]) + _ONE
            self._copy_sizes(node, node.arguments[0])
            return total
        costs = [self.cost(each) for each in node.arguments]
        target_cost = self.cost(node.target) if node.target else _NONE
        if node.function in ("_?._", "_[?_]"):
            return sum(costs, _ONE)
        if not node.overloads:
            return _NONE
        found: Range | None = None
        result: Range | None = None
        for overload in node.overloads:
            cost, size = self._overload(node, overload, costs)
            found = cost if found is None else found | cost
            result = size if result is None else result | size if size else result
            if overload in ("index_list", "index_map"):
                entries = self._entries_of(node.arguments[0])
                result = entries.value if entries else None
                part = "@items" if overload == "index_list" else "@values"
                self._paths[id(node)] = (*self._path(node.arguments[0]), part)
            result = result or self._size(node)
        if result:
            self._sizes[id(node)] = result
        return target_cost + (found or _NONE)

    def _overload(self, node: Call, overload: str, costs: Sequence[Range]) -> tuple[Range, Range | None]:
        """Return the cost of a call with its arguments, and the size of its result if that is known."""
        total = sum(costs, _NONE)
        arguments, target = node.arguments, node.target
        sizes = [self._size_or_any(each) for each in arguments]
        if known := self._library_cost(node, overload, sizes):
            return known[0] + total, known[1]
        target_size = self._size_or_any(target) if target else _ANY
        match overload:
            case "logical_and" | "logical_or":
                return Range(costs[0].least, (costs[0] + costs[1]).most), None
            case "conditional":
                entries = [self._entries_of(each) for each in arguments[1:]]
                if entries[0] and entries[1]:
                    self._entries[id(node)] = _union(entries[0], entries[1])
                return costs[0] + (costs[1] | costs[2]), sizes[1] | sizes[2]
            case "string_format":
                return target_size.scaled(STRING_FACTOR) + total, None
            case "string_to_bytes":
                return sizes[0].scaled(STRING_FACTOR) + total, Range(sizes[0].least, _bounded(sizes[0].most * 4))
            case "bytes_to_string":
                return sizes[0].scaled(STRING_FACTOR) + total, Range(sizes[0].least // 4, sizes[0].most)
            case "strings_quote":
                most = _bounded(sizes[0].most * 2 + 2)
                return sizes[0].scaled(STRING_FACTOR) + total, Range(sizes[0].least + 2, most)
            case "starts_with_string" | "ends_with_string":
                return sizes[0].scaled(STRING_FACTOR) + total, None
            case "in_list":
                return sizes[1] + total, None
            case "matches_string":
                return _pattern(target_size, sizes[0]) + total, None
            case "contains_string":
                return target_size.scaled(STRING_FACTOR) * sizes[0].scaled(STRING_FACTOR) + total, None
            case "add_string" | "add_bytes" | "add_list":
                return self._concatenation(node, overload, sizes, total)
        if overload in COMPARISONS:
            most = min(sizes[0].most, sizes[1].most)
            return Range(1 if most else 0, most).scaled(STRING_FACTOR) + total, None
        return _ONE + total, None

    def _concatenation(
        self, node: Call, overload: str, sizes: Sequence[Range], total: Range
    ) -> tuple[Range, Range | None]:
        entries = [self._entries_of(each) for each in node.arguments]
        if entries[0] and entries[1]:
            self._entries[id(node)] = _union(entries[0], entries[1])
        size = sizes[0] + sizes[1]
        return (_ONE if overload == "add_list" else size.scaled(STRING_FACTOR)) + total, size

    def _library_cost(self, node: Call, overload: str, sizes: Sequence[Range]) -> tuple[Range, Range | None] | None:
        name, target = node.function, node.target
        if name in CHEAP or overload == "cidr_ip":
            return _ONE, None
        if name == "check":
            return Range(CHECK_COST, CHECK_COST), None
        size = self._size_or_any(target) if target else sizes[0] if sizes else _NONE
        if allocated := self._allocation(node, overload, size):
            return allocated
        if name.startswith("sets."):
            return (sizes[0] * sizes[1]).scaled(2 if name == "sets.equivalent" else 1) + _ONE, None
        if name == "_==_" and node.arguments[0].type == node.arguments[1].type and _is_opaque(node.arguments[0].type):
            return _ONE, None
        if name in LIST_TRAVERSALS and target:
            return self._traversal(target, size), None
        if name in SCANS:
            keeps_size = name in ("url", "jsonpatch.escapeKey", "lowerAscii", "upperAscii", "substring", "trim")
            return size.scaled(STRING_FACTOR), size if keeps_size else None
        match name:
            case "ip.isCanonical":
                return size.scaled(2 * STRING_FACTOR), None
            case "replace":
                return size.scaled(2 * STRING_FACTOR), _replaced(size, sizes[0], sizes[1])
            case "split":
                limit = node.arguments[1] if len(node.arguments) > 1 else None
                most = limit.value if isinstance(limit, Literal) and isinstance(limit.value, int) else size.most
                return size.scaled(2 * STRING_FACTOR), Range(0, _bounded(max(most, 0)))
            case "join" if target:
                joined = self._joined(target, size, sizes)
                return joined.scaled(STRING_FACTOR), joined
            case "find" | "findAll":
                return _pattern(size, sizes[0]), Range(0, size.most)
            case "containsIP" | "containsCIDR":
                return _containment(name, sizes[0], is_text=node.arguments[0].type.kind == "string"), None
            case "validate":
                return sizes[0].scaled(STRING_FACTOR).scaled(128 * PATTERN_FACTOR), None
            case "fieldSelector" | "labelSelector":
                return Range(10, 10) + sizes[0].scaled(STRING_FACTOR) + sizes[0].scaled(0.5).scaled(50), None
        return None

    def _allocation(self, node: Call, overload: str, size: Range) -> tuple[Range, Range] | None:
        """Return the cost of a function that makes a list, and the size of the list."""
        numbers = [
            each.value if isinstance(each, Literal) and type(each.value) is int else None for each in node.arguments
        ]
        factor = 1.0
        match node.function:
            case "slice":
                start, end = numbers[0] or 0, size.most if numbers[1] is None else numbers[1]
                size = Range((end - start) % 2**64, (end - start) % 2**64)
            case "lists.range":
                count = UNLIMITED if numbers[0] is None else numbers[0] % 2**64
                size = Range(count, count)
            case "reverse":
                pass
            case "flatten":
                factor = float(UNLIMITED if numbers and numbers[0] is None else numbers[0] or 0) if numbers else 1.0
            case "distinct" | "sort" | "@sortByAssociatedKeys":
                size = self._size_or_any(node.arguments[0]) if node.arguments else size
                is_text = any(f"list_{name}_" in overload for name in ("string", "bytes"))
                factor, size = 2 + (STRING_FACTOR if is_text else 0), size * size
            case _:
                return None
        return size.scaled(factor) + Range(1 + LIST_COST, 1 + LIST_COST), size

    def _traversal(self, target: Expression, size: Range) -> Range:
        if target.type.kind != "list":
            return size.scaled(STRING_FACTOR)
        element = _ONE
        if target.type.element.kind in ("string", "bytes"):
            element += self._element_size(target).scaled(STRING_FACTOR)
        return size * element

    def _element_size(self, node: Expression) -> Range:
        path = self._path(node)
        most = self._maximum_size((*path, "@items")) if path else None
        return _ANY if most is None else Range(0, most)

    def _joined(self, target: Expression, size: Range, sizes: Sequence[Range]) -> Range:
        total = size * self._element_size(target) if target.type.kind == "list" else _NONE
        if sizes:
            total += sizes[0] * Range(max(size.least - 1, 0), max(size.most - 1, 0))
        return total

    # --- Literals and loops

    def _list(self, node: ListLiteral) -> Range:
        total = sum((self.cost(each) for each in node.elements), Range(LIST_COST, LIST_COST))
        sizes = [self._size_or_any(each) for each in node.elements]
        self._entries[id(node)] = _Entries(_ONE, _all(sizes))
        return total

    def _map(self, node: MapLiteral) -> Range:
        total = Range(MAP_COST, MAP_COST)
        for key, value, _ in node.entries:
            total += self.cost(key) + self.cost(value)
        keys = [self._size_or_any(key) for key, _, _ in node.entries]
        values = [self._size_or_any(value) for _, value, _ in node.entries]
        self._entries[id(node)] = _Entries(_all(keys), _all(values))
        return total

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _pop(self, name: str) -> None:
        self._variables[name].pop()

    def _loop(self, node: Comprehension) -> Range:
        total = self.cost(node.range) + self.cost(node.initial)
        self._push(node.accumulator, self._as_variable(node.initial))
        entries, path = self._entries_of(node.range), self._path(node.range)
        is_list = node.range.type.kind == "list"
        key = _Variable((*path, "@indices" if is_list else "@keys"), entries.key if entries else None)
        value = _Variable((*path, "@items" if is_list else "@values"), entries.value if entries else None)
        self._push(node.variable, value if is_list and not node.second else key)
        if node.second:
            self._push(node.second, value)
        each = self.cost(node.condition) + self.cost(node.step)
        for name in (node.variable, *([node.second] if node.second else [])):
            self._pop(name)
        total += self.cost(node.result)
        self._pop(node.accumulator)
        count = self._size_or_any(node.range)
        match node.initial:
            case Literal():
                if size := self._size(node.initial):
                    self._sizes[id(node)] = size
            case ListLiteral() | MapLiteral():
                self._sizes[id(node)] = count
                if found := self._entries_of(node.step):
                    self._entries[id(node)] = found
        return total + count * each

    def _binding(self, node: Comprehension) -> Range:
        total = self.cost(node.range) + self.cost(node.initial)
        self._push(node.accumulator, self._as_variable(node.initial))
        total += self.cost(node.result)
        self._pop(node.accumulator)
        self._copy_sizes(node, node.result)
        return total

    def _as_variable(self, node: Expression) -> _Variable:
        return _Variable(self._path(node), self._size(node), self._entries_of(node))

    # --- Sizes

    def _path(self, node: Expression) -> Path:
        if isinstance(node, Ident) and (variable := self._variable(node.name)):
            return variable.path
        return self._paths.get(id(node), ())

    def _entries_of(self, node: Expression) -> _Entries | None:
        found = self._entries.get(id(node))
        if found is None and isinstance(node, Ident) and (variable := self._variable(node.name)):
            return variable.entries
        return found

    def _copy_sizes(self, node: Expression, source: Expression) -> None:
        if size := self._size(source):
            self._sizes[id(node)] = size
        if entries := self._entries_of(source):
            self._entries[id(node)] = entries

    def _size_or_any(self, node: Expression) -> Range:
        return self._size(node) or _ANY

    def _size(self, node: Expression) -> Range | None:
        if known := self._sizes.get(id(node)):
            return known
        match node:
            case Literal(value=str() | bytes() as text):
                return Range(len(text), len(text))
            case Literal():
                return _ONE
            case ListLiteral(elements=items) | MapLiteral(entries=items):
                return Range(len(items), len(items))
        path = self._path(node)
        if path and path[0] != ACCUMULATOR and (most := self._maximum_size(path)) is not None:
            self._sizes[id(node)] = Range(0, most)
            return self._sizes[id(node)]
        if _is_scalar(node.type):
            return _ONE
        variable = self._variable(node.name) if isinstance(node, Ident) else None
        return variable.size if variable else None


def _literal_int(node: Expression) -> int | None:
    return node.value if isinstance(node, Literal) and type(node.value) is int else None


def _is_opaque(type_: Type) -> bool:
    return type_.kind == "opaque" and type_.name != "optional_type"


def _is_scalar(type_: Type) -> bool:
    if type_.kind == "opaque" and type_.name == "optional_type":
        return _is_scalar(type_.element)
    return type_.kind in _SCALARS


def _all(sizes: Sequence[Range]) -> Range:
    return Range(min((each.least for each in sizes), default=0), max((each.most for each in sizes), default=0))


def _union(one: _Entries, other: _Entries) -> _Entries:
    return _Entries(one.key | other.key, one.value | other.value)


def _pattern(text: Range, pattern: Range) -> Range:
    return (text + _ONE).scaled(STRING_FACTOR) * pattern.scaled(PATTERN_FACTOR)


def _containment(name: str, argument: Range, *, is_text: bool) -> Range:
    address = Range(4, 16)
    cost = (address + address).scaled(STRING_FACTOR)
    if name == "containsCIDR":
        cost += address.scaled(STRING_FACTOR) + _ONE
    return cost + (argument.scaled(STRING_FACTOR) if is_text else _NONE)


def _replaced(text: Range, old: Range, new: Range) -> Range:
    """Return the size of a text in which the shortest or longest parts are replaced by the longest or shortest ones."""
    if old.least == 0:
        most = _bounded((text.most + 1) * new.most + text.most)
    elif new.most <= old.least:
        most = text.most
    else:
        most = _bounded(math.ceil(text.most / old.least) * new.most)
    if old.most == 0:
        least = (text.least + 1) * new.least + text.least
    elif old.most <= new.least:
        least = text.least
    else:
        least = math.ceil(text.least / old.most) * new.least
    return Range(least, most)
