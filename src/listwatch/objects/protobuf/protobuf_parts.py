"""Objects that were received as protobuf: their heads, and the JSON of their parts.

Such an object keeps the received bytes. A part is converted to JSON when it is accessed, and from there on everything
is as with an object that was received as JSON. This module is imported with the first such object.

Fields that the schema does not have are kept in the JSON of a part under a name that no field of the API has, so that
they survive a change. They are left out of everything that leaves this package as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.head import Head, Labels, shared_labels
from listwatch.protobuf.object_head import read_object_head
from listwatch.protobuf.received_object import (
    decode_part,
    decode_parts,
    drop_unknown,
    encode_json,
    find_message,
    has_unknown,
    replace_parts,
    without_managed_fields,
)

__all__ = [
    "DAMAGED",
    "cut_protobuf_managed_fields",
    "encode_as_protobuf",
    "has_unknown",
    "public_json",
    "public_parts",
    "read_protobuf_head",
    "read_protobuf_part",
    "read_protobuf_parts",
    "replace_protobuf_parts",
    "type_in",
    "without_unknown",
]

DAMAGED = msgspec.Raw(b"")
"""Stands for a part that cannot be decoded. It is no JSON, so that reading it raises."""

encode_as_protobuf = encode_json
replace_protobuf_parts = replace_parts
cut_protobuf_managed_fields = without_managed_fields
without_unknown = drop_unknown

_NO_LABELS = Labels(b"null")


def read_protobuf_head(raw: bytes, kind: str) -> Head:
    """The head of an object; DecodeError if it cannot be read."""
    try:
        name, namespace, uid, version, labels = read_object_head(raw)
    except DecodeError as error:
        raise DecodeError(error.message, object_name=kind) from None
    shared = shared_labels(labels) if labels else _NO_LABELS
    return Head(name, intern(namespace), uid, version, shared)  # type: ignore[arg-type]  # see `share_labels` of Head


def type_in(raw: bytes) -> tuple[str, str]:
    """apiVersion and kind of an object; empty if they cannot be read."""
    try:
        return find_message(raw)[:2]
    except DecodeError:
        return "", ""


def read_protobuf_part(raw: bytes, wire: str) -> msgspec.Raw | None:
    """One part as JSON, with unknown fields; None if it is absent. Raises DecodeError."""
    part = decode_part(raw, wire)
    return None if part is None else msgspec.Raw(part)


def read_protobuf_parts(raw: bytes) -> dict[str, msgspec.Raw]:
    """All parts as JSON, with unknown fields; DAMAGED for those that cannot be decoded. Raises DecodeError."""
    found = decode_parts(raw)
    return {name: msgspec.Raw(part) for name, part in found.parts.items()} | dict.fromkeys(found.failures, DAMAGED)


def public_json(part: msgspec.Raw) -> msgspec.Raw:
    """The part without unknown fields."""
    text = bytes(part)
    known = drop_unknown(text)
    return part if known is text else msgspec.Raw(known)


def public_parts(parts: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """All parts without unknown fields."""
    return {name: public_json(part) for name, part in parts.items()}
