"""Recognizes received objects that are cached already, before their heads are decoded.

Most objects of a repeated list have the bytes of the cached ones, in the same order, so each is compared with the next
cached one. Otherwise, and if the cached bytes are compressed, the uid of an object and its version are looked up in the
bytes, where servers write them: in the metadata, behind nothing but names. An object in any other form, such as a
custom one with sorted keys, is not recognized, and is decoded as usual. An object never has two contents with one
version, so the cached instance stands for the received bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Generic, TypeVar

from listwatch.objects.head import PROTOBUF
from listwatch.objects.object import Object

__all__ = ["KnownObjects", "size_from_metadata", "sizes_from_metadata"]

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
_UID = b'"uid":"'
_UNNAMED = b"{" + _METADATA
_COMMA, _END = b",]"
_MAX_TYPE = 512
_MAX_NAMES = 1024
_START = 10  # the first bytes of an object, in which all objects of a list are equal
_uid = attrgetter("uid")
_TRIED = 4  # cached objects that are compared with a received one; those before it may have been deleted


class KnownObjects(Generic[T]):
    """Cached objects in their order, and by uid. Made for one list of many objects, and dropped after it."""

    __slots__ = ("_items", "_keys", "_next", "_positions")

    def __init__(self, cached: Mapping[str, _Item] | None = None) -> None:
        """`cached` are objects by the keys under which they are stored."""
        self._keys: list[str] = []
        self._items: list[_Item] = []
        self._positions: dict[str, int] = {}
        self._next = 0  # the position of the object that is expected next
        if cached:
            self.extend(cached.items())

    def extend(self, cached: Iterable[tuple[str, _Item]]) -> None:
        start = len(self._items)
        for key, item in cached:
            if item.resource_version:
                self._keys.append(key)
                self._items.append(item)
        self._positions.update(zip(map(_uid, self._items[start:]), range(start, len(self._items)), strict=True))

    def __len__(self) -> int:
        return len(self._items)

    def reader(self, kind: type[T], read: Callable[[bytes], T]) -> Callable[[bytes], T]:
        """Return a function like `read`, which returns the cached object for bytes that it recognizes."""

        def recognize(raw: bytes) -> T:
            found = self._next_with(raw) or self._find(raw)
            return found if found is not None and _is_of(kind, found) else read(raw)

        return recognize

    def walker(self, kind: type[T], keep: Callable[[str, T], object]) -> Callable[[bytearray, int], int]:
        """Return a function that recognizes the objects of a JSON array from a position on, without splitting it.

        It passes their keys and cached objects to `keep`, and returns the position behind the last one.
        """

        def walk(text: bytearray, start: int) -> int:
            keys, items, starts, length = self._keys, self._items, text.startswith, len(text)
            end = position = start
            number = self._next
            while True:
                # Most objects have the bytes of the next cached one.
                number = number if number < len(items) else 0
                item: _Item = items[number]
                raw = item._received
                if type(raw) is bytes and starts(raw, position):
                    size = len(raw)
                else:
                    number, size = self._find_at(text, position)
                    item = items[number]
                behind = position + size
                if not size or behind >= length or not (type(item) is kind or _is_of(kind, item)):
                    break  # another object, or the rest of it has not arrived
                separator = text[behind]
                if separator != _COMMA and separator != _END:
                    break
                keep(keys[number], item)
                number += 1
                end, position = behind, behind + 1
                self._next = number
                if separator == _END:
                    break
            return end

        return walk

    def frame_walker(self, kind: type[T], start: bytes) -> Callable[[bytes, int, int, dict[str, T]], int]:
        """Return a function that recognizes the objects of lines, each of which is one object behind `start` and a
        bracket.

        It adds the cached objects to a dict by key, and returns the position behind the last line.
        """

        def walk(text: bytes, position: int, stop: int, found: dict[str, T]) -> int:
            keys, items, starts = self._keys, self._items, text.startswith
            number, last = self._next, len(items)
            while position < stop and starts(start, position):
                at = position + len(start)
                # Most objects have the bytes of the next cached one.
                number = number if number < last else 0
                item: _Item = items[number]
                raw = item._received
                if type(raw) is bytes:
                    behind = at + len(raw) if starts(raw, at) else 0
                else:
                    behind = _end_in_frame(text, at, item)
                if not behind:
                    number, behind = self._find_in_frame(text, at)
                    item = items[number]
                if not starts(b"}\n", behind) or not (type(item) is kind or _is_of(kind, item)):
                    break  # another object, or one that was stored in another form
                found[keys[number]] = item
                number += 1
                self._next = number
                position = behind + 2
            return position

        return walk

    def _find_in_frame(self, text: bytes, position: int) -> tuple[int, int]:
        """Return the number of the cached object that begins at a position, and the position of its end.

        The end is that of the text if there is none, or if the object has another size than the cached one.
        """
        found = _USUAL.match(text, position)
        if found is None:
            for number in range(self._next, min(self._next + _TRIED, len(self._items))):
                raw = self._items[number]._received
                if type(raw) is bytes and text.startswith(raw, position):
                    return number, position + len(raw)
            return 0, len(text)
        uid, version = found.group(2, 3)
        known = self._positions.get(uid.decode())
        if known is None or (item := self._items[known]).resource_version != version.decode():
            return 0, len(text)
        raw = item._received
        size: int = size_from_metadata(raw) if type(raw) is bytes else getattr(item, "size", 0)
        behind = found.start(1) + size
        # The bytes are not compared, so the frame has to end with the object.
        return (known, behind) if size and text.startswith(b"}", behind - 1) else (0, len(text))

    def _find_at(self, text: bytearray, position: int) -> tuple[int, int]:
        """Return the number of the cached object with the uid and the version at a position, and its size there.

        The size is 0 if there is none, or if the object has other bytes.
        """
        found = _USUAL.match(text, position)
        if found is None:
            return self._expected_at(text, position)
        uid, version = found.group(2, 3)
        number = self._positions.get(uid.decode())
        if number is None or (item := self._items[number]).resource_version != version.decode():
            return 0, 0
        raw = item._received
        if type(raw) is bytes:
            return number, _size_at(text, position, raw)
        size: int = getattr(item, "size", 0)
        behind = found.start(1) + size
        # The bytes are not compared, so both ends have to be those of objects.
        is_whole = size and text.startswith((b"}," + text[position : position + _START], b"}]"), behind - 1)
        return number, behind - position if is_whole else 0

    def _expected_at(self, text: bytearray, position: int) -> tuple[int, int]:
        """The same for one of the next cached objects, if their bytes are at hand."""
        for number in range(self._next, min(self._next + _TRIED, len(self._items))):
            raw = self._items[number]._received
            if type(raw) is bytes and (size := _size_at(text, position, raw)):
                return number, size
        return 0, 0

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
        found = _uid_and_version_in_protobuf(raw) if raw.startswith(PROTOBUF) else _uid_and_version(raw)
        position = self._positions.get(found[0].decode()) if found else None
        if position is None or found is None:
            return None
        item = self._items[position]
        self._next = position + 1
        return item if item.resource_version == found[1].decode() else None


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


def sizes_from_metadata(raws: Iterable[bytes]) -> list[int]:
    """The same for many objects, most of which begin with the same kind."""
    sizes: list[int] = []
    kind, length = b"\n", 0  # the bytes up to the name of the metadata, and their number without that name
    for raw in raws:
        if raw.startswith(kind):
            sizes.append(len(raw) - length)
            continue
        size = size_from_metadata(raw)
        sizes.append(size)
        if size:
            length = len(raw) - size
            kind = raw[: length + len(_METADATA)]
    return sizes


def _end_in_frame(text: bytes, position: int, item: _Item) -> int:
    """The end of the object at a position of a line, if it has the uid and the version of an item; 0 otherwise."""
    uid = text.find(_UID, position, position + _MAX_NAMES)
    if uid < 0 or not text.startswith(
        f'{item.uid}","resourceVersion":"{item.resource_version}"'.encode(), uid + len(_UID)
    ):
        return 0
    start = text.find(_METADATA, position, uid)
    if start < 0 or text.find(b"{", start + len(_METADATA) + 1, uid) >= 0:
        return 0  # not the uid of the object itself
    size: int = getattr(item, "size", 0)
    return start + size if size and text.startswith(b"}}\n", start + size - 1) else 0


def _size_at(text: bytearray, position: int, raw: bytes) -> int:
    """The size of the object at a position, if it has these bytes, or the same without their kind; 0 otherwise."""
    if text.startswith(raw, position):
        return len(raw)
    if not raw.startswith(_TYPE_FIRST):
        return 0
    start = raw.find(_METADATA, 0, _MAX_TYPE)
    is_same = start > 0 and text.startswith(memoryview(raw)[start:], position + 1) and text.startswith(b"{", position)
    return len(raw) - start + 1 if is_same else 0


def _uid_and_version(raw: bytes) -> tuple[bytes, bytes] | None:
    found = _USUAL.match(raw)
    return (found[2], found[3]) if found else None


def _uid_and_version_in_protobuf(raw: bytes) -> tuple[bytes, bytes] | None:
    from listwatch.protobuf.object_head import uid_and_version

    return uid_and_version(raw)
