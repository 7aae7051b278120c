"""Descriptions of fields, from the source of their class: the string below a field, or the comments at it.

    class FleetSpec(lw.Model):
        region: str
        "Where the fleet is."
        ships: int = 3  # how many ships it has

A class without source, for example one of an interactive session, has no descriptions of fields.
"""

from __future__ import annotations

import ast
import inspect
import io
import linecache
import re
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

__all__ = ["class_description", "field_descriptions"]

# Comments that are instructions for tools.
_DIRECTIVE = re.compile(r"(noqa|type:|pyright:|mypy:|ruff:|pragma|fmt:|pylint:|TODO|FIXME|XXX|---)", re.IGNORECASE)


def class_description(cls: type) -> str:
    """Return the docstring of a class, not of its bases."""
    text = vars(cls).get("__doc__")
    return inspect.cleandoc(text) if isinstance(text, str) else ""


def field_descriptions(cls: type) -> dict[str, str]:
    """Return the descriptions of the fields of a class and its bases, by attribute."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith(("listwatch.", "msgspec", "builtins")):
            found |= _own_descriptions(base)
    return found


def _own_descriptions(cls: type) -> dict[str, str]:
    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        return {}
    module = _read_module("".join(linecache.getlines(file))) if file else None
    node = module.classes.get(cls.__qualname__) if module else None
    return {**_from_comments(node, module), **_from_strings(node)} if node and module else {}


class _Module(NamedTuple):
    """The classes of a source by qualified name, and its comments by line: alone on it, and after code."""

    classes: dict[str, ast.ClassDef]
    above: dict[int, str]
    beside: dict[int, str]


@lru_cache(maxsize=8)  # a generated module has thousands of classes
def _read_module(source: str) -> _Module | None:
    try:
        tree = ast.parse(source)
        above, beside = _comments(source)
    except (SyntaxError, tokenize.TokenError):
        return None
    classes: dict[str, ast.ClassDef] = {}
    left: list[tuple[str, ast.stmt]] = [("", each) for each in tree.body]
    for prefix, node in left:
        match node:
            case ast.ClassDef():
                classes[prefix + node.name] = node
                left += [(f"{prefix}{node.name}.", each) for each in node.body]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                left += [(f"{prefix}{node.name}.<locals>.", each) for each in node.body]
            case ast.If() | ast.Try() | ast.With():
                left += [(prefix, each) for each in node.body]
    return _Module(classes, above, beside)


def _from_strings(node: ast.ClassDef) -> dict[str, str]:
    return {
        name: inspect.cleandoc(below.value.value)
        for statement, below in pairwise(node.body)
        if (name := _attribute(statement))
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


def _from_comments(node: ast.ClassDef, module: _Module) -> dict[str, str]:
    above, beside = module.above, module.beside
    found = {}
    for statement in node.body:
        if name := _attribute(statement):
            end = statement.end_lineno or statement.lineno
            lines = [*_block_above(above, statement.lineno), *([beside[end]] if end in beside else [])]
            if text := " ".join(each for each in lines if each and not _DIRECTIVE.match(each)):
                found[name] = text
    return found


def _comments(source: str) -> tuple[dict[int, str], dict[int, str]]:
    """Return comments that have a line for themselves, and those after code, by line."""
    above: dict[int, str] = {}
    beside: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            is_alone = not token.line[: token.start[1]].strip()
            (above if is_alone else beside)[token.start[0]] = token.string.lstrip("#:").strip()
    return above, beside


def _block_above(comments: dict[int, str], line: int) -> Iterator[str]:
    start = line
    while start - 1 in comments:
        start -= 1
    yield from (comments[each] for each in range(start, line))


def _attribute(statement: ast.stmt) -> str:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    return ""
