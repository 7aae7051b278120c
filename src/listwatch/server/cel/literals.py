"""Checks literals that would make every evaluation fail: patterns, times, formats, and lists of mixed types."""

from __future__ import annotations

import re
from collections.abc import Iterator

from listwatch.server.cel.declarations import Functions
from listwatch.server.cel.library.times import parse_duration, parse_timestamp
from listwatch.server.cel.syntax import Call, Expression, ListLiteral, Literal, MapLiteral, children
from listwatch.server.cel.type_system import Type
from listwatch.server.cel.values import CELError
from listwatch.server.regexp.parsing import RegexpSyntaxError, parse

__all__ = ["constant_failure", "literal_problems"]

_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"})
_CLAUSE = re.compile(r"%(?:\.[0-9]+)?(.)", re.DOTALL)
_INTEGERS = ("int", "uint")
_CLAUSES = {
    "d": (_INTEGERS, "decimal clause can only be used on integers"),
    "f": (("double", *_INTEGERS), "fixed-point clause can only be used on doubles"),
    "e": (("double", *_INTEGERS), "scientific clause can only be used on doubles"),
    "b": (("bool", *_INTEGERS), "only integers and bools can be formatted as binary"),
    "o": (_INTEGERS, "octal clause can only be used on integers"),
    "x": (("string", "bytes", *_INTEGERS), "only integers, byte buffers, and strings can be formatted as hex"),
    "X": (("string", "bytes", *_INTEGERS), "only integers, byte buffers, and strings can be formatted as hex"),
}


def literal_problems(root: Expression) -> list[tuple[int, str]]:
    """Return positions and messages, for an expression whose types were checked."""
    return sorted([*_problems(root, in_format=False)], key=lambda problem: problem[0])


def _problems(node: Expression, *, in_format: bool) -> Iterator[tuple[int, str]]:
    match node:
        case Call(function="format", target=Literal(value=str() as pattern), arguments=[ListLiteral() as given]):
            yield from _format_problems(pattern, given)
            in_format = True
        case Call(function="matches" | "timestamp" | "duration" as name, arguments=arguments) if arguments:
            yield from _argument_problems(name, arguments[-1])
        case ListLiteral() if not in_format:
            yield from _mixed([(each, index in node.optional) for index, each in enumerate(node.elements)])
        case MapLiteral() if not in_format:
            yield from _mixed([(key, False) for key, _, _ in node.entries])
            yield from _mixed([(value, optional) for _, value, optional in node.entries])
    is_format = isinstance(node, Call) and node.function == "format"
    for each in children(node):
        yield from _problems(each, in_format=in_format or is_format)


def _argument_problems(name: str, argument: Expression) -> Iterator[tuple[int, str]]:
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        return
    try:
        match name:
            case "matches":
                parse(argument.value)
            case "timestamp":
                parse_timestamp(argument.value)
            case "duration":
                parse_duration(argument.value)
    except (CELError, RegexpSyntaxError):
        yield argument.position, f"invalid {name} argument"


def _format_problems(pattern: str, given: ListLiteral) -> Iterator[tuple[int, str]]:
    verbs = [verb for verb in _CLAUSE.findall(pattern) if verb != "%"]
    for verb, argument in zip(verbs, given.elements, strict=False):
        kinds, problem = _CLAUSES.get(verb, ((), ""))
        found = argument.type
        if problem and found.kind not in ("dyn", *kinds):
            shown = found.kind if found.kind in ("list", "map") else str(found)
            yield argument.position, f"error during formatting: {problem}, was given {shown}"


def _mixed(entries: list[tuple[Expression, bool]]) -> Iterator[tuple[int, str]]:
    types = [each.type.element if optional else each.type for each, optional in entries]
    for (each, _), found in zip(entries[1:], types[1:], strict=True):
        if not _is_same(types[0], found):
            yield each.position, f"expected type '{types[0]}' but found '{found}'"
            return


def _is_same(one: Type, other: Type) -> bool:
    if "dyn" in (one.kind, other.kind):
        return one.kind == other.kind
    if (one.kind, one.name) != (other.kind, other.name):
        return False
    return one.kind == "type" or all(map(_is_same, one.parameters, other.parameters))


def constant_failure(node: Expression, functions: Functions) -> str:
    """Return why the conversion of a constant fails; empty if none does."""
    for each in children(node):
        if failure := constant_failure(each, functions):
            return failure
    if isinstance(node, Call) and node.function in _CONVERSIONS and len(node.overloads) == 1:
        argument = node.arguments[0] if node.arguments else None
        if isinstance(argument, Literal):
            [overload] = [each for each in functions[node.function] if each.name == node.overloads[0]]
            try:
                overload.call(argument.value)
            except CELError as error:
                return str(error)
    return ""
