"""The lists inside objects: each is decoded as a tuple, and made a list when it is first read. `model.py` builds on it.

Most lists of an object did not come, and most of the others nobody reads. Python's garbage collector visits every list
that there is, again and again; tuples of such data it lets go at once. With a list for each of its fields, a pod took
twice as long to touch, and a cache of touched ones held the event loop for longer the larger it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from threading import RLock
from types import GenericAlias, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import astuple, force_setattr

from listwatch.objects.untracked import untrack

if TYPE_CHECKING:
    from inspect import Parameter, Signature

__all__ = ["StructWithLists", "equal", "leave_out_empty", "lists_by_default", "required_list"]

_Field = type(msgspec.field())
_LIST = re.compile(r"list\[((?:[^][]|\[[^][]*])*)]")
_S = TypeVar("_S", bound="StructWithLists")

_reading = RLock()


def required_list() -> list[Any]:
    """The default of a list the API always writes, even when it is empty."""
    return []


def _no_elements() -> tuple[()]:
    return ()


class StructWithLists(msgspec.StructMeta):
    """Makes structs that keep their `list[T] = field(default_factory=list)` as tuples until somebody reads them."""

    def __new__(mcls: type[_S], name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _S:
        if "__slots__" in namespace and "__qualname__" not in namespace:  # no class statement, but msgspec.defstruct()
            namespace, options = _resumed(namespace)
        hints: dict[str, Any] = namespace.get("__annotations__", {})
        lists = {} if _keeps_lists(bases, namespace, options) else _tuple_fields(namespace, hints)
        if lists:
            hints = hints | {each: _tuple_hint(hints[each]) for each in lists}
            namespace = namespace | lists | {"__annotations__": hints}
        struct = super().__new__(mcls, name, bases, namespace, **options)
        for each in hints:
            _read_as(struct, each, a_list=each in lists)
        return struct

    @property
    def __signature__(cls) -> Signature:
        """What `help()` shows: lists, as everywhere else."""
        told = super().__signature__
        return told.replace(parameters=[_shown(cls, each) for each in told.parameters.values()])


def _resumed(namespace: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Namespace and options for a struct that msgspec has half made. It sets the options and defaults afterwards."""
    slots = namespace["__slots__"]
    options = {"kw_only": True, "gc": True, "dict": "__dict__" in slots, "weakref": "__weakref__" in slots}
    return {name: value for name, value in namespace.items() if name != "__slots__"}, options


def _shown(struct: msgspec.StructMeta, parameter: Parameter) -> Parameter:
    if parameter.name not in _lists(struct) or get_origin(parameter.annotation) is not tuple:
        return parameter
    return parameter.replace(annotation=GenericAlias(list, get_args(parameter.annotation)[:1]), default=[])


def _keeps_lists(bases: tuple[type, ...], namespace: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """True if its lists must be lists from the start: a tuple would order and hash otherwise, or have no name here."""
    settings = [base.__struct_config__ for base in bases if isinstance(base, msgspec.StructMeta)]
    unlike = any(options.get(option, any(getattr(each, option) for each in settings)) for option in ("order", "frozen"))
    return unlike or "tuple" in namespace or "tuple" in namespace.get("__annotations__", ())


def _tuple_fields(namespace: Mapping[str, Any], hints: Mapping[str, Any]) -> dict[str, Any]:
    fields = {each: _tuple_field(namespace.get(each)) for each, hint in hints.items() if _tuple_hint(hint)}
    return {each: field for each, field in fields.items() if field}


def _tuple_hint(hint: Any) -> Any:
    """`list[T]` → `tuple[T, ...]`; None for any other hint."""
    if isinstance(hint, str):
        found = _LIST.fullmatch(hint)
        return found and f"tuple[{found[1]}, ...]"
    if isinstance(hint, GenericAlias) and hint.__origin__ is list:
        return GenericAlias(tuple, (*hint.__args__, ...))
    return None


def _tuple_field(found: Any) -> Any:
    """The same field with an empty tuple as its default; None for what is no list by default."""
    factory = found.default_factory if isinstance(found, _Field) else None
    if factory is list:
        return msgspec.field(default=(), name=found.name)  # msgspec does not write what is the default itself
    if factory is required_list:
        return msgspec.field(default_factory=_no_elements, name=found.name)
    return None


def _read_as(struct: type, field: str, *, a_list: bool) -> None:
    found = getattr(struct, field, None)
    if a_list and isinstance(found, MemberDescriptorType):
        setattr(struct, _kept(field), found)
        setattr(struct, field, property(_reader(_kept(field)), found.__set__, found.__delete__))
    elif not a_list and isinstance(found, property) and hasattr(struct, _kept(field)):
        setattr(struct, field, getattr(struct, _kept(field)))  # it inherits a list, and says it is something else


def _kept(field: str) -> str:
    """The name under which what is kept for a field is found: one that no field can have."""
    return f"_{field} as kept"


def _reader(kept: str) -> Callable[[Any], Any]:
    def read(self: Any) -> Any:
        value = getattr(self, kept)
        if type(value) is not tuple:
            return value
        fresh = list(value)
        # It lies in a struct that the collector does not look into: to visit it would find nothing.
        untrack(fresh)
        with _reading:  # threads that read it at once all get the same list
            found = getattr(self, kept)
            if found is not value:
                return found
            force_setattr(self, kept, fresh)
        return fresh

    return read


@cache
def _lists(struct: msgspec.StructMeta) -> tuple[str, ...]:
    return tuple(field for field in struct.__struct_fields__ if isinstance(getattr(struct, field), property))


@cache
def lists_by_default(struct: msgspec.StructMeta) -> Mapping[str, str]:
    """The lists of a struct that are empty unless something else is said: attribute → wire name."""
    fields, wires, defaults = struct.__struct_fields__, struct.__struct_encode_fields__, struct.__struct_defaults__
    # From the end, because the first fields may have no default.
    known = zip(reversed(fields), reversed(wires), reversed(defaults), strict=False)
    return {field: wire for field, wire, default in known if default == () and field in _lists(struct)}


def equal(one: msgspec.Struct, other: Any) -> bool:
    """True if both are of one type and say the same, whichever of their lists were read."""
    struct = type(one)
    places = _compared_lists(struct)
    if not places or type(other) is not struct:
        return msgspec.Struct.__eq__(one, other)
    # Looked at once, because other threads may be reading lists meanwhile; and compared once, because to compare again
    # at each level what differs would take twice as long with each.
    ours, theirs = astuple(one), astuple(other)
    for place in places:
        if type(ours[place]) is not type(theirs[place]):
            return _with_lists(ours) == _with_lists(theirs)
    return ours == theirs


@cache
def _compared_lists(struct: msgspec.StructMeta) -> tuple[int, ...]:
    """Where the lists of a struct are among its fields; nowhere if its class says that it is not to be compared."""
    fields = struct.__struct_fields__
    return tuple(fields.index(each) for each in _lists(struct)) if struct.__struct_config__.eq else ()


def _with_lists(values: tuple[Any, ...]) -> list[Any]:
    return [list(each) if type(each) is tuple else each for each in values]


def leave_out_empty(value: Any, tree: Any) -> None:
    """Take out of a value's tree the empty lists that are not sent: somebody has only read them, or emptied them."""
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
