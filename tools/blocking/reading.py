"""Reads the source of the asynchronous classes, and finds the hand-written classes of `blocking/runtime`."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from listwatch.blocking import runtime
from tools.blocking.annotations import without_none
from tools.blocking.writing import blocking_words, name_of


@cache
def _source_text(module: str) -> str:
    return inspect.getsource(sys.modules[module])


def source_of(module: ModuleType) -> ast.Module:
    return ast.parse(_source_text(module.__name__))


def class_of(cls: type) -> ast.ClassDef:
    body = source_of(sys.modules[cls.__module__]).body
    [found] = [each for each in body if isinstance(each, ast.ClassDef) and each.name == cls.__name__]
    return found


def inherits_groups(cls: type, groups: ModuleType) -> bool:
    return any(each.__module__ == groups.__name__ for each in cls.__mro__[1:])


def attributes_of(cls: ast.ClassDef, given: Mapping[str, str]) -> dict[str, tuple[ast.expr, str]]:
    """The public attributes that `__init__` sets, with their types and documentation."""
    found: dict[str, tuple[ast.expr, str]] = {}
    for init in (each for each in cls.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"):
        parameters = {each.arg: each.annotation for each in (*init.args.args, *init.args.kwonlyargs)}
        for index, statement in enumerate(init.body):
            for name, annotation in _assigned(statement, parameters):
                if name.startswith("_"):
                    continue
                if name in given:
                    annotation = ast.parse(given[name], mode="eval").body
                if annotation is None:
                    raise ValueError(f"the type of {cls.name}.{name} has no annotation; add it to the recipe")
                found[name] = annotation, _string_at(init.body, index + 1)
    return found


def _assigned(statement: ast.stmt, parameters: Mapping[str, ast.expr | None]) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(statement, ast.AnnAssign) and _is_of_self(statement.target):
        yield statement.target.attr, statement.annotation  # type: ignore[union-attr]  # of self
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if _is_of_self(target):
                yield target.attr, _type_of(statement.value, parameters)  # type: ignore[attr-defined]  # of self


def _is_of_self(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"


def _type_of(value: ast.expr, parameters: Mapping[str, ast.expr | None]) -> ast.expr | None:
    """The type of `parameter`, or of `parameter or something`."""
    if isinstance(value, ast.Name):
        return parameters.get(value.id)
    if isinstance(value, ast.BoolOp) and isinstance(value.values[0], ast.Name):
        return without_none(parameters.get(value.values[0].id))
    return None


def _string_at(body: Sequence[ast.stmt], index: int) -> str:
    following = body[index] if index < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return blocking_words(str(following.value.value))
    return ""


# --- the hand-written classes -----------------------------------------------------------------------------------------


@cache
def _runtime_modules() -> tuple[ModuleType, ...]:
    names = [each.name for each in pkgutil.iter_modules(runtime.__path__)]
    return tuple(importlib.import_module(f"{runtime.__name__}.{name}") for name in names)


def runtime_class(name: str) -> type:
    for module in _runtime_modules():
        found = vars(module).get(name)
        if isinstance(found, type) and found.__module__ == module.__name__:
            return found
    raise ValueError(f"{runtime.__name__} has no class {name}")


@cache
def runtime_functions() -> dict[str, Callable[..., Any]]:
    """The hand-written functions, by name."""
    modules = [each for each in _runtime_modules() if each.__name__.endswith((".functions", ".finalizers"))]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def base_names(bases: str) -> list[str]:
    if not bases:
        return []
    [tree] = ast.parse(f"class C({bases}): ...").body
    assert isinstance(tree, ast.ClassDef)
    return [name_of(each) for each in tree.bases]
