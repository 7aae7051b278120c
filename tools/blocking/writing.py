"""Writes functions: signatures, docstrings, and the arguments that they pass to the asynchronous functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Sequence

from tools.blocking.annotations import PROTOCOLS, blocking_annotation, needs_unwrapping
from tools.blocking.imports import Imports

Function = ast.FunctionDef | ast.AsyncFunctionDef

CONTEXT_MANAGERS = ("asynccontextmanager", "contextmanager")

# Replacements in docstrings of asynchronous classes.
_WORDS = {
    "async with": "with",
    "async for": "for",
    "await ": "",
    "to be awaited": "called",
    "awaitable": "callable",
    ", or awaits one": "",
    ", and may be async": "",
    "an async iterator": "an iterator",
    " `client` is for async functions.": "",
    "an asynchronous iterator": "an iterator",
    "asynchronous iterator": "iterator",
}


def blocking_words(text: str) -> str:
    """Return a docstring with the terms for asynchronous code replaced."""
    for word, other in _WORDS.items():
        text = text.replace(word, other)
    return text


def docstring(node: ast.ClassDef | Function) -> Iterator[ast.stmt]:
    text = ast.get_docstring(node)
    if text:
        indent = " " * (4 if isinstance(node, ast.ClassDef) or node.col_offset == 0 else 8)
        lines = [f"{indent}{line}" if line else "" for line in blocking_words(text).splitlines()]
        yield ast.Expr(ast.Constant("\n".join(lines).strip() + ("\n" + indent if len(lines) > 1 else "")))


def function_definition(
    member: Function,
    name: str,
    body: str,
    module: str,
    imports: Imports,
    *,
    decorators: Sequence[str] = (),
) -> ast.FunctionDef:
    arguments = copy.deepcopy(member.args)
    for each in (
        *arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg
    ):  # fmt: skip
        if each is not None and each.annotation is not None:
            each.annotation = blocking_annotation(imports.resolved(each.annotation, module))
    returns = member.returns and blocking_annotation(imports.resolved(member.returns, module))
    if any(each in CONTEXT_MANAGERS for each in map(ast.unparse, member.decorator_list)):
        imports.add("from contextlib import AbstractContextManager")
        assert isinstance(returns, ast.Subscript)
        returns = ast.Subscript(ast.Name("AbstractContextManager"), returns.slice)
    return ast.FunctionDef(
        name=name,
        args=arguments,
        body=[*docstring(member), *ast.parse(body).body] if body != "..." else [*ast.parse(body).body],
        decorator_list=[ast.Name(each) for each in decorators],
        returns=returns,
    )


def parsed_function(text: str) -> ast.FunctionDef:
    [function] = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return function


def passed_arguments(member: Function, unwrapped: Collection[str]) -> str:
    """Return the arguments of a call that passes all parameters of a function."""
    args = member.args

    def passed(name: str) -> str:
        return f"unwrap({name})" if name in unwrapped else name

    given = [passed(each.arg) for each in (*args.posonlyargs, *args.args) if each.arg not in ("self", "cls")]
    if args.vararg:
        given.append(f"*{args.vararg.arg}")
    given += [f"{each.arg}={passed(each.arg)}" for each in args.kwonlyargs]
    if args.kwarg:
        given.append(f"**{args.kwarg.arg}")
    return ", ".join(given)


def unwrapped_parameters(member: Function, module: str, imports: Imports, wrapped: frozenset[str]) -> dict[str, None]:
    """Return the parameters that accept a blocking object."""
    parameters = (*member.args.posonlyargs, *member.args.args, *member.args.kwonlyargs)
    names = wrapped | {*PROTOCOLS}
    return {
        each.arg: None
        for each in parameters
        if each.annotation is not None and needs_unwrapping(imports.resolved(each.annotation, module), names)
    }


def result_statements(function: Function, value: str) -> str:
    # With a variable, because type checkers may not infer a type variable from unwrapped arguments.
    assert function.returns is not None
    declared = ast.unparse(blocking_annotation(function.returns))
    return value if returns_nothing(function) else f"result: {declared} = {value}\n    return result"


def returns_nothing(member: Function) -> bool:
    return member.returns is not None and ast.unparse(member.returns) == "None"


def name_of(annotation: ast.expr) -> str:
    return ast.unparse(annotation.value if isinstance(annotation, ast.Subscript) else annotation)
