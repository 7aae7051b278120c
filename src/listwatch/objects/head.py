"""The head of an object: what a cache needs of each, and what is read of it at once. `object.py` reads the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.reading import tree_of
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = ["Head", "headed", "parts_decoder", "salvage"]


_NONE = msgspec.Raw(b"null")


class Head(msgspec.Struct, rename="camel", gc=False):
    """The part of the metadata that a cache needs of each object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    raw_labels: msgspec.Raw = msgspec.field(default=_NONE, name="labels")

    @property
    def labels(self) -> Mapping[str, str]:
        return _labels(bytes(self.raw_labels))


class _Headed(msgspec.Struct, gc=False):
    metadata: Head


headed = msgspec.json.Decoder(_Headed)
"""Reads the head of an object as servers send it, and makes sure that the rest is JSON."""

parts_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Finds the top-level parts of an object."""


def salvage(raw: bytes, kind: str) -> Head:
    """The head of an object whose metadata has something wrong in it: what can be read of it.

    The object stays in its list or stream; the wrong field raises when it is touched.
    """
    try:
        found = tree_of(parts_decoder.decode(raw).get("metadata"))
    except UNREADABLE as error:
        raise DecodeError(reason_of(error, raw), object_name=kind) from None
    fields = found if isinstance(found, dict) else {}
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    return Head(
        name=texts.get("name", ""),
        namespace=texts.get("namespace", ""),
        uid=texts.get("uid", ""),
        resource_version=texts.get("resourceVersion", ""),
        raw_labels=msgspec.Raw(msgspec.json.encode(fields.get("labels"))),
    )


# Many objects have the same labels, as all pods of a deployment do: one mapping for all of them takes a tenth of the
# room, and to find it is faster than to decode another one. The bound is for those that all differ.
@lru_cache(maxsize=2**14)
def _labels(raw: bytes) -> Mapping[str, str]:
    """What labels say; those that are no texts are passed over, and raise when the metadata is touched."""
    found = tree_of(msgspec.Raw(raw))
    texts = {name: value for name, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}
    return MappingProxyType(texts)
