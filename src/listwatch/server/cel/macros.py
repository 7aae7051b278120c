"""Expands macros: `list.all(x, x > 0)` becomes a comprehension, `has(a.b)` a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from listwatch.server.cel.lexing import CELSyntaxError
from listwatch.server.cel.syntax import Call, Comprehension, Expression, Ident, ListLiteral, Literal, MapLiteral, Select

__all__ = ["ACCUMULATOR", "expand"]

ACCUMULATOR = "@result"
_UNUSED = "#unused"


def expand(call: Call) -> Expression:
    """Return the expansion of a call of a macro; other calls are returned unchanged."""
    macro = _MACROS.get((call.function, call.target is not None, len(call.arguments)))
    return (macro(call) or call) if macro else call


def _has(call: Call) -> Expression:
    argument = call.arguments[0]
    if not isinstance(argument, Select) or argument.is_test:
        raise CELSyntaxError(argument.position, "invalid argument to has() macro")
    return Select(call.position, argument.operand, argument.field_name, is_test=True)


class _Loop:
    """Makes the parts of a comprehension over the target of a macro."""

    def __init__(self, call: Call, variables: int) -> None:
        self.at = call.position
        assert call.target is not None
        self.range = call.target
        self.names = [_variable(each) for each in call.arguments[:variables]]
        self.arguments = call.arguments[variables:]

    def call(self, function: str, *arguments: Expression) -> Call:
        return Call(self.at, function, [*arguments])

    @property
    def accumulated(self) -> Ident:
        return Ident(self.at, ACCUMULATOR)

    def comprehension(
        self, initial: Expression, condition: Expression, step: Expression, result: Expression | None = None
    ) -> Expression:
        first, second = self.names[0], self.names[1] if len(self.names) > 1 else ""
        result = result or self.accumulated
        return Comprehension(self.at, first, second, self.range, ACCUMULATOR, initial, condition, step, result)


def _variable(argument: Expression) -> str:
    if not isinstance(argument, Ident):
        raise CELSyntaxError(argument.position, "argument must be a simple name")
    return argument.name


def _all(variables: int) -> Callable[[Call], Expression]:
    def expanded(call: Call) -> Expression:
        loop = _Loop(call, variables)
        condition = loop.call("@not_strictly_false", loop.accumulated)
        step = loop.call("_&&_", loop.accumulated, loop.arguments[0])
        return loop.comprehension(Literal(loop.at, True), condition, step)

    return expanded


def _exists(variables: int) -> Callable[[Call], Expression]:
    def expanded(call: Call) -> Expression:
        loop = _Loop(call, variables)
        condition = loop.call("@not_strictly_false", loop.call("!_", loop.accumulated))
        step = loop.call("_||_", loop.accumulated, loop.arguments[0])
        return loop.comprehension(Literal(loop.at, False), condition, step)

    return expanded


def _exists_one(variables: int) -> Callable[[Call], Expression]:
    def expanded(call: Call) -> Expression:
        loop = _Loop(call, variables)
        more = loop.call("_+_", loop.accumulated, Literal(loop.at, 1))
        step = loop.call("_?_:_", loop.arguments[0], more, loop.accumulated)
        result = loop.call("_==_", loop.accumulated, Literal(loop.at, 1))
        return loop.comprehension(Literal(loop.at, 0), Literal(loop.at, True), step, result)

    return expanded


def _transformed(variables: int, *, filters: bool = False) -> Callable[[Call], Expression]:
    """`map` and `transformList`, with a filter before the transformation if there is one."""

    def expanded(call: Call) -> Expression:
        loop = _Loop(call, variables)
        added: Expression = loop.call("_+_", loop.accumulated, ListLiteral(loop.at, [loop.arguments[-1]]))
        return loop.comprehension(
            ListLiteral(loop.at, []), Literal(loop.at, True), _filtered(loop, added, filters=filters)
        )

    return expanded


def _filtered(loop: _Loop, step: Expression, *, filters: bool) -> Expression:
    return loop.call("_?_:_", loop.arguments[0], step, loop.accumulated) if filters else step


def _filter(call: Call) -> Expression:
    loop = _Loop(call, 1)
    loop.arguments.append(Ident(loop.at, loop.names[0]))
    added = loop.call("_+_", loop.accumulated, ListLiteral(loop.at, [loop.arguments[-1]]))
    return loop.comprehension(ListLiteral(loop.at, []), Literal(loop.at, True), _filtered(loop, added, filters=True))


def _transform_map(*, filters: bool = False, entries: bool = False) -> Callable[[Call], Expression]:
    def expanded(call: Call) -> Expression:
        loop = _Loop(call, 2)
        value = loop.arguments[-1]
        inserted = [value] if entries else [Ident(loop.at, loop.names[0]), value]
        step = loop.call("cel.@mapInsert", loop.accumulated, *inserted)
        return loop.comprehension(
            MapLiteral(loop.at, []), Literal(loop.at, True), _filtered(loop, step, filters=filters)
        )

    return expanded


def _optional_map(*, flat: bool) -> Callable[[Call], Expression]:
    """`optional.optMap(x, …)`: the variable is bound to the value, if there is one."""

    def expanded(call: Call) -> Expression:
        at, target = call.position, call.target
        assert target is not None
        name = _variable(call.arguments[0])
        bound = Comprehension(
            position=at,
            variable=_UNUSED,
            second="",
            range=ListLiteral(at, []),
            accumulator=name,
            initial=Call(at, "value", [], target),
            condition=Literal(at, False),
            step=Ident(at, name),
            result=call.arguments[1],
        )
        some = bound if flat else Call(at, "optional.of", [bound])
        return Call(at, "_?_:_", [Call(at, "hasValue", [], target), some, Call(at, "optional.none", [])])

    return expanded


def _sort_by(call: Call) -> Expression | None:
    """`list.sortBy(x, key)` sorts by the keys of the elements."""
    keys = expand(Call(call.position, "map", call.arguments, call.target))
    return Call(call.position, "@sortByAssociatedKeys", [keys], call.target)


_MACROS: Mapping[tuple[str, bool, int], Callable[[Call], Expression | None]] = {
    ("has", False, 1): _has,
    ("all", True, 2): _all(1),
    ("all", True, 3): _all(2),
    ("exists", True, 2): _exists(1),
    ("exists", True, 3): _exists(2),
    ("exists_one", True, 2): _exists_one(1),
    ("existsOne", True, 2): _exists_one(1),
    ("exists_one", True, 3): _exists_one(2),
    ("existsOne", True, 3): _exists_one(2),
    ("map", True, 2): _transformed(1),
    ("map", True, 3): _transformed(1, filters=True),
    ("filter", True, 2): _filter,
    ("transformList", True, 3): _transformed(2),
    ("transformList", True, 4): _transformed(2, filters=True),
    ("transformMap", True, 3): _transform_map(),
    ("transformMap", True, 4): _transform_map(filters=True),
    ("transformMapEntry", True, 3): _transform_map(entries=True),
    ("transformMapEntry", True, 4): _transform_map(filters=True, entries=True),
    ("optMap", True, 2): _optional_map(flat=False),
    ("optFlatMap", True, 2): _optional_map(flat=True),
    ("sortBy", True, 2): _sort_by,
}
"""By name, whether it is called on a target, and the number of arguments."""
