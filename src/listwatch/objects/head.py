"""The head of an object: the metadata that caches need, decoded on arrival. `object.py` decodes the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.reading import DECODE_FAILURES, reason_of, tree_of

__all__ = ["Head", "Labels", "cut_managed_fields", "parts_decoder", "read_damaged_head", "read_head"]


_NONE = msgspec.Raw(b"null")

# Servers write managedFields last in the metadata of built-in kinds, after everything that belongs to the head. Custom
# objects are written with sorted keys, so they start with apiVersion.
_AFTER_HEAD = b',"managedFields":['
_SORTED = ord("a")
_MIN_LENGTH = 1024
_SEARCH_LIMIT = 4096


class Labels(msgspec.Struct, gc=False):
    """Labels that many objects share; decoded on first access."""

    raw: bytes
    decoded: Mapping[str, str] | None = None

    @property
    def values(self) -> Mapping[str, str]:
        """The labels. Values that are not strings are left out; they raise when the metadata is accessed."""
        if self.decoded is None:
            found = tree_of(msgspec.Raw(self.raw))
            pairs = found.items() if isinstance(found, dict) else ()
            self.decoded = MappingProxyType({name: value for name, value in pairs if isinstance(value, str)})
        return self.decoded


# Many objects have equal labels, such as all pods of a deployment. Sharing takes a tenth of the memory, and the
# lookup is faster than decoding. The bound is for labels that all differ.
_shared = lru_cache(maxsize=2**14)(Labels)


class Head(msgspec.Struct, rename="camel", gc=False):
    """The metadata that caches need."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    raw_labels: msgspec.Raw = msgspec.field(default=_NONE, name="labels")

    @property
    def labels(self) -> Mapping[str, str]:
        return self.share_labels().values

    def share_labels(self) -> Labels:
        """Replace the view of the object's bytes by labels that are shared with other objects."""
        found: object = self.raw_labels
        if type(found) is msgspec.Raw:
            shared = _shared(bytes(found))
            self.raw_labels = shared  # type: ignore[assignment]  # msgspec decodes Raw, later accesses find Labels
            return shared
        assert isinstance(found, Labels)
        return found


class _Headed(msgspec.Struct, gc=False):
    metadata: Head


_headed = msgspec.json.Decoder(_Headed)

parts_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Finds the top-level parts of an object, without decoding them."""


def read_head(raw: bytes) -> Head:
    """The head of an object as servers send it; raises one of DECODE_FAILURES if it cannot be decoded.

    The bytes after the head are not always checked. Invalid JSON there raises on access.
    """
    if len(raw) > _MIN_LENGTH and raw[2] != _SORTED and (end := raw.find(_AFTER_HEAD, 0, _SEARCH_LIMIT)) > 0:
        try:
            head = _headed.decode(raw[:end] + b"}}").metadata
        except DECODE_FAILURES:
            return _headed.decode(raw).metadata  # the key was found outside of the metadata
        if head.name and head.namespace and head.uid and head.resource_version and head.raw_labels is not _NONE:
            # The head is complete. The labels must not keep the truncated copy alive, and the namespace is shared.
            head.share_labels()
            head.namespace = intern(head.namespace)
            return head
    return _headed.decode(raw).metadata


def read_damaged_head(raw: bytes, kind: str) -> Head:
    """The head of an object whose metadata has invalid fields: the fields that can be decoded.

    The object stays in its list or stream; the invalid fields raise on access.
    """
    try:
        found = tree_of(parts_decoder.decode(raw).get("metadata"))
    except DECODE_FAILURES as error:
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


# --- managedFields ---------------------------------------------------------------------------------------------------


class _Managed(msgspec.Struct, gc=False):
    managed_fields: msgspec.Raw = msgspec.field(default=_NONE, name="managedFields")


class _Holder(msgspec.Struct, gc=False):
    metadata: _Managed | None = None


_holder = msgspec.json.Decoder(_Holder)
_NAME = b'"managedFields"'
_KEY = _NAME + b":"


def cut_managed_fields(raw: bytes) -> bytes:
    """The bytes without `metadata.managedFields`; the same bytes if there are none.

    Raises the errors of msgspec for invalid JSON.
    """
    metadata = _holder.decode(raw).metadata
    if metadata is None or metadata.managed_fields is _NONE:
        return raw
    value = bytes(metadata.managed_fields)
    start = raw.find(_KEY)
    end = start + len(_KEY) + len(value)
    if start < 0 or not raw.startswith(value, start + len(_KEY)) or raw.count(_NAME) > 1:
        return _reencoded(raw)  # written with spaces, or the key occurs elsewhere as well
    before, behind = raw[start - 1 : start], raw[end : end + 1]
    if before == b",":
        start -= 1
    elif behind == b",":
        end += 1
    elif (before, behind) != (b"{", b"}"):
        return _reencoded(raw)  # there may be a comma after a space
    return raw[:start] + raw[end:]


def _reencoded(raw: bytes) -> bytes:
    parts = parts_decoder.decode(raw)
    metadata = parts_decoder.decode(parts["metadata"])
    del metadata["managedFields"]
    parts["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return msgspec.json.encode(parts)
