"""Generates the source of blocking classes and functions from the source of asynchronous ones.

Every public member of a class becomes one of the same name and parameters:

    async def get(self, name: str) -> T          def get(self, name: str) -> T:
                                                     return self._run(self._async.get(name))
    def watch(self) -> WatchStream[T]            def watch(self) -> WatchStream[T]:
                                                     return WatchStream._wrap(self._async.watch(), self._loop)
    async def stop(self) -> None                 def stop(self) -> None:
                                                     self._do_stop()        if a hand-written base class has it
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

from listwatch.tasks.async_only import AsyncOnly
from tools.blocking.annotations import blocking_annotation, mentions
from tools.blocking.imports import Imports
from tools.blocking.reading import (
    attributes_of,
    base_names,
    class_of,
    inherits_groups,
    runtime_class,
    runtime_functions,
    source_of,
)
from tools.blocking.writing import (
    CONTEXT_MANAGERS,
    Function,
    docstring,
    function_definition,
    name_of,
    parsed_function,
    passed_arguments,
    result_statements,
    returns_nothing,
    unwrapped_parameters,
)

_RENAMED = {
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
}
_SPECIAL = {"__call__", "__len__", "__contains__", *_RENAMED.values()}


@dataclass(frozen=True)
class Recipe:
    """How one class is generated."""

    bases: str = ""
    """Hand-written base classes; BlockingObject if there are none."""
    is_returned: bool = False
    """Whether objects of the class are only returned by others; the class has no constructor then."""
    made_as: str = ""
    """The hand-written subclass of the asynchronous class that the constructor instantiates."""
    calls: Literal["direct", "in_loop"] = "direct"
    """Whether plain methods run in the caller's thread or through `_call` of the base class."""
    direct: Collection[str] = ()
    """Plain methods that always run in the caller's thread."""
    without: Collection[str] = ()
    """Members that are not generated."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The types of attributes that `__init__` sets without an annotation."""


@dataclass(frozen=True)
class Output:
    """One generated module."""

    name: str
    title: str
    classes: Mapping[type, Recipe]
    functions: Sequence[Callable[..., Any]] = ()
    groups: ModuleType | None = None
    """A module with the classes of group-versions, which are copied."""
    protocols: Sequence[type] = ()
    """Protocols whose methods take blocking objects; they are copied."""
    bases: Mapping[str, Recipe] = field(default_factory=dict)
    """Recipes of base classes of these classes, by name; they are generated too."""

    @property
    def module(self) -> str:
        return f"listwatch.blocking.{self.name}"

    def all_classes(self) -> dict[type, Recipe]:
        """The classes and their public bases, each after its bases."""
        found: dict[type, Recipe] = {}
        for given, recipe in self.classes.items():
            for base in reversed(public_bases(given)):
                found.setdefault(base, self.bases.get(base.__name__, Recipe()))
            found[given] = recipe
        return found


def public_bases(original: type) -> list[type]:
    """The base classes that are generated as blocking classes, too."""
    return [
        each
        for each in original.__mro__[1:]
        if each.__module__.startswith("listwatch.")
        and not each.__name__.startswith("_")
        and "typed_groups" not in each.__module__
        and each is not AsyncOnly
    ]


def write_module(output: Output, outputs: Sequence[Output]) -> str:
    """Return the source of a module, before formatting."""
    return _ModuleWriter(output, outputs).text()


class _ModuleWriter:
    def __init__(self, output: Output, outputs: Sequence[Output]) -> None:
        self._output = output
        classes = {cls.__name__: each.module for each in outputs for cls in each.all_classes()}
        protocols = {cls.__name__: each.module for each in outputs for cls in each.protocols}
        self._imports = Imports(output.module, classes | protocols)
        self._wrapped = frozenset(classes)

    def text(self) -> str:
        output = self._output
        body: list[ast.stmt] = []
        for original, recipe in output.all_classes().items():
            if output.groups is not None and inherits_groups(original, output.groups):
                body += self._groups(output.groups)
            body.append(_ClassWriter(original, recipe, self._imports, self._wrapped).definition())
        body += [self._function(each) for each in output.functions]
        body += [self._protocol(each) for each in output.protocols]
        names = (
            [each.__name__ for each in output.protocols]
            + [cls.__name__ for cls in output.all_classes()]
            + [each.__name__ for each in output.functions]
        )
        defined = {each.name for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)}
        tree = ast.parse(ast.unparse(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))))
        return "\n".join(
            [
                f'"""{output.title}, for programs without an event loop.',
                "",
                "Generated by `make blocking` from the asynchronous classes. Do not edit.",
                '"""',
                "",
                "from __future__ import annotations",
                "",
                *self._imports.lines(tree, defined),
                "",
                f"__all__ = {sorted(names)!r}",
                "",
                *self._imports.type_variables(tree, defined),
                "",
                ast.unparse(tree),
                "",
            ]
        )

    def _groups(self, groups: ModuleType) -> list[ast.stmt]:
        self._imports.add_module(groups)
        return [each for each in source_of(groups).body if isinstance(each, ast.ClassDef)]

    def _protocol(self, protocol: type) -> ast.ClassDef:
        self._imports.add_module(sys.modules[protocol.__module__])
        definition = class_of(protocol)
        definition.body = [
            function_definition(each, each.name, "...", protocol.__module__, self._imports)
            if isinstance(each, Function) else each
            for each in definition.body
        ]  # fmt: skip
        return definition

    def _function(self, original: Callable[..., Any]) -> ast.FunctionDef:
        module = sys.modules[original.__module__]
        self._imports.add_module(module)
        name = original.__name__
        definitions = [each for each in source_of(module).body if isinstance(each, Function) and each.name == name]
        found = definitions[-1]  # after its overloads
        own = runtime_functions().get(name)
        if own is not None:
            self._imports.add(f"from {own.__module__.rpartition('.')[0]} import {own.__module__.rpartition('.')[2]}")
            call = f"{own.__module__.rpartition('.')[2]}.{name}({passed_arguments(found, {})})"
            body = f"return {call}"
        else:
            self._imports.add(f"from {original.__module__} import {name} as async_{name}")
            source = found.args.args[0].arg
            unwrapped = unwrapped_parameters(found, original.__module__, self._imports, self._wrapped)
            call = f"async_{name}({passed_arguments(found, unwrapped)})"
            statements = result_statements(found, f"loop.run({call}, {name!r})")
            body = f"with loop_for({source}, {name!r}) as loop:\n    {statements}"
            if unwrapped:
                _check_is_first(name, source, unwrapped)
        return function_definition(found, name, body, original.__module__, self._imports)


class _ClassWriter:
    """Writes one blocking class."""

    def __init__(self, original: type, recipe: Recipe, imports: Imports, wrapped: frozenset[str]) -> None:
        self._original = original
        self._module = original.__module__
        self._name = original.__name__
        self._recipe = recipe
        self._imports = imports
        self._wrapped = wrapped
        self._hand_written = [runtime_class(each) for each in base_names(recipe.bases)]
        for each in self._own_mro():
            imports.add_module(sys.modules[each.__module__])

    def _own_mro(self) -> list[type]:
        """The class and its private bases, whose members are generated as part of it."""
        others = {cls for base in public_bases(self._original) for cls in base.__mro__}
        return [
            each for each in self._original.__mro__
            if each.__module__.startswith("listwatch.") and each not in others and each is not AsyncOnly
            and "typed_groups" not in each.__module__
        ]  # fmt: skip

    def definition(self) -> ast.ClassDef:
        parameters = f"[{', '.join(each.__name__ for each in getattr(self._original, '__parameters__', ()))}]"
        parameters = "" if parameters == "[]" else parameters
        self._imports.add(f"from {self._original.__module__} import {self._name} as Async{self._name}")
        declared = f"{self._recipe.made_as or f'Async{self._name}'}{parameters}"
        definition = class_of(self._original)
        body: list[ast.stmt] = [
            *docstring(definition),
            *ast.parse(f"_original: ClassVar[type] = Async{self._name}\n_async: {declared}").body,
            *sorted([*self._attributes(), *self._members()], key=_is_not_constructor),
        ]
        return ast.ClassDef(name=self._name, bases=self._bases(parameters), keywords=[], body=body, decorator_list=[])

    def _bases(self, parameters: str) -> list[ast.expr]:
        definition = class_of(self._original)
        bases = [self._recipe.bases] if self._recipe.bases else []
        inherited = [each for each in definition.bases if name_of(each) in self._wrapped or self._is_groups(each)]
        bases += [ast.unparse(each) for each in inherited]
        if not any(name_of(each) in self._wrapped for each in inherited):
            if not self._recipe.bases:
                bases.append("BlockingObject")
            if parameters:
                bases.append(f"Generic{parameters}")
        # A hand-written mixin must follow a base class that derives from BlockingObject.
        [tree] = ast.parse(f"class C({', '.join(bases)}): ...").body
        assert isinstance(tree, ast.ClassDef)
        return tree.bases

    def _is_groups(self, base: ast.expr) -> bool:
        found = getattr(sys.modules[self._original.__module__], name_of(base), None)
        return "typed_groups" in getattr(found, "__module__", "")

    # --- attributes that a constructor sets --------------------------------------------------------------------------

    def _attributes(self) -> Iterator[ast.stmt]:
        for cls in reversed(self._own_mro()):
            for name, (annotation, text) in attributes_of(class_of(cls), self._recipe.attributes).items():
                if name not in self._recipe.without:
                    documentation = f'    """{text}"""\n' if text else ""
                    value = self._returning(annotation, f"self._async.{name}")
                    self._imports.add_module(sys.modules[cls.__module__])
                    declared = ast.unparse(blocking_annotation(annotation))
                    yield from ast.parse(
                        f"@property\ndef {name}(self) -> {declared}:\n{documentation}    {value}\n"
                    ).body

    # --- methods and properties --------------------------------------------------------------------------------------

    def _members(self) -> Iterator[ast.stmt]:
        functions: list[Function] = []
        for cls in reversed(self._own_mro()):
            own = [each for each in class_of(cls).body if isinstance(each, Function)]
            functions = [each for each in functions if each.name not in {other.name for other in own}] + own
        names = {each.name for each in functions}
        if "__init__" not in names and not self._recipe.is_returned:
            yield self._inherited_constructor()
        for member in functions:
            name = self._blocking_name(member.name, names)
            if name is not None and member.name not in self._recipe.without:
                yield self._member(member, name, functions)

    def _blocking_name(self, name: str, all_names: set[str]) -> str | None:
        if name == "__init__":
            return None if self._recipe.is_returned else name
        if name == "aclose" and "close" in all_names:
            return None
        name = _RENAMED.get(name, name)
        return name if not name.startswith("_") or name in _SPECIAL else None

    def _member(self, member: Function, name: str, functions: Sequence[Function]) -> ast.FunctionDef:
        if "overload" in map(ast.unparse, member.decorator_list):
            decorators = [*map(ast.unparse, member.decorator_list)]
            return function_definition(member, name, "...", self._module, self._imports, decorators=decorators)
        if name == "__init__":
            body = self._constructor(member, is_overloaded=sum(each.name == name for each in functions) > 1)
            return function_definition(member, name, body, self._module, self._imports)
        if name == "__exit__":
            return parsed_function(f"def __exit__(self, *exc_info: object) -> None:\n    {self._exit(functions)}")
        if name == "__iter__":
            [next_item] = [each for each in functions if each.name == "__anext__"]
            assert next_item.returns is not None
            item = ast.unparse(blocking_annotation(next_item.returns))
            self._imports.add("from collections.abc import Iterator")
            return parsed_function(f"def __iter__(self) -> Iterator[{item}]:\n    return self._do_iter()")
        decorators = [each for each in map(ast.unparse, member.decorator_list) if each not in CONTEXT_MANAGERS]
        if {"property", "cached_property"} & {*decorators}:
            body = self._returning(member.returns, f"self._async.{name}")
            return function_definition(member, name, body, self._module, self._imports, decorators=decorators)
        if "classmethod" in decorators:
            body = self._class_method(member, is_overloaded=sum(each.name == name for each in functions) > 1)
            return function_definition(member, name, body, self._module, self._imports, decorators=decorators)
        return function_definition(member, name, self._method(member, name), self._module, self._imports)

    def _inherited_constructor(self) -> ast.FunctionDef:
        # Generated again, because it creates an object of this class.
        for base in public_bases(self._original):
            for each in class_of(base).body:
                if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                    return function_definition(
                        each, "__init__", self._constructor(each), base.__module__, self._imports
                    )
        raise ValueError(f"{self._name} has no constructor")

    def _constructor(self, member: Function, *, is_overloaded: bool = False) -> str:
        unwrapped = unwrapped_parameters(member, self._module, self._imports, self._wrapped)
        made, before = self._recipe.made_as or f"Async{self._name}", ""
        if is_overloaded and not self._recipe.made_as:  # no single overload takes all arguments
            self._imports.add("from collections.abc import Callable")
            before, made = f"create: Callable[..., {made}[Any]] = {made}\n", "create"
        arguments = [f"{made}({passed_arguments(member, unwrapped)})", *unwrapped]
        return f"{before}self._open({', '.join(arguments)})"

    def _class_method(self, member: Function, *, is_overloaded: bool) -> str:
        unwrapped = unwrapped_parameters(member, self._module, self._imports, self._wrapped)
        function, before = f"Async{self._name}.{member.name}", ""
        if is_overloaded:  # no single overload takes all arguments
            before, function = f"create: Callable[..., Async{self._name}[Any]] = {function}\n", "create"
        loop = f"loop_of({next(iter(unwrapped))})" if unwrapped else "None"
        return f"{before}return cls._wrap({function}({passed_arguments(member, unwrapped)}), {loop})"

    def _exit(self, functions: Sequence[Function]) -> str:
        if self._is_hand_written("__exit__"):
            return "self._do_exit()"
        names = {each.name for each in functions} | {*dir(self._original)}
        return "self.close()" if names & {"close", "aclose"} else "self._run(self._async.__aexit__(None, None, None))"

    def _method(self, member: Function, name: str) -> str:
        if self._is_hand_written(name):
            call = f"self._do_{name.strip('_')}({passed_arguments(member, {})})"
            return call if returns_nothing(member) else f"return {call}"
        unwrapped = unwrapped_parameters(member, self._module, self._imports, self._wrapped)
        call = f"self._async.{member.name}({passed_arguments(member, unwrapped)})"
        if name == "__enter__":
            return f"return self._enter({call})"
        if any(decorator in CONTEXT_MANAGERS for decorator in map(ast.unparse, member.decorator_list)):
            raise ValueError(f"{self._name}.{name} is a context manager: write _do_{name} in blocking/runtime")
        if mentions(member.returns, {"AsyncIterator", "AsyncGenerator"}):
            return f"return BlockingIterator({call}, self._loop)"
        if isinstance(member, ast.AsyncFunctionDef):
            call = f"self._run({call})"
        elif name == "__len__":
            call = "len(self._async)"
        elif name == "__call__":
            call = call.replace(".__call__", "", 1)
        elif self._recipe.calls == "in_loop" and name not in self._recipe.direct:
            function = call.removesuffix("()") if call.endswith("()") else f"lambda: {call}"
            call = f"self._call({name!r}, {function})"
        return self._returning(member.returns, call)

    def _is_hand_written(self, name: str) -> bool:
        inherited = [runtime_class("BlockingObject")] if name == "close" and self._is_closed_by_aclose() else []
        return any(hasattr(each, f"_do_{name.strip('_')}") for each in (*self._hand_written, *inherited))

    def _is_closed_by_aclose(self) -> bool:
        return hasattr(self._original, "aclose")

    def _returning(self, annotation: ast.expr | None, value: str) -> str:
        """The statement that returns a result, wrapped as a blocking object if its type has one."""
        assert annotation is not None, f"{self._name} has a member without types"
        if ast.unparse(annotation) == "None":
            return value
        if ast.unparse(annotation) == "Self":
            return f"return self._same({value})"
        name = name_of(annotation)
        if name in self._wrapped:
            return f"return {name}._wrap({value}, self._loop)"
        if name == "tuple" and mentions(annotation, self._wrapped):
            return f"return tuple([wrap(each, self._loop) for each in {value}])"
        if mentions(annotation, self._wrapped):
            raise ValueError(f"{self._name}: {ast.unparse(annotation)} needs a hand-written `_do_` method")
        return f"return {value}"


def _is_not_constructor(member: ast.stmt) -> bool:
    return not (isinstance(member, ast.FunctionDef) and member.name == "__init__")


def _check_is_first(name: str, first: str, unwrapped: Collection[str]) -> None:
    if first not in unwrapped:
        raise ValueError(f"{name}: the first parameter must be the client or source whose loop is used")
