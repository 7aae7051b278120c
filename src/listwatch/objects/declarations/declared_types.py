"""Checks the types that a custom resource declares, where the class is defined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import inspect

from listwatch.errors import DecodeError, EncodeError
from listwatch.objects.declarations.model import Model
from listwatch.objects.declarations.model_declaration import DefaultValue
from listwatch.objects.json.reading import convert, type_info
from listwatch.objects.object import Object
from listwatch.objects.writing import to_tree

__all__ = ["check_default", "check_type"]

_INSTEAD: Mapping[type[inspect.Type], str] = {
    inspect.SetType: "a list",
    inspect.FrozenSetType: "a list",
    inspect.TupleType: "a list",
    inspect.TimeDeltaType: "a str such as '1h30m', as Kubernetes writes durations",
    inspect.DateType: "a datetime with a time zone, or a str",
    inspect.TimeType: "a str",
    inspect.DecimalType: "a Quantity, or a str",
    inspect.UUIDType: "a str",
    inspect.ByteArrayType: "bytes",
    inspect.MemoryViewType: "bytes",
    inspect.ExtType: "a Model",
}


def check_type(hint: object, place: str) -> None:
    """Raise TypeError unless the type can be decoded from JSON and encoded to it. `place` is `Fleet.spec`."""
    try:
        info = type_info(hint)
    except NameError as error:
        where, text = _find_annotation(str(error.name), place)
        raise TypeError(
            f"{where}: the annotation {text!r} cannot be resolved, because {error.name} is not defined; "
            f"define or import {error.name} at the top level of the module, above {place.partition('.')[0]}"
        ) from None
    except TypeError as error:
        reason, _, union = str(error).partition(" - type `")
        if "multiple Struct types" in reason:
            names = re.sub(r"[\w.<>]*\.(\w+)", r"\1", union.partition("`")[0])
            reason = (
                f"the models in {names} cannot be distinguished in JSON; "
                "declare one model with the fields of both, or a dict[str, Any]"
            )
        raise TypeError(f"{place}: {reason}") from None
    _check(info, place, set())


def check_default(value: object, hint: object, place: str) -> None:
    """Raise TypeError if the default of a field is not of the type that is declared."""
    _, _, name = place.rpartition(".")
    if value is None and not _allows_none(type_info(hint)):
        raise TypeError(
            f"{place}: the default is None, but the type does not allow it; write `{name}: ... | None = None`"
        )
    try:
        convert(to_tree(value, hint, what=place), hint, what=place)
    except (DecodeError, EncodeError) as error:
        raise TypeError(f"{place}: the default {value!r} is not of the declared type: {error.message}") from None


def _check(info: inspect.Type, place: str, seen: set[type]) -> None:
    match info:
        case inspect.Metadata(type=inner):
            _check(inner, place, seen)
        case inspect.UnionType(types=types):
            for each in types:
                _check(each, place, seen)
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            _check(inner, place, seen)
        case inspect.DictType(key_type=key, value_type=inner):
            if not isinstance(key, inspect.StrType | inspect.AnyType | inspect.LiteralType | inspect.EnumType):
                raise TypeError(f"{place}: the keys of a JSON object are strings; write `dict[str, ...]`")
            _check(inner, place, seen)
        case inspect.StructType(cls=struct) if issubclass(struct, Model):
            _check_model(info, seen)
        case inspect.CustomType(cls=cls) if issubclass(cls, Object) or cls.__module__ == "listwatch.quantity":
            pass
        case inspect.StructType(cls=cls) | inspect.CustomType(cls=cls) | inspect.DataclassType(cls=cls):
            raise _not_a_model(cls, place)
        case inspect.TypedDictType(cls=cls) | inspect.NamedTupleType(cls=cls):
            raise _not_a_model(cls, place)
        case _ if type(info) in _INSTEAD:
            given = type(info).__name__.removesuffix("Type").lower()
            raise TypeError(f"{place}: JSON has no {given}; declare {_INSTEAD[type(info)]}")


def _check_model(info: inspect.StructType, seen: set[type]) -> None:
    struct = info.cls
    if struct in seen or struct.__module__.startswith("listwatch."):
        return
    seen.add(struct)
    for field, declared in zip(info.fields, msgspec.structs.fields(struct), strict=True):
        place = f"{struct.__name__}.{field.name}"
        _check(field.type, place, seen)
        factory = declared.default_factory
        if factory in (list, dict) or isinstance(factory, DefaultValue):
            check_default(factory(), declared.type, place)
        elif declared.default is not msgspec.NODEFAULT:
            check_default(declared.default, declared.type, place)


def _not_a_model(cls: type, place: str) -> TypeError:
    return TypeError(f"{place}: {cls.__name__} is not a Model; write `class {cls.__name__}(lw.Model):`")


def _allows_none(info: inspect.Type) -> bool:
    match info:
        case inspect.UnionType(types=types):
            return any(map(_allows_none, types))
        case inspect.Metadata(type=inner):
            return _allows_none(inner)
        case inspect.LiteralType(values=values):
            return None in values
        case _:
            return isinstance(info, inspect.NoneType | inspect.AnyType)


def _find_annotation(name: str, place: str) -> tuple[str, str]:
    """The field whose annotation has this name, and the annotation; `place` if it is not found."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for struct in _models(Model):
        for field, hint in vars(struct).get("__annotations__", {}).items():
            if not struct.__module__.startswith("listwatch.") and isinstance(hint, str) and word.search(hint):
                return f"{struct.__name__}.{field}", hint
    return place, name


def _models(base: type[Model]) -> Iterator[type[Model]]:
    for each in base.__subclasses__():
        yield each
        yield from _models(each)
