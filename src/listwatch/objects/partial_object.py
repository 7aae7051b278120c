"""An object of any kind of which only the metadata is known, as a metadata client gets it."""

from __future__ import annotations

from typing import Self

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.object import Object
from listwatch.objects.wire import UNREADABLE

__all__ = ["PartialObjectMetadata"]


class _Parts(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    api_version: msgspec.Raw = msgspec.Raw()
    kind: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


_parts = msgspec.json.Decoder(_Parts)


class PartialObjectMetadata(Object):
    """The metadata of an object, and nothing else of it.

    Some servers send the whole object nevertheless; what was not asked for is dropped.
    """

    @classmethod
    def from_wire(cls, raw: bytes) -> Self:
        try:
            # Whether the server reduced it or this does, it is kept the same way.
            return super().from_wire(msgspec.json.encode(_parts.decode(raw)))
        except UNREADABLE:
            return super().from_wire(raw)

    def check(self) -> Self:
        """Raise DecodeError for what cannot be an object's metadata: some other answer was taken for one."""
        metadata = self.metadata
        if not (metadata.uid or metadata.creation_timestamp or metadata.name or metadata.generate_name):
            raise DecodeError("it does not look like the metadata of an object", object_name=type(self).__name__)
        return self
