"""The values of fields: numbers, strings, lists of them, and maps.

A writer of a field takes a JSON value, and returns the field as bytes, its key included. A list has its key before each
element; a map has it before each entry, in the order of the keys.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable

from listwatch.errors import DecodeError
from listwatch.json_value import JSON
from listwatch.protobuf.schema import FieldSchema
from listwatch.protobuf.special_messages import Codec, SchemaValue
from listwatch.protobuf.wire_format import (
    SMALL_VARINTS,
    read_length,
    read_varint,
    signed32,
    signed64,
    skip_value,
    truncated,
    varint,
)

__all__ = ["BOOL", "DOUBLE", "NUMBERS", "MapEntries", "PackedNumbers", "Write", "field_writer", "read_number"]

# The kinds of numbers; they are greater than those of other fields.
BOOL, INT32, INT64, DOUBLE = range(8, 12)
NUMBERS = {"b": BOOL, "i": INT32, "l": INT64, "d": DOUBLE}
_DOUBLES = struct.Struct("<d")

Write = Callable[[SchemaValue], bytes]


# --- Numbers ----------------------------------------------------------------------------------------------------------


def read_number(data: bytes, position: int, kind: int) -> tuple[JSON, int]:
    if kind == DOUBLE:
        return _read_double(data, position), position + 8
    number = data[position]
    position += 1
    if number > 127:
        number, position = read_varint(data, position - 1)
    if kind == BOOL:
        return number != 0, position
    if number < 128:
        return number, position
    return signed32(number) if kind == INT32 else signed64(number), position


def _read_double(data: bytes, position: int) -> JSON:
    if position + 8 > len(data):
        raise truncated()
    number: float = _DOUBLES.unpack_from(data, position)[0]
    if not math.isfinite(number):
        raise DecodeError(f"json: unsupported value: {number}")
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _number(value: SchemaValue, kind: int) -> bytes:
    if kind == DOUBLE:
        return _DOUBLES.pack(value)
    return varint(1 if value else 0) if kind == BOOL else varint(value)


class PackedNumbers:
    """Reads a list of numbers that are written one after the other, with one key."""

    def __init__(self, kind: int) -> None:
        self._kind = kind

    def decode_packed(self, data: bytes, position: int, end: int) -> list[JSON]:
        found = []
        while position < end:
            number, position = read_number(data, position, self._kind)
            found.append(number)
        if position > end:
            raise truncated()
        return found


# --- Maps -------------------------------------------------------------------------------------------------------------


class MapEntries:
    """Reads the entries of a map: messages with a key and a value."""

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


# --- Writers ----------------------------------------------------------------------------------------------------------


def field_writer(field: FieldSchema, key: bytes, codec: Codec | None) -> Write:
    """Return the function that writes a field with this key."""
    kind = NUMBERS.get(field.scalar)
    if field.container == "{":
        return _map_writer(key, _content_encoder(field, codec))
    if kind is not None:
        if field.container:
            return lambda value: b"".join([key + _number(item, kind) for item in value])
        return _bool_writer(key) if kind == BOOL else lambda value: key + _number(value, kind)
    encode = _content_encoder(field, codec)
    return _list_writer(key, encode) if field.container else _content_writer(key, encode)


def _content_encoder(field: FieldSchema, codec: Codec | None) -> Write:
    """Return the function that encodes a string, bytes or a message, without key and length."""
    if codec:
        return codec.encode
    return base64.b64decode if field.scalar == "y" else str.encode


def _bool_writer(key: bytes) -> Write:
    true, false = key + b"\x01", key + b"\x00"
    return lambda value: true if value else false


def _content_writer(key: bytes, encode: Write) -> Write:
    def write(value: SchemaValue) -> bytes:
        content = encode(value)
        size = len(content)
        return key + (SMALL_VARINTS[size] if size < 128 else varint(size)) + content

    return write


def _list_writer(key: bytes, encode: Write) -> Write:
    def write(value: SchemaValue) -> bytes:
        contents = [encode(item) for item in value]
        return b"".join([part for each in contents for part in (key, varint(len(each)), each)])

    return write


def _map_writer(key: bytes, encode: Write) -> Write:
    def write(value: SchemaValue) -> bytes:
        parts: list[bytes] = []
        for name in sorted(value):
            text, content = name.encode(), encode(value[name])
            size, length = varint(len(text)), varint(len(content))
            entry = 2 + len(size) + len(text) + len(length) + len(content)
            parts += (key, varint(entry), b"\x0a", size, text, b"\x12", length, content)
        return b"".join(parts)

    return write
