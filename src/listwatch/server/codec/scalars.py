"""Normalizes scalars with a special format: times, quantities, base64 and bounded integers.

Each reader returns the value as the server writes it, or raises an error with the real server's message.
"""

from __future__ import annotations

import binascii
import re
from functools import lru_cache

from listwatch.errors import QuantityError
from listwatch.json_value import JSON
from listwatch.quantity import Quantity
from listwatch.server.codec.times import LAYOUTS, TimeError, parse_time

__all__ = [
    "InvalidScalarError",
    "WrongTypeError",
    "convert_number",
    "json_type",
    "read_bytes",
    "read_int_or_string",
    "read_integer",
    "read_quantity",
    "read_time",
]

_BITS = {"int32": 32, "int64": 64}
_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_PARSED_QUANTITY = re.compile(r"[+-]?(?=[\d.])\d*(?:\.\d*)?[eEinumkKMGTP]*[-+]?\d*", re.ASCII)


class InvalidScalarError(Exception):
    """A value has the right JSON type, but an invalid format."""


class WrongTypeError(Exception):
    """A value has another JSON type than its field."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected


def json_type(value: JSON) -> str:
    """Return the name of a value's type in the messages of Go's JSON decoder."""
    names = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
    return next((name for python, name in names.items() if isinstance(value, python)), "null")


def read_integer(value: JSON, go_type: str) -> int:
    if type(value) is int and -(1 << _BITS[go_type] - 1) <= value < 1 << _BITS[go_type] - 1:
        return value
    found = json_type(value)
    raise WrongTypeError(f"number {value}" if found == "number" else found, go_type)


def convert_number(value: JSON, go_type: str) -> int | None:
    """Return a number as Go converts it to an integer type: what does not fit is cut off; None if it has a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value // 1 or not -(1 << 63) <= value < 1 << 63:
        return None
    sign = 1 << _BITS[go_type] - 1
    return ((int(value) + sign) & ((sign << 1) - 1)) - sign


def read_int_or_string(value: JSON) -> int | str:
    return value if isinstance(value, str) else read_integer(value, "int32")


def read_bytes(value: JSON) -> str:
    """Return base64 without line breaks; a list of byte values is accepted as well."""
    if isinstance(value, list):
        return binascii.b2a_base64(bytes(map(_read_byte, value)), newline=False).decode()
    if not isinstance(value, str):
        raise WrongTypeError(json_type(value), "[]uint8")
    text = value.replace("\r", "").replace("\n", "")
    try:
        binascii.a2b_base64(text.encode("ascii", "replace"), strict_mode=True)
    except binascii.Error:
        good = re.match(r"(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]*={0,2}", text)
        place = good.end() if good and good.end() < len(text) else len(text) // 4 * 4
        raise InvalidScalarError(f"illegal base64 data at input byte {place}") from None
    return text


def _read_byte(value: JSON) -> int:
    if value is None or (type(value) is int and 0 <= value < 256):
        return value or 0
    found = json_type(value)
    raise WrongTypeError(f"number {value}" if found == "number" else found, "uint8")


def read_quantity(value: JSON) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InvalidScalarError(_QUANTITY)
    text = str(value)
    return _cached_quantity(text) if len(text) <= _SHORT else _canonical_quantity(text)


def _canonical_quantity(text: str) -> str:
    try:
        return str(Quantity(text.strip()))
    except QuantityError:
        raise InvalidScalarError(_SUFFIX if _PARSED_QUANTITY.fullmatch(text) else _QUANTITY) from None


# Longer texts would make the cache large.
_SHORT = 64
_cached_quantity = lru_cache(maxsize=1024)(_canonical_quantity)


def read_time(value: JSON, precision: str) -> str:
    """Return a time in UTC; the precision is `seconds` or `microseconds`."""
    if not isinstance(value, str):
        raise WrongTypeError(json_type(value), "string")
    layout = LAYOUTS[precision]
    try:
        moment = parse_time(value, layout)
    except TimeError as error:
        raise InvalidScalarError(str(error)) from None
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"
