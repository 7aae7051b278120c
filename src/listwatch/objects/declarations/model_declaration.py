"""Reads the declaration of a user's nested type: defaults that are safe and sent, and errors for mistakes.

class FleetSpec(Model):
    region: str                             required
    size: int = 3                           sent, also if it equals the default
    engine: Engine = Engine()               each FleetSpec has its own copy
    tags: list[str] = []                    not sent if it is empty
    cluster_ip: str = field(name="clusterIP")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, get_origin

import msgspec

__all__ = ["DefaultValue", "Field", "check_is_annotated", "is_class_variable", "read_declaration"]

Field = type(msgspec.field())
"""The type of `field(...)`."""

_MUTABLE = (list, dict, set, msgspec.Struct)
_DATA = (str, int, float, bytes, list, dict, tuple, set, type(None), msgspec.Struct, Field)
_CLASS_VARIABLE = re.compile(r"(\w+\.)*ClassVar\b")
_NEVER_SENT = (type(None), msgspec.Raw, msgspec.UnsetType)
# The methods that `model.py` defines.
_METHODS = frozenset({"copy", "from_dict", "to_dict"})


Namespace = dict[str, Any]
"""The attributes of a class, as a metaclass receives them."""


class DefaultValue:
    """A default as a factory. msgspec sends what a factory returned, and does not send what is the default itself."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __call__(self) -> object:
        return deepcopy(self._value)


def read_declaration(name: str, namespace: Namespace, *, sends_defaults: bool) -> Namespace:
    """The namespace of a class, with factories in place of its defaults."""
    hints: Mapping[str, object] = namespace.get("__annotations__", {})
    check_is_annotated(name, namespace, hints)
    for each in hints:
        if each in _METHODS:
            raise TypeError(
                f"{name}.{each}: models have a method of this name; "
                f'write `{each}_: ... = field(name="{each}")` for the JSON name {each!r}'
            )
    defaults = {
        each: namespace[each] for each, hint in hints.items() if each in namespace and not is_class_variable(hint)
    }
    fields = {each: _with_factory(default, sends_defaults=sends_defaults) for each, default in defaults.items()}
    # msgspec does not recognize every spelling of ClassVar in a string.
    hints = {each: ClassVar if is_class_variable(hint) else hint for each, hint in hints.items()}
    return {**namespace, **fields, "__annotations__": hints}


def is_class_variable(hint: object) -> bool:
    """True for `ClassVar[...]`, also as a string."""
    if isinstance(hint, str):
        return _CLASS_VARIABLE.match(hint) is not None
    return hint is ClassVar or get_origin(hint) is ClassVar


def check_is_annotated(name: str, namespace: Mapping[str, object], hints: Mapping[str, object]) -> None:
    """Reject a value without an annotation: it would be an attribute of the class and never be sent."""
    for each, value in namespace.items():
        if each not in hints and isinstance(value, _DATA) and not (each.startswith("_") or each.isupper()):
            kind = "..." if value is None or isinstance(value, Field) else type(value).__name__
            shown = "field(...)" if isinstance(value, Field) else repr(value)
            raise TypeError(f"{name}.{each} has no annotation, so it is no field; write `{each}: {kind} = {shown}`")


def _with_factory(default: object, *, sends_defaults: bool) -> object:
    """The field with a factory, if its default is mutable, or is to be sent."""
    wire = None
    if isinstance(default, Field):
        if (origin := get_origin(default.default_factory)) in (list, dict):  # list[str] creates what list does
            return msgspec.field(default_factory=origin, name=default.name)
        if default.default is msgspec.NODEFAULT:
            return default
        wire = default.name
        default = default.default
    if type(default) in (list, dict) and not default:
        return msgspec.field(default_factory=type(default), name=wire)  # msgspec does not send these if they are empty
    if isinstance(default, _MUTABLE) or (sends_defaults and not isinstance(default, _NEVER_SENT)):
        return msgspec.field(default_factory=DefaultValue(default), name=wire)
    return msgspec.field(default=default, name=wire)
