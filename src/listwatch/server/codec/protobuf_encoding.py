"""Encodes stored objects, which are JSON, as protobuf."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from listwatch.json_value import JSONObject
from listwatch.protobuf.envelope import encode_list, encode_message, encode_object, encode_watch_frame

__all__ = ["protobuf_event", "protobuf_list", "protobuf_object"]


def protobuf_object(value: bytes) -> bytes:
    """Encode one object."""
    return encode_object(msgspec.json.decode(value))


def protobuf_event(event_type: str, value: bytes) -> bytes:
    """Encode one frame of a watch."""
    return encode_watch_frame(event_type, protobuf_object(value))


def protobuf_list(api_version: str, kind: str, item_kind: str, metadata: JSONObject, items: Iterable[bytes]) -> bytes:
    """Encode a list; `kind` is that of the list, and the items are objects as JSON."""
    trees = map(msgspec.json.decode, items)
    if api_version == "meta.k8s.io/v1beta1":
        # The fields of this message have other numbers.
        return encode_object({"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": [*trees]})
    return encode_list(api_version, kind, metadata, (encode_message(tree, api_version, item_kind) for tree in trees))
