"""Makes objects of lists and watch events that were received as protobuf. `protobuf_parts.py` decodes their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from listwatch.objects.fields import set_head, set_raw
from listwatch.objects.json.reading import convert
from listwatch.objects.list_splitter import WireList
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object import Object
from listwatch.objects.protobuf.protobuf_parts import read_protobuf_head
from listwatch.objects.untracked import untrack_at
from listwatch.protobuf.list_splitter import ListSplitter

__all__ = ["ListSplitter", "head_of", "protobuf_reader"]

T = TypeVar("T", bound=Object)

_new = object.__new__


def protobuf_reader(kind: type[T]) -> Callable[[bytes], T]:
    """Return `kind.from_wire` for objects that are known to be protobuf."""
    if getattr(kind.from_wire, "__func__", None) is not Object.from_wire.__func__:  # type: ignore[attr-defined]  # a bound method
        return kind.from_wire

    name = kind.__name__

    def read(raw: bytes) -> T:
        item = _new(kind)
        set_raw(item, raw)
        set_head(item, read_protobuf_head(raw, name))
        untrack_at(id(item))
        return item

    return read


def head_of(splitter: ListSplitter) -> WireList:
    """The fields of a list."""
    metadata = convert(splitter.metadata, ListMeta, what="a list", field="metadata")
    return WireList(api_version=splitter.api_version, kind=splitter.kind, metadata=metadata)
