"""Objects, lists and watch events as `application/vnd.kubernetes.protobuf`.

object   `k8s` and a zero byte, then Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: the message, 3: "", 4: ""}
list     an object whose message is {1: ListMeta, 2: item, 2: item, …}; items have no kind
watch    frames of four bytes with the length, then WatchEvent{1: type, 2: RawExtension{1: an object}}
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from listwatch.errors import DecodeError, EncodeError
from listwatch.json_value import JSONObject
from listwatch.protobuf.messages import MAX_MESSAGES, message
from listwatch.protobuf.schema import find_kind
from listwatch.protobuf.wire_format import read_fields, truncated, varint

__all__ = [
    "MAGIC",
    "MEDIA_TYPE",
    "Envelope",
    "decode_message",
    "decode_object",
    "decode_watch_event",
    "encode_items",
    "encode_list",
    "encode_message",
    "encode_object",
    "encode_watch_frame",
    "envelope",
    "envelope_head",
    "open_envelope",
    "supports",
]

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"

MAGIC = b"k8s\0"
"""The first bytes of every object."""
_UNKNOWN = {1: "2TypeMeta", 2: "2Raw", 3: "2ContentEncoding", 4: "2ContentType"}
_TYPE_META = {1: "2APIVersion", 2: "2Kind"}


class Envelope(NamedTuple):
    """The kind of an object, and its message, which is not decoded yet."""

    api_version: str
    kind: str
    raw: bytes

    def __repr__(self) -> str:
        # Without the bytes, which may be those of a Secret.
        return f"<Envelope of {self.api_version} {self.kind}: {len(self.raw)} bytes>"


def supports(api_version: str, kind: str) -> bool:
    """Whether a kind can be encoded: all built-in kinds can, custom resources cannot."""
    return bool(find_kind(api_version, kind))


# --- Decoding ---------------------------------------------------------------------------------------------------------


def open_envelope(data: bytes) -> Envelope:
    """Read the kind of an object; raises DecodeError. The message is not decoded."""
    if not data:
        raise DecodeError("empty data")
    if not data.startswith(MAGIC):
        raise DecodeError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    if data == MAGIC:
        raise DecodeError("empty body")
    api_version = kind = ""
    raw = b""
    try:
        for number, start, end in read_fields(data, len(MAGIC), len(data), "Unknown", _UNKNOWN):
            if number == 1:
                for inner, first, last in read_fields(data, start, end, "TypeMeta", _TYPE_META):
                    text = str(data[first:last], "utf-8", "replace")
                    api_version, kind = (text, kind) if inner == 1 else (api_version, text)
            elif number == 2:
                raw = data[start:end]
    except IndexError:
        raise truncated() from None
    return Envelope(api_version, kind, raw)


def decode_message(raw: bytes, api_version: str, kind: str, *, max_messages: int = MAX_MESSAGES) -> JSONObject:
    """Decode the message of an object, without the envelope; raises DecodeError. A list needs a larger limit."""
    name = find_kind(api_version, kind)
    if not name:
        raise DecodeError(f"{kind} of {api_version} has no protobuf encoding")
    try:
        found = message(name).decode(raw, 0, len(raw), 0, [max_messages])
    except IndexError:
        raise truncated() from None
    except RecursionError:
        raise DecodeError("exceeded max depth") from None
    assert isinstance(found, dict)
    return {"kind": kind, "apiVersion": api_version, **found}


def decode_object(data: bytes, *, max_messages: int = MAX_MESSAGES) -> JSONObject:
    """Decode an object or a list; raises DecodeError. A list of thousands of objects needs a larger limit."""
    envelope = open_envelope(data)
    return decode_message(envelope.raw, envelope.api_version, envelope.kind, max_messages=max_messages)


def decode_watch_event(frame: bytes) -> tuple[str, bytes]:
    """Return the type of a watch event and its encoded object; `frame` is without its length. Raises DecodeError."""
    event_type, found = "", b""
    try:
        for number, start, end in read_fields(frame, 0, len(frame), "WatchEvent", {1: "2Type", 2: "2Object"}):
            if number == 1:
                event_type = str(frame[start:end], "utf-8", "replace")
            else:
                for _, first, last in read_fields(frame, start, end, "RawExtension", {1: "2Raw"}):
                    found = frame[first:last]
    except IndexError:
        raise truncated() from None
    return event_type, found


# --- Encoding ---------------------------------------------------------------------------------------------------------


def encode_object(tree: JSONObject) -> bytes:
    """Encode an object by its kind and apiVersion; raises EncodeError."""
    kind, api_version = str(tree.get("kind", "")), str(tree.get("apiVersion", ""))
    return envelope(api_version, kind, encode_message(tree, api_version, kind))


def encode_message(tree: JSONObject, api_version: str, kind: str) -> bytes:
    """Encode an object without an envelope, as the items of a list; raises EncodeError."""
    name = find_kind(api_version, kind)
    if not name:
        raise EncodeError(f"{kind} of {api_version} has no protobuf encoding")
    try:
        return message(name).encode(tree)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, struct.error) as error:
        # The tree does not fit the schema. The error is not chained, because it may quote a Secret.
        raise EncodeError(f"the {kind} does not have the types of its schema: {type(error).__name__}") from None


def encode_list(api_version: str, kind: str, metadata: JSONObject, items: Iterable[bytes]) -> bytes:
    """Encode a list; `kind` is its own kind, and the items are encoded by `encode_message`."""
    head = encode_message({"metadata": metadata}, api_version, kind)
    return envelope(api_version, kind, head + encode_items(items))


def encode_items(items: Iterable[bytes]) -> bytes:
    return b"".join(part for item in items for part in (b"\x12", varint(len(item)), item))


def encode_watch_frame(event_type: str, encoded: bytes) -> bytes:
    """Encode a frame of a watch; `encoded` is an object from `encode_object`."""
    text = event_type.encode()
    extension = b"\x0a%b%b" % (varint(len(encoded)), encoded)
    event = b"\x0a%b%b\x12%b%b" % (varint(len(text)), text, varint(len(extension)), extension)
    return len(event).to_bytes(4, "big") + event


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return an object with this message."""
    return b"%b\x12%b%b\x1a\x00\x22\x00" % (envelope_head(api_version, kind), varint(len(raw)), raw)


def envelope_head(api_version: str, kind: str) -> bytes:
    """Return the start of an object, up to its message."""
    version, name = api_version.encode(), kind.encode()
    type_meta = b"\x0a%b%b\x12%b%b" % (varint(len(version)), version, varint(len(name)), name)
    return b"%b\x0a%b%b" % (MAGIC, varint(len(type_meta)), type_meta)
