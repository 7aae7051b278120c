"""The syntax tree of an expression. Macros are expanded: what iterates is a Comprehension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from listwatch.server.cel.type_system import DYN, Type
from listwatch.server.cel.values import Value

__all__ = [
    "Call",
    "Comprehension",
    "Expression",
    "Ident",
    "ListLiteral",
    "Literal",
    "MapLiteral",
    "Select",
    "Struct",
    "children",
]


@dataclass(slots=True, eq=False)
class _Node:
    position: int
    """Where the expression starts, or its operator is, in the text."""
    type: Type = field(default=DYN, init=False)
    """Set by the type checker."""


@dataclass(slots=True, eq=False)
class Literal(_Node):
    """A constant."""

    value: Value


@dataclass(slots=True, eq=False)
class Ident(_Node):
    """The name of a variable or type."""

    name: str


@dataclass(slots=True, eq=False)
class Select(_Node):
    """`operand.field`, or `has(operand.field)` if it is only a test."""

    operand: Expression
    field_name: str
    is_test: bool = False


@dataclass(slots=True, eq=False)
class Call(_Node):
    """A call of a function, a method or an operator such as `_+_`."""

    function: str
    arguments: list[Expression]
    target: Expression | None = None
    overloads: Sequence[str] = field(default=(), init=False)
    """Names of the signatures that fit the types of the arguments; set by the type checker."""


@dataclass(slots=True, eq=False)
class ListLiteral(_Node):
    """`[a, b, ?c]`."""

    elements: list[Expression]
    optional: frozenset[int] = frozenset()
    """The indices of the elements that are left out if they have no value."""


@dataclass(slots=True, eq=False)
class MapLiteral(_Node):
    """`{key: value, ?key: value}`."""

    entries: list[tuple[Expression, Expression, bool]]
    """Keys, values, and whether the entry is left out if it has no value."""


@dataclass(slots=True, eq=False)
class Struct(_Node):
    """`Object.spec{replicas: 3}`."""

    name: str
    fields: list[tuple[str, Expression, bool]]
    """Names, values, and whether the field is left out if it has no value."""


@dataclass(slots=True, eq=False)
class Comprehension(_Node):
    """A loop over a list or the keys of a map; with two variables over indices or keys, and values."""

    variable: str
    second: str
    """Empty if there is one variable."""
    range: Expression
    accumulator: str
    initial: Expression
    condition: Expression
    step: Expression
    result: Expression


Expression = Literal | Ident | Select | Call | ListLiteral | MapLiteral | Struct | Comprehension


def children(node: Expression) -> list[Expression]:
    """Return the expressions right below a node."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return [*([node.target] if node.target else []), *node.arguments]
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return [each for key, value, _ in node.entries for each in (key, value)]
        case Struct():
            return [value for _, value, _ in node.fields]
        case Comprehension():
            return [node.range, node.initial, node.condition, node.step, node.result]
        case _:
            return []
