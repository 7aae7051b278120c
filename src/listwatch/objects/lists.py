"""The lists inside objects: each is decoded as a tuple, and made a list when it is first read. `model.py` builds on it.

Most lists of an object did not come, and most of the others nobody reads. Python's garbage collector visits every list
that there is, again and again; tuples of such data it lets go at once. With a list for each of its fields, a pod took
twice as long to touch, and a cache of touched ones held the event loop for longer the larger it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, GenericAlias, MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import force_setattr

from listwatch.objects.untracked import untrack

if TYPE_CHECKING:
    from inspect import Parameter, Signature

__all__ = ["StructWithLists", "equal", "leave_out_empty", "optional_lists", "required_list"]

_Field = type(msgspec.field())
_LIST = re.compile(r"list\[((?:[^][]|\[[^][]*])*)]")
_S = TypeVar("_S", bound="StructWithLists")


def required_list() -> list[Any]:
    """The default of a list the API always writes, even when it is empty."""
    return []


def _no_elements() -> tuple[()]:
    return ()


class StructWithLists(msgspec.StructMeta):
    """Makes structs that keep their `list[T] = field(default_factory=list)` as tuples until somebody reads them."""

    def __new__(mcls: type[_S], name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _S:
        hints: dict[str, Any] = namespace.get("__annotations__", {})
        fields = {each: _tuple_field(namespace.get(each)) for each, hint in hints.items() if _tuple_hint(hint)}
        lists = {each: field for each, field in fields.items() if field}
        if lists:
            hints = hints | {each: _tuple_hint(hints[each]) for each in lists}
            namespace = namespace | lists | {"__annotations__": hints}
        struct = super().__new__(mcls, name, bases, namespace, **options)
        for each in lists:
            _read_as_list(struct, each)
        return struct

    @property
    def __signature__(cls) -> Signature:
        """What `help()` shows: lists, as everywhere else."""
        told = super().__signature__
        return told.replace(parameters=[_shown(cls, each) for each in told.parameters.values()])


def _shown(struct: msgspec.StructMeta, parameter: Parameter) -> Parameter:
    if parameter.name not in _lists(struct) or get_origin(parameter.annotation) is not tuple:
        return parameter
    return parameter.replace(annotation=GenericAlias(list, get_args(parameter.annotation)[:1]), default=[])


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


def _read_as_list(struct: type, field: str) -> None:
    slot = getattr(struct, field)
    if isinstance(slot, MemberDescriptorType):  # else it is inherited, and reads as a list already
        setattr(struct, _slot_of(field), slot)
        setattr(struct, field, property(_reader(_slot_of(field)), slot.__set__, slot.__delete__))


def _slot_of(field: str) -> str:
    """The name under which the slot that msgspec made is found."""
    return f"_{field}_slot"


def _read(self: Any) -> Any:
    value = self._slot
    if type(value) is not tuple:
        return value
    fresh = list(value)
    # It lies in a struct that the collector does not look into: to visit it would find nothing.
    untrack(fresh)
    # Threads take turns at the end of calls, and none ends between this look and the store: all get the same list.
    if self._slot is value:
        force_setattr(self, "_slot", fresh)
    return self._slot


def _reader(slot: str) -> Callable[[Any], Any]:
    """`_read` for one slot: with its name in the code, that is twice as fast as by calling what reads a slot."""
    code = _read.__code__
    names, constants = (
        tuple(slot if each == "_slot" else each for each in found) for found in (code.co_names, code.co_consts)
    )
    return FunctionType(code.replace(co_names=names, co_consts=constants), globals())


@cache
def _lists(struct: msgspec.StructMeta) -> tuple[str, ...]:
    return tuple(field for field in struct.__struct_fields__ if hasattr(struct, _slot_of(field)))


@cache
def optional_lists(struct: msgspec.StructMeta) -> Mapping[str, str]:
    """The lists of a struct that are not sent when they are empty: attribute → wire name."""
    fields, wires, defaults = struct.__struct_fields__, struct.__struct_encode_fields__, struct.__struct_defaults__
    # From the end, because the first fields may have no default.
    known = zip(reversed(fields), reversed(wires), reversed(defaults), strict=False)
    return {field: wire for field, wire, default in known if default == () and field in _lists(struct)}


def equal(one: msgspec.Struct, other: object) -> bool:
    """True if both are of one type and say the same, whichever of their lists were read."""
    same = msgspec.Struct.__eq__(one, other)
    if same is False and _make_alike(one, other):
        return msgspec.Struct.__eq__(one, other)
    return same


def _make_alike(one: msgspec.Struct, other: object) -> bool:
    """Read the lists that were read in one of the two alone. True if there was such a list."""
    unlike = []
    for field in _lists(type(one)):
        slot = _slot_of(field)
        if (type(getattr(one, slot)) is tuple) is not (type(getattr(other, slot)) is tuple):
            unlike.append((getattr(one, field), getattr(other, field)))
    return bool(unlike)


def leave_out_empty(value: Any, tree: Any) -> None:
    """Take out of a value's tree the empty lists that are not sent: somebody has only read them, or emptied them."""
    left = [(value, tree)]
    while left:
        value, tree = left.pop()
        if isinstance(value, msgspec.Struct) and isinstance(tree, dict):
            for wire in optional_lists(type(value)).values():
                if tree.get(wire) == []:
                    del tree[wire]
            inside = zip(value.__struct_encode_fields__, msgspec.structs.astuple(value), strict=True)
            left += [(each, tree[wire]) for wire, each in inside if wire in tree]
        elif isinstance(value, Mapping) and isinstance(tree, dict):
            left += zip(value.values(), tree.values(), strict=False)
        elif isinstance(value, list | tuple) and isinstance(tree, list):
            left += zip(value, tree, strict=False)
