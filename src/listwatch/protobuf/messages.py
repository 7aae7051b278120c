"""Encodes and decodes messages by their schema: JSON trees to bytes and back.

Decoding gives the tree that Kubernetes' JSON has: without the zero values that JSON omits, with those that it writes.
Encoding writes the bytes that Kubernetes writes, also zero values of fields that are no pointers.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

from listwatch.errors import DecodeError
from listwatch.json_value import JSON, JSONObject
from listwatch.protobuf.field_values import (
    BOOL,
    DOUBLE,
    NUMBERS,
    MapEntries,
    PackedNumbers,
    Write,
    field_writer,
    read_number,
)
from listwatch.protobuf.schema import FieldSchema, read_message
from listwatch.protobuf.special_messages import Codec, SchemaValue, special_messages
from listwatch.protobuf.unknown_fields import UNKNOWN, numbered, unnumbered
from listwatch.protobuf.wire_format import read_length, read_varint, skip_field, truncated, varint

__all__ = ["MAX_DEPTH", "MAX_MESSAGES", "Codec", "Message", "message"]

MAX_DEPTH = 250
"""The deepest nesting of messages. Each level uses two of Python's thousand frames."""

MAX_MESSAGES = 200_000
"""The most messages in one object. An empty one has two bytes, and takes hundreds of bytes when it is decoded."""

# How a field is read. Those from BOOL on are numbers, which need no length.
_STRING, _MESSAGE, _MESSAGES, _STRINGS, _MAP, _INLINE, _BYTES, _PACKED = range(8)
_ZEROS: dict[str, JSON] = {"s": "", "b": False, "i": 0, "l": 0, "d": 0, "y": None}


FieldCodec = Any
"""A Codec, MapEntries or PackedNumbers by the kind of the field; None for scalars."""


class _Reader(NamedTuple):
    kind: int
    name: str
    keeps_zero: bool
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

    def decode(
        self, data: bytes, position: int, end: int, depth: int, budget: list[int], into: SchemaValue = None
    ) -> JSONObject:
        if depth > MAX_DEPTH:
            raise DecodeError("exceeded max depth")
        budget[0] -= 1
        if budget[0] < 0:
            raise DecodeError(f"the object has more than {MAX_MESSAGES} messages")
        found: dict[str, SchemaValue] = {} if into is None else into
        readers = self._readers
        unknown: list[bytes] = []
        while position < end:
            key = data[position]
            position += 1
            if key > 127:
                key, position = read_varint(data, position - 1)
            reader = readers.get(key)
            if reader is None:
                start, position = position, skip_field(data, position, end, key, self._go_name, self._go_names)
                if self._keeps_unknown:
                    unknown += (varint(key), data[start:position])
                continue
            kind, name, keeps_zero, codec = reader
            if kind >= BOOL:
                value, position = read_number(data, position, kind)
                if codec:
                    items = found.get(name)
                    if items is None:
                        found[name] = [value]
                    else:
                        items.append(value)
                elif value or keeps_zero:
                    found[name] = value
                elif name in found:
                    del found[name]
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
                elif name in found:
                    del found[name]
            elif kind == _MESSAGE:
                # A message that occurs again is merged into the first one.
                value = codec.decode(data, position, stop, depth + 1, budget, found.get(name))
                if value or keeps_zero:
                    found[name] = value
                elif name in found:
                    del found[name]
            elif kind == _MAP:
                entry, value = codec.decode_entry(data, position, stop, end, depth + 1, budget)
                members = found.get(name)
                if members is None:
                    found[name] = {entry: value}
                else:
                    members[entry] = value
            elif kind == _INLINE:
                if self._keeps_unknown:
                    found.update(numbered(codec.decode(data, position, stop, depth + 1, budget), key >> 3))
                else:
                    codec.decode(data, position, stop, depth + 1, budget, found)
            elif kind == _BYTES:
                found[name] = str(base64.b64encode(data[position:stop]), "ascii")
            elif kind == _PACKED:
                value = codec.decode_packed(data, position, stop)
                items = found.get(name)
                if items is None:
                    found[name] = value
                else:
                    items += value
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
        if unknown:
            found.setdefault(UNKNOWN, []).append(b"".join(unknown).hex())
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
        # In the order of the numbers: what is written without a value, then the values that there are.
        parts = self._zeros.copy()
        writers = self._writers
        for name, found in value.items():
            if found is not None and (writer := writers.get(name)):
                place, write = writer
                parts[place] = write(found)
        for place, number, write in self._inlined:
            parts[place] = write(unnumbered(value, number) if self._keeps_unknown else value)
        if self._keeps_unknown and UNKNOWN in value:
            parts.append(bytes.fromhex("".join(value[UNKNOWN])))
        return b"".join(parts)

    def encode_field(self, name: str, value: SchemaValue) -> bytes:
        """Encode one field with this JSON name, without the zero values of the others."""
        writer = self._writers.get(name)
        return writer[1](value) if writer else b""

    @cached_property
    def _zeros(self) -> list[bytes]:
        """What is written of each field if the tree has no value of it."""
        return [_zero(field, _key(field), self._codec(field)) for field in self._schema]

    @cached_property
    def _writers(self) -> dict[str, tuple[int, Write]]:
        """The place of each field among all, and its writer, by JSON name."""
        return {
            field.json_name: (place, field_writer(field, _key(field), self._codec(field)))
            for place, field in enumerate(self._schema)
            if field.json_name
        }

    @cached_property
    def _inlined(self) -> tuple[tuple[int, int, Write], ...]:
        """The place, number and writer of each inlined struct."""
        return tuple(
            (place, field.number, field_writer(field, _key(field), self._codec(field)))
            for place, field in enumerate(self._schema)
            if not field.json_name
        )

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
        # Kubernetes writes fields in the order of their numbers.
        return tuple(sorted(read_message(self._full_name).fields, key=lambda field: field.number))

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
    kind = NUMBERS.get(field.scalar)
    if kind is not None:
        wire_type = 1 if kind == DOUBLE else 0
        packed = PackedNumbers(kind) if field.container else None
        yield number | wire_type, _Reader(kind, name, field.is_pointer or field.writes_zero, packed)
        if packed:
            yield number | 2, _Reader(_PACKED, name, True, packed)
        return
    keeps_zero = field.is_pointer or field.writes_zero
    if field.container == "{":
        yield number | 2, _Reader(_MAP, name, True, MapEntries(field, codec))
    elif field.container:
        yield number | 2, _Reader(_MESSAGES if codec else _STRINGS, name, True, codec)
    elif codec:
        yield number | 2, _Reader(_MESSAGE if name else _INLINE, name, not field.omits_zero_struct, codec)
    else:
        yield number | 2, _Reader(_STRING if field.scalar == "s" else _BYTES, name, keeps_zero, None)


def _key(field: FieldSchema) -> bytes:
    kind = NUMBERS.get(field.scalar)
    wire_type = 2 if kind is None or field.container == "{" else 1 if kind == DOUBLE else 0
    return varint(field.number << 3 | wire_type)


def _zero(field: FieldSchema, key: bytes, codec: Codec | None) -> bytes:
    """Return what is written without a value; Go's slices are written only if they have elements."""
    if field.container or field.is_pointer or field.scalar == "y" or isinstance(codec, _List):
        return b""
    if codec is None:
        return key + (bytes(8) if field.scalar == "d" else b"\0")
    zero: bytes = codec.zero if hasattr(codec, "zero") else codec.encode({})
    return key + varint(len(zero)) + zero


class _List:
    """A message that is a list in JSON; it has one repeated field, `items`."""

    def __init__(self, codec: Message) -> None:
        self._message = codec

    def decode(
        self, data: bytes, position: int, end: int, depth: int, budget: list[int], into: SchemaValue = None
    ) -> JSON:
        before = {"items": into} if into else None
        return self._message.decode(data, position, end, depth, budget, before).get("items") or []

    def encode(self, value: SchemaValue) -> bytes:
        return self._message.encode({"items": value})
