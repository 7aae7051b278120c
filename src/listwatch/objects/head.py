"""The head of an object: what a cache needs of each, and what is read of it at once. `object.py` reads the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.reading import tree_of
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = ["Head", "Labels", "parts_decoder", "read_head", "salvage"]


_NONE = msgspec.Raw(b"null")

# Servers end the metadata of built-in kinds with the managed fields: all that belongs to the head comes before. What
# they write of custom kinds is sorted throughout, and so begins with the apiVersion.
_BEHIND_HEAD = b',"managedFields":['
_SORTED = ord("a")
_WORTH_CUTTING = 1024
_SEARCHED = 4096


class Labels(msgspec.Struct, gc=False):
    """What labels say, which many objects share; decoded when somebody looks at them."""

    raw: bytes
    known: Mapping[str, str] | None = None

    @property
    def texts(self) -> Mapping[str, str]:
        """Those that are no texts are passed over, and raise when the metadata is touched."""
        if self.known is None:
            found = tree_of(msgspec.Raw(self.raw))
            pairs = found.items() if isinstance(found, dict) else ()
            self.known = MappingProxyType({name: value for name, value in pairs if isinstance(value, str)})
        return self.known


# Many objects have the same labels, as all pods of a deployment do: to keep them once takes a tenth of the room, and to
# find them is faster than to decode them again. The bound is for those that all differ.
_shared = lru_cache(maxsize=2**14)(Labels)


class Head(msgspec.Struct, rename="camel", gc=False):
    """The part of the metadata that a cache needs of each object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    raw_labels: msgspec.Raw = msgspec.field(default=_NONE, name="labels")

    @property
    def labels(self) -> Mapping[str, str]:
        return self.share_labels().texts

    def share_labels(self) -> Labels:
        """Keep the labels with those who have the same, and no longer as a view of the object's bytes."""
        found: Any = self.raw_labels
        if type(found) is msgspec.Raw:
            # Who looks at the labels of an object once does so again.
            found = _shared(bytes(found))
            self.raw_labels = found
        labels: Labels = found
        return labels


class _Headed(msgspec.Struct, gc=False):
    metadata: Head


_headed = msgspec.json.Decoder(_Headed)

parts_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Finds the top-level parts of an object."""


def read_head(raw: bytes) -> Head:
    """The head of an object as servers send it; raises one of UNREADABLE for anything else.

    What lies behind the head is not always looked at: if that is no JSON, it is told when it is touched.
    """
    if len(raw) > _WORTH_CUTTING and raw[2] != _SORTED and (end := raw.find(_BEHIND_HEAD, 0, _SEARCHED)) > 0:
        try:
            head = _headed.decode(raw[:end] + b"}}").metadata
        except UNREADABLE:
            return _headed.decode(raw).metadata  # that was not in the metadata
        if head.name and head.namespace and head.uid and head.resource_version and head.raw_labels is not _NONE:
            # It is whole, so nothing of it can follow. What it was cut from must not stay alive for the labels, and
            # what all objects of a namespace say is kept once.
            head.share_labels()
            head.namespace = intern(head.namespace)
            return head
    return _headed.decode(raw).metadata


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
