"""Removes managedFields from the bytes of an object. They are often a quarter to a half of it, and rarely read."""

from __future__ import annotations

import msgspec

from listwatch.objects.head import parts_decoder

__all__ = ["cut_managed_fields"]


_NONE = msgspec.Raw(b"null")


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
