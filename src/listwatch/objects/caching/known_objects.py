"""Recognizes received objects that are cached already, before their heads are decoded.

Most objects of a repeated list have the bytes of the cached ones, in the same order, so each is compared with the next
cached one. Otherwise, and if the cached bytes are compressed, the uid of an object and its version are looked up in the
bytes, where servers write them: in the metadata, behind nothing but names. An object in any other form, such as a
custom one with sorted keys, is not recognized, and is decoded as usual. An object never has two contents with one
version, so the cached instance stands for the received bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

from listwatch.objects.head import PROTOBUF
from listwatch.objects.object import Object

__all__ = ["KnownObjects", "size_from_metadata"]

T = TypeVar("T", bound=Object)

_Item = Any
"""A cached object, or what stands for it in a store: it has `uid`, `resource_version`, `_received` and `size`.

`_received` are the bytes, if they are at hand. Otherwise `size` is that of the received ones from their metadata on, or
0 if it is not known.
"""

# In front of the metadata is at most the kind, and in front of the uid are only names.
_TEXT = rb'"[^"\\]*+"'
_USUAL = re.compile(
    rb'\{(?:"kind":TEXT,"apiVersion":TEXT,)?()"metadata":\{"name":TEXT,(?:"(?:generateName|namespace|selfLink)":TEXT,)*+'
    rb'"uid":"([0-9a-zA-Z-]{36})","resourceVersion":"([0-9]++)"'.replace(b"TEXT", _TEXT)
)
_TYPE_FIRST = (b'{"kind":', b'{"apiVersion":')
_METADATA = b'"metadata":'
_UNNAMED = b"{" + _METADATA
_COMMA, _END = b",]"
_MAX_TYPE = 512
_START = 10  # the first bytes of an object, in which all objects of a list are equal
_TRIED = 4  # cached objects that are compared with a received one; those before it may have been deleted


class _Identity(NamedTuple):
    """The uid and the version of an object, and the position of its metadata."""

    uid: bytes
    version: bytes
    metadata: int = 0


class KnownObjects(Generic[T]):
    """Cached objects in their order, and by uid. Made for one list of many objects, and dropped after it."""

    __slots__ = ("_items", "_next", "_positions")

    def __init__(self, items: Iterable[_Item] = ()) -> None:
        self._items: list[_Item] = []
        self._positions: dict[str, int] = {}
        self._next = 0  # the position of the object that is expected next
        self.extend(items)

    def extend(self, items: Iterable[_Item]) -> None:
        usual = [item for item in items if item.uid and item.resource_version]
        start = len(self._items)
        self._items += usual
        self._positions.update({item.uid: position for position, item in enumerate(usual, start)})

    def __len__(self) -> int:
        return len(self._items)

    def reader(self, kind: type[T], read: Callable[[bytes], T]) -> Callable[[bytes], T]:
        """Return a function like `read`, which returns the cached object for bytes that it recognizes."""

        def recognize(raw: bytes) -> T:
            found = self._next_with(raw) or self._find(raw)
            return found if found is not None and _is_of(kind, found) else read(raw)

        return recognize

    def walker(self, kind: type[T], keep: Callable[[list[T]], object]) -> Callable[[bytearray, int], int]:
        """Return a function that recognizes the objects of a JSON array from a position on, without splitting it.

        It passes their cached objects to `keep`, and returns the position behind the last one.
        """

        def walk(text: bytearray, start: int) -> int:
            items, length = self._items, len(text)
            found: list[T] = []
            end = position = start
            while True:
                number, size = self._expected_at(text, position)
                if not size:
                    number, size = self._find_at(text, position)
                behind = position + size
                if not size or behind >= length or not _is_of(kind, item := items[number]):
                    break  # another object, or the rest of it has not arrived
                separator = text[behind]
                if separator != _COMMA and separator != _END:
                    break
                found.append(item)
                self._next, end, position = number + 1, behind, behind + 1
                if separator == _END:
                    break
            keep(found)
            return end

        return walk

    def _expected_at(self, text: bytearray, position: int) -> tuple[int, int]:
        """The position of the next cached object that has the bytes at this position, and their size; 0 for none."""
        items, starts = self._items, text.startswith
        for number in range(self._next, min(self._next + _TRIED, len(items))):
            raw = items[number]._received
            if type(raw) is not bytes:
                break  # it is compressed
            if size := len(raw) if starts(raw, position) else _size_without_type(text, position, raw):
                return number, size
        return 0, 0

    def _find_at(self, text: bytearray, position: int) -> tuple[int, int]:
        """The same for the cached object with the uid and the version at this position."""
        found = _identity(text, position)
        number = None if found is None else self._with(found)
        if found is None or number is None:
            return 0, 0
        raw = (item := self._items[number])._received
        if type(raw) is bytes:
            return number, len(raw) if text.startswith(raw, position) else _size_without_type(text, position, raw)
        size: int = item.size
        behind = found.metadata + size
        # The bytes are not compared, so both ends have to be those of objects.
        start = text[position : position + _START]
        is_whole = size and text.startswith((b"}," + start, b"}]"), behind - 1)
        return (number, behind - position) if is_whole else (0, 0)

    def _next_with(self, raw: bytes) -> _Item | None:
        """The cached object with these bytes, if it is one of those that are expected next."""
        items = self._items
        for number in range(self._next, min(self._next + _TRIED, len(items))):
            if items[number]._received == raw:
                self._next = number + 1
                return items[number]
        return None

    def _find(self, raw: bytes) -> _Item | None:
        """The cached object of these bytes, by their uid and version."""
        found = _protobuf_identity(raw) if raw.startswith(PROTOBUF) else _identity(raw)
        number = None if found is None else self._with(found)
        if number is None:
            return None
        self._next = number + 1
        return self._items[number]

    def _with(self, identity: _Identity) -> int | None:
        number = self._positions.get(identity.uid.decode())
        if number is None or self._items[number].resource_version != identity.version.decode():
            return None
        return number


def _is_of(kind: type[Object], item: _Item) -> bool:
    return type(item) is kind or not isinstance(item, Object)


def size_from_metadata(raw: bytes) -> int:
    """The size of an object without its kind, which objects of watches have and items of lists have not; 0 if it has
    another form.
    """
    if raw.startswith(_UNNAMED):
        return len(raw) - 1
    start = raw.find(_METADATA, 0, _MAX_TYPE) if raw.startswith(_TYPE_FIRST) else 0
    return len(raw) - start if start > 0 else 0


def _size_without_type(text: bytearray, position: int, raw: bytes) -> int:
    """The size of the object at a position, if it has these bytes without their kind; 0 if it has others."""
    if not raw.startswith(_TYPE_FIRST):
        return 0
    start = raw.find(_METADATA, 0, _MAX_TYPE)
    is_same = start > 0 and text.startswith(memoryview(raw)[start:], position + 1) and text.startswith(b"{", position)
    return len(raw) - start + 1 if is_same else 0


def _identity(raw: bytes | bytearray, position: int = 0) -> _Identity | None:
    found = _USUAL.match(raw, position)
    return _Identity(found[2], found[3], found.start(1)) if found else None


def _protobuf_identity(raw: bytes) -> _Identity | None:
    from listwatch.protobuf.object_head import uid_and_version

    found = uid_and_version(raw)
    return None if found is None else _Identity(*found)
