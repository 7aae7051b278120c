"""Lazy fields: parts of an object that are decoded on first access.

`LazyParts` holds the bytes of an object and finds its parts; a `LazyField` decodes one of them. The models declare
their parts with `lazy()`; `custom_resource.py` makes fields of the annotations of a user's class.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from functools import cached_property
from gc import get_referents
from typing import Annotated, Any, ClassVar, Protocol, Self, cast

import msgspec

from listwatch.errors import DecodeError, EncodeError
from listwatch.meta import ObjectKey
from listwatch.objects.damage import report_damage
from listwatch.objects.head import PROTOBUF, Head, parts_decoder
from listwatch.objects.json.json_scan import readable_parts
from listwatch.objects.json.merge import merge, same
from listwatch.objects.json.reading import (
    DECODE_FAILURES,
    Tree,
    build_decoder,
    convert,
    decoder_for,
    reason_and_place,
    reason_of,
)
from listwatch.objects.metadata import ObjectMeta, read_deep_metadata
from listwatch.objects.untracked import untrack_at
from listwatch.objects.writing import encode, finish, plain, unchanged

__all__ = [
    "NEW",
    "Accesses",
    "LazyField",
    "LazyParts",
    "MetadataField",
    "SealedBytes",
    "lazy",
    "set_head",
    "set_raw",
    "wire_name",
    "without_unknown",
    "write_change",
]

_new = object.__new__

NEW = b"{}"
"""The bytes of an object that was not received. Compared by identity."""


def lazy(type_: object, *, wire: str = "") -> Any:
    """Declare a part of a kind: `spec: PodSpec = lazy(PodSpec)`. `wire` is its JSON name; default: camelCase."""
    return LazyField(type_, wire)


class SealedBytes(Protocol):
    """The JSON of an object in another form, for example compressed: opened when a part of the object is accessed."""

    def open(self) -> bytes:
        """Return the JSON; raises DecodeError if it is lost. Threads may call it at the same time."""


class LazyParts:
    """The bytes of an object, its decoded head, and the positions of its parts."""

    __slots__ = ("__dict__", "__weakref__", "_head", "_received")

    lazy_fields: ClassVar[Mapping[str, LazyField]] = {}
    _has_any_field: ClassVar[bool] = False  # also fields that the class does not declare
    _accesses: ClassVar[Accesses]
    # What an access stores in the __dict__. Anything else there is of the program.
    _decoded_names: ClassVar[frozenset[str]] = frozenset()

    _received: bytes | SealedBytes
    # The metadata that caches need. Once all metadata is decoded it may be changed, and is stored here instead.
    _head: Head | ObjectMeta
    # None before the first access; then a struct with the parts of the lazy fields as JSON, or a dict with all parts.
    # None also if all parts were decoded at once. It is stored in the __dict__, which most objects never have.
    _parts: Any = None
    _kept = 0  # how many later states of the object stay decoded after handlers have read them; see `LazilyDecoded`
    _is_stored_by_program = False

    @property
    def _raw(self) -> bytes:
        """The received JSON."""
        received = self._received
        return received if type(received) is bytes else self._unsealed(cast("SealedBytes", received))

    def _unsealed(self, sealed: SealedBytes) -> bytes:
        try:
            raw = sealed.open()
        except DecodeError as error:
            what = self._describe_as(type(self).__name__)
            raise report_damage(self, DecodeError(error.message, object_name=what)) from None
        set_raw(self, raw)
        return raw

    def part(self, wire: str) -> msgspec.Raw | None:
        """One received top-level part as JSON; None if it is absent."""
        part = self._part(wire)
        return without_unknown(part) if part is not None and self._is_protobuf() else part

    def _part(self, wire: str) -> msgspec.Raw | None:
        """The same, with the unknown fields of a part that was received as protobuf."""
        return self._read_protobuf_part(wire) if self._is_protobuf() else self._split().get(wire)

    def describe(self) -> str:
        """Kind and key, for error messages and logs."""
        return self._describe_as(type(self).__name__)

    def _describe_as(self, kind: str) -> str:
        head = self._head
        return f"{kind} {ObjectKey(head.namespace, head.name)}" if head.name else f"{kind} without a name"

    def _decode_part(self, field: LazyField) -> object:
        """The value of a part that is not decoded yet."""
        parts, accesses = self._parts, self._accesses
        if type(parts) is dict:
            return field.read(parts.get(field.wire), self)
        accesses.decodings += 1
        if parts is not None and (part := getattr(parts, field.name)) is not msgspec.UNSET:
            accesses.further += 1
            return field.read(part, self)
        received, kind = self._received, type(self)
        raw = received if type(received) is bytes else self._raw
        decode_all = accesses.decode_all
        if decode_all is not None and accesses.advance():
            try:
                return self._store_all(decode_all(raw), field)
            except DECODE_FAILURES:
                accesses.suspend()
        else:
            accesses.count(kind)
        try:
            found = field.opener(kind).decode(raw)
        except DECODE_FAILURES:
            return field.read(self._part(field.wire), self)
        value = getattr(found, field.name)
        setattr(found, field.name, msgspec.UNSET)
        self.__dict__["_parts"] = found
        return field.absent(self) if value is None else value

    def _store_all(self, whole: msgspec.Struct, wanted: LazyField) -> object:
        """Store the values of all received parts, and return the one of a field."""
        held = self.__dict__
        for name in whole.__struct_fields__:
            if (value := getattr(whole, name)) is not None:
                held.setdefault(name, value)  # another thread may have stored its own
        if (metadata := held.get("metadata")) is not None:
            self._replace_head(metadata)
        value = held.get(wanted.name)
        return wanted.absent(self) if value is None else value

    def _replace_head(self, metadata: ObjectMeta) -> None:
        """Use decoded metadata in place of the head."""
        if type(head := self._head) is Head:
            self.__dict__["_first_head"] = head
        set_head(self, metadata)

    def _has_decoded_parts(self) -> bool:
        # Not with `__dict__`: most objects have none, and an access would make it.
        if type(self._head) is not Head:
            return True
        for each in get_referents(self):  # `any` with a generator takes twice as long
            if type(each) is dict:
                return bool(each)
        return False

    def _forget_parts(self) -> bool:
        if (head := self._releasable_head()) is None:
            return False
        # The dict is not cleared: another thread may be reading it.
        set_head(self, head)
        del self.__dict__
        set_head(self, head)  # again: another thread may have decoded the metadata, and stored it in the dropped dict
        return True

    def _undecoded(self) -> Self:
        if (head := self._releasable_head()) is None:
            return self
        made = _new(type(self))
        set_raw(made, self._received)
        set_head(made, head)
        untrack_at(id(made))
        return made

    def _releasable_head(self) -> Head | None:
        """The head as it was received; None if the object may have more than what is in its bytes."""
        held, head = self.__dict__, self._head
        received: Head | None = head if type(head) is Head else held.get("_first_head")
        return received if self._received is not NEW and held.keys() <= self._decoded_names else None

    def _split(self) -> dict[str, msgspec.Raw]:
        self._accesses.decodings += 1
        parts = self._find_parts()
        if not self._is_protobuf():  # the others are no views of the bytes, but as large as all of the object
            self.__dict__["_parts"] = parts
        return parts

    def _find_parts(self) -> dict[str, msgspec.Raw]:
        parts: dict[str, msgspec.Raw] = self._parts
        if type(parts) is dict:
            return parts
        try:
            return parts_decoder.decode(self._raw)
        except DECODE_FAILURES as error:
            if self._is_protobuf():
                return self._read_protobuf_parts()
            # One invalid part must not make the others unreadable. Scanning is slow, so the result is kept.
            if (found := readable_parts(self._raw)) is not None:
                self.__dict__["_parts"] = found
                return found
            what = self._describe_as(type(self).__name__)
            raise report_damage(self, DecodeError(reason_of(error, self._raw), object_name=what)) from None

    def _is_protobuf(self) -> bool:
        return self._raw.startswith(PROTOBUF)

    def _read_protobuf_part(self, wire: str) -> msgspec.Raw | None:
        from listwatch.objects.protobuf.protobuf_parts import read_protobuf_part  # few programs receive protobuf

        try:
            return read_protobuf_part(self._raw, wire)
        except DecodeError as error:
            failure = DecodeError(error.message, object_name=self.describe(), field=wire)
            raise report_damage(self, failure) from None

    def _read_protobuf_parts(self) -> dict[str, msgspec.Raw]:
        from listwatch.objects.protobuf.protobuf_parts import read_protobuf_parts

        try:
            return read_protobuf_parts(self._raw)
        except DecodeError as error:
            what = self._describe_as(type(self).__name__)
            raise report_damage(self, DecodeError(error.message, object_name=what)) from None

    def _shares_bytes_with(self, other: LazyParts) -> bool:
        """True for the same object and its copies."""
        return self._received is other._received or self._raw == other._raw

    def _damaged_parts(self) -> frozenset[str]:
        """The names of the received parts that cannot be decoded; more than that if the parts cannot be found."""
        fields = {field.wire: field for field in self.lazy_fields.values()}
        try:
            found = self._find_parts()
        except DecodeError:
            return frozenset({*fields, ""})
        return frozenset(name for name, part in found.items() if not _is_decodable(part, fields.get(name), self))


class Accesses:
    """Counts the accesses to parts of one kind of objects.

    If nearly all parts of most objects are accessed, the first access decodes all of them, which takes less time than
    finding the others first. Accesses to such objects are not seen, so one in some is decoded by part and counted.
    Threads may lose some counts.
    """

    __slots__ = ("_built", "_opened", "_whole", "decode_all", "decodings", "further")

    def __init__(self) -> None:
        self._opened = 0
        self.further = 0
        """Accesses to parts of objects of which another part was accessed before."""
        self.decodings = 0
        """The number of decodings."""
        self._whole = 0  # objects of which all parts were to be decoded at once
        self.decode_all: Callable[[bytes], msgspec.Struct] | None = None
        """Decodes all parts of an object; None if only the accessed part is to be decoded."""
        self._built: msgspec.json.Decoder[msgspec.Struct] | None = None

    def advance(self) -> bool:
        """Go on to the next object. Return whether to decode all its parts at once; False if it is to be counted."""
        self._whole += 1
        return bool(self._whole % _UNCOUNTED)

    def count(self, kind: type[LazyParts]) -> None:
        """Count an object of which one part is decoded."""
        self._opened += 1
        if self._opened >= _COUNTED:
            others = min(len(kind.lazy_fields), _USUAL_PARTS) - 1
            is_read_whole = others > 0 and self.further >= _MOST * others * self._opened
            if is_read_whole and self._built is None:
                self._built = _decoder_of_all(kind)
            self.decode_all = self._built.decode if is_read_whole and self._built is not None else None
            self._opened = self.further = 0

    def suspend(self) -> None:
        """Decode parts of the next objects one by one, because one of them is damaged."""
        self.decode_all, self._opened, self.further = None, -_UNTIL_RETRY, 0


_COUNTED = 64
"""The number of objects after which it is decided how the next ones are decoded."""
_UNCOUNTED = 32
"""One of this number of objects is counted if all parts are decoded at once."""
_USUAL_PARTS = 3
_MOST = 0.75
_UNTIL_RETRY = 10_000


def _decoder_of_all(kind: type[LazyParts]) -> msgspec.json.Decoder[msgspec.Struct]:
    parts = [
        (name, each.type | None, msgspec.field(default=None, name=each.wire)) for name, each in kind.lazy_fields.items()
    ]
    return build_decoder(msgspec.defstruct(f"{kind.__name__}Values", parts, gc=False))


LazyParts._accesses = Accesses()


def without_unknown(part: msgspec.Raw) -> msgspec.Raw:
    """The JSON of a part that was received as protobuf, without the fields that the schema does not have."""
    from listwatch.objects.protobuf.protobuf_parts import public_json

    return public_json(part)


# Assigning to an object checks the name, which these functions do not.
set_raw, set_head = (vars(LazyParts)[name].__set__ for name in ("_received", "_head"))


def _is_decodable(part: msgspec.Raw, field: LazyField | None, holder: LazyParts) -> bool:
    try:
        msgspec.json.decode(part) if field is None else field.read(part, holder)
    except (DecodeError, *DECODE_FAILURES):
        return False
    return True


class LazyField:
    """Decodes its part of an object on first access, and stores the value in the object."""

    # There is no __set__, so that Python finds the stored value in the instance's __dict__ before this descriptor.

    def __init__(self, type_: Any, wire: str) -> None:
        self.type = type_
        self.wire = wire
        self.name = ""
        self._openers: dict[type[LazyParts], msgspec.json.Decoder[object]] = {}

    def __set_name__(self, owner: type[LazyParts], name: str) -> None:
        self.name = name
        self.wire = self.wire or wire_name(name)

    def __get__(self, holder: LazyParts | None, owner: type[LazyParts] | None = None) -> Any:
        if holder is None:
            return self
        # Concurrent threads may decode twice, from the same bytes; all of them get the value that is stored first.
        return holder.__dict__.setdefault(self.name, holder._decode_part(self))

    def read(self, part: msgspec.Raw | None, holder: LazyParts) -> object:
        """Decode the part of one object."""
        if part is None:
            return self.absent(holder)
        try:
            return self._decoder.decode(part)
        except DECODE_FAILURES as error:
            return self._read_lenient(part, holder, error)

    def write(self, value: object, part: msgspec.Raw | None, holder: LazyParts) -> object:
        """What to send for the value: the received bytes if it was not changed, None if there is nothing to send."""
        try:
            seen = self.read(part, holder)
        except DecodeError:
            part, seen = None, None  # the part is damaged, and was replaced
        if unchanged(value, seen):
            return part
        now, before = (plain(each, what=holder.describe(), field=self.wire) for each in (value, seen))
        try:
            if same(now, before):
                return part
        except RecursionError:
            raise EncodeError("it is nested too deeply", object_name=holder.describe(), field=self.wire) from None
        self._check(now, holder)
        return write_change(part, before, now, type_=self.type, what=holder.describe(), field=self.wire)

    def opener(self, kind: type[LazyParts]) -> msgspec.json.Decoder[object]:
        """A decoder that decodes this part and finds the other lazy parts in one pass over the object."""
        if (decoder := self._openers.get(kind)) is None:
            parts = [
                (name, each.type | None if each is self else msgspec.Raw, msgspec.field(default=None, name=each.wire))
                for name, each in kind.lazy_fields.items()
            ]
            found = msgspec.defstruct(f"{kind.__name__}Parts", parts, gc=False)
            decoder = self._openers[kind] = build_decoder(found)
        return decoder

    def absent(self, holder: LazyParts) -> object:
        """The value of an absent part: None if the type allows it, else an empty value."""
        type_ = typing.get_args(self.type)[0] if typing.get_origin(self.type) is Annotated else self.type
        try:
            return (typing.get_origin(type_) or type_)()
        except TypeError:
            return None  # a union, a time, or a struct with required fields

    def _check(self, now: Tree, holder: LazyParts) -> None:
        try:
            convert(now, self.type, what=holder.describe(), field=self.wire)
        except DecodeError as error:
            raise EncodeError(error.message, object_name=error.object_name, field=error.field) from None

    def _read_lenient(self, part: msgspec.Raw, holder: LazyParts, error: Exception) -> object:
        try:
            tree: Tree = msgspec.json.decode(part)
        except DECODE_FAILURES:
            _, place = reason_and_place(error)
            reason = reason_of(error, bytes(part))
            failure = DecodeError(reason, object_name=holder.describe(), field=self.wire + place)
            raise report_damage(holder, failure) from None
        try:
            return (
                self.absent(holder)
                if tree is None
                else convert(tree, self.type, what=holder.describe(), field=self.wire)
            )
        except DecodeError as failure:
            report_damage(holder, failure)
            raise

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[object]:
        return decoder_for(self.type)


class MetadataField(LazyField):
    """The metadata. Once it is decoded, it replaces the head of the object."""

    # It has a __set__, so that names are not looked up in the instance's __dict__, which exists only for objects that
    # were accessed. Most cached objects never are.

    def __get__(self, holder: LazyParts | None, owner: type[LazyParts] | None = None) -> Any:
        if holder is None:
            return self
        head = holder._head
        if type(head) is Head:
            decoded = holder._decode_part(self)
            head = holder._head
            if type(head) is Head:  # otherwise all parts were decoded
                head = holder.__dict__.setdefault(self.name, decoded)
                holder._replace_head(head)
        return head

    def __set__(self, holder: LazyParts, value: object) -> None:
        if not isinstance(value, self.type):
            kind = type(holder).__name__
            raise TypeError(f"{kind}.metadata must be an ObjectMeta; use {kind}.from_dict() to read a manifest")
        holder.__dict__[self.name] = value
        set_head(holder, value)

    def _read_lenient(self, part: msgspec.Raw, holder: LazyParts, error: Exception) -> object:
        deep = None if isinstance(error, msgspec.ValidationError) else read_deep_metadata(part)
        return deep or super()._read_lenient(part, holder, error)


def write_change(part: msgspec.Raw | None, seen: Tree, now: Tree, *, type_: object, what: str, field: str) -> Tree:
    """What to send for a changed part: the change, merged into the received JSON."""
    encode(now, what=what, field=field)  # raises for values that JSON cannot represent
    try:
        changed = now if part is None else merge(part, seen, now)
    except RecursionError:
        raise EncodeError("it is nested too deeply", object_name=what, field=field) from None
    return finish(changed, type_, what=what, field=field)


def wire_name(name: str) -> str:
    """`binary_data` → `binaryData`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
