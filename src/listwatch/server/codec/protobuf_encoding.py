"""Encodes stored objects, which are JSON, as protobuf.

The message of a stored state is encoded once for all lists, watches and responses: the state keeps it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import msgspec

from listwatch.json_value import JSONObject
from listwatch.protobuf.envelope import (
    encode_list,
    encode_message,
    encode_object,
    encode_watch_frame,
    envelope,
)
from listwatch.server.storage.values import Stored

__all__ = ["protobuf_event", "protobuf_list", "protobuf_object"]

# Messages that are encoded before other requests can run.
_AT_ONCE = 20


class _Kind(msgspec.Struct, gc=False, rename="camel"):
    kind: str
    api_version: str


_kind = msgspec.json.Decoder(_Kind)


def protobuf_object(value: bytes, stored: Stored | None = None) -> bytes:
    """Encode one object; `stored` is the state that it may be."""
    if stored is None or value is not stored.value:
        return encode_object(msgspec.json.decode(value))
    found = _kind.decode(value)
    return envelope(found.api_version, found.kind, stored.encoded(_message))


def protobuf_event(event_type: str, value: bytes, stored: Stored | None = None) -> bytes:
    """Encode one frame of a watch."""
    return encode_watch_frame(event_type, protobuf_object(value, stored))


def protobuf_list(
    api_version: str,
    kind: str,
    item_kind: str,
    metadata: JSONObject,
    items: Sequence[bytes],
    states: Sequence[Stored] = (),
) -> Generator[None, None, bytes]:
    """Encode a list in steps; `kind` is that of the list, and the items are objects as JSON: those of the states."""
    if api_version == "meta.k8s.io/v1beta1":
        # The fields of this message have other numbers.
        trees = [msgspec.json.decode(item) for item in items]
        return encode_object({"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": trees})
    messages: list[bytes] = []
    for start in range(0, len(items), _AT_ONCE):
        for place in range(start, min(start + _AT_ONCE, len(items))):
            item = items[place]
            if states and item is states[place].value:
                messages.append(states[place].encoded(_message))
            else:
                messages.append(encode_message(msgspec.json.decode(item), api_version, item_kind))
        yield
    return encode_list(api_version, kind, metadata, messages)


def _message(value: bytes) -> bytes:
    tree: JSONObject = msgspec.json.decode(value)
    return encode_message(tree, str(tree["apiVersion"]), str(tree["kind"]))
