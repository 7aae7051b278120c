"""Declares functions: signatures and what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from listwatch.server.cel.type_system import ObjectType, Type
from listwatch.server.cel.values import Value

__all__ = ["Declarations", "Functions", "Overload", "function", "merged", "method"]


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; of a method, the first parameter is the target."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    call: Callable[..., Value]
    is_member: bool = False


Functions = Mapping[str, tuple[Overload, ...]]


def function(name: str, parameters: tuple[Type, ...], result: Type, call: Callable[..., Value]) -> Overload:
    return Overload(name, parameters, result, call)


def method(name: str, parameters: tuple[Type, ...], result: Type, call: Callable[..., Value]) -> Overload:
    return Overload(name, parameters, result, call, is_member=True)


def merged(*libraries: Functions) -> Functions:
    found: dict[str, tuple[Overload, ...]] = {}
    for library in libraries:
        for name, overloads in library.items():
            found[name] = found.get(name, ()) + overloads
    return found


@dataclass(frozen=True, slots=True)
class Declarations:
    """What an expression can refer to."""

    functions: Functions
    variables: Mapping[str, Type] = field(default_factory=dict)
    objects: Callable[[str], ObjectType | None] = lambda _: None
    """The object types by name."""
