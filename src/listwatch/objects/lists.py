"""Lists inside objects are decoded as tuples and become lists on first access. `model.py` builds on this.

Most lists of an object are absent, and most others are never read. The garbage collector visits every list repeatedly,
but untracks tuples of such data at once. With real lists, accessing a pod took twice as long, and garbage collections
blocked the event loop for a time that grew with the cache.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from threading import RLock
from types import FunctionType, GenericAlias, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import astuple, force_setattr

from listwatch._exports import did_you_mean
from listwatch.objects.declarations.model_declaration import Namespace, read_declaration
from listwatch.objects.untracked import untrack_at

if TYPE_CHECKING:
    from inspect import Parameter, Signature

__all__ = ["StructWithLists", "equal", "leave_out_empty", "lists_by_default", "required_list"]

_Field = type(msgspec.field())
_LIST = re.compile(r"list\[((?:[^][]|\[[^][]*])*)]")
_S = TypeVar("_S", bound="StructWithLists")

_reading = RLock()
_has_global_lock: bool = getattr(sys, "_is_gil_enabled", lambda: True)()


def required_list() -> list[Any]:
    """The default of a list that the API always writes, even if it is empty."""
    return []


def _no_elements() -> tuple[()]:
    return ()


_construct = msgspec.StructMeta.__call__


class StructWithLists(msgspec.StructMeta):
    """A metaclass of structs that store `list[T] = field(default_factory=list)` as tuples until they are read."""

    def __new__(mcls: type[_S], name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _S:
        if "__slots__" in namespace and "__qualname__" not in namespace:  # made by msgspec.defstruct()
            namespace, options = _definition(namespace)
        elif not namespace.get("__module__", "").startswith("listwatch."):  # a user's class
            namespace = read_declaration(name, namespace, sends_defaults="omit_defaults" not in options)
        options.setdefault("kw_only", True)
        if factories := _direct_factories(namespace):
            namespace = namespace | factories
        hints: dict[str, object] = namespace.get("__annotations__", {})
        lists = {} if _keeps_lists(bases, namespace, options) else _tuple_fields(namespace, hints)
        if lists:
            hints = hints | {each: _tuple_hint(hints[each]) for each in lists}
            namespace = namespace | lists | {"__annotations__": hints}
        struct = super().__new__(mcls, name, bases, namespace, **options)
        for each in hints:
            _read_as(struct, each, a_list=each in lists)
        if not _is_assignable(struct):
            _read_with_lock(struct)
        return struct

    if not TYPE_CHECKING:  # type checkers derive the parameters from the fields

        def __call__(cls, *args, **fields):
            try:
                return _construct(cls, *args, **fields)
            except TypeError:
                if not (unknown := fields.keys() - set(cls.__struct_fields__)):
                    raise
                raise _unknown_field(cls, min(unknown)) from None

    @property
    def __signature__(cls) -> Signature:
        """The signature for `help()`, with lists instead of tuples."""
        signature = super().__signature__
        return signature.replace(parameters=[_with_list(cls, each) for each in signature.parameters.values()])


def _direct_factories(namespace: Namespace) -> dict[str, object]:
    """The fields whose default is an empty struct, with a factory that calls no Python function while decoding."""
    return {
        name: msgspec.field(default_factory=partial(_construct, each.default_factory), name=each.name)
        for name, each in namespace.items()
        if type(each) is _Field and isinstance(each.default_factory, StructWithLists)
    }


def _unknown_field(struct: msgspec.StructMeta, name: str) -> TypeError:
    by_wire = dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
    if name in by_wire:
        hint = f"; did you mean {by_wire[name]}?"
    else:
        hint = did_you_mean(name, struct.__struct_fields__) or f"; its fields are {', '.join(struct.__struct_fields__)}"
    return TypeError(f"{struct.__name__} has no field {name}{hint}")


def _definition(namespace: Namespace) -> tuple[Namespace, dict[str, bool]]:
    """Namespace and options of a struct that msgspec.defstruct() is creating; it sets options and defaults later."""
    slots = namespace["__slots__"]
    options = {"kw_only": True, "gc": True, "dict": "__dict__" in slots, "weakref": "__weakref__" in slots}
    return {name: value for name, value in namespace.items() if name != "__slots__"}, options


def _with_list(struct: msgspec.StructMeta, parameter: Parameter) -> Parameter:
    if parameter.name not in _lists(struct) or get_origin(parameter.annotation) is not tuple:
        return parameter
    return parameter.replace(annotation=GenericAlias(list, get_args(parameter.annotation)[:1]), default=[])


def _keeps_lists(bases: tuple[type, ...], namespace: Namespace, options: Mapping[str, object]) -> bool:
    """True if lists must stay lists: tuples would order and hash differently, or the name `tuple` is taken."""
    settings = [base.__struct_config__ for base in bases if isinstance(base, msgspec.StructMeta)]
    ordered_or_frozen = any(
        options.get(option, any(getattr(each, option) for each in settings)) for option in ("order", "frozen")
    )
    return ordered_or_frozen or "tuple" in namespace or "tuple" in namespace.get("__annotations__", ())


def _tuple_fields(namespace: Mapping[str, object], hints: Mapping[str, object]) -> dict[str, object]:
    fields = {each: _tuple_field(namespace.get(each)) for each, hint in hints.items() if _tuple_hint(hint)}
    return {each: field for each, field in fields.items() if field}


def _tuple_hint(hint: object) -> object:
    """`list[T]` → `tuple[T, ...]`; None for other annotations."""
    if isinstance(hint, str):
        found = _LIST.fullmatch(hint)
        return found and f"tuple[{found[1]}, ...]"
    if isinstance(hint, GenericAlias) and hint.__origin__ is list:
        return GenericAlias(tuple, (*hint.__args__, ...))
    return None


def _tuple_field(found: Any) -> object:
    """The field with an empty tuple as its default; None for fields that are not lists by default."""
    factory = found.default_factory if isinstance(found, _Field) else None
    if factory is list:
        return msgspec.field(default=(), name=found.name)  # msgspec omits the default value itself
    if factory is required_list:
        return msgspec.field(default_factory=_no_elements, name=found.name)
    return None


def _read_as(struct: type, field: str, *, a_list: bool) -> None:
    found = getattr(struct, field, None)
    if a_list and isinstance(found, MemberDescriptorType):
        setattr(struct, _stored(field), found)
        setattr(struct, field, property(_first_reader(struct, field), found.__set__, found.__delete__))
    elif not a_list and isinstance(found, property) and hasattr(struct, _stored(field)):
        setattr(struct, field, getattr(struct, _stored(field)))  # an inherited list field, redeclared as something else


def _stored(field: str) -> str:
    """The attribute that stores the field; no field can have this name."""
    return f"_{field} as stored"


def _first_reader(struct: type, field: str) -> Callable[[msgspec.Struct], object]:
    def read(self: msgspec.Struct) -> object:
        # Most fields are never read. The reader of the others is made here, because making all of them would double
        # the time of an import.
        found: property = vars(struct)[field]
        reader = _reader(_stored(field))
        setattr(struct, field, found.getter(reader))
        return reader(self)

    return read


@cache
def _reader(stored: str) -> Callable[[msgspec.Struct], object]:
    """Return `_read` for one attribute. Reading an attribute whose name is in the code takes half of the time."""
    code = _read.__code__
    names = tuple(stored if name == "stored" else name for name in code.co_names)
    return FunctionType(code.replace(co_names=names), globals())


def _read(self: Any) -> object:
    value = self.stored
    if type(value) is not tuple:
        return value
    fresh = [*value]
    # The struct is not tracked by the garbage collector, so visiting the list is useless.
    untrack_at(id(fresh))
    # Concurrent readers get the same list: while CPython has its lock, it switches threads only after calls and jumps.
    # In one line: a tracer is called before each line, and may switch, too.
    self.stored = fresh if self.stored is value else self.stored
    return self.stored


def _is_assignable(struct: msgspec.StructMeta) -> bool:
    """Whether assigning an attribute of the struct calls no code of a user, and is atomic."""
    assign: object = struct.__setattr__
    return _has_global_lock and assign is msgspec.Struct.__setattr__ and not struct.__struct_config__.frozen


def _read_with_lock(struct: msgspec.StructMeta) -> None:
    for field in struct.__struct_fields__:
        found = getattr(struct, field, None)
        if isinstance(found, property) and hasattr(struct, _stored(field)) and _is_reader(found.fget):
            setattr(struct, field, found.getter(_locked_reader(_stored(field))))


def _is_reader(getter: object) -> bool:
    """Whether the getter of a property was made here, not by a user."""
    return getattr(getter, "__globals__", None) is globals()


def _locked_reader(stored: str) -> Callable[[msgspec.Struct], object]:
    """Return a reader for users' classes that are frozen or define `__setattr__`, and for CPython without its lock."""

    def read(self: msgspec.Struct) -> object:
        value = getattr(self, stored)
        if type(value) is not tuple:
            return value
        fresh = [*value]
        untrack_at(id(fresh))
        with _reading:
            if (found := getattr(self, stored)) is not value:
                return found
            force_setattr(self, stored, fresh)
        return fresh

    return read


@cache
def _lists(struct: msgspec.StructMeta) -> tuple[str, ...]:
    return tuple(field for field in struct.__struct_fields__ if isinstance(getattr(struct, field), property))


@cache
def lists_by_default(struct: msgspec.StructMeta) -> Mapping[str, str]:
    """The lists of a struct that are empty by default: attribute → wire name."""
    fields, wires, defaults = struct.__struct_fields__, struct.__struct_encode_fields__, struct.__struct_defaults__
    # From the end, because the first fields may have no default.
    known = zip(reversed(fields), reversed(wires), reversed(defaults), strict=False)
    return {field: wire for field, wire, default in known if default == () and field in _lists(struct)}


def equal(one: msgspec.Struct, other: object) -> bool:
    """True if both have the same type and equal values, whether their lists were read or not."""
    struct = type(one)
    places = _compared_lists(struct)
    if not places or type(other) is not struct:
        return msgspec.Struct.__eq__(one, other)
    # Read once, because other threads may convert lists meanwhile. Compared once, because comparing again at each level
    # would double the time per level.
    ours, theirs = astuple(one), astuple(other)
    for place in places:
        if type(ours[place]) is not type(theirs[place]):
            return _with_lists(ours) == _with_lists(theirs)
    return ours == theirs


@cache
def _compared_lists(struct: msgspec.StructMeta) -> tuple[int, ...]:
    """The positions of the lists among the fields; empty if the struct does not define equality."""
    fields = struct.__struct_fields__
    return tuple(fields.index(each) for each in _lists(struct)) if struct.__struct_config__.eq else ()


def _with_lists(values: tuple[object, ...]) -> list[object]:
    return [list(each) if type(each) is tuple else each for each in values]


def leave_out_empty(value: object, tree: object) -> None:
    """Remove empty lists from the tree of a value if they are not to be sent."""
    left = [(value, tree)]
    while left:
        value, tree = left.pop()
        if isinstance(value, msgspec.Struct) and isinstance(tree, dict):
            unsent = lists_by_default(type(value)) if value.__struct_config__.omit_defaults else {}
            for wire in unsent.values():
                if tree.get(wire) == []:
                    del tree[wire]
            inside = zip(value.__struct_encode_fields__, msgspec.structs.astuple(value), strict=True)
            left += [(each, tree[wire]) for wire, each in inside if wire in tree]
        elif isinstance(value, Mapping) and isinstance(tree, dict):
            left += zip(value.values(), tree.values(), strict=False)
        elif isinstance(value, list | tuple) and isinstance(tree, list):
            left += zip(value, tree, strict=False)
