"""The lazy field: a part of an object that is decoded when it is first touched.

`Object` declares its parts with it; a user's own kinds do the same.
"""

from __future__ import annotations

import typing
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from listwatch.errors import DecodeError, EncodeError
from listwatch.objects.head import Head
from listwatch.objects.merge import merge, same
from listwatch.objects.reading import Tree, build_decoder, convert, decoder_for
from listwatch.objects.reasons import UNREADABLE, reason_and_place
from listwatch.objects.writing import encode, finish, plain, unchanged

if TYPE_CHECKING:
    from listwatch.objects.object import Object

__all__ = ["LazyField", "MetadataField", "lazy", "wire_name", "write_change"]


def lazy(type_: Any, *, wire: str = "") -> Any:
    """Declare a part of a kind: `spec: PodSpec = lazy(PodSpec)`. `wire` is its name there, if not in camelCase."""
    return LazyField(type_, wire)


class LazyField:
    """Decodes its part of an object on first touch, and leaves the value with the object."""

    # No __set__ on purpose: the value lies in the instance's __dict__, where Python finds it first from then on.

    def __init__(self, type_: Any, wire: str) -> None:
        self.type = type_
        self.wire = wire
        self.name = ""
        self._openers: dict[type[Object], msgspec.json.Decoder[Any]] = {}

    def __set_name__(self, owner: type[Object], name: str) -> None:
        self.name = name
        self.wire = self.wire or wire_name(name)

    def __get__(self, holder: Object | None, owner: type[Object] | None = None) -> Any:
        if holder is None:
            return self
        # Threads that touch at once may decode twice, from bytes that never change; all get what the first one left.
        return holder.__dict__.setdefault(self.name, holder._touch(self))

    def read(self, part: msgspec.Raw | None, holder: Object) -> Any:
        """Decode the part of one object."""
        if part is None:
            return self.zero()
        try:
            return self._decoder.decode(part)
        except UNREADABLE as error:
            return self._read_forgiving(part, holder, error)

    def write(self, value: Any, part: msgspec.Raw | None, holder: Object) -> Any:
        """What to send for the value now: the very bytes that came if it is what they say, None for nothing."""
        try:
            seen = self.read(part, holder)
        except DecodeError:
            part, seen = None, None  # somebody set it anew, which mends it
        if unchanged(value, seen):
            return part
        now, before = (plain(each, what=holder.describe(), field=self.wire) for each in (value, seen))
        if same(now, before):
            return part
        self._check(now, holder)
        return write_change(part, before, now, type_=self.type, what=holder.describe(), field=self.wire)

    def opener(self, kind: type[Object]) -> msgspec.json.Decoder[Any]:
        """Decodes this part of an object and finds the other lazy ones, in a single pass over it."""
        if (decoder := self._openers.get(kind)) is None:
            parts = [
                (name, each.type | None if each is self else msgspec.Raw, msgspec.field(default=None, name=each.wire))
                for name, each in kind.lazy_fields.items()
            ]
            found = msgspec.defstruct(f"{kind.__name__}Parts", parts, gc=False)
            decoder = self._openers[kind] = build_decoder(found)
        return decoder

    def zero(self) -> Any:
        """What an absent part reads as: nothing where it may be None, else something empty to fill."""
        type_ = typing.get_args(self.type)[0] if typing.get_origin(self.type) is Annotated else self.type
        try:
            return (typing.get_origin(type_) or type_)()
        except TypeError:
            return None  # a choice of types, a time, a struct with fields that must be given

    def _check(self, now: Tree, holder: Object) -> None:
        try:
            convert(now, self.type, what=holder.describe(), field=self.wire)
        except DecodeError as error:
            raise EncodeError(error.message, object_name=error.object_name, field=error.field) from None

    def _read_forgiving(self, part: msgspec.Raw, holder: Object, error: Exception) -> Any:
        try:
            tree: Tree = msgspec.json.decode(part)
        except UNREADABLE:
            reason, place = reason_and_place(error)
            raise DecodeError(reason, object_name=holder.describe(), field=self.wire + place) from None
        return self.zero() if tree is None else convert(tree, self.type, what=holder.describe(), field=self.wire)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        return decoder_for(self.type)


class MetadataField(LazyField):
    """The metadata: from the first touch on, an object takes its name and all else of its head from there."""

    # With __set__, unlike the others: so names need not be looked for in the instance's __dict__, which there is only
    # for objects that were touched. Most of a cache never is.

    def __get__(self, holder: Object | None, owner: type[Object] | None = None) -> Any:
        if holder is None:
            return self
        if type(holder._head) is Head:
            holder._head = super().__get__(holder, owner)
        return holder._head

    def __set__(self, holder: Object, value: Any) -> None:
        if not isinstance(value, self.type):
            kind = type(holder).__name__
            raise TypeError(f"the metadata of a {kind} is an ObjectMeta; {kind}.from_dict() reads a manifest")
        holder.__dict__[self.name] = holder._head = value


def write_change(part: msgspec.Raw | None, seen: Tree, now: Tree, *, type_: Any, what: str, field: str) -> Tree:
    """What to send for a part that was seen as one thing and is another now."""
    encode(now, what=what, field=field)  # what JSON cannot hold is told of before it is compared
    try:
        changed = now if part is None else merge(part, seen, now)
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name=what, field=field) from None
    return finish(changed, type_, what=what, field=field)


def wire_name(name: str) -> str:
    """`binary_data` → `binaryData`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
