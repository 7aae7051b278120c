"""The head of an object: what a cache needs of each, and what is read of it at once. `object.py` reads the rest."""

from __future__ import annotations

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.reading import tree_of
from listwatch.objects.reasons import UNREADABLE, reason_of

__all__ = ["Head", "headed", "parts_decoder", "salvage"]


class Head(msgspec.Struct, rename="camel", gc=False):
    """The part of the metadata that a cache needs of each object."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None


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
    labels = fields.get("labels")
    return Head(
        name=texts.get("name", ""),
        namespace=texts.get("namespace", ""),
        uid=texts.get("uid", ""),
        resource_version=texts.get("resourceVersion", ""),
        labels={k: v for k, v in labels.items() if isinstance(v, str)} if isinstance(labels, dict) else None,
    )
