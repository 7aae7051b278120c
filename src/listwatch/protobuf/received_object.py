"""One received object, of which a part is decoded at a time: the JSON of each part, and changed parts encoded again.

The bytes are those of an object in a response or a watch event: `k8s` and a zero byte, its kind, its message. The
message is a sequence of fields; the fields with one number are a part, such as `spec`, or `data` of a ConfigMap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import msgspec

from listwatch.errors import DecodeError, EncodeError
from listwatch.json_value import JSON, JSONObject
from listwatch.protobuf.envelope import MAGIC, envelope, open_envelope
from listwatch.protobuf.messages import MAX_MESSAGES, Message, message
from listwatch.protobuf.schema import find_kind
from listwatch.protobuf.schema_check import fits
from listwatch.protobuf.unknown_fields import UNKNOWN, may_have_unknown, without_unknown
from listwatch.protobuf.wire_format import read_length, read_varint, signed32, skip_field, truncated, varint

__all__ = [
    "MessagePlace",
    "ReceivedParts",
    "decode_part",
    "decode_parts",
    "drop_unknown",
    "encode_json",
    "find_message",
    "has_unknown",
    "replace_parts",
    "without_managed_fields",
]

_TYPE_META_KEY, _RAW_KEY = 0x0A, 0x12
_METADATA, _MANAGED_FIELDS = 1, 17


class MessagePlace(NamedTuple):
    """The kind of an object, and where its message is."""

    api_version: str
    kind: str
    start: int
    end: int


class ReceivedParts(NamedTuple):
    """The JSON of all parts of an object by name, and errors for those that cannot be decoded."""

    parts: dict[str, bytes]
    failures: dict[str, DecodeError]


def find_message(raw: bytes) -> MessagePlace:
    """Find the message of an object; raises DecodeError."""
    try:
        size = raw[5]
        after = 6 + size
        if raw.startswith(MAGIC) and raw[4] == _TYPE_META_KEY and size < 128 and raw[after] == _RAW_KEY:
            start, end = read_length(raw, after + 1, len(raw))
            # The two fields behind it are empty; others could be a second message.
            if raw[end:] in (b"\x1a\x00\x22\x00", b""):
                return MessagePlace(*_names(raw[:after]), start, end)
    except IndexError:
        pass
    found = open_envelope(raw)
    start = raw.rfind(found.raw)
    return MessagePlace(found.api_version, found.kind, start, start + len(found.raw))


@lru_cache(maxsize=256)
def _names(head: bytes) -> tuple[str, str]:
    found = open_envelope(head)
    return found.api_version, found.kind


# --- Decoding ---------------------------------------------------------------------------------------------------------


def decode_parts(raw: bytes) -> ReceivedParts:
    """Decode all parts; DecodeError if they cannot be found.

    Unknown fields inside of a part are kept, see `drop_unknown`. A part that is unknown itself is left out.
    """
    place = find_message(raw)
    codec = _codec(place)
    parts = {"kind": _encode(place.kind), "apiVersion": _encode(place.api_version)}
    try:
        tree = _decode(codec, raw, place.start, place.end)
        parts |= {name: _encode(value) for name, value in tree.items() if name != UNKNOWN}
        return ReceivedParts(parts, {})
    except DecodeError:
        return _decode_each(codec, raw, place, parts)


def decode_part(raw: bytes, name: str) -> bytes | None:
    """Return the JSON of one part; None if it is absent. Raises DecodeError."""
    place = find_message(raw)
    if name == "kind" or name == "apiVersion":
        return _encode(place.kind if name == "kind" else place.api_version)
    codec = _codec(place)
    wanted = codec.number_of(name)
    if not wanted:
        return None
    content = b"".join(raw[start:end] for number, start, end in _fields(raw, place) if number == wanted)
    tree = _decode(codec, content, 0, len(content))
    return _encode(tree[name]) if name in tree else None


def _decode_each(codec: Message, raw: bytes, place: MessagePlace, parts: dict[str, bytes]) -> ReceivedParts:
    """Decode the parts one by one: one that is damaged does not hide the others."""
    fields: dict[int, list[bytes]] = {}
    for number, start, end in _fields(raw, place):
        fields.setdefault(number, []).append(raw[start:end])
    failures: dict[str, DecodeError] = {}
    for number, pieces in fields.items():
        content = b"".join(pieces)
        try:
            tree = _decode(codec, content, 0, len(content))
            # The tree also has the zero values of other fields.
            own = {name: value for name, value in tree.items() if codec.number_of(name) == number}
            parts |= {name: _encode(value) for name, value in own.items()}
        except DecodeError as error:
            failures |= dict.fromkeys(codec.names_of(number), error)
    return ReceivedParts(parts, failures)


def _fields(raw: bytes, place: MessagePlace) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field of the message."""
    position, end = place.start, place.end
    try:
        while position < end:
            key, after = read_varint(raw, position)
            start, position = position, skip_field(raw, after, end, key, place.kind, {})
            yield signed32(key >> 3), start, position
    except IndexError:
        raise truncated() from None


def _codec(place: MessagePlace) -> Message:
    name = find_kind(place.api_version, place.kind)
    if not name:
        raise DecodeError(f"{place.kind} of {place.api_version} has no protobuf encoding")
    codec = message(name, keeps_unknown=True)
    assert isinstance(codec, Message)
    return codec


def _decode(codec: Message, data: bytes, start: int, end: int) -> JSONObject:
    try:
        return codec.decode(data, start, end, 0, [MAX_MESSAGES])
    except IndexError:
        raise truncated() from None
    except RecursionError:
        raise DecodeError("exceeded max depth") from None


def _encode(tree: JSON) -> bytes:
    try:
        return msgspec.json.encode(tree)
    except RecursionError:
        raise DecodeError("exceeded max depth") from None


def has_unknown(raw: bytes) -> bool:
    """Whether an object has fields that the schema does not have. A damaged part counts as having some."""
    try:
        place = find_message(raw)
        tree = _decode(_codec(place), raw, place.start, place.end)
    except DecodeError:
        return True
    return may_have_unknown(_encode(tree))


def drop_unknown(text: bytes) -> bytes:
    """Return the JSON of a part or an object without unknown fields."""
    return msgspec.json.encode(without_unknown(msgspec.json.decode(text))) if may_have_unknown(text) else text


# --- Encoding ---------------------------------------------------------------------------------------------------------


def encode_json(text: bytes) -> bytes:
    """Encode an object by its kind and apiVersion; raises EncodeError if protobuf cannot represent all of it."""
    try:
        tree: JSON = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise EncodeError("it is not valid JSON") from None
    if not isinstance(tree, dict):
        raise EncodeError("it is no object")
    api_version, kind = str(tree.get("apiVersion", "")), str(tree.get("kind", ""))
    if not fits({name: value for name, value in tree.items() if name not in ("apiVersion", "kind")}, api_version, kind):
        raise EncodeError(f"the {kind} cannot be represented as protobuf without a loss")
    codec = message(find_kind(api_version, kind), keeps_unknown=True)
    return envelope(api_version, kind, codec.encode(tree))


def replace_parts(raw: bytes, changed: Mapping[str, JSON]) -> bytes:
    """Return the object with other values of some parts; None removes one. The other parts are the received bytes.

    Raises EncodeError if protobuf cannot represent a value without a loss, and DecodeError.
    """
    place = find_message(raw)
    codec = _codec(place)
    given: JSONObject = {name: value for name, value in changed.items() if value is not None}
    if not fits(given, place.api_version, place.kind):
        raise EncodeError(f"the {place.kind} cannot be represented as protobuf without a loss")
    replaced = {codec.number_of(name) for name in changed}
    content = [raw[start:end] for number, start, end in _fields(raw, place) if number not in replaced]
    content += [codec.encode_field(name, value) for name, value in given.items()]
    return envelope(place.api_version, place.kind, b"".join(content))


def without_managed_fields(raw: bytes) -> bytes:
    """Return the object without `metadata.managedFields`; the same bytes if there are none. Raises DecodeError."""
    place = find_message(raw)
    content: list[bytes] = []
    is_cut = False
    for number, start, end in _fields(raw, place):
        if number != _METADATA:
            content.append(raw[start:end])
            continue
        _, size_at = read_varint(raw, start)
        begin, _ = read_length(raw, size_at, end)
        inside = MessagePlace("", "ObjectMeta", begin, end)
        kept = [raw[first:last] for inner, first, last in _fields(raw, inside) if inner != _MANAGED_FIELDS]
        metadata = b"".join(kept)
        is_cut = is_cut or len(metadata) < end - begin
        content.append(b"\x0a%b%b" % (varint(len(metadata)), metadata))
    return envelope(place.api_version, place.kind, b"".join(content)) if is_cut else raw
