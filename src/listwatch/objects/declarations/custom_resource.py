"""Custom resources: kinds of a user, declared as a class with annotations.

    class Fleet(CustomResource, group="example.com", version="v1", kind="Fleet"):
        spec: FleetSpec
        status: FleetStatus = FleetStatus()

Mistakes in a declaration are errors where the class is defined. `declared_types.py` checks the types of the fields.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

import msgspec

from listwatch.errors import DecodeError
from listwatch.meta import GroupVersionKind
from listwatch.objects.damage import report_damage
from listwatch.objects.declarations.declared_types import check_default, check_type
from listwatch.objects.declarations.model_declaration import Field, check_is_annotated, is_class_variable
from listwatch.objects.fields import NEW, LazyField, LazyParts
from listwatch.objects.object import Object
from listwatch.objects.writing import clone

__all__ = ["CustomResource"]

_GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_VERSION = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_KIND = re.compile(r"[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?")
_IN_THE_CLASS_STATEMENT = {"api_version": "group= and version=", "kind": "kind="}


class CustomResource(Object):
    """A custom resource, declared with its group, version and kind in the class statement, and annotated fields.

    A field without a default is required: in the constructor, and in objects of the server if its type has required
    fields. The plural and the scope are those of the installed CustomResourceDefinition.
    """

    __slots__ = ()

    _required: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        def __init_subclass__(cls, *, group: str, version: str, kind: str) -> None: ...

    else:

        def __init_subclass__(cls, **keywords):
            kind = _read_kind(cls, keywords)
            hints = inspect.get_annotations(cls)
            check_is_annotated(cls.__name__, vars(cls), hints)
            for field in _read_fields(cls, _resolve(cls, hints, sys._getframe(1))):
                setattr(cls, field.name, field)
            super().__init_subclass__(gvk=kind)
            fields = cls.lazy_fields.items()
            cls._required = tuple(name for name, each in fields if isinstance(each, CustomField) and each.is_required)

    def __init__(self, **parts: object) -> None:
        missing = [name for name in self._required if name not in parts]
        super().__init__(**parts)
        if missing:
            name = missing[0]
            kind, hint = type(self).__name__, _shown(self.lazy_fields[name].type)
            raise TypeError(
                f"{kind} needs {name}: pass {kind}({name}=...), or give the field a default in the class, "
                f"such as `{name}: {hint} = {hint}()` or `{name}: {hint} | None = None`"
            )


class CustomField(LazyField):
    """A field of a custom resource, and its default."""

    def __init__(self, type_: object, name: str, wire: str, default: object) -> None:
        super().__init__(type_, wire)
        self.default = default
        self.__set_name__(CustomResource, name)

    @property
    def is_required(self) -> bool:
        return self.default is msgspec.NODEFAULT

    def absent(self, holder: LazyParts) -> object:
        """The default. Without one, an empty value, if the type has one."""
        if not self.is_required:
            return clone(self.default, self.type)
        # An object that a program constructs has all required fields, also those that equal an empty value.
        empty = None if holder._raw is NEW else super().absent(holder)
        if empty is not None:
            return empty
        hint = _shown(self.type)
        reason = f"it is missing; if it may be absent, declare `{self.name}: {hint} | None = None`"
        raise report_damage(holder, DecodeError(reason, object_name=holder.describe(), field=self.wire))


# --- the class statement ---------------------------------------------------------------------------------------------


def _read_kind(cls: type, keywords: Mapping[str, object]) -> GroupVersionKind:
    name = cls.__name__
    names = [keywords.get(each) for each in ("group", "version", "kind")]
    if isinstance(gvk := keywords.get("gvk"), tuple) and len(gvk) == 3:
        names = [*gvk]
    for each in keywords.keys() - {"group", "version", "kind"}:
        raise TypeError(f"class {name}: CustomResource has no keyword {each}=; {_hint(each, name, names)}")
    if missing := [each for each in ("group", "version", "kind") if not keywords.get(each)]:
        raise TypeError(f"class {name} needs {' and '.join(missing)}; {_statement(name, names)}")
    for each, pattern in (("group", _GROUP), ("version", _VERSION), ("kind", _KIND)):
        value = keywords[each]
        if not (isinstance(value, str) and pattern.fullmatch(value)):
            raise TypeError(f"class {name}: {value!r} is not a valid {each}; {_statement(name)}")
    return GroupVersionKind(*map(str, names))


def _hint(keyword: str, name: str, names: Sequence[object]) -> str:
    if keyword in ("plural", "singular", "scope", "namespaced", "resource"):
        return f"names and scope are read from the server; {_statement(name, names)}"
    return _statement(name, names)


def _statement(name: str, names: Sequence[object] | None = None) -> str:
    group, version, kind = (
        given if isinstance(given, str) and given else example
        for given, example in zip(names or [None] * 3, ("example.com", "v1", name), strict=True)
    )
    return f'write `class {name}(lw.CustomResource, group="{group}", version="{version}", kind="{kind}")`'


# --- the fields ------------------------------------------------------------------------------------------------------


def _resolve(cls: type, hints: Mapping[str, object], definition: FrameType) -> Mapping[str, object]:
    """The annotations without forward references. `definition` is the frame of the class statement."""
    local = {**definition.f_locals, cls.__name__: cls}
    resolved: dict[str, object] = {}
    for name, hint in hints.items():
        probe = type(cls.__name__, (), {"__annotations__": {name: hint}})
        try:
            resolved |= typing.get_type_hints(probe, definition.f_globals, local, include_extras=True)
        except NameError as error:
            raise TypeError(
                f"{cls.__name__}.{name}: the annotation {_text(hint)!r} cannot be resolved, "
                f"because {error.name} is not defined; "
                f"define or import {error.name} above {cls.__name__}, and not under `if TYPE_CHECKING`"
            ) from None
        except (TypeError, SyntaxError, AttributeError) as error:
            raise TypeError(f"{cls.__name__}.{name}: the annotation {_text(hint)!r} is no type: {error}") from None
    return resolved


def _read_fields(cls: type, hints: Mapping[str, object]) -> Iterator[CustomField]:
    for name, hint in hints.items():
        if is_class_variable(hint):
            continue
        place = f"{cls.__name__}.{name}"
        _check_name(place, name)
        value = vars(cls).get(name, msgspec.NODEFAULT)
        if isinstance(value, LazyField):
            raise TypeError(f"{place}: a field of a custom resource needs no lazy(); write `{name}: {_shown(hint)}`")
        wire = ""
        if isinstance(value, Field):
            wire = value.name or ""
            value = value.default if value.default_factory is msgspec.NODEFAULT else value.default_factory()
        check_type(hint, place)
        if value is not msgspec.NODEFAULT:
            check_default(value, hint, place)
        yield CustomField(hint, name, wire, value)


def _check_name(place: str, name: str) -> None:
    if name == "metadata":
        raise TypeError(f"{place}: every object has its metadata; remove this line")
    if name in _IN_THE_CLASS_STATEMENT:
        raise TypeError(f"{place}: pass {_IN_THE_CLASS_STATEMENT[name]} in the class statement, and remove this line")
    if hasattr(Object, name):
        raise TypeError(
            f"{place}: objects have an attribute of this name; "
            f'write `{name}_: ... = field(name="{name}")` for the JSON name {name!r}'
        )
    if name.startswith("_"):
        raise TypeError(f"{place}: the name of a field cannot start with an underscore")


def _text(hint: object) -> str:
    return hint if isinstance(hint, str) else _shown(hint)


def _shown(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint).replace("typing.", "")
