"""The messages whose JSON is not an object with their fields: quantities, times, raw JSON and unions.

Quantity          {1: text}                             "500m"
Time, MicroTime   {1: seconds, 2: nanoseconds}          "2006-01-02T15:04:05Z"; null if the message is empty
IntOrString       {1: 0 or 1, 2: number, 3: text}       the one that field 1 selects
RawExtension, FieldsV1, JSON                            {1: JSON}; null if it is empty
JSONSchemaPropsOr…                                      a schema, or one of the others
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

import msgspec

from listwatch.errors import DecodeError
from listwatch.json_value import JSON
from listwatch.protobuf.wire_format import read_fields, read_varint, signed32, signed64, varint

__all__ = ["Codec", "SchemaValue", "special_messages"]

SchemaValue = Any
"""A JSON value of the type that the schema declares; one of another type raises an error of any type."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class Codec(Protocol):
    """Encodes and decodes the content of one message."""

    def decode(
        self, data: bytes, position: int, end: int, depth: int, budget: list[int], into: SchemaValue = None, /
    ) -> JSON:
        """Decode the bytes between two positions; raises DecodeError, or IndexError at the end of the data.

        `budget` has the number of messages that may still be decoded. A field of `into`, which an earlier occurrence of
        the message has given, is kept unless this one has it; elements of lists are added to it.
        """

    def encode(self, value: SchemaValue) -> bytes: ...


def special_messages(message: Callable[[str], Codec]) -> Mapping[str, Codec]:
    """Return the codecs by the full names of their messages; `message` returns the codec of another message."""
    schema = "apiextensions_v1.JSONSchemaProps"
    return {
        "api_resource.Quantity": QuantityCodec(),
        "meta_v1.Time": TimeCodec("seconds"),
        "meta_v1.MicroTime": TimeCodec("microseconds"),
        "util_intstr.IntOrString": IntOrStringCodec(),
        "meta_v1.FieldsV1": RawCodec("FieldsV1"),
        "pkg_runtime.RawExtension": RawCodec("RawExtension"),
        "apiextensions_v1.JSON": RawCodec("JSON"),
        "apiextensions_v1.JSONSchemaPropsOrArray": SchemaOrListCodec(lambda: message(schema), "JSONSchemas"),
        "apiextensions_v1.JSONSchemaPropsOrBool": SchemaOrBoolCodec(lambda: message(schema)),
        "apiextensions_v1.JSONSchemaPropsOrStringArray": SchemaOrListCodec(lambda: message(schema), "Property"),
    }


def _text(data: bytes, start: int, end: int) -> str:
    return str(data[start:end], "utf-8", "replace")


def _only_field(data: bytes, position: int, end: int) -> int:
    """Return where the content of a short message with nothing but field 1 begins; 0 for other messages."""
    if position + 2 <= end and data[position] == 0x0A and data[position + 1] == end - position - 2 < 128:
        return position + 2
    return 0


# Many objects have the same times.
@lru_cache(maxsize=4096)
def _format_time(seconds: int, microseconds: int, precision: str) -> str:
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=microseconds)
    except OverflowError:
        raise DecodeError(f"a time is not between the years 1 and 9999: {seconds} seconds since 1970") from None
    return f"{moment.replace(tzinfo=None).isoformat(timespec=precision)}Z"


@lru_cache(maxsize=4096)
def _encode_time(text: str, precision: str) -> bytes:
    moment = datetime.fromisoformat(text) - _EPOCH
    microseconds = moment.microseconds if precision == "microseconds" else 0
    return b"\x08%b\x10%b" % (varint(moment // _SECOND), varint(microseconds * 1000))


class QuantityCodec:
    """An amount, as it is written."""

    zero = b"\x0a\x010"

    def decode(
        self, data: bytes, position: int, end: int, _depth: int, _budget: list[int], into: SchemaValue = None
    ) -> JSON:
        if begin := _only_field(data, position, end):
            return _text(data, begin, end)
        found: JSON = "0" if into is None else into
        for _, start, stop in read_fields(data, position, end, "Quantity", {1: "2String_"}):
            found = _text(data, start, stop)
        return found

    def encode(self, value: SchemaValue) -> bytes:
        text = str(value).encode()
        return b"\x0a%b%b" % (varint(len(text)), text)


class TimeCodec:
    """A time in UTC; `precision` is seconds or microseconds."""

    zero = b""

    def __init__(self, precision: str) -> None:
        self._precision = precision

    def decode(
        self, data: bytes, position: int, end: int, _depth: int, _budget: list[int], _into: SchemaValue = None
    ) -> JSON:
        if position == end:
            return None
        if data[position] == 0x08:
            value, after = read_varint(data, position + 1)
            if after + 2 == end and data[after] == 0x10 and not data[after + 1]:
                return _format_time(signed64(value), 0, self._precision)
        seconds = nanoseconds = 0
        for number, value, _ in read_fields(data, position, end, "Timestamp", {1: "0Seconds", 2: "0Nanos"}):
            if number == 1:
                seconds = signed64(value)
            else:
                nanoseconds = signed32(value)
        if self._precision == "seconds":
            nanoseconds = 0
        # Go truncates towards zero.
        microseconds = nanoseconds // 1000 if nanoseconds >= 0 else -(-nanoseconds // 1000)
        return _format_time(seconds, microseconds, self._precision)

    def encode(self, value: SchemaValue) -> bytes:
        return _encode_time(value, self._precision)


class IntOrStringCodec:
    """A number or a text."""

    zero = b"\x08\x00\x10\x00\x1a\x00"

    def decode(
        self, data: bytes, position: int, end: int, _depth: int, _budget: list[int], into: SchemaValue = None
    ) -> JSON:
        kind = int(isinstance(into, str))
        integer, text = (0, into) if kind else (into or 0, "")
        fields = {1: "0Type", 2: "0IntVal", 3: "2StrVal"}
        for number, value, stop in read_fields(data, position, end, "IntOrString", fields):
            match number:
                case 1:
                    kind = signed64(value)
                case 2:
                    integer = signed32(value)
                case _:
                    text = _text(data, value, stop)
        if kind not in (0, 1):
            raise DecodeError("impossible IntOrString.Type")
        return text if kind else integer

    def encode(self, value: SchemaValue) -> bytes:
        if isinstance(value, str):
            text = value.encode()
            return b"\x08\x01\x10\x00\x1a%b%b" % (varint(len(text)), text)
        return b"\x08\x00\x10%b\x1a\x00" % varint(value)


class RawCodec:
    """JSON in one field; an object of another kind may be encoded as protobuf, which is not supported here."""

    zero = b""

    def __init__(self, message: str) -> None:
        self._message = message

    def decode(
        self, data: bytes, position: int, end: int, _depth: int, _budget: list[int], into: SchemaValue = None
    ) -> JSON:
        found: JSON = into
        for _, start, stop in read_fields(data, position, end, self._message, {1: "2Raw"}):
            try:
                found = msgspec.json.decode(data[start:stop]) if start < stop else None
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                raise DecodeError(f"the JSON of a {self._message} is invalid: {error}") from None
        return found

    def encode(self, value: SchemaValue) -> bytes:
        if value is None:
            return b""
        raw = msgspec.json.encode(value)
        return b"\x0a%b%b" % (varint(len(raw)), raw)


class SchemaOrListCodec:
    """A schema, or a list of schemas or of texts."""

    zero = b""

    def __init__(self, schema: Callable[[], Codec], items: str) -> None:
        self._schema = schema
        self._items = items

    def decode(
        self, data: bytes, position: int, end: int, depth: int, budget: list[int], into: SchemaValue = None
    ) -> JSON:
        schema: JSON = into if isinstance(into, dict) else None
        items: list[JSON] = into if isinstance(into, list) else []
        fields = {1: "2Schema", 2: f"2{self._items}"}
        for number, start, stop in read_fields(data, position, end, type(self).__name__, fields):
            if number == 2 and self._items == "Property":
                items.append(_text(data, start, stop))
                continue
            if number == 1:
                schema = self._schema().decode(data, start, stop, depth + 1, budget, schema)
            else:
                items.append(self._schema().decode(data, start, stop, depth + 1, budget))
        return items or schema

    def encode(self, value: SchemaValue) -> bytes:
        if isinstance(value, dict):
            return _field(b"\x0a", self._schema().encode(value))
        encode = str.encode if self._items == "Property" else self._schema().encode
        return b"".join(_field(b"\x12", encode(item)) for item in value)


class SchemaOrBoolCodec:
    """A schema, or whether any value is allowed."""

    zero = b"\x08\x00"

    def __init__(self, schema: Callable[[], Codec]) -> None:
        self._schema = schema

    def decode(
        self, data: bytes, position: int, end: int, depth: int, budget: list[int], into: SchemaValue = None
    ) -> JSON:
        allows = into is True
        schema: JSON = into if isinstance(into, dict) else None
        fields = {1: "0Allows", 2: "2Schema"}
        for number, value, stop in read_fields(data, position, end, "JSONSchemaPropsOrBool", fields):
            if number == 1:
                allows = value != 0
            else:
                schema = self._schema().decode(data, value, stop, depth + 1, budget, schema)
        return allows if schema is None else schema

    def encode(self, value: SchemaValue) -> bytes:
        if isinstance(value, dict):
            return b"\x08\x01" + _field(b"\x12", self._schema().encode(value))
        return b"\x08\x01" if value else b"\x08\x00"


def _field(key: bytes, content: bytes) -> bytes:
    return key + varint(len(content)) + content
