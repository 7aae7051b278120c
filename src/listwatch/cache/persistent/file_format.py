"""The blocks of a cache file: encoding, decoding, checksums.

    file     MAGIC, one HEAD, then any number of DICT, RECS and MARK blocks
    HEAD     the format, and the key: what the file is a cache of
    DICT     a dictionary of compressed objects
    RECS     objects that were stored or removed: their heads, then their blobs
    MARK     the version that the store has reached with all records before it

A block is a tag, the sizes of its head and of its blobs, a checksum of all that, and both. A block without a checksum
that matches was not written completely. Records count from the next mark on: without one, they are a part of a change.
Each blob has a checksum of its own, so that the blobs need not be read to recover the contents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from struct import Struct as Layout
from typing import Annotated, NamedTuple
from zlib import crc32

import msgspec

from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry
from listwatch.errors import DecodeError

__all__ = [
    "DICTIONARY",
    "FORMAT",
    "HEADER",
    "MAGIC",
    "MARK",
    "RECORDS",
    "Block",
    "EncodedRecords",
    "FileHeader",
    "Mark",
    "Records",
    "StoredDictionary",
    "chunks",
    "decode",
    "encode_dictionary",
    "encode_header",
    "encode_mark",
    "encode_records",
    "read_blob",
    "read_block",
]

FORMAT = 2
"""Raised with every change of this module that changes the meaning of a file; other files are discarded."""
MAGIC = b"listwatch cache\n"

HEADER, DICTIONARY, RECORDS, MARK = b"HEAD", b"DICT", b"RECS", b"MARK"

_BLOCK = Layout("<4sIII")  # tag, size of the head, size of the blobs, checksum
_BLOB = Layout("<II")  # checksum, size
_MAX_HEAD = 2**28
_MIN_BLOB = 2
"""A blob has the number of its dictionary. Zeros, which a failed disk may leave, would else be a blob of no bytes."""


class FileHeader(msgspec.Struct, array_like=True):
    """What a file is a cache of."""

    format: int
    key: dict[str, str]


class StoredDictionary(msgspec.Struct, array_like=True):
    """A dictionary, and the number by which blobs name it."""

    number: Annotated[int, msgspec.Meta(ge=1, lt=2**16)]
    content: Annotated[bytes, msgspec.Meta(max_length=2**20)]
    is_trained: bool
    level: Annotated[int, msgspec.Meta(ge=0, le=3)]
    ratio: float


class Records(msgspec.Struct, array_like=True):
    """Objects that were stored, and the keys of those that were removed.

    An entry has the number of its labels instead of these, and the position of its blob behind those of the heads.
    """

    labels: list[bytes]
    entries: list[Entry]
    removed: list[str]


class Mark(msgspec.Struct, array_like=True, frozen=True):
    """The version that the store had reached, when that was, and the uid of the server's cluster, if it is known."""

    resource_version: str
    saved_at: float
    """Seconds since the epoch."""
    server_uid: str = ""


class EncodedRecords(NamedTuple):
    """A block, and the position of each blob in it."""

    content: bytes
    offsets: list[int]


class Block(NamedTuple):
    """A block of a file: its tag, its head, and the positions of its blobs and of its end."""

    tag: bytes
    head: bytes
    blobs: int
    end: int


# --- Writing ----------------------------------------------------------------------------------------------------------


def encode_header(key: Mapping[str, str]) -> bytes:
    """Return the beginning of a file."""
    return MAGIC + _block(HEADER, FileHeader(FORMAT, dict(key)))


def encode_dictionary(number: int, dictionary: Dictionary) -> bytes:
    stored = StoredDictionary(number, dictionary.content, dictionary.is_trained, dictionary.level, dictionary.ratio)
    return _block(DICTIONARY, stored)


def encode_mark(mark: Mark) -> bytes:
    return _block(MARK, mark)


def encode_records(stored: Sequence[tuple[Entry, bytes]], removed: Sequence[str]) -> EncodedRecords:
    """Return a block with these objects: their heads are those of entries, their blobs are given."""
    numbers: dict[bytes, int] = {}
    heads: list[tuple[str, str, str, str, int, int, int]] = []  # the fields of an entry, without its instance
    blobs: list[bytes] = []
    offsets: list[int] = []
    offset = 0
    for entry, blob in stored:
        raw = entry.shared_labels.raw
        number = numbers.setdefault(raw, len(numbers))
        heads.append((entry.name, entry.namespace, entry.uid, entry.resource_version, number, offset, entry.size))
        blobs += (_BLOB.pack(crc32(blob), len(blob)), blob)
        offsets.append(offset)
        offset += _BLOB.size + len(blob)
    head = msgspec.msgpack.encode(([*numbers], heads, [*removed]))
    start = _BLOCK.size + len(head)
    content = b"".join([_prefix(RECORDS, head, offset), head, *blobs])
    return EncodedRecords(content, [start + each for each in offsets])


def _block(tag: bytes, value: msgspec.Struct) -> bytes:
    head = msgspec.msgpack.encode(value)
    return _prefix(tag, head, 0) + head


def _prefix(tag: bytes, head: bytes, blobs: int) -> bytes:
    return _BLOCK.pack(tag, len(head), blobs, _checksum(tag, head, blobs))


def _checksum(tag: bytes, head: bytes, blobs: int) -> int:
    return crc32(head, crc32(b"%b %d %d" % (tag, len(head), blobs)))


# --- Reading ----------------------------------------------------------------------------------------------------------


def read_block(content: bytes | memoryview, start: int, size: int) -> Block | None:
    """Return the block at a position of a file of this size; None if there is no complete one."""
    if start + _BLOCK.size > size:
        return None
    tag, length, blobs, checksum = _BLOCK.unpack_from(content, start)
    head_start = start + _BLOCK.size
    end = head_start + length + blobs
    if length > _MAX_HEAD or end > size:
        return None
    head = bytes(content[head_start : head_start + length])
    return Block(tag, head, head_start + length, end) if _checksum(tag, head, blobs) == checksum else None


def read_blob(content: bytes | memoryview, offset: int, size: int) -> bytes:
    """Return the blob at a position of a file of this size; raises DecodeError if it is damaged."""
    start = offset + _BLOB.size
    if start <= size:
        checksum, length = _BLOB.unpack_from(content, offset)
        blob = bytes(content[start : start + length])
        if len(blob) == length >= _MIN_BLOB and crc32(blob) == checksum:
            return blob
    raise DecodeError("its bytes in the cache file are damaged")


_T = FileHeader | StoredDictionary | Records | Mark
_DECODERS: Mapping[type[_T], msgspec.msgpack.Decoder[_T]] = {
    each: msgspec.msgpack.Decoder(each) for each in (FileHeader, StoredDictionary, Records, Mark)
}


def decode(head: bytes, kind: type[_T]) -> _T:
    """Return the value of a block; raises DecodeError if it has another form."""
    try:
        return _DECODERS[kind].decode(head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(f"a block of the cache file has another form: {error}") from None


def chunks(stored: Iterable[tuple[Entry, bytes]], *, count: int, size: int) -> Iterable[list[tuple[Entry, bytes]]]:
    """Yield objects in lists for one block each, of at most so many objects and about so many bytes."""
    part: list[tuple[Entry, bytes]] = []
    total = 0
    for each in stored:
        part.append(each)
        total += len(each[1])
        if len(part) >= count or total >= size:
            yield part
            part, total = [], 0
    if part:
        yield part
