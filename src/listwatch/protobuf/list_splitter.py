"""Splits lists into objects without decoding them, as they arrive.

A list is an object whose message is {1: ListMeta, 2: item, 2: item, …}. Its items have lengths, so that a damaged one
does not hide the others; they have no kind, which is that of the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from listwatch.errors import DecodeError
from listwatch.json_value import JSONObject
from listwatch.protobuf.envelope import MAGIC, envelope_head, open_envelope
from listwatch.protobuf.messages import MAX_MESSAGES, message
from listwatch.protobuf.wire_format import read_length, read_varint, skip_field, truncated

__all__ = ["ListSplitter"]

_GROUP = 1 << 17
"""Bytes that are split before the caller may pause."""
_HEAD = 1 << 12
_ITEM = 0x12
_METADATA = 0x0A
_SUFFIX = "List"


class ListSplitter:
    """Splits a list that is given in chunks into groups of objects, each with its kind, as a response has it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.api_version = ""
        self.kind = ""
        self.metadata: JSONObject = {}
        """The metadata of the list: complete at the end, because it may follow the objects."""
        self._chunks = iter(chunks)
        self._data = b""
        self._position = 0
        self._left = 0  # of the message, after the current position
        self._prefix = b""

    def groups(self) -> Iterator[list[bytes]]:
        """Yield the objects in groups. Raises DecodeError if this is not a list, or if it is incomplete."""
        self._read_start()
        while self._left:
            if group := self._split():
                yield group
            elif self._left and not self._read_more():
                raise _truncated()
        while self._read_more():
            pass
        self._check_end(self._data[self._position :])

    def _read_start(self) -> None:
        """Read the kind of the list and the length of its message."""
        while len(self._data) < _HEAD and self._read_more():
            pass
        data = self._data
        try:
            if not data.startswith(MAGIC):
                raise DecodeError("it is not a protobuf message of Kubernetes", object_name="a list")
            key, position = read_varint(data, len(MAGIC))
            if key == _METADATA:
                position = read_length(data, position, len(data))[1]
            kind = open_envelope(data[:position])
            key, position = read_varint(data, position)
            size, self._position = read_varint(data, position)
        except IndexError:
            raise _truncated() from None
        self.api_version, self.kind = kind.api_version, kind.kind
        item = self.kind.removesuffix(_SUFFIX)
        if not item or item == self.kind or key != _ITEM:
            # Taking an error or a single object for an empty list would clear the cache.
            raise DecodeError(f"expected a list, got {self.kind or 'something'}", object_name="a list")
        self._left = size
        self._prefix = envelope_head(self.api_version, item)

    def _split(self) -> list[bytes]:
        """Return the objects that are complete, up to the size of a group."""
        data, position, prefix = self._data, self._position, self._prefix
        end = min(len(data), position + self._left)
        begin, stop = position, min(end, position + _GROUP)
        group: list[bytes] = []
        try:
            while position < stop:
                if data[position] != _ITEM:
                    position = self._read_other(data, position, end)
                    continue
                size = data[position + 1]
                after = position + 2 + size
                if size > 127:
                    size, after = read_varint(data, position + 1)
                    after += size
                if after > end:
                    break
                group.append(prefix + data[position:after])
                position = after
        except (IndexError, _IncompleteError):
            pass
        if position == begin and end - begin == self._left:
            raise _truncated()  # the rest of the message is here, and the next field has another length
        self._left -= position - begin
        self._position = position
        return group

    def _read_other(self, data: bytes, position: int, end: int) -> int:
        """Read a field that is not an object; return the position after it."""
        key, after = read_varint(data, position)
        if key != _METADATA:
            try:
                return skip_field(data, after, end, key, self.kind, {2: "Items"})
            except DecodeError as error:
                if error.message == truncated().message:
                    raise _IncompleteError from None
                raise DecodeError(error.message, object_name="a list") from None
        size, start = read_varint(data, after)
        if start + size > end:
            raise _IncompleteError
        try:
            found = message("meta_v1.ListMeta").decode(data, start, start + size, 0, [MAX_MESSAGES])
        except (IndexError, DecodeError):
            raise DecodeError("its metadata cannot be decoded", object_name="a list", field="metadata") from None
        assert isinstance(found, dict)
        self.metadata = found
        return start + size

    def _check_end(self, rest: bytes) -> None:
        """Check the fields behind the message, which are empty; a second message would replace the first one."""
        position = 0
        try:
            while position < len(rest):
                key, position = read_varint(rest, position)
                position = skip_field(rest, position, len(rest), key, "Unknown", {1: "TypeMeta", 2: "Raw"})
        except IndexError:
            raise _truncated() from None
        except DecodeError as error:
            raise DecodeError(error.message, object_name="a list") from None

    def _read_more(self) -> bool:
        """Read chunks that together have the size of a group, or of the data that is incomplete."""
        rest = self._data[self._position :]
        pieces, size = [rest], 0
        for chunk in self._chunks:
            pieces.append(chunk)
            size += len(chunk)
            if size >= max(_GROUP, len(rest)):
                break
        self._data, self._position = b"".join(pieces), 0
        return size > 0


class _IncompleteError(Exception):
    """A field continues in the next chunk."""


def _truncated() -> DecodeError:
    return DecodeError("it is truncated", object_name="a list")
