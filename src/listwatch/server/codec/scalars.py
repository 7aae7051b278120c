"""Normalizes scalars with a special format: times, quantities, base64 and bounded integers.

Each reader returns the value as the server writes it, or raises an error with the real server's message.
"""

from __future__ import annotations

import binascii
import re
from datetime import UTC, datetime
from functools import lru_cache

from listwatch.errors import QuantityError
from listwatch.json_value import JSON
from listwatch.quantity import Quantity
from listwatch.server.json_tree import quoted

__all__ = [
    "InvalidScalarError",
    "WrongTypeError",
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
_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(?:Z|[+-]\d\d:[0-5]\d)", re.ASCII
)
_LAYOUTS = {"seconds": "2006-01-02T15:04:05Z07:00", "microseconds": "2006-01-02T15:04:05.000000Z07:00"}


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
    found = _TIME.fullmatch(value)
    if found and (precision == "seconds" or len(found[1] or "") == 7):
        try:
            return _in_utc(value.replace(",", "."), found[1] or "", precision)
        except (ValueError, OverflowError):
            pass
    # The position of the error is exact only for the most common mistake: seconds where microseconds are required.
    layout = _LAYOUTS[precision]
    rest, element = (value[19:], ".000000") if found and precision == "microseconds" else (value, "2006")
    raise InvalidScalarError(
        f"parsing time {quoted(value)} as {quoted(layout)}: cannot parse {quoted(rest)} as {quoted(element)}"
    )


def _in_utc(text: str, fraction: str, precision: str) -> str:
    # Python supports at most six fractional digits.
    moment = datetime.fromisoformat(text.replace(fraction, fraction[:7], 1) if fraction else text).astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"
