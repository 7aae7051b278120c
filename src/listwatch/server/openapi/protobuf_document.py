"""Encodes an OpenAPI document, version 2, as protobuf: the message `openapi.v2.Document` of gnostic.

client-go and kubectl request version 2 in no other form. Values of any type, such as extensions and defaults, are texts
in YAML there; JSON is YAML, too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import NamedTuple

import msgspec

from listwatch.json_value import JSON, JSONObject
from listwatch.protobuf.wire_format import varint

__all__ = ["encode_document"]

_Encode = Callable[[JSON], bytes]
_VARINT, _FIXED64, _BYTES = 0, 1, 2


class _Field(NamedTuple):
    number: int
    encode: _Encode
    wire_type: int = _BYTES
    repeated: bool = False


def encode_document(tree: JSONObject) -> bytes:
    """Return the document as protobuf."""
    return _document(tree)


# --- The wire format --------------------------------------------------------------------------------------------------


def _key(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def _delimited(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + varint(len(content)) + content


def _text(value: JSON) -> bytes:
    return str(value).encode()


def _integer(value: JSON) -> bytes:
    return varint(int(value)) if isinstance(value, int | float) else b"\0"


def _double(value: JSON) -> bytes:
    return struct.pack("<d", float(value) if isinstance(value, int | float) else 0.0)


def _any(value: JSON) -> bytes:
    return _delimited(2, msgspec.json.encode(value) + b"\n")


def _one_of(number: int, encode: _Encode) -> _Encode:
    """A message with one field."""
    return lambda value: _delimited(number, encode(value))


def _list(number: int, encode: _Encode) -> _Encode:
    """A message with one repeated field; a single value is a list of one."""

    def encoded(value: JSON) -> bytes:
        return b"".join(_delimited(number, encode(each)) for each in (value if isinstance(value, list) else [value]))

    return encoded


def _named(number: int, encode: _Encode) -> _Encode:
    """A message with a repeated field of names and values."""

    def encoded(value: JSON) -> bytes:
        assert isinstance(value, dict)
        return b"".join(
            _delimited(number, _delimited(1, _text(name)) + _delimited(2, encode(each))) for name, each in value.items()
        )

    return encoded


def _message(fields: Mapping[str, _Field], *, extensions: int) -> _Encode:
    """A message by the names of its fields in JSON; the others are extensions, in the field of that number."""

    def encoded(value: JSON) -> bytes:
        assert isinstance(value, dict)
        parts: list[tuple[int, bytes]] = []
        for name, each in value.items():
            if field := fields.get(name):
                elements = each if field.repeated and isinstance(each, list) else [each]
                parts += [(field.number, _encoded(field, element)) for element in elements]
            elif name.startswith("x-"):
                extension = _delimited(1, _text(name)) + _delimited(2, _any(each))
                parts.append((extensions, _delimited(extensions, extension)))
        # In the order of the numbers, as Go writes them.
        return b"".join(content for _, content in sorted(parts, key=itemgetter(0)))

    return encoded


def _encoded(field: _Field, value: JSON) -> bytes:
    if field.wire_type == _BYTES:
        return _delimited(field.number, field.encode(value))
    return _key(field.number, field.wire_type) + field.encode(value)


# --- The messages, from the inner ones to the document ----------------------------------------------------------------


def _texts(**numbers: int) -> dict[str, _Field]:
    return {name: _Field(number, _text) for name, number in numbers.items()}


def _flags(**numbers: int) -> dict[str, _Field]:
    return {name: _Field(number, _integer, _VARINT) for name, number in numbers.items()}


def _lists_of_texts(**numbers: int) -> dict[str, _Field]:
    return {name: _Field(number, _text, repeated=True) for name, number in numbers.items()}


def _limits(**numbers: int) -> dict[str, _Field]:
    return {name: _Field(number, _double, _FIXED64) for name, number in numbers.items()}


def _schema(value: JSON) -> bytes:
    return _encode_schema(value)


def _additional_properties(value: JSON) -> bytes:
    return _encoded(_Field(2, _integer, _VARINT), value) if isinstance(value, bool) else _delimited(1, _schema(value))


_encode_schema = _message(
    {
        "$ref": _Field(1, _text),
        **_texts(format=2, title=3, description=4, pattern=13),
        "default": _Field(5, _any),
        **_limits(multipleOf=6, maximum=7, minimum=9),
        **_flags(exclusiveMaximum=8, exclusiveMinimum=10, maxLength=11, minLength=12, maxItems=14, minItems=15),
        **_flags(uniqueItems=16, maxProperties=17, minProperties=18),
        **_lists_of_texts(required=19),
        "enum": _Field(20, _any, repeated=True),
        "additionalProperties": _Field(21, _additional_properties),
        "type": _Field(22, _list(1, _text)),
        "items": _Field(23, _list(1, _schema)),
        "allOf": _Field(24, _schema, repeated=True),
        "properties": _Field(25, _named(1, _schema)),
        "externalDocs": _Field(29, _message(_texts(description=1, url=2), extensions=3)),
        "example": _Field(30, _any),
    },
    extensions=31,
)
_body_parameter = _message(
    {"description": _Field(1, _text), "name": _Field(2, _text), "in": _Field(3, _text)}
    | {**_flags(required=4), "schema": _Field(5, _schema)},
    extensions=6,
)
_path_parameter = _message(
    {**_flags(required=1, uniqueItems=19), "in": _Field(2, _text), **_texts(description=3, name=4, type=5)},
    extensions=22,
)
_query_parameter = _message(
    {**_flags(required=1, uniqueItems=20), "in": _Field(2, _text), **_texts(description=3, name=4, type=6)},
    extensions=23,
)


def _parameter(value: JSON) -> bytes:
    match value:
        case {"$ref": str()}:
            return _delimited(2, _message({"$ref": _Field(1, _text)}, extensions=3)(value))
        case {"in": "body"}:
            return _delimited(1, _delimited(1, _body_parameter(value)))
        case {"in": "path"}:
            return _delimited(1, _delimited(2, _delimited(4, _path_parameter(value))))
        case _:
            return _delimited(1, _delimited(2, _delimited(3, _query_parameter(value))))


_response = _message({"description": _Field(1, _text), "schema": _Field(2, _one_of(1, _schema))}, extensions=5)
_security_requirement = _named(1, _list(1, _text))
_operation = _message(
    {
        **_lists_of_texts(tags=1, produces=6, consumes=7, schemes=10),
        **_texts(summary=2, description=3, operationId=5),
        "parameters": _Field(8, _parameter, repeated=True),
        "responses": _Field(9, _named(1, _one_of(1, _response))),
        **_flags(deprecated=11),
        "security": _Field(12, _security_requirement, repeated=True),
    },
    extensions=13,
)
_methods = {"get": 2, "put": 3, "post": 4, "delete": 5, "options": 6, "head": 7, "patch": 8}
_path_item = _message(
    {method: _Field(number, _operation) for method, number in _methods.items()}
    | {"parameters": _Field(9, _parameter, repeated=True)},
    extensions=10,
)
_api_key = _message({**_texts(type=1, name=2, description=4), "in": _Field(3, _text)}, extensions=5)
_document = _message(
    {
        **_texts(swagger=1, host=3, basePath=4),
        "info": _Field(2, _message(_texts(title=1, version=2, description=3), extensions=7)),
        **_lists_of_texts(schemes=5, consumes=6, produces=7),
        "paths": _Field(8, _named(2, _path_item)),
        "definitions": _Field(9, _named(1, _schema)),
        "security": _Field(12, _security_requirement, repeated=True),
        "securityDefinitions": _Field(13, _named(1, _one_of(2, _api_key))),
    },
    extensions=16,
)
