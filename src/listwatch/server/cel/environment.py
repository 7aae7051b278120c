"""Compiles expressions: parse → check types → estimate the cost → a program that can be evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from listwatch.server.cel.checking import Problem, check
from listwatch.server.cel.declarations import Declarations, merged
from listwatch.server.cel.evaluation import Evaluate, Frame, evaluator
from listwatch.server.cel.lexing import CELSyntaxError
from listwatch.server.cel.library.authorization import AUTHORIZATION
from listwatch.server.cel.library.collections import COLLECTIONS
from listwatch.server.cel.library.formats import FORMATS
from listwatch.server.cel.library.networks import NETWORKS
from listwatch.server.cel.library.operators import OPERATORS
from listwatch.server.cel.library.quantities import QUANTITIES
from listwatch.server.cel.library.texts import TEXTS
from listwatch.server.cel.library.times import TIMES
from listwatch.server.cel.literals import constant_failure, literal_problems
from listwatch.server.cel.parsing import parse
from listwatch.server.cel.syntax import Expression, children
from listwatch.server.cel.type_system import Type
from listwatch.server.cel.values import Value

__all__ = ["COST_LIMIT", "FUNCTIONS", "CompileError", "InstantiationError", "Program", "compile_expression"]

COST_LIMIT = 1_000_000
"""What one evaluation may cost."""
FUNCTIONS = merged(OPERATORS, TIMES, TEXTS, COLLECTIONS, NETWORKS, QUANTITIES, FORMATS, AUTHORIZATION)
_LINE = re.compile(r"\r\n|\n|\r")


class CompileError(Exception):
    """An expression that does not compile; the text shows each problem below the line where it is."""


class InstantiationError(CompileError):
    """An expression in which the conversion of a constant fails."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression."""

    text: str
    root: Expression
    names: frozenset[str]
    """The names of variables that it reads."""
    _evaluate: Evaluate

    @property
    def type(self) -> Type:
        return self.root.type

    def evaluate(self, variables: Mapping[str, Value], limit: int = COST_LIMIT) -> tuple[Value, int]:
        """Return the value and its cost; raises CELError and CostLimitError."""
        frame = Frame(variables, limit)
        return self._evaluate(frame), frame.cost

    def run(self, frame: Frame) -> Value:
        """Evaluate in a frame, which counts the cost also if the evaluation fails."""
        return self._evaluate(frame)


def compile_expression(text: str, declarations: Declarations) -> Program:
    """Raises CompileError."""
    try:
        root = parse(text)
    except CELSyntaxError as error:
        raise CompileError(_shown([(error.position, str(error))], text)) from None
    except RecursionError:
        raise CompileError(_shown([(0, "expression recursion limit exceeded: 250")], text)) from None
    problems = check(root, declarations) or literal_problems(root)
    if problems:
        raise CompileError(_shown(problems, text))
    if failure := constant_failure(root, declarations.functions):
        raise InstantiationError(failure)
    return Program(text, root, frozenset(_names(root)), evaluator(root, declarations.functions))


def _shown(problems: list[Problem], text: str) -> str:
    shown = []
    for position, message in problems:
        starts = [0, *(match.end() for match in _LINE.finditer(text))]
        line = max(index for index, start in enumerate(starts) if start <= position)
        column = position - starts[line]
        source = _LINE.split(text)[line].replace("\t", " ")
        shown.append(f"ERROR: <input>:{line + 1}:{column + 1}: {message}\n | {source}\n | {'.' * column}^")
    return "\n".join(shown)


def _names(node: Expression) -> set[str]:
    found = set().union(*map(_names, children(node)))
    name = getattr(node, "name", "")
    return found | {name} if name else found
