"""Writes what type checkers know of the blocking clients: `python -m tools.generate_blocking`, or `make blocking`.

Programs get the blocking classes made at run time, of their asynchronous twins; checkers cannot follow that. So the
twins' own source is read, and written again without bodies, without what is private, and without `async`.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from listwatch import blocking
from listwatch.blocking import clients, controllers, electors, face, informers, queues, recorders, sources, streams
from listwatch.blocking import waiting as waiting_room
from listwatch.client import manifests
from listwatch.client.resources import typed_groups
from listwatch.client.wait import retry_on_conflict, until
from listwatch.client.wait import wait_for as waiting
from listwatch.controller import finalizers
from listwatch.informer import informed_until
from listwatch.informer import typed_groups as informer_groups

STUB = Path(blocking.__file__).with_suffix(".pyi")

_INTRODUCTION = '''"""The blocking clients as type checkers and completions see them.

Generated from the asynchronous ones. Do not edit: `make blocking` makes it again.
"""

from __future__ import annotations

'''
# What is called otherwise, or is more, for programs without an event loop.
_OTHER_NAMES = {
    "AsyncIterator": "Iterator",
    "ListerWatcher": "Source",
    "SourceMaker": "Connected",
    "EventSink": "ResourceClient[Any]",
    "Watchable": "Source",
}
_SOURCE = "Source = BaseResourceClient[T] | ListWatch[T] | ListerWatcher[T]"
# Where the blocking classes are, and which functions are there besides.
_ROOMS = (streams, clients, sources, waiting_room, informers, electors, queues, controllers, recorders)
_FUNCTIONS = {
    "add_finalizer": finalizers,
    "apply_files": manifests,
    "finalize": finalizers,
    "remove_finalizer": finalizers,
    "retry_on_conflict": retry_on_conflict,
    "until": until,
    "until_with_sync": informed_until,
    "wait_for": waiting,
}
# Attributes that are set by constructors which say nothing of their types.
_ATTRIBUTES = {
    "Controller": {"name": "str", "needs_leader": "bool"},
    "InformerHandle": {"informer": "SharedIndexInformer[T]"},
    "RetryWatcher": {"resource_version": "str"},
    "WorkQueue": {"name": "str"},
    "SharedIndexInformer": {"name": "str", "kind": "type[T]", "indexer": "Indexer[T]", "lister": "Lister[T]"},
}
_KEPT_DECORATORS = {"classmethod", "contextmanager", "overload", "property"}
_ITERATION = {"__iter__", "__len__", "__next__"}


def faces() -> list[type[face.Face]]:
    """All blocking classes, each after those that it is built on."""
    found = [each for module in _ROOMS for each in vars(module).values() if _is_face(each, module)]
    return sorted(found, key=lambda each: sum(issubclass(each, other) for other in found))


def stub() -> str:
    """The text of the stub; the same sources always give the same."""
    body: list[ast.ClassDef | ast.FunctionDef] = [
        *(_class(each) for each in faces()),
        *_groups(),
        *(_function(module, name) for name, module in _FUNCTIONS.items()),
    ]
    tree = ast.Module(body=[*body], type_ignores=[])
    ast.fix_missing_locations(tree)
    variables = {
        name: text for each in (*_twin_modules(), *_FUNCTIONS.values()) for name, text in _type_variables(each)
    }
    used = _names(tree) | {"ListerWatcher"}
    header = sorted({*_imports(used, defined={each.name for each in body} | {*variables, "Source"})})
    lines = ["from typing import TypeVar", "from listwatch.objects.object import Object", *header, ""]
    lines += [variables[name] for name in sorted(variables) if name in used]
    return _formatted("\n".join([_INTRODUCTION, *lines, _all(), ast.unparse(tree), _SOURCE, ""]))


def main() -> None:
    """Run as a command."""
    STUB.write_text(stub(), encoding="utf-8")
    print(f"{len(faces())} blocking classes in {STUB}")


# --- classes and functions --------------------------------------------------------------------------------------------


def _is_face(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and "twin_class" in vars(value) and value.__module__ == module.__name__


def _class(blocking_class: type[face.Face]) -> ast.ClassDef:
    twin = _definition(inspect.getmodule(blocking_class.twin_class), blocking_class.twin_class.__name__)
    own = _definition(inspect.getmodule(blocking_class), blocking_class.__name__)
    twin.name = blocking_class.__name__
    members = [*_attributes(twin.name), *_members(twin, own, blocking_class)]
    inlined = _Inlined(_aliases(inspect.getmodule(blocking_class.twin_class)))
    twin.body = [*_documentation(twin), *(inlined.visit(each) for each in members)] or [_ellipsis()]
    return _Renamed().visit(twin)  # type: ignore[no-any-return]  # a class stays one


def _attributes(name: str) -> Iterator[ast.stmt]:
    for attribute, kind in _ATTRIBUTES.get(name, {}).items():
        yield ast.parse(f"{attribute}: {kind}").body[0]


def _members(twin: ast.ClassDef, own: ast.ClassDef, blocking_class: type[face.Face]) -> Iterator[ast.stmt]:
    overridden = {each.name: each for each in own.body if isinstance(each, ast.FunctionDef)}
    functions = [each for each in twin.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    overloaded = {each.name for each in functions if _is_overload(each)}
    for member in functions:
        if member.name in overloaded and not _is_overload(member):
            continue  # a stub has no implementations
        name = blocking_class.name_for(member.name)
        if member.name == "__init__" and issubclass(blocking_class, face.Opened):
            name = "__init__"
        if name is not None:
            yield _method(member, overridden.get(name, member), name)
    yield from (_method(overridden[name], overridden[name], name) for name in sorted(_ITERATION & overridden.keys()))


def _is_overload(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return "overload" in map(ast.unparse, function.decorator_list)


def _method(
    documented: ast.FunctionDef | ast.AsyncFunctionDef, signed: ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> ast.FunctionDef:
    decorators = ["property" if each == "cached_property" else each for each in map(ast.unparse, signed.decorator_list)]
    return ast.FunctionDef(
        name=name,
        args=signed.args,
        body=[*_documentation(documented)] or [_ellipsis()],
        decorator_list=[ast.Name(each) for each in decorators if each in _KEPT_DECORATORS],
        returns=signed.returns,
    )


def _function(module: ModuleType, name: str) -> ast.FunctionDef:
    [found] = [each for each in _tree(module).body if isinstance(each, ast.AsyncFunctionDef) and each.name == name]
    inlined = _Inlined(_aliases(module)).visit(_method(found, found, name))
    return _Renamed().visit(inlined)  # type: ignore[no-any-return]  # a function stays one


def _groups() -> list[ast.ClassDef]:
    modules = (typed_groups, informer_groups)
    return [each for module in modules for each in _tree(module).body if isinstance(each, ast.ClassDef)]


def _documentation(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
    text = face.spoken(ast.get_docstring(node))
    if text:
        indent = " " * (4 if isinstance(node, ast.ClassDef) else 8)
        lines = [f"{indent}{line}" if line else "" for line in text.splitlines()]
        yield ast.Expr(ast.Constant("\n".join(lines).strip() + ("\n" + indent if len(lines) > 1 else "")))


def _ellipsis() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


class _Renamed(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(_OTHER_NAMES.get(node.id, node.id))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        # What would be awaited is just there.
        return node.slice if ast.unparse(node.value) == "Awaitable" else node


class _Inlined(ast.NodeTransformer):
    """Puts what an alias stands for in its place: two modules may use one name for two things."""

    def __init__(self, aliases: dict[str, ast.expr]) -> None:
        self._aliases = aliases

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._aliases.get(node.id, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        alias = self._aliases.get(ast.unparse(node.value))
        if alias is not None:
            return alias  # of the same type variable: there is but one in each module
        self.generic_visit(node)
        return node


# --- names and where they come from -----------------------------------------------------------------------------------


def _twin_modules() -> list[ModuleType]:
    modules = [inspect.getmodule(each.twin_class) for each in faces()]
    return [each for each in dict.fromkeys(modules) if each is not None]


def _imports(used: set[str], *, defined: set[str]) -> Iterator[str]:
    modules = [*_twin_modules(), typed_groups, informer_groups, *_FUNCTIONS.values(), *_ROOMS]
    homes: dict[str, str] = {}
    for module in modules:
        for name, home in _imported(module):
            if name in used - defined and homes.setdefault(name, home) != home:
                raise ValueError(f"{name} is two things: {home} and {homes[name]}")
    homes["Iterator"] = "collections.abc"
    return (f"from {home} import {name}" for name, home in homes.items() if name in used - defined)


def _imported(module: ModuleType) -> Iterator[tuple[str, str]]:
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom):
            package = module.__name__.rpartition(".")[0]
            home = f"{package}.{node.module}" if node.level else str(node.module)
            yield from ((alias.name, home) for alias in node.names if alias.asname is None)
    own = [each.name for each in _tree(module).body if isinstance(each, ast.ClassDef)]
    yield from ((name, module.__name__) for name in own)


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _aliases(module: ModuleType | None) -> dict[str, ast.expr]:
    """The types that a module gives names to."""
    assigned = [each for each in _tree(module).body if isinstance(each, ast.Assign)]
    types = (ast.Subscript, ast.BinOp)
    return {ast.unparse(each.targets[0]): each.value for each in assigned if isinstance(each.value, types)}


def _type_variables(module: ModuleType) -> Iterator[tuple[str, str]]:
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("TypeVar("):
            yield ast.unparse(node.targets[0]), ast.unparse(node)


def _definition(module: ModuleType | None, name: str) -> ast.ClassDef:
    [found] = [each for each in _tree(module).body if isinstance(each, ast.ClassDef) and each.name == name]
    return found


def _tree(module: ModuleType | None) -> ast.Module:
    assert module is not None
    return ast.parse(inspect.getsource(module))


def _all() -> str:
    return f"__all__ = {sorted(blocking.__all__)!r}"


def _formatted(text: str) -> str:
    for command in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        call = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(call, input=text, text=True, capture_output=True, check=True).stdout
    return text


if __name__ == "__main__":
    main()
