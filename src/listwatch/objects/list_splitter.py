"""Splits lists into objects without decoding them. `object_list.py` makes objects from the pieces."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import TypeVar

import msgspec

from listwatch.errors import DecodeError
from listwatch.objects.json.json_scan import IncompleteJSONError, ValueScanner, parts_of, skip_space
from listwatch.objects.json.reading import DECODE_FAILURES, Tree, convert, fields_of, reason_of, tree_of
from listwatch.objects.metadata import ListMeta

__all__ = ["LARGE", "ListSplitter", "WireList", "split_list"]

T = TypeVar("T")


class WireList(msgspec.Struct, rename="camel", gc=False):
    """A received list: its metadata, and each object as a view of the bytes."""

    api_version: str = ""
    kind: str = ""
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


LARGE = 1 << 20
"""Bodies with more bytes are joined and split in slices, to keep the event loop responsive."""

_lists = msgspec.json.Decoder(WireList)
_raws = msgspec.json.Decoder(list[msgspec.Raw])
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])

_KEY = b'"items"'
_HEAD_FIELDS = ("apiVersion", "kind", "metadata")

# The size of a group of objects that is decoded at once, how far its end is searched, and how often it is tried.
_GROUP = 1 << 18
_SMALL_GROUP = 1 << 13  # of the first group after objects that were recognized: more of them may follow
_WINDOW = 1 << 20
_TRIES = 3
# The size of a group whose objects are scanned one by one, in bytes and objects, and how many such groups there may be
# before the next attempt to decode one at once.
_SCANNED_GROUP = 1 << 14
_SCANNED_OBJECTS = 256
_MAX_PAUSE = 256
_KEY_LIMIT = 256


def split_list(body: bytes | str) -> WireList:
    """Split the response to a list request into objects. An object that cannot be decoded does not hide the others."""
    # A lone surrogate in a string makes one object invalid, not the list.
    raw = body.encode(errors="surrogatepass") if isinstance(body, str) else b"".join([body])
    wire = _split_at_once(raw) if len(raw) > LARGE else None
    if wire is None:
        splitter = ListSplitter([raw])
        items = list(chain.from_iterable(splitter.groups()))
        wire = splitter.head
        wire.items = items
    return wire


def _split_at_once(body: bytes) -> WireList | None:
    """Split a valid list in one pass; None if it has to be scanned."""
    try:
        # Pretty-printed responses have line feeds from the start.
        text = msgspec.json.format(body, indent=-1) if b"\n" in body[:64] else body
        wire = _lists.decode(text)
    except DECODE_FAILURES:
        return None
    return wire if isinstance(wire.items, list) and _are_all_items(wire.items, text) else None


def _are_all_items(items: list[msgspec.Raw], text: bytes) -> bool:
    """True if the list certainly has no other `items`: msgspec would drop the first ones silently."""
    key = text.find(_KEY)
    start = key + len(_KEY) + len(":[")
    end = start + sum(map(len, items)) + max(len(items) - 1, 0)
    return (
        text.startswith(bytes(items[0]) if items else b"]", start)
        and text.startswith(b"]", end)
        and text.find(_KEY, end) < 0
        # The key may be written with escapes.
        and text.find(b"\\", 0, key) < 0
        and text.find(b"\\", end) < 0
    )


class ListSplitter:
    """Splits a list that is given in chunks into groups of objects, so that a large list is split in slices.

    Groups of valid objects are decoded at once. If that fails, their objects are scanned one by one, in linear time and
    without recursion: an object that cannot be decoded does not hide the others. They are split by structure alone, so
    an object may turn out to be invalid when it is decoded.

    `recognize` may take objects out of the list before it is split: it receives the bytes and the position of an
    object, and returns the position behind the last object that it has taken.
    """

    __slots__ = (
        "_buffer",
        "_chunks",
        "_fields",
        "_group_size",
        "_has_items",
        "_is_complete",
        "_is_open",
        "_is_pretty",
        "_next_pause",
        "_offset",
        "_pause",
        "_position",
        "_recognize",
        "_separator",
        "head",
    )

    def __init__(self, chunks: Iterable[bytes], recognize: Callable[[bytearray, int], int] | None = None) -> None:
        self._recognize = recognize
        self._group_size = _GROUP
        self.head = WireList()
        """The fields of the list, as far as they are known: they may follow its objects."""
        self._chunks = iter(chunks)
        self._is_complete = False
        # The last chunks, the position in them, and the number of bytes before them.
        self._buffer = bytearray()
        self._position = 0
        self._offset = 0
        self._fields: dict[str, bytes] = {}
        self._has_items = False
        self._is_open = False
        self._is_pretty = False
        # The bytes between two objects, up to the first key of the second one. Empty if they are not known.
        self._separator = b""
        self._pause = 0
        self._next_pause = 0

    def groups(self) -> Iterator[list[msgspec.Raw]]:
        """Yield the objects in groups; an empty group ends a slice of work. DecodeError if this is not a list."""
        while len(self._buffer) <= LARGE and self._read_chunk():
            pass
        if self._is_complete and (wire := _split_at_once(bytes(self._buffer))) is not None:
            self.head = wire
            assert isinstance(wire.items, list)
            yield wire.items
            return
        self._is_pretty = b"\n" in self._buffer[:64]
        try:
            yield from self._scan_list()
        except DecodeError as error:
            raise type(error)(error.message, object_name="a list", field=error.field) from None
        if not self._has_items:
            # Taking an error or a single object for an empty list would clear the cache.
            found = self.head.kind or "something"
            raise DecodeError(f"expected a list, got {found} without items", object_name="a list")

    # --- the list ------------------------------------------------------------------------------------------------

    def _scan_list(self) -> Iterator[list[msgspec.Raw]]:
        if self._next_byte() != b"{":
            raise DecodeError(_reason(bytes(self._buffer), _lists))
        self._position += 1
        self._is_open = self._next_byte() != b"}"
        while self._is_open:
            name = yield from self._scan_name()
            if name == "items":
                yield from self._scan_items()
            else:
                value = yield from self._scan_value()
                if name in _HEAD_FIELDS:
                    self._fields[name] = value
            self._advance(b"}")
            self._drop()
        self._position += 1
        if self._next_byte():
            raise DecodeError(f"JSON is malformed: trailing characters (byte {self._offset + self._position})")
        self.head = self._read_head()

    def _scan_items(self) -> Iterator[list[msgspec.Raw]]:
        if self._has_items:
            raise DecodeError("duplicate key 'items'")  # one of them would be lost
        self._has_items = True
        if self._next_byte() != b"[":
            value = yield from self._scan_value()
            if value != b"null":
                raise DecodeError(_reason(value, _raws), field="items")
            return
        self._position += 1
        self.head = self._read_head()
        self._is_open = self._next_byte() != b"]"
        self._separator = self._separator_before(self._position, b"},")
        while self._is_open:
            self._drop()
            if self._skip_recognized():
                yield []
            else:
                yield self._decode_group() or (yield from self._scan_group())
        self._position += 1

    def _scan_name(self) -> Generator[list[msgspec.Raw], None, Tree]:
        if self._next_byte() != b'"':
            raise self._unexpected()
        name = yield from self._scan_value()
        if self._next_byte() != b":":
            raise self._unexpected()
        self._position += 1
        return tree_of(msgspec.Raw(name))

    def _read_head(self) -> WireList:
        tree: dict[str, Tree] = {}
        for name, part in self._fields.items():
            try:
                tree[name] = msgspec.json.decode(part)
            except DECODE_FAILURES as error:
                if name != "metadata":
                    raise DecodeError(reason_of(error, part), field=name) from None
                tree[name] = _known_metadata(part)
        head: WireList = convert(tree, WireList, what="a list")
        return head

    # --- groups of objects ---------------------------------------------------------------------------------------

    def _skip_recognized(self) -> bool:
        """Skip the objects that are recognized; False if the next one is not."""
        if self._recognize is None:
            return False
        while len(self._buffer) < self._position + _GROUP and self._read_chunk():
            pass
        end = self._recognize(self._buffer, self._position)
        if end == self._position:
            return False
        self._position = end
        self._advance(b"]")
        self._group_size = _SMALL_GROUP
        return True

    def _decode_group(self) -> list[msgspec.Raw] | None:
        """Decode a group of objects at once; None if they have to be scanned."""
        if self._pause:
            self._pause -= 1
            return None
        group = None
        if not self._is_near_end():
            group = self._decode_objects()
        if group is None and self._is_near_end():
            group = self._decode_rest()
        if group is None:
            self._pause = self._next_pause
            self._next_pause = min(2 * self._next_pause + 1, _MAX_PAUSE)
            return None
        self._next_pause = 0
        self._advance(b"]")
        return group

    def _decode_objects(self) -> list[msgspec.Raw] | None:
        """Decode the objects up to the first one that ends outside of the group."""
        buffer, start = self._buffer, self._position
        end = start + self._group_size
        self._group_size = min(2 * self._group_size, _GROUP)
        for _ in range(_TRIES if self._separator else 0):
            end = self._find_separator(end, start + _WINDOW) + 1
            if not end:
                break
            try:
                group = _raws.decode(self._on_one_line(b"[" + buffer[start:end] + b"]"))
            except DECODE_FAILURES:
                continue  # the separator was found inside an object, or an object is invalid
            self._position = end
            return group
        return None

    def _find_separator(self, start: int, stop: int) -> int:
        buffer, separator = self._buffer, self._separator
        while (found := buffer.find(separator, start, stop)) < 0 and len(buffer) < stop:
            start = max(start, len(buffer) - len(separator))
            if not self._read_chunk():
                break
        return found

    def _is_near_end(self) -> bool:
        return self._is_complete and len(self._buffer) <= self._position + 2 * _GROUP

    def _decode_rest(self) -> list[msgspec.Raw] | None:
        """Decode the last objects, with the end of the list."""
        rest = bytes(self._buffer[self._position :])
        try:
            items = bytes(_members.decode(b"{%b:[%b" % (_KEY, rest))["items"])
            group = _raws.decode(self._on_one_line(items))
        except DECODE_FAILURES:
            return None
        if not group or not rest.startswith(items[1:]):
            return None  # a comma without an object behind it, or those of a second key
        self._position += len(items) - len("[]")
        return group

    def _scan_group(self) -> Generator[list[msgspec.Raw], None, list[msgspec.Raw]]:
        group: list[msgspec.Raw] = []
        start = self._position
        while self._is_open and self._position < start + _SCANNED_GROUP and len(group) < _SCANNED_OBJECTS:
            value = yield from self._scan_value()
            group.append(msgspec.Raw(self._on_one_line(value)))
            end = self._position
            self._advance(b"]")
            self._separator = self._separator_before(self._position, self._buffer[end - 1 : self._position])
        return group

    def _separator_before(self, start: int, between: bytes | bytearray) -> bytes:
        """The separator: the bytes between two objects, and the first key of the object that starts here."""
        end = self._buffer.find(b":", start, start + _KEY_LIMIT) + 1 or start + 1
        is_known = between.startswith(b"}") and self._buffer.startswith(b"{", start)
        return bytes(between + self._buffer[start:end]) if is_known else b""

    def _on_one_line(self, text: bytes) -> bytes:
        if not self._is_pretty:
            return text
        try:
            return msgspec.json.format(text, indent=-1)
        except DECODE_FAILURES:
            return text

    # --- bytes ---------------------------------------------------------------------------------------------------

    def _scan_value(self) -> Generator[list[msgspec.Raw], None, bytes]:
        """Return the bytes of the next value."""
        self._next_byte()
        start = self._position
        scanner = ValueScanner(start)
        while not scanner.scan(self._buffer, stop := scanner.position + _SCANNED_GROUP):
            if scanner.position >= stop:
                yield []
            # The scan continues where it stopped, but not inside a string: a long one is scanned again from its start.
            # Each read doubles its bytes, which keeps the time linear.
            elif not self._read_more(len(self._buffer) - scanner.position):
                self._position = scanner.position
                raise self._unexpected(is_cut=scanner.is_cut(self._buffer))
        self._position = scanner.position
        return bytes(self._buffer[start : self._position])

    def _advance(self, closing: bytes) -> None:
        """Go to the next entry of an object or array, or to its closing bracket."""
        found = self._next_byte()
        self._is_open = found == b","
        if self._is_open:
            self._position += 1
            self._next_byte()
        elif found != closing:
            raise self._unexpected()

    def _next_byte(self) -> bytes:
        """The next byte that is not white space; empty at the end."""
        self._position = skip_space(self._buffer, self._position)
        while self._position == len(self._buffer) and self._read_chunk():
            self._position = skip_space(self._buffer, self._position)
        return bytes(self._buffer[self._position : self._position + 1])

    def _read_more(self, size: int) -> bool:
        """Read chunks with at least this many bytes, and at least one. Return False if there was none."""
        before = len(self._buffer)
        while len(self._buffer) < before + max(size, 1) and self._read_chunk():
            pass
        return len(self._buffer) > before

    def _read_chunk(self) -> bool:
        chunk = None if self._is_complete else next(self._chunks, None)
        self._is_complete = chunk is None
        self._buffer += chunk or b""
        return not self._is_complete

    def _drop(self) -> None:
        """Free the bytes before the current position, if they are most of the buffer: the others may be moved."""
        if 2 * self._position > len(self._buffer):
            del self._buffer[: self._position]
            self._offset += self._position
            self._position = 0

    def _unexpected(self, *, is_cut: bool = False) -> DecodeError:
        if is_cut or self._position == len(self._buffer):
            return IncompleteJSONError("it is truncated")
        return DecodeError(f"JSON is malformed (byte {self._offset + self._position})")


def _known_metadata(part: bytes) -> dict[str, Tree]:
    """The fields of a list's metadata, whatever it contains besides them."""
    known: dict[str, Tree] = {}
    for name, value in parts_of(part).items():
        if name in fields_of(ListMeta):
            try:
                known[name] = msgspec.json.decode(value)
            except DECODE_FAILURES as error:
                raise DecodeError(reason_of(error, bytes(value)), field=f"metadata.{name}") from None
    return known


def _reason(text: bytes, decoder: msgspec.json.Decoder[T]) -> str:
    """Why the text is of another type."""
    try:
        decoder.decode(text)
    except DECODE_FAILURES as error:
        return reason_of(error, text)
    return "JSON is malformed"
