"""Evaluates expressions: a checked syntax tree becomes a function, which counts what it costs.

Costs are those of Kubernetes: 1 for a name, a field or an operator, more for lists, maps, and functions that traverse
strings or lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from listwatch.server.cel.call_costs import call_cost
from listwatch.server.cel.declarations import Functions, Overload
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
from listwatch.server.cel.values import (
    NO_VALUE,
    CELError,
    CostLimitError,
    Duration,
    Failed,
    GrowingList,
    Opaque,
    OptionalValue,
    StructValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    no_such_overload,
)

__all__ = ["Evaluate", "Frame", "LazyObject", "evaluator"]

LIST_COST, MAP_COST, STRUCT_COST = 10, 30, 40
_TYPE_NAMES = {
    "bool": "bool",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
}


class Frame:
    """One evaluation: the variables, and what it has cost so far."""

    __slots__ = ("cost", "limit", "variables")

    def __init__(self, variables: Mapping[str, Value], limit: int) -> None:
        self.variables: dict[str, Value] = {**variables}
        self.limit = limit
        self.cost = 0

    def charge(self, cost: int) -> None:
        """Raises CostLimitError."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostLimitError


@runtime_checkable
class LazyObject(Protocol):
    """An object whose fields are computed when they are read."""

    def read_field(self, name: str, frame: Frame) -> Value:
        """Raises CELError."""


Evaluate = Callable[[Frame], Value]


def evaluator(node: Expression, functions: Functions) -> Evaluate:
    """Return the function that evaluates an expression; it raises CELError and CostLimitError."""
    return _Builder(functions).build(node)


class _Builder:
    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def build(self, node: Expression) -> Evaluate:
        match node:
            case Literal():
                value = node.value
                return lambda frame: value
            case Ident():
                return _ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Struct():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)

    def _select(self, node: Select) -> Evaluate:
        if node.type.kind == "type":
            return _type_name(node.type)
        operand, name = self.build(node.operand), node.field_name
        if not name:
            return operand
        if node.is_test:
            return lambda frame: has_field(operand(frame), name)

        def select(frame: Frame) -> Value:
            value = operand(frame)
            frame.charge(1)
            return value.read_field(name, frame) if isinstance(value, LazyObject) else field_of(value, name)

        return select

    # --- Calls

    def _call(self, node: Call) -> Evaluate:
        operands = [self.build(each) for each in (*([node.target] if node.target else []), *node.arguments)]
        special = _SPECIAL.get(node.function)
        if special:
            return special(*operands)
        candidates = [each for each in self._functions.get(node.function, ()) if each.name in node.overloads]
        arguments = [*([node.target] if node.target else []), *node.arguments]
        is_certain = len(candidates) == 1 and all(_is_certain(each.type) for each in arguments)
        name = node.function

        def call(frame: Frame) -> Value:
            values = [operand(frame) for operand in operands]
            overload = candidates[0] if is_certain else _fitting(candidates, values)
            result = overload.call(*values)
            frame.charge(call_cost(name, overload.name, values, result))
            return result

        return call

    # --- Literals

    def _list(self, node: ListLiteral) -> Evaluate:
        if all(isinstance(each, Literal) for each in node.elements) and not node.optional:
            constant = [each.value for each in node.elements if isinstance(each, Literal)]
            return lambda frame: constant
        elements = [(self.build(each), index in node.optional) for index, each in enumerate(node.elements)]

        def make(frame: Frame) -> Value:
            found: list[Value] = []
            for element, is_optional in elements:
                if (value := _present(element(frame), is_optional=is_optional)) is not None:
                    found.append(value.value)
            frame.charge(LIST_COST)
            return found

        return make

    def _map(self, node: MapLiteral) -> Evaluate:
        entries = [(self.build(key), self.build(value), optional) for key, value, optional in node.entries]

        def make(frame: Frame) -> Value:
            found: dict[Value, Value] = {}
            for key, value, is_optional in entries:
                name = key(frame)
                if name in found:
                    raise CELError(f"Failed with repeated key {name}")
                if (entry := _present(value(frame), is_optional=is_optional)) is not None:
                    found[name] = entry.value
            if entries:
                frame.charge(MAP_COST)
            return found

        return make

    def _struct(self, node: Struct) -> Evaluate:
        fields = [(name, self.build(value), optional) for name, value, optional in node.fields]
        type_name = node.name

        def make(frame: Frame) -> Value:
            found: dict[str, Value] = {}
            for name, value, is_optional in fields:
                if (entry := _present(value(frame), is_optional=is_optional)) is not None:
                    found[name] = entry.value
            frame.charge(STRUCT_COST)
            return StructValue(type_name, found)

        return make

    # --- Comprehensions

    def _comprehension(self, node: Comprehension) -> Evaluate:
        range_, initial, condition = self.build(node.range), self.build(node.initial), self.build(node.condition)
        step, result = self.build(node.step), self.build(node.result)
        names = (node.accumulator, node.variable, *([node.second] if node.second else []))
        always = isinstance(node.condition, Literal)

        def iterate(frame: Frame) -> Value:
            iterated = range_(frame)
            accumulated = initial(frame)
            if type(accumulated) is list:
                accumulated = GrowingList(accumulated)
            elif type(accumulated) is dict:
                accumulated = {**accumulated}
            shadowed = {name: frame.variables[name] for name in names if name in frame.variables}
            frame.variables[node.accumulator] = accumulated
            for variables in _iterations(iterated, node):
                frame.variables.update(variables)
                if condition(frame) is False:
                    break
                try:
                    frame.variables[node.accumulator] = step(frame)
                except CELError as error:
                    if always:
                        raise
                    frame.variables[node.accumulator] = Failed(error)
            for name in names[1:]:
                frame.variables.pop(name, None)
            found = result(frame)
            del frame.variables[node.accumulator]
            frame.variables.update(shadowed)
            return [*found] if isinstance(found, GrowingList) else found

        return iterate


def _ident(node: Ident) -> Evaluate:
    name = node.name
    named_type = _type_name(node.type) if node.type.kind == "type" else None

    def read(frame: Frame) -> Value:
        frame.charge(1)
        try:
            value = frame.variables[name]
        except KeyError:
            if named_type:
                return named_type(frame)
            raise CELError(f"no such attribute(s): {name}") from None
        if type(value) is Failed:
            raise value.error
        return value

    return read


def _type_name(type_: Type) -> Evaluate:
    inner = type_.element
    value = TypeValue(inner.name if inner.kind in ("opaque", "object") else _TYPE_NAMES.get(inner.kind, inner.kind))
    return lambda frame: value


def _iterations(iterated: Value, node: Comprehension) -> Sequence[dict[str, Value]]:
    first, second = node.variable, node.second
    if isinstance(iterated, dict):
        if second:
            return [{first: key, second: value} for key, value in iterated.items()]
        return [{first: key} for key in iterated]
    if isinstance(iterated, list):
        if second:
            return [{first: index, second: value} for index, value in enumerate(iterated)]
        return [{first: value} for value in iterated]
    raise no_such_overload()


def _present(value: Value, *, is_optional: bool) -> OptionalValue | None:
    if not is_optional:
        return OptionalValue(value)
    if not isinstance(value, OptionalValue):
        raise CELError("cannot initialize optional entry from non-optional value")
    return value if value.has_value else None


# --- Fields and indices ----------------------------------------------------------------------------------------------


def field_of(value: Value, name: str) -> Value:
    """Return a field; raises CELError."""
    match value:
        case dict():
            if name in value:
                found = value[name]
                if type(found) is Failed:
                    raise found.error
                return found
        case StructValue():
            if name in value.fields:
                return value.fields[name]
        case OptionalValue():
            found = value.value if value.has_value else None
            return OptionalValue(field_of(found, name)) if has_field(found, name) else NO_VALUE
        case list():
            raise no_such_overload()
    # Also of null and of scalars, whose type was not known when the expression was compiled.
    raise CELError(f"no such key: {name}")


def has_field(value: Value, name: str) -> bool:
    match value:
        case dict():
            return name in value
        case StructValue():
            return name in value.fields
        case OptionalValue():
            return value.has_value and has_field(value.value, name)
        case LazyObject():
            return True
        case list():
            raise no_such_overload()
    return False


def item_of(value: Value, index: Value) -> Value:
    """Return an element of a list or a value of a map; raises CELError."""
    match value:
        case dict():
            if _is_key(index) and index in value:
                return value[index]
            raise CELError(f"no such key: {index}")
        case list():
            if isinstance(index, float) and index.is_integer():
                index = int(index)
            if not isinstance(index, int) or isinstance(index, bool):
                raise CELError("unsupported index type")
            if not 0 <= index < len(value):
                raise CELError(f"index out of bounds: {index}")
            return value[index]
        case OptionalValue():
            return optional_item(value, index)
    raise no_such_overload()


def _is_key(value: Value) -> bool:
    return isinstance(value, str | int | float)


def optional_item(value: Value, index: Value) -> OptionalValue:
    if isinstance(value, OptionalValue):
        return optional_item(value.value, index) if value.has_value else NO_VALUE
    try:
        return OptionalValue(item_of(value, index))
    except CELError as error:
        if str(error).startswith(("no such key", "index out of bounds")):
            return NO_VALUE
        raise


# --- Operators that do not evaluate all operands ----------------------------------------------------------------------


def _logical(left: Evaluate, right: Evaluate, *, decisive: bool) -> Evaluate:
    """`&&` and `||`: if one operand decides, an error of the other one is ignored."""

    def evaluate(frame: Frame) -> Value:
        error: CELError | None = None
        try:
            value = left(frame)
            if value is decisive:
                return decisive
            if value is not (not decisive):
                error = no_such_overload()
        except CELError as failed:
            error = failed
        try:
            value = right(frame)
        except CELError as failed:
            raise error or failed from None
        if value is decisive:
            return decisive
        if error or value is not (not decisive):
            raise error or no_such_overload()
        return not decisive

    return evaluate


def _conditional(condition: Evaluate, first: Evaluate, second: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Value:
        value = condition(frame)
        if value is not True and value is not False:
            raise no_such_overload()
        return first(frame) if value else second(frame)

    return evaluate


def _not_strictly_false(operand: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Value:
        try:
            found = operand(frame) is not False
        except CELError:
            found = True
        frame.charge(1)
        return found

    return evaluate


def _optional_select(operand: Evaluate, name: Evaluate) -> Evaluate:
    def evaluate(frame: Frame) -> Value:
        value, field = operand(frame), str(name(frame))
        frame.charge(1)
        if isinstance(value, OptionalValue):
            return field_of(value, field)
        return OptionalValue(field_of(value, field)) if has_field(value, field) else NO_VALUE

    return evaluate


def _or_value(optional: Evaluate, other: Evaluate, *, wrapped: bool) -> Evaluate:
    """`optional.orValue(x)` and `optional.or(other)`: the argument is evaluated only if there is no value."""

    def evaluate(frame: Frame) -> Value:
        found = optional(frame)
        if not isinstance(found, OptionalValue):
            raise no_such_overload()
        frame.charge(1)
        if not found.has_value:
            return other(frame)
        return found if wrapped else found.value

    return evaluate


def _index(operand: Evaluate, index: Evaluate, *, optional: bool) -> Evaluate:
    find = optional_item if optional else item_of

    def evaluate(frame: Frame) -> Value:
        value, found = operand(frame), index(frame)
        frame.charge(1)
        if isinstance(value, LazyObject) and isinstance(found, str):
            return value.read_field(found, frame)
        return find(value, found)

    return evaluate


_SPECIAL: Mapping[str, Callable[..., Evaluate]] = {
    "_&&_": lambda left, right: _logical(left, right, decisive=False),
    "_||_": lambda left, right: _logical(left, right, decisive=True),
    "_?_:_": _conditional,
    "@not_strictly_false": _not_strictly_false,
    "_?._": _optional_select,
    "orValue": lambda optional, other: _or_value(optional, other, wrapped=False),
    "or": lambda optional, other: _or_value(optional, other, wrapped=True),
    "_[_]": lambda operand, index: _index(operand, index, optional=False),
    "_[?_]": lambda operand, index: _index(operand, index, optional=True),
}


# --- Overloads --------------------------------------------------------------------------------------------------------

_CLASSES: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "uint": (UInt,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "null": (type(None),),
    "timestamp": (Timestamp,),
    "duration": (Duration,),
    "type": (TypeValue,),
}


def _is_certain(type_: Type) -> bool:
    """Whether a value can only be of this type: nothing in it is dynamic."""
    return type_.kind not in ("dyn", "parameter", "null", "!error!") and all(map(_is_certain, type_.parameters))


def _fitting(candidates: Sequence[Overload], values: Sequence[Value]) -> Overload:
    for overload in candidates:
        if all(map(_fits, values, overload.parameters)):
            return overload
    raise no_such_overload()


def _fits(value: Value, type_: Type) -> bool:
    match type_.kind:
        case "dyn" | "parameter":
            return True
        case "list":
            return isinstance(value, list)
        case "map":
            return isinstance(value, dict)
        case "opaque":
            if type_.name == "optional_type":
                return isinstance(value, OptionalValue)
            return isinstance(value, Opaque) and value.type == type_
        case "object":
            return isinstance(value, dict | StructValue)
    return type(value) in _CLASSES.get(type_.kind, ())
