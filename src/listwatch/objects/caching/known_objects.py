"""Recognizes received objects that are cached already, before their heads are decoded.

Most objects of a repeated list have the bytes of the cached ones, in the same order, so each is compared with the next
cached one. Otherwise the uid of an object and the version behind it are looked up in the bytes, where servers write
them: in the metadata, behind nothing but names. An object in any other form is not recognized, and is decoded as usual.
An object never has two contents with one version, so the cached instance stands for the received bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from listwatch.objects.head import PROTOBUF
from listwatch.objects.object import Object

__all__ = ["KnownObjects"]

T = TypeVar("T", bound=Object)

# In front of the metadata is at most the kind, and in front of the uid are only names.
_TEXT = rb'"[^"\\]*+"'
_USUAL = re.compile(
    rb'\{(?:"kind":TEXT,"apiVersion":TEXT,)?"metadata":\{"name":TEXT,(?:"(?:generateName|namespace|selfLink)":TEXT,)*+'
    rb'"uid":"([0-9a-zA-Z-]{36})","resourceVersion":"([0-9]++)"'.replace(b"TEXT", _TEXT)
)
_TYPE_FIRST = (b'{"kind":', b'{"apiVersion":')
_METADATA = b'"metadata":'
_COMMA, _END = b",]"
_MAX_TYPE = 512
_TRIED = 4  # cached objects that are compared with a received one; those before it may have been deleted


class KnownObjects(Generic[T]):
    """Cached objects in their order, and by uid. Made for one list of many objects, and dropped after it."""

    __slots__ = ("_items", "_next", "_positions")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items: list[T] = []
        self._positions: dict[str, int] = {}
        self._next = 0  # the position of the object that is expected next
        self.extend(items)

    def extend(self, items: Iterable[T]) -> None:
        usual = [item for item in items if item._head.uid and item._head.resource_version]
        start = len(self._items)
        self._items += usual
        self._positions.update({item._head.uid: position for position, item in enumerate(usual, start)})

    def __len__(self) -> int:
        return len(self._items)

    def reader(self, kind: type[T], read: Callable[[bytes], T]) -> Callable[[bytes], T]:
        """Return a function like `read`, which returns the cached object for bytes that it recognizes."""

        def recognize(raw: bytes) -> T:
            found = self._next_with(raw) or self._find(raw)
            return found if found is not None and type(found) is kind else read(raw)

        return recognize

    def walker(self, kind: type[T], keep: Callable[[list[T]], object]) -> Callable[[bytearray, int], int]:
        """Return a function that recognizes the objects of a JSON array from a position on, without splitting it.

        It passes their cached objects to `keep`, and returns the position behind the last one.
        """

        def walk(text: bytearray, start: int) -> int:
            items, starts, length = self._items, text.startswith, len(text)
            found: list[T] = []
            end = position = start
            number = expected = self._next
            while number < min(expected + _TRIED, len(items)):
                item = items[number]
                number += 1
                raw = item._received
                if type(raw) is not bytes:
                    continue  # it is compressed
                size = len(raw) if starts(raw, position) else _size_without_type(text, position, raw)
                if not size or type(item) is not kind:
                    continue
                behind = position + size
                separator = text[behind] if behind < length else 0
                if separator != _COMMA and separator != _END:
                    break  # the rest has not arrived
                found.append(item)
                expected, end, position = number, behind, behind + 1
                if separator == _END:
                    break
            self._next = expected
            keep(found)
            return end

        return walk

    def _next_with(self, raw: bytes) -> T | None:
        """The cached object with these bytes, if it is one of those that are expected next."""
        items = self._items
        for number in range(self._next, min(self._next + _TRIED, len(items))):
            if items[number]._received == raw:
                self._next = number + 1
                return items[number]
        return None

    def _find(self, raw: bytes) -> T | None:
        """The cached object of these bytes, by their uid and version."""
        found = _uid_and_version_in_protobuf(raw) if raw.startswith(PROTOBUF) else _uid_and_version(raw)
        position = self._positions.get(found[0].decode()) if found else None
        if position is None or found is None:
            return None
        item = self._items[position]
        self._next = position + 1
        return item if item._head.resource_version == found[1].decode() else None


def _size_without_type(text: bytearray, position: int, raw: bytes) -> int:
    """The size of the object at a position, if it has these bytes without their kind; 0 if it has others.

    Objects of watches have a kind, items of lists have none.
    """
    if not raw.startswith(_TYPE_FIRST):
        return 0
    start = raw.find(_METADATA, 0, _MAX_TYPE)
    is_same = start > 0 and text.startswith(memoryview(raw)[start:], position + 1) and text.startswith(b"{", position)
    return len(raw) - start + 1 if is_same else 0


def _uid_and_version(raw: bytes) -> tuple[bytes, bytes] | None:
    found = _USUAL.match(raw)
    return (found[1], found[2]) if found else None


def _uid_and_version_in_protobuf(raw: bytes) -> tuple[bytes, bytes] | None:
    from listwatch.protobuf.object_head import uid_and_version

    return uid_and_version(raw)
