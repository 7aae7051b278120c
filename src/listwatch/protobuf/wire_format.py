"""Protobuf's wire format: varints, keys and lengths. Errors are worded as those of Kubernetes' decoders.

    key     field number × 8 + wire type, as a varint
    value   wire type 0 a varint, 1 eight bytes, 2 a length and as many bytes, 5 four bytes

Groups, wire types 3 and 4, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from listwatch.errors import DecodeError

__all__ = [
    "SMALL_VARINTS",
    "read_fields",
    "read_length",
    "read_varint",
    "signed32",
    "signed64",
    "skip_field",
    "skip_value",
    "truncated",
    "varint",
]

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)

_MASK64 = (1 << 64) - 1
SMALL_VARINTS = tuple(bytes([number]) for number in range(128))


def truncated() -> DecodeError:
    """The error for a message that ends early."""
    return DecodeError("unexpected EOF")


def varint(number: int) -> bytes:
    """Encode an integer of 64 bits; a negative one has ten bytes."""
    if 0 <= number < 128:
        return SMALL_VARINTS[number]
    number &= _MASK64
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number, without sign, and the position after it; raises IndexError at the end of the data."""
    number = shift = 0
    while True:
        if shift > 63:
            raise DecodeError("proto: integer overflow")
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number & _MASK64, position
        shift += 7


def read_length(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Read a length; return the start and the end of what it covers."""
    size, position = read_varint(data, position)
    if size >> 63:
        raise DecodeError("proto: negative length found during unmarshaling")
    if position + size > end:
        raise truncated()
    return position, position + size


def signed32(number: int) -> int:
    number &= 0xFFFF_FFFF
    return number - (1 << 32) if number >> 31 else number


def signed64(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def skip_field(data: bytes, position: int, end: int, key: int, message: str, go_names: Mapping[int, str]) -> int:
    """Return the position after an unknown field. A known field with this wire type is an error."""
    number, wire_type = signed32(key >> 3), key & 7
    if wire_type == END_GROUP:
        raise DecodeError(f"proto: {message}: wiretype end group for non-group")
    if number <= 0:
        raise DecodeError(f"proto: {message}: illegal tag {number} (wire type {key})")
    if number in go_names:
        raise DecodeError(f"proto: wrong wireType = {wire_type} for field {go_names[number]}")
    return skip_value(data, position, end, wire_type)


def skip_value(data: bytes, position: int, end: int, wire_type: int) -> int:
    """Return the position after a value of any type."""
    depth = 0
    while True:
        if wire_type == VARINT:
            _, position = read_varint(data, position)
        elif wire_type == FIXED64:
            position += 8
        elif wire_type == BYTES:
            _, position = read_length(data, position, end)
        elif wire_type == GROUP:
            depth += 1
        elif wire_type == END_GROUP:
            if not depth:
                raise DecodeError("proto: unexpected end of group")
            depth -= 1
        elif wire_type == FIXED32:
            position += 4
        else:
            raise DecodeError(f"proto: illegal wireType {wire_type}")
        if position > end:
            raise truncated()
        if not depth:
            return position
        key, position = read_varint(data, position)
        wire_type = key & 7


def read_fields(
    data: bytes, position: int, end: int, message: str, fields: Mapping[int, str]
) -> Iterator[tuple[int, int, int]]:
    """Iterate over a small message whose fields are known by number and Go name, and whose order is free.

    Yields (number, value, 0) for a varint and (number, start, end) for bytes. `fields` has the wire type as the first
    character of each name: `0Seconds`, `2Raw`.
    """
    while position < end:
        key, position = read_varint(data, position)
        number = key >> 3
        known = fields.get(number, "")
        if not known or int(known[0]) != key & 7:
            names = {each: name[1:] for each, name in fields.items()}
            position = skip_field(data, position, end, key, message, names)
        elif known[0] == "0":
            value, position = read_varint(data, position)
            yield number, value, 0
        else:
            start, position = read_length(data, position, end)
            yield number, start, position
    if position > end:
        raise truncated()
