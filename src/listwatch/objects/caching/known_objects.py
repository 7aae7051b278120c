"""Recognizes received objects that are cached already: by uid and version, before their heads are decoded.

The uid of an object and the version behind it are looked up in the bytes, where servers write them: in the metadata,
behind nothing but names. An object in any other form is not recognized, and is decoded as usual. An object never has
two contents with one version, so the cached instance stands for the received bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from listwatch.objects.head import PROTOBUF
from listwatch.objects.object import Object

__all__ = ["KnownObjects"]

T = TypeVar("T", bound=Object)

_UID_SIZE = 36
# In front of the metadata is at most the kind, and in front of the uid are only names.
_TEXT = rb'"[^"\\]*+"'
_USUAL = re.compile(
    rb'\{(?:"kind":TEXT,"apiVersion":TEXT,)?"metadata":\{"name":TEXT,(?:"(?:generateName|namespace|selfLink)":TEXT,)*+'
    rb'"uid":"([^"\\]{36}","resourceVersion":TEXT)'.replace(b"TEXT", _TEXT)
)


class KnownObjects(Generic[T]):
    """Cached objects by uid and version. Made for one list of many objects, and dropped after it."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: dict[bytes, T] = {}
        self.extend(items)

    def extend(self, items: Iterable[T]) -> None:
        for item in items:
            head = item._head
            uid, version = head.uid, head.resource_version
            if len(uid) == _UID_SIZE and version.isdecimal():
                self._items[f'{uid}","resourceVersion":"{version}"'.encode()] = item

    def __len__(self) -> int:
        return len(self._items)

    def reader(self, kind: type[T], read: Callable[[bytes], T]) -> Callable[[bytes], T]:
        """Return a function like `read`, which returns the cached object for bytes that it recognizes."""
        known = self._items.get

        def recognize(raw: bytes) -> T:
            key = _key_in_protobuf(raw) if raw.startswith(PROTOBUF) else _key_in_json(raw)
            found = known(key) if key else None
            return found if found is not None and type(found) is kind else read(raw)

        return recognize


def _key_in_json(raw: bytes) -> bytes:
    """The bytes from the uid to the end of the version; empty if they are not where servers write them."""
    found = _USUAL.match(raw)
    return found[1] if found else b""


def _key_in_protobuf(raw: bytes) -> bytes:
    from listwatch.protobuf.object_head import uid_and_version

    found = uid_and_version(raw)
    return b'%b","resourceVersion":"%b"' % found if found else b""
