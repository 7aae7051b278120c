"""Encodes and decodes messages by their schema: JSON trees to bytes and back.

Decoding gives the tree that Kubernetes' JSON has: without the zero values that JSON omits, with those that it writes.
Encoding writes the bytes that Kubernetes writes, also zero values of fields that are no pointers.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterator
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

from listwatch.errors import DecodeError
from listwatch.json_value import JSON, JSONObject
from listwatch.protobuf.schema import FieldSchema, read_message
from listwatch.protobuf.special_messages import Codec, SchemaValue, special_messages
from listwatch.protobuf.unknown_fields import UNKNOWN, numbered, unnumbered
from listwatch.protobuf.wire_format import (
    SMALL_VARINTS,
    read_length,
    read_varint,
    signed32,
    signed64,
    skip_field,
    skip_value,
    truncated,
    varint,
)

__all__ = ["MAX_DEPTH", "MAX_MESSAGES", "Codec", "Message", "message"]

MAX_DEPTH = 250
"""The deepest nesting of messages. Each level uses two of Python's thousand frames."""

MAX_MESSAGES = 200_000
"""The most messages in one object. An empty one has two bytes, and takes hundreds of bytes when it is decoded."""

# How a field is read. Those from _BOOL on are numbers, which need no length.
_STRING, _MESSAGE, _MESSAGES, _STRINGS, _MAP, _INLINE, _BYTES, _PACKED, _BOOL, _INT32, _INT64, _DOUBLE = range(12)
_NUMBERS = {"b": _BOOL, "i": _INT32, "l": _INT64, "d": _DOUBLE}
_ZEROS: dict[str, JSON] = {"s": "", "b": False, "i": 0, "l": 0, "d": 0, "y": None}
_DOUBLES = struct.Struct("<d")


FieldCodec = Any
"""A Codec, _Map or _PackedNumbers by the kind of the field; None for scalars."""


class _Reader(NamedTuple):
    kind: int
    name: str
    keeps_zero: bool
    codec: FieldCodec


class _Writer(NamedTuple):
    number: int
    name: str
    kind: int
    container: str
    key: bytes
    zero: bytes
    """Written if the tree has no value."""
    codec: FieldCodec


@cache
def message(full_name: str, *, keeps_unknown: bool = False) -> Codec:
    """Return the codec of a message, `core_v1.Pod`.

    With `keeps_unknown`, fields that the schema does not have are members of the tree, and are encoded from there.
    """
    special = special_messages(partial(message, keeps_unknown=keeps_unknown)).get(full_name)
    if special:
        return special
    codec = Message(full_name, keeps_unknown=keeps_unknown)
    return _List(codec) if read_message(full_name).is_list else codec


class Message:
    """The codec of a message with fields; these are resolved when it is first used."""

    def __init__(self, full_name: str, *, keeps_unknown: bool = False) -> None:
        self._full_name = full_name
        self._keeps_unknown = keeps_unknown

    # --- Decoding

    def decode(self, data: bytes, position: int, end: int, depth: int, budget: list[int]) -> JSONObject:
        if depth > MAX_DEPTH:
            raise DecodeError("exceeded max depth")
        budget[0] -= 1
        if budget[0] < 0:
            raise DecodeError(f"the object has more than {MAX_MESSAGES} messages")
        found: dict[str, SchemaValue] = {}
        readers = self._readers
        while position < end:
            key = data[position]
            position += 1
            if key > 127:
                key, position = read_varint(data, position - 1)
            reader = readers.get(key)
            if reader is None:
                start, position = position, skip_field(data, position, end, key, self._go_name, self._go_names)
                if self._keeps_unknown:
                    found[UNKNOWN] = found.get(UNKNOWN, "") + (varint(key) + data[start:position]).hex()
                continue
            kind, name, keeps_zero, codec = reader
            if kind >= _BOOL:
                value, position = _read_number(data, position, kind)
                if codec:
                    found.setdefault(name, []).append(value)
                elif value or keeps_zero:
                    found[name] = value
                continue
            size = data[position]
            position += 1
            stop = position + size
            if size > 127:
                position, stop = read_length(data, position - 1, end)
            elif stop > end:
                raise truncated()
            if kind == _STRING:
                if position < stop or keeps_zero:
                    found[name] = str(data[position:stop], "utf-8", "replace")
            elif kind == _MESSAGE:
                value = codec.decode(data, position, stop, depth + 1, budget)
                if value or keeps_zero:
                    found[name] = value
            elif kind == _MAP:
                entry, value = codec.decode_entry(data, position, stop, end, depth + 1, budget)
                members = found.get(name)
                if members is None:
                    found[name] = {entry: value}
                else:
                    members[entry] = value
            elif kind == _INLINE:
                value = codec.decode(data, position, stop, depth + 1, budget)
                found.update(numbered(value, key >> 3) if self._keeps_unknown else value)
            elif kind == _BYTES:
                found[name] = str(base64.b64encode(data[position:stop]), "ascii")
            elif kind == _PACKED:
                found.setdefault(name, []).extend(codec.decode_packed(data, position, stop))
            else:
                if kind == _STRINGS:
                    value = str(data[position:stop], "utf-8", "replace")
                else:
                    value = codec.decode(data, position, stop, depth + 1, budget)
                items = found.get(name)
                if items is None:
                    found[name] = [value]
                else:
                    items.append(value)
            position = stop
        if position > end:
            raise truncated()
        for name, zero, codec in self._required:
            if name not in found:
                found[name] = codec.decode(b"", 0, 0, depth + 1, budget) if codec else zero
        return found

    @cached_property
    def _readers(self) -> dict[int, _Reader]:
        return {key: reader for field in self._schema for key, reader in _readers(field, self._codec(field))}

    @cached_property
    def _required(self) -> tuple[tuple[str, JSON, Codec | None], ...]:
        """The fields that JSON always has: name, zero value, and codec of a struct."""
        found: list[tuple[str, JSON, Codec | None]] = []
        for field in self._schema:
            codec = self._codec(field)
            is_struct = _is_struct(field, codec)
            if not field.json_name:
                assert isinstance(codec, Message)
                found += codec._required
            elif is_struct and not field.omits_zero_struct:
                found.append((field.json_name, None, codec))
            elif field.writes_zero and not is_struct:
                is_null = field.container or field.is_pointer or field.message
                found.append((field.json_name, None if is_null else _ZEROS[field.scalar], None))
        return tuple(found)

    # --- Encoding

    def encode(self, value: SchemaValue) -> bytes:
        parts: list[bytes] = []
        append = parts.append
        get = value.get
        for number, name, kind, container, key, zero, codec in self._writers:
            found: SchemaValue = get(name) if name else unnumbered(value, number) if self._keeps_unknown else value
            if found is None:
                if zero:
                    append(zero)
            elif container:
                for content in _contents(found, kind, container, codec):
                    append(key)
                    append(content)
            elif kind < _BOOL:
                if kind == _STRING:
                    content = found.encode()
                elif kind == _BYTES:
                    content = base64.b64decode(found)
                else:
                    content = codec.encode(found)
                size = len(content)
                append(key)
                append(SMALL_VARINTS[size] if size < 128 else varint(size))
                append(content)
            else:
                append(key)
                append(_number(found, kind))
        if self._keeps_unknown and UNKNOWN in value:
            append(bytes.fromhex(value[UNKNOWN]))
        return b"".join(parts)

    def encode_field(self, name: str, value: SchemaValue) -> bytes:
        """Encode one field with this JSON name, without the zero values of the others."""
        only = Message(self._full_name, keeps_unknown=self._keeps_unknown)
        only._writers = tuple(each._replace(zero=b"") for each in self._writers if each.name == name)
        return only.encode({name: value})

    @cached_property
    def _writers(self) -> tuple[_Writer, ...]:
        return tuple(_writer(field, self._codec(field)) for field in self._schema)

    # --- Schema

    def number_of(self, name: str) -> int:
        """The number of the field with this JSON name; 0 if there is none."""
        return self._numbers.get(name, 0)

    def names_of(self, number: int) -> list[str]:
        """The JSON names of a field; an inlined struct has several."""
        return [name for name, each in self._numbers.items() if each == number]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for field in self._schema:
            inlined = None if field.json_name else self._codec(field)
            names = inlined._numbers if isinstance(inlined, Message) else [field.json_name]
            found |= dict.fromkeys(names, field.number)
        return found

    @cached_property
    def _schema(self) -> tuple[FieldSchema, ...]:
        return read_message(self._full_name).fields

    def _codec(self, field: FieldSchema) -> Codec | None:
        return message(field.message, keeps_unknown=self._keeps_unknown) if field.message else None

    @cached_property
    def _go_name(self) -> str:
        return read_message(self._full_name).name

    @cached_property
    def _go_names(self) -> dict[int, str]:
        return {field.number: field.go_name for field in self._schema}


def _is_struct(field: FieldSchema, codec: Codec | None) -> bool:
    """Whether a field is a struct in Go, which is never absent."""
    if not field.message or field.container or field.is_pointer:
        return False
    return not isinstance(codec, _List)


# --- Fields -----------------------------------------------------------------------------------------------------------


def _readers(field: FieldSchema, codec: Codec | None) -> Iterator[tuple[int, _Reader]]:
    """Yield the keys on the wire and how to read them; lists of numbers may be packed."""
    number, name = field.number << 3, field.json_name
    kind = _NUMBERS.get(field.scalar)
    if kind is not None:
        wire_type = 1 if kind == _DOUBLE else 0
        packed = _PackedNumbers(kind) if field.container else None
        yield number | wire_type, _Reader(kind, name, field.is_pointer or field.writes_zero, packed)
        if packed:
            yield number | 2, _Reader(_PACKED, name, True, packed)
        return
    keeps_zero = field.is_pointer or field.writes_zero
    if field.container == "{":
        yield number | 2, _Reader(_MAP, name, True, _Map(field, codec))
    elif field.container:
        yield number | 2, _Reader(_MESSAGES if codec else _STRINGS, name, True, codec)
    elif codec:
        yield number | 2, _Reader(_MESSAGE if name else _INLINE, name, not field.omits_zero_struct, codec)
    else:
        yield number | 2, _Reader(_STRING if field.scalar == "s" else _BYTES, name, keeps_zero, None)


def _writer(field: FieldSchema, content: Codec | None) -> _Writer:
    kind = _NUMBERS.get(field.scalar, _MESSAGE if field.message else _STRING if field.scalar == "s" else _BYTES)
    wire_type = 2 if kind < _BOOL else 1 if kind == _DOUBLE else 0
    key = varint(field.number << 3 | wire_type)
    codec = _Map(field, content) if field.container == "{" else content
    zero = b""
    # Go's slices are written only if they have elements.
    if not field.container and not field.is_pointer and kind != _BYTES and not isinstance(codec, _List):
        zero = key + _zero(kind, codec)
    return _Writer(field.number, field.json_name, kind, field.container, key, zero, codec)


def _zero(kind: int, codec: FieldCodec) -> bytes:
    if kind == _MESSAGE:
        zero: bytes = codec.zero if hasattr(codec, "zero") else codec.encode({})
        return varint(len(zero)) + zero
    return bytes(8) if kind == _DOUBLE else b"\0"


def _read_number(data: bytes, position: int, kind: int) -> tuple[JSON, int]:
    if kind == _DOUBLE:
        return _read_double(data, position), position + 8
    number = data[position]
    position += 1
    if number > 127:
        number, position = read_varint(data, position - 1)
    if kind == _BOOL:
        return number != 0, position
    if number < 128:
        return number, position
    return signed32(number) if kind == _INT32 else signed64(number), position


def _read_double(data: bytes, position: int) -> JSON:
    if position + 8 > len(data):
        raise truncated()
    number: float = _DOUBLES.unpack_from(data, position)[0]
    if not math.isfinite(number):
        raise DecodeError(f"json: unsupported value: {number}")
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _number(value: SchemaValue, kind: int) -> bytes:
    if kind == _DOUBLE:
        return _DOUBLES.pack(value)
    return varint(1 if value else 0) if kind == _BOOL else varint(value)


def _contents(value: SchemaValue, kind: int, container: str, codec: FieldCodec) -> list[bytes]:
    """Encode the elements of a list or map, each with its length."""
    if container == "{":
        contents = codec.encode_entries(value)
    elif kind >= _BOOL:
        return [_number(item, kind) for item in value]
    elif kind == _STRING:
        contents = [item.encode() for item in value]
    else:
        contents = [codec.encode(item) for item in value]
    return [varint(len(content)) + content for content in contents]


class _PackedNumbers:
    """Reads a list of numbers that are written one after the other, with one key."""

    def __init__(self, kind: int) -> None:
        self._kind = kind

    def decode_packed(self, data: bytes, position: int, end: int) -> list[JSON]:
        found = []
        while position < end:
            number, position = _read_number(data, position, self._kind)
            found.append(number)
        if position > end:
            raise truncated()
        return found


class _Map:
    """The entries of a map: messages with a key and a value."""

    def __init__(self, field: FieldSchema, codec: Codec | None) -> None:
        self._codec = codec
        self._is_bytes = field.scalar == "y"
        self._zero = "" if field.scalar else None

    def decode_entry(
        self, data: bytes, position: int, end: int, limit: int, depth: int, budget: list[int]
    ) -> tuple[str, JSON]:
        """Decode the entry that ends at `end`; as in Kubernetes' decoders, key and value may reach up to `limit`."""
        # The usual form: a short key, then a short value.
        middle = position + 2 + data[position + 1] if position < end and data[position] == 0x0A else end
        if (
            middle + 1 < end
            and data[middle] == 0x12
            and data[middle + 1] == end - middle - 2 < 128 > data[position + 1]
        ):
            return str(data[position + 2 : middle], "utf-8", "replace"), self._read(
                data, middle + 2, end, depth, budget
            )
        name = ""
        value: JSON = self._zero
        has_value = False
        while position < end:
            key, position = read_varint(data, position)
            # Those decoders do not look at the wire type.
            number = signed32(key >> 3)
            if number == 1:
                start, position = read_length(data, position, limit)
                name = str(data[start:position], "utf-8", "replace")
            elif number == 2:
                start, position = read_length(data, position, limit)
                value, has_value = self._read(data, start, position, depth, budget), True
            else:
                position = skip_value(data, position, end, key & 7)
        if self._codec and not has_value:
            value = self._codec.decode(b"", 0, 0, depth, budget)
        return name, value

    def _read(self, data: bytes, start: int, end: int, depth: int, budget: list[int]) -> JSON:
        if self._codec:
            return self._codec.decode(data, start, end, depth, budget)
        if self._is_bytes:
            return str(base64.b64encode(data[start:end]), "ascii")
        return str(data[start:end], "utf-8", "replace")

    def encode_entries(self, value: SchemaValue) -> list[bytes]:
        """Encode the entries in the order of their keys."""
        found = []
        for name in sorted(value):
            item = value[name]
            if self._codec:
                content = self._codec.encode(item)
            else:
                content = base64.b64decode(item) if self._is_bytes else item.encode()
            key = name.encode()
            found.append(b"\x0a%b%b\x12%b%b" % (varint(len(key)), key, varint(len(content)), content))
        return found


class _List:
    """A message that is a list in JSON; it has one repeated field, `items`."""

    def __init__(self, codec: Message) -> None:
        self._message = codec

    def decode(self, data: bytes, position: int, end: int, depth: int, budget: list[int]) -> JSON:
        return self._message.decode(data, position, end, depth, budget).get("items") or []

    def encode(self, value: SchemaValue) -> bytes:
        return self._message.encode({"items": value})
