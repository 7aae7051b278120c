"""The imports of generated modules: from the runtime, other generated modules, or the asynchronous modules."""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import inspect
import pkgutil
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import NamedTuple, TypeVar

from listwatch.blocking import runtime
from tools.blocking.annotations import PROTOCOLS, mentions

__all__ = ["Imports"]

_STANDARD = {
    "AbstractContextManager": "contextlib",
    "Any": "typing",
    "ClassVar": "typing",
    "Generic": "typing",
    "Iterator": "collections.abc",
    "TypeVar": "typing",
}


class _Origin(NamedTuple):
    module: str
    name: str
    is_for_checkers: bool

    def statement(self, used_as: str) -> str:
        renamed = "" if used_as == self.name else f" as {used_as}"
        return f"from {self.module} import {self.name}{renamed}" if self.module else f"import {self.name}{renamed}"


class Imports:
    """The imports of one generated module; raises ValueError if a name has two meanings."""

    def __init__(self, module: str, blocking_homes: Mapping[str, str]) -> None:
        self._module = module
        self._blocking_homes = blocking_homes
        self._replaced = {*blocking_homes, *PROTOCOLS}
        self._modules: dict[str, ModuleType] = {}
        self._alias_homes: set[str] = set()
        self._explicit: dict[str, str] = {}

    def add_module(self, module: ModuleType) -> None:
        """Resolve names in the namespace of this module."""
        self._modules[module.__name__] = module

    def add(self, statement: str) -> None:
        """Import a name by a `from … import …` statement."""
        self._explicit[statement.split()[-1]] = statement

    def resolved(self, annotation: ast.expr, module: str) -> ast.expr:
        """Replace aliases by their types, if these contain a type with a blocking counterpart.

        Aliases that a module does not export are always replaced: another module may use the name for something else.
        """
        inlined = _Inlined(module, self._replaced)
        resolved = inlined.visit(copy.deepcopy(annotation))
        self._alias_homes |= inlined.homes
        assert isinstance(resolved, ast.expr)
        return resolved

    def lines(self, tree: ast.AST, defined: Collection[str]) -> list[str]:
        """The import statements for the names that are used and not defined."""
        variables = self._variables(tree)
        used = _names(tree) | {name for text in variables.values() for name in _names(ast.parse(text))}
        at_run_time: list[str] = []
        for_checkers: list[str] = []
        for name in sorted(used - {*defined} - {*variables} - {*dir(builtins)}):
            origin = self._origin(name)
            (for_checkers if origin.is_for_checkers else at_run_time).append(origin.statement(name))
        if for_checkers:
            at_run_time.append("from typing import TYPE_CHECKING")
            for_checkers = ["", "if TYPE_CHECKING:", *(f"    {each}" for each in for_checkers)]
        return at_run_time + for_checkers

    def type_variables(self, tree: ast.AST, defined: Collection[str]) -> list[str]:
        """The definitions of the type variables that are used; a bound that is defined further down is quoted."""
        return [_quoted(text, defined) for _, text in sorted(self._variables(tree).items())]

    def _variables(self, tree: ast.AST) -> dict[str, str]:
        used, found = _names(tree), dict[str, str]()
        for module in self._modules:
            for name, text in _type_variables(module).items():
                if name in used and not self._is_imported(name) and found.setdefault(name, text) != text:
                    raise ValueError(f"{self._module}: the type variable {name} is both {text} and {found[name]}")
        return found

    def _is_imported(self, name: str) -> bool:
        """Whether a module imports this type variable; it then replaces others of the same name."""
        known = [_known_names(module).get(name) for module in self._modules]
        return any(each is not None and _is_type_variable(each) and each.module not in self._modules for each in known)

    def _origin(self, name: str) -> _Origin:
        if name in self._explicit:
            module, imported = self._explicit[name].split()[1], self._explicit[name].split()[3]
            return _Origin(module, imported, is_for_checkers=False)
        if name in _runtime_names():
            return _Origin(_runtime_names()[name], name, is_for_checkers=False)
        if name in _STANDARD:
            return _Origin(_STANDARD[name], name, is_for_checkers=False)
        if name in self._blocking_homes:
            return _Origin(self._blocking_homes[name], name, is_for_checkers=False)
        known = [_known_names(module) for module in self._modules if name not in _private_aliases(module)]
        found = {names[name] for names in known if name in names}
        if self._is_imported(name):
            found = {each for each in found if each.module not in self._modules}
        found = found or {names[name] for home in self._alias_homes if name in (names := _known_names(home))}
        if len({(each.module, each.name) for each in found}) != 1:
            raise ValueError(f"{self._module}: {name} must have exactly one origin, found {found or 'none'}")
        return min(found, key=lambda each: each.is_for_checkers)


class _Inlined(ast.NodeTransformer):
    """Replaces aliases in an annotation of a module."""

    def __init__(self, module: str, names: Collection[str]) -> None:
        self._module = module
        self._names = names
        self.homes: set[str] = set()
        """The modules that define the names in the replaced aliases."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._value(node.id, None) or node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.slice = self.visit(node.slice)
        if not isinstance(node.value, ast.Name):
            return node
        return self._value(node.value.id, node.slice) or node

    def _value(self, alias: str, argument: ast.expr | None) -> ast.expr | None:
        home, value = _aliases(self._module).get(alias, ("", None))
        if value is None:
            return None
        value = copy.deepcopy(value)
        if argument is not None:
            value = _Substituted(home, argument).visit(value)
        inner = _Inlined(home, self._names)
        value = inner.visit(value)
        assert isinstance(value, ast.expr)
        is_private = alias.startswith("_") or (home == self._module and alias in _private_aliases(home))
        if not is_private and not mentions(value, self._names):
            return None
        self.homes |= {home, *inner.homes}
        return value


class _Substituted(ast.NodeTransformer):
    """Replaces the type variable of an alias, which has at most one, by an argument."""

    def __init__(self, module: str, argument: ast.expr) -> None:
        self._module = importlib.import_module(module)
        self._argument = argument

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_variable = isinstance(getattr(self._module, node.id, None), TypeVar)
        return self._argument if is_variable else node


def _is_type_variable(origin: _Origin) -> bool:
    is_ours = origin.module.startswith("listwatch.")
    return is_ours and isinstance(getattr(importlib.import_module(origin.module), origin.name, None), TypeVar)


def _names(tree: ast.AST) -> set[str]:
    """The names that are used, without those of parameters and local variables."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    local = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return used - (local - _also_types(tree))


def _also_types(tree: ast.AST) -> set[str]:
    """Names that are used in annotations, although a parameter somewhere has the same name."""
    annotations = [node.annotation for node in ast.walk(tree) if isinstance(node, ast.arg | ast.AnnAssign)]
    annotations += [node.returns for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = (each for annotation in annotations if annotation is not None for each in ast.walk(annotation))
    return {node.id for node in inside if isinstance(node, ast.Name)}


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


@cache
def _known_names(module: str) -> dict[str, _Origin]:
    """The names that a module imports or defines."""
    found: dict[str, _Origin] = {}
    for statement, is_for_checkers in _statements(_tree(module)):
        match statement:
            case ast.Import():
                for alias in statement.names:
                    found[alias.asname or alias.name] = _Origin("", alias.name, is_for_checkers)
            case ast.ImportFrom():
                for alias in statement.names:
                    origin = _Origin(str(statement.module), alias.name, is_for_checkers)
                    found[alias.asname or alias.name] = _defining(origin)
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found[statement.name] = _Origin(module, statement.name, is_for_checkers=False)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found[name] = _Origin(module, name, is_for_checkers=False)
    return found


def _defining(origin: _Origin) -> _Origin:
    """Return the module that defines a name, following imports of imported names."""
    if not origin.module.startswith("listwatch.") or origin.module == "listwatch.models":
        return origin
    value = getattr(importlib.import_module(origin.module), origin.name, None)
    home = getattr(value, "__module__", origin.module) if isinstance(value, type) else origin.module
    return origin._replace(module=home)


def _statements(tree: ast.Module) -> Iterator[tuple[ast.stmt, bool]]:
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from ((each, True) for each in statement.body)
            yield from ((each, False) for each in statement.orelse)
        else:
            yield statement, False


@cache
def _type_variables(module: str) -> dict[str, str]:
    return {
        ast.unparse(each.targets[0]): ast.unparse(each)
        for each in _tree(module).body
        if isinstance(each, ast.Assign) and ast.unparse(each.value).startswith(("TypeVar(", "ParamSpec("))
    }


def _quoted(text: str, defined: Collection[str]) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and mentions(node.value, defined):
            node.value = ast.Constant(ast.unparse(node.value))
    return ast.unparse(tree)


@cache
def _aliases(module: str) -> dict[str, tuple[str, ast.expr]]:
    """Return the type aliases that a module defines or imports, each with the module that defines it."""
    imported = [each for each in _known_names(module).items() if each[1].module.startswith("listwatch.")]
    return {
        name: (origin.module, found)
        for name, origin in imported
        if (found := _own_aliases(origin.module).get(origin.name)) is not None
    }


@cache
def _own_aliases(module: str) -> dict[str, ast.expr]:
    assigned = [each for each in _tree(module).body if isinstance(each, ast.Assign)]
    types = (ast.Subscript, ast.BinOp)
    return {ast.unparse(each.targets[0]): each.value for each in assigned if isinstance(each.value, types)}


def _private_aliases(module: str) -> set[str]:
    return _own_aliases(module).keys() - {*getattr(importlib.import_module(module), "__all__", ())}


@cache
def _runtime_names() -> dict[str, str]:
    """The names that the hand-written modules define."""
    modules = [f"{runtime.__name__}.{each.name}" for each in pkgutil.iter_modules(runtime.__path__)]
    return {
        name: module
        for module in modules
        for name, value in vars(importlib.import_module(module)).items()
        if getattr(value, "__module__", "") == module and not name.startswith("_") and not isinstance(value, TypeVar)
    }
