"""Checks the types of an expression: sets the type of every node, and the signatures that each call may use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from listwatch.server.cel.declarations import Declarations, Overload
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
from listwatch.server.cel.type_system import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    object_type,
    opaque,
    optional_of,
    parameter,
    type_of_type,
)
from listwatch.server.cel.values import type_of

__all__ = ["Problem", "check"]

_NAMED_TYPES = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "dyn": DYN,
    "int": INT,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "string": STRING,
    "type": TYPE,
    "uint": UINT,
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
    "optional_type": optional_of(DYN),
    **{
        name: opaque(name)
        for name in ("kubernetes.Quantity", "kubernetes.URL", "net.IP", "net.CIDR", "kubernetes.Semver")
    },
}
_NULLABLE = ("null", "opaque", "object", "duration", "timestamp")

Problem = tuple[int, str]
"""The position in the text, and what is wrong there."""


def check(root: Expression, declarations: Declarations) -> list[Problem]:
    """Set the types of all nodes; returns what is wrong."""
    checker = _Checker(declarations)
    checker.check(root)
    checker.finish()
    return sorted(checker.problems, key=lambda problem: problem[0])


class _Checker:
    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations
        self._scopes: list[dict[str, Type]] = []
        self._bindings: dict[str, Type] = {}
        self._fresh = 0
        self._nodes: list[Expression] = []
        self.problems: list[Problem] = []

    def check(self, node: Expression) -> Type:
        match node:
            case Literal():
                found = type_of(node.value)
            case Ident():
                found = self._ident(node)
            case Select():
                found = self._select(node)
            case Call():
                found = self._call(node)
            case ListLiteral():
                found = self._list(node)
            case MapLiteral():
                found = self._map(node)
            case Struct():
                found = self._struct(node)
            case Comprehension():
                found = self._comprehension(node)
        node.type = found
        self._nodes.append(node)
        return found

    def finish(self) -> None:
        """Replace type variables by what they were bound to; free ones are dynamic."""
        for node in self._nodes:
            node.type = self._resolved(node.type, free=DYN)

    def _problem(self, node: Expression, message: str) -> Type:
        self.problems.append((node.position, message))
        return ERROR

    # --- Names and fields

    def _variable(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        found = self._declarations.variables.get(name)
        if found is None and name in _NAMED_TYPES:
            return type_of_type(_NAMED_TYPES[name])
        return found

    def _ident(self, node: Ident) -> Type:
        found = self._variable(node.name)
        return found or self._problem(node, f"undeclared reference to '{node.name}' (in container '')")

    def _select(self, node: Select) -> Type:
        name = _dotted(node)
        if name in self._declarations.variables:
            # A variable whose name has a dot; the evaluator reads only the operand.
            node.operand, node.field_name = Ident(node.operand.position, name), ""
            return self._declarations.variables[name]
        if name in _NAMED_TYPES and not self._is_variable(name.partition(".")[0]):
            node.operand = Ident(node.operand.position, name)
            return type_of_type(_NAMED_TYPES[name])
        operand = self._resolved(self.check(node.operand))
        field = self._field(node, operand, node.field_name)
        return BOOL if node.is_test else field

    def _is_variable(self, name: str) -> bool:
        return self._variable(name) is not None

    def _field(self, node: Expression, operand: Type, name: str) -> Type:
        match operand.kind:
            case "map":
                return operand.element
            case "object":
                known = self._declarations.objects(operand.name)
                if known is None:
                    return self._problem(node, f"undefined field '{name}'")
                if known.fields is None:
                    return DYN
                return known.fields.get(name) or self._problem(node, f"undefined field '{name}'")
            case "opaque" if operand.name == "optional_type":
                return optional_of(self._field(node, self._resolved(operand.element), name))
            case "parameter":
                self._bindings[operand.name] = DYN
                return DYN
            case "dyn" | "!error!":
                return operand
        return self._problem(node, f"type '{operand}' does not support field selection")

    # --- Calls

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            return self._optional_select(node)
        functions = self._declarations.functions
        if node.target is not None and (prefix := _dotted(node.target)):
            qualified = f"{prefix}.{node.function}"
            if qualified in functions and not self._is_variable(prefix.partition(".")[0]):
                node.function, node.target = qualified, None
        types = [] if node.target is None else [self.check(node.target)]
        types += [self.check(each) for each in node.arguments]
        overloads = functions.get(node.function)
        if overloads is None:
            return self._problem(node, f"undeclared reference to '{node.function}' (in container '')")
        return self._resolve_overload(node, overloads, types)

    def _optional_select(self, node: Call) -> Type:
        operand = self._resolved(self.check(node.arguments[0]))
        name = node.arguments[1]
        self.check(name)
        assert isinstance(name, Literal)
        field = self._field(node, operand, str(name.value))
        is_optional = field.kind == "opaque" and field.name == "optional_type" and operand.name == "optional_type"
        return field if is_optional else optional_of(field)

    def _resolve_overload(self, node: Call, overloads: Iterable[Overload], types: Sequence[Type]) -> Type:
        names: list[str] = []
        result: Type | None = None
        is_member = node.target is not None
        for overload in overloads:
            if overload.is_member != is_member or len(overload.parameters) != len(types):
                continue
            renamed: dict[str, Type] = {}
            parameters = [self._instance(each, renamed) for each in overload.parameters]
            if not self._assign_all(types, parameters):
                continue
            names.append(overload.name)
            found = self._resolved(self._instance(overload.result, renamed))
            result = found if result is None or result == found else DYN
        if result is None:
            shown = [self._resolved(each, free=DYN).shown for each in types]
            inner = ", ".join(shown[1:] if is_member else shown)
            applied = f"{shown[0]}.({inner})" if is_member else f"({inner})"
            return self._problem(node, f"found no matching overload for '{node.function}' applied to '{applied}'")
        node.overloads = tuple(names)
        return result

    def _instance(self, type_: Type, renamed: dict[str, Type]) -> Type:
        """Return a type of a signature with new type variables for its parameters."""
        if type_.kind == "parameter":
            if type_.name not in renamed:
                renamed[type_.name] = self._new_variable()
            return renamed[type_.name]
        if not type_.parameters:
            return type_
        return Type(type_.kind, type_.name, tuple(self._instance(each, renamed) for each in type_.parameters))

    def _new_variable(self) -> Type:
        self._fresh += 1
        return parameter(f"_var{self._fresh}")

    # --- Literals

    def _joined(self, known: Type | None, found: Type) -> Type:
        """Return the type of all entries of a literal: dynamic if they differ, which `literals` rejects later."""
        if known is None:
            return found
        if self._assign_all([known], [found]) or self._assign_all([found], [known]):
            return DYN if "dyn" in (known.kind, found.kind) else known
        return DYN

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, each in enumerate(node.elements):
            found = self.check(each)
            if index in node.optional:
                found = self._value_of_optional(each, found)
            element = self._joined(element, found)
        return list_of(element or self._new_variable())

    def _value_of_optional(self, node: Expression, found: Type) -> Type:
        found = self._resolved(found)
        if found.kind == "opaque" and found.name == "optional_type":
            return found.element
        if found.kind in ("dyn", "!error!"):
            return DYN
        return self._problem(node, f"expected type 'optional_type({found})' but found '{found}'")

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for key_node, value_node, is_optional in node.entries:
            key = self._joined(key, self.check(key_node))
            found = self.check(value_node)
            if is_optional:
                found = self._value_of_optional(value_node, found)
            value = self._joined(value, found)
        return map_of(key or self._new_variable(), value or self._new_variable())

    def _struct(self, node: Struct) -> Type:
        known = self._declarations.objects(node.name)
        for name, value, is_optional in node.fields:
            found = self.check(value)
            if is_optional:
                found = self._value_of_optional(value, found)
            if known is None or known.fields is None:
                continue
            expected = known.fields.get(name)
            if expected is None:
                self._problem(value, f"undefined field '{name}'")
            elif not self._assign_all([found], [expected]):
                why = f"expected type of field '{name}' is '{expected}' but provided type is '{self._resolved(found)}'"
                self._problem(value, why)
        if known is None:
            return self._problem(node, f"undeclared reference to '{node.name}' (in container '')")
        return object_type(node.name)

    def _comprehension(self, node: Comprehension) -> Type:
        range_ = self._resolved(self.check(node.range))
        match range_.kind:
            case "list":
                first, second = (INT, range_.element) if node.second else (range_.element, DYN)
            case "map":
                first, second = range_.parameters if range_.parameters else (DYN, DYN)
            case "dyn" | "!error!" | "parameter":
                first, second = DYN, DYN
            case _:
                message = "cannot be range of a comprehension (must be list, map, or dynamic)"
                self._problem(node.range, f"expression of type '{range_}' {message}")
                first, second = ERROR, ERROR
        accumulated = self.check(node.initial)
        self._scopes.append({node.accumulator: accumulated})
        self._scopes.append({node.variable: first} | ({node.second: second} if node.second else {}))
        self._expect(node.condition, BOOL)
        self._expect(node.step, accumulated)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return result

    def _expect(self, node: Expression, expected: Type) -> None:
        found = self.check(node)
        if not self._assign_all([found], [expected]):
            shown = [str(self._resolved(each, free=DYN)) for each in (expected, found)]
            self._problem(node, f"expected type '{shown[0]}' but found '{shown[1]}'")

    # --- Assignability

    def _resolved(self, type_: Type, free: Type | None = None) -> Type:
        while type_.kind == "parameter":
            bound = self._bindings.get(type_.name)
            if bound is None:
                return free or type_
            type_ = bound
        if not type_.parameters:
            return type_
        return Type(type_.kind, type_.name, tuple(self._resolved(each, free) for each in type_.parameters))

    def _assign_all(self, found: Sequence[Type], expected: Sequence[Type]) -> bool:
        """Whether values of the found types fit; type variables are bound only if all do."""
        before = {**self._bindings}
        if all(self._assign(one, other) for one, other in zip(found, expected, strict=True)):
            return True
        self._bindings = before
        return False

    def _assign(self, found: Type, expected: Type) -> bool:
        found, expected = self._outer(found), self._outer(expected)
        if found == expected:
            return True
        if expected.kind == "parameter":
            return self._bind(expected, found)
        if found.kind == "parameter":
            return self._bind(found, expected)
        if {found.kind, expected.kind} & {"dyn", "!error!"}:
            return True
        if "null" in (found.kind, expected.kind):
            return found.kind in _NULLABLE and expected.kind in _NULLABLE
        if (found.kind, found.name) != (expected.kind, expected.name):
            return False
        if found.kind == "type":
            return True
        return all(map(self._assign, found.parameters, expected.parameters))

    def _outer(self, type_: Type) -> Type:
        while type_.kind == "parameter" and type_.name in self._bindings:
            type_ = self._bindings[type_.name]
        return type_

    def _bind(self, variable: Type, bound: Type) -> bool:
        if bound.kind == "dyn" or not _occurs(variable, self._resolved(bound)):
            self._bindings[variable.name] = bound
            return True
        return False


def _occurs(variable: Type, inside: Type) -> bool:
    return inside == variable or any(_occurs(variable, each) for each in inside.parameters)


def _dotted(node: Expression) -> str:
    match node:
        case Ident(name=name):
            return name
        case Select(operand=operand, field_name=name, is_test=False):
            outer = _dotted(operand)
            return f"{outer}.{name}" if outer else ""
    return ""
