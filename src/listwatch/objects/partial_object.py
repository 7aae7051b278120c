"""An object of any kind with only its metadata, as returned by the metadata client."""

from __future__ import annotations

from typing import Self

import msgspec

from listwatch.errors import DecodeError
from listwatch.meta import GroupVersionKind
from listwatch.objects.head import PROTOBUF, protobuf_start
from listwatch.objects.json.json_scan import parts_of
from listwatch.objects.json.reading import DECODE_FAILURES
from listwatch.objects.object import Object

__all__ = ["PartialObjectMetadata"]


class _Parts(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    api_version: msgspec.Raw = msgspec.Raw()
    kind: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


_parts = msgspec.json.Decoder(_Parts)
_START = protobuf_start("meta.k8s.io/v1", "PartialObjectMetadata")


class PartialObjectMetadata(Object):
    """The metadata of an object. If a server sends the whole object, the rest is dropped."""

    _also_sent_as = GroupVersionKind("meta.k8s.io", "v1", "PartialObjectMetadata")

    @classmethod
    def from_wire(cls, raw: bytes) -> Self:
        if raw.startswith(PROTOBUF):
            return super().from_wire(raw if raw.startswith(_START) else _reduced_protobuf(raw))
        try:
            # Stored in the same form, whether the server or this client reduced it.
            return super().from_wire(msgspec.json.encode(_parts.decode(raw)))
        except DECODE_FAILURES:
            return super().from_wire(_reduced(raw))

    def check(self) -> Self:
        """Raise DecodeError if this is not the metadata of an object but another response."""
        metadata = self.metadata
        if not (metadata.uid or metadata.creation_timestamp or metadata.name or metadata.generate_name):
            raise DecodeError(
                "not the metadata of an object: name, uid and creationTimestamp are missing",
                object_name=type(self).__name__,
            )
        return self


def _reduced_protobuf(raw: bytes) -> bytes:
    """The metadata of a whole object, as JSON: its message without the other parts would mean that they are empty."""
    from listwatch.objects.protobuf.protobuf_parts import (  # few programs receive protobuf
        public_json,
        read_protobuf_part,
    )

    try:
        parts = {name: read_protobuf_part(raw, name) for name in ("apiVersion", "kind", "metadata")}
    except DecodeError:
        return raw  # accessing the metadata raises the error
    return msgspec.json.encode({name: public_json(part) for name, part in parts.items() if part is not None})


def _reduced(raw: bytes) -> bytes:
    """The same for an object that cannot be decoded as a whole."""
    try:
        parts = parts_of(raw)
    except DecodeError:
        return raw  # decoding the head raises the error
    return msgspec.json.encode({name: parts[name] for name in ("apiVersion", "kind", "metadata") if name in parts})
