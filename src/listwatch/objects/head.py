"""The head of an object: the metadata that caches need, decoded on arrival. `object.py` decodes the rest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from sys import intern
from types import MappingProxyType

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.json.json_scan import is_invalid_name, members_of, parts_of, skip_space
from listwatch.objects.json.reading import DECODE_FAILURES, Tree, reason_of, tree_of

__all__ = [
    "PROTOBUF",
    "Head",
    "Labels",
    "cut_managed_fields",
    "parts_decoder",
    "protobuf_start",
    "read_damaged_head",
    "read_head",
    "shared_labels",
]

PROTOBUF = b"k8s\0"
"""The first bytes of every object that was received as protobuf."""

_NONE = msgspec.Raw(b"null")

# Servers write managedFields last in the metadata of built-in kinds, after everything that belongs to the head. Custom
# objects are written with sorted keys, so they start with apiVersion.
_AFTER_HEAD = b',"managedFields":['
_SORTED = ord("a")
_MIN_LENGTH = 1024
_MIN_HEAD = 128  # bytes; no server writes a shorter head with all of its fields
_SEARCH_LIMIT = 4096

_KEY_FIELDS = ("namespace", "name")


class Labels(msgspec.Struct, gc=False):
    """Labels that many objects share; decoded on first access."""

    raw: bytes
    view: Mapping[str, str] | None = None
    decoded: dict[str, str] | None = None
    """For selectors, because a lookup in a view takes twice as long; None until the view exists."""

    @property
    def values(self) -> Mapping[str, str]:
        """The labels. Values that are not strings are left out; they raise when the metadata is accessed."""
        if self.view is None:
            pairs = (_protobuf_labels if self.raw[0] == _LABELS_KEY else _readable_members)(self.raw).items()
            decoded = {name: value for name, value in pairs if isinstance(value, str)}
            self.view = MappingProxyType(decoded)
            self.decoded = decoded
        return self.view


# The first byte of labels that were received as protobuf: the key of an entry.
_LABELS_KEY = 0x5A


def _protobuf_labels(raw: bytes) -> Mapping[str, Tree]:
    from listwatch.protobuf.object_head import decode_labels  # few programs receive protobuf

    return decode_labels(raw)


def _readable_members(raw: bytes) -> dict[str, Tree]:
    """The decoded members of an object, without those that cannot be decoded."""
    found = tree_of(msgspec.Raw(raw))
    if found is None:
        with suppress(DecodeError):  # null, or no object
            found = {name: tree_of(part) for name, part in parts_of(raw).items() if not is_invalid_name(name)}
    return found if isinstance(found, dict) else {}


# Many objects have equal labels, such as all pods of a deployment. Sharing takes a tenth of the memory, and the
# lookup is faster than decoding. The bound is for labels that all differ.
shared_labels = lru_cache(maxsize=2**14)(Labels)


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
            shared = shared_labels(bytes(found))
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
    if len(raw) > _MIN_LENGTH and raw[2] != _SORTED and (end := raw.find(_AFTER_HEAD, _MIN_HEAD, _SEARCH_LIMIT)) > 0:
        try:
            head = _headed.decode(raw[:end] + b"}}").metadata
        except DECODE_FAILURES:
            return _headed.decode(raw).metadata  # the key was found outside of the metadata
        if head.name and head.namespace and head.uid and head.resource_version and head.raw_labels is not _NONE:
            # The head is complete. The labels must not keep the truncated copy alive, and the namespace is shared.
            head.raw_labels = shared_labels(bytes(head.raw_labels))  # type: ignore[assignment]  # see `share_labels`
            head.namespace = intern(head.namespace)
            return head
    return _headed.decode(raw).metadata


def protobuf_start(api_version: str, kind: str) -> bytes:
    """The first bytes of every object of this kind that was received as protobuf."""
    version, name = api_version.encode(), kind.encode()
    fields = b"\x0a%c%b\x12%c%b" % (len(version), version, len(name), name)
    return b"%b\x0a%c%b\x12" % (PROTOBUF, len(fields), fields)


def read_damaged_head(raw: bytes, kind: str) -> Head:
    """The head of an object that cannot be decoded as a whole: the fields that can be decoded.

    The object stays in its list or stream; its invalid parts raise on access. Raises DecodeError if its key cannot be
    decoded: it would be stored in place of another object.
    """
    try:
        found = msgspec.json.decode(parts_decoder.decode(raw).get("metadata", _NONE))
    except DECODE_FAILURES as error:
        return _scan_head(raw, kind, error)
    fields = found if isinstance(found, dict) else {}
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    if fields.get("namespace") is not None and "namespace" not in texts:
        what = f"{kind} {texts.get('name', 'without a name')}"
        raise DecodeError("expected str", object_name=what, field="metadata.namespace")
    return Head(
        name=texts.get("name", ""),
        namespace=texts.get("namespace", ""),
        uid=texts.get("uid", ""),
        resource_version=texts.get("resourceVersion", ""),
        raw_labels=msgspec.Raw(msgspec.json.encode(fields.get("labels"))),
    )


def _scan_head(raw: bytes, kind: str, error: Exception) -> Head:
    """The head of an object that is nested too deeply, or contains invalid strings or numbers."""
    try:
        metadata = parts_of(raw).get("metadata", _NONE)
    except DecodeError:
        raise DecodeError(reason_of(error, raw), object_name=kind) from None
    try:
        fields = parts_of(bytes(metadata))
    except DecodeError:
        reason = f"{reason_of(error, raw)}, and there is no metadata"
        raise DecodeError(reason, object_name=f"{kind} without a name", field="metadata") from None
    name, namespace = (_key_text(fields, field, kind) for field in ("name", "namespace"))
    if not name:
        raise DecodeError(reason_of(error, raw), object_name=f"{kind} without a name")
    uid, version = (tree_of(fields.get(field)) for field in ("uid", "resourceVersion"))
    return Head(
        name=name,
        namespace=namespace,
        uid=uid if isinstance(uid, str) else "",
        resource_version=version if isinstance(version, str) else "",
        raw_labels=msgspec.Raw(bytes(fields.get("labels", _NONE))),
    )


def _key_text(fields: Mapping[str, msgspec.Raw], field: str, kind: str) -> str:
    """The name or namespace of an object; DecodeError if it is invalid."""
    try:
        return msgspec.json.decode(fields.get(field, _NONE), type=str | None) or ""
    except DECODE_FAILURES as error:
        # As much of the key as can be shown.
        parts = (bytes(fields.get(each, b"")).decode(errors="replace").strip('"')[:253] for each in _KEY_FIELDS)
        what = f"{kind} {'/'.join(filter(None, parts))}"
        raise DecodeError(reason_of(error, bytes(fields[field])), object_name=what, field=f"metadata.{field}") from None


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

    Raises DecodeError or the errors of msgspec for invalid JSON.
    """
    try:
        metadata = _holder.decode(raw).metadata
    except msgspec.ValidationError:
        raise
    except DECODE_FAILURES:
        return _cut_by_scanning(raw)
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


def _cut_by_scanning(raw: bytes) -> bytes:
    """The same for an object that cannot be decoded as a whole."""
    found = [each for each in members_of(raw, skip_space(raw, 0)) if each.name == "metadata"]
    if not found:
        return raw
    metadata = found[-1]
    end, kept, is_cut = metadata.start + 1, list[bytes](), False
    for member in members_of(raw, metadata.start):
        if member.name == "managedFields":
            is_cut = True
        else:
            kept.append(raw[end : member.end].lstrip(b", \t\r\n"))  # with its name
        end = member.end
    return raw[: metadata.start] + b"{" + b",".join(kept) + b"}" + raw[metadata.end :] if is_cut else raw
