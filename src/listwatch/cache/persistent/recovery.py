"""Recovers the contents of a cache from the bytes of its file: those at the last mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import cast

from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry
from listwatch.cache.persistent.file_format import (
    DICTIONARY,
    FORMAT,
    HEADER,
    MAGIC,
    MARK,
    RECORDS,
    FileHeader,
    Mark,
    Records,
    StoredDictionary,
    decode,
    read_block,
)
from listwatch.errors import DecodeError, ListWatchError
from listwatch.objects.head import Labels, shared_labels

__all__ = ["RecoveredCache", "UnusableFileError", "recover"]

_EARLIEST, _LATEST = -62_135_596_800.0, 253_402_300_799.0
"""The times of the years 1 and 9999, which are those of Python's dates."""


class UnusableFileError(ListWatchError):
    """The contents of a cache file cannot be used; the message says why."""


@dataclass(slots=True)
class RecoveredCache:
    """The contents of a cache at a mark."""

    mark: Mark
    contents: dict[str, Entry] = field(default_factory=dict)
    """The objects by key. The blob of each is its position in the file."""
    dictionaries: dict[int, Dictionary] = field(default_factory=dict)
    records: int = 0
    """How many objects and removals the file contains, also those that later ones replace."""
    end: int = 0
    """The end of the last mark: what follows was not written completely."""


def recover(
    content: bytes | memoryview, size: int, key: Mapping[str, str], place: Callable[[int], int] = int
) -> RecoveredCache:
    """Return the contents of a file; raises UnusableFileError if it is not a file of this cache, or has no mark.

    The error has no message if nothing but the header was written: the program ended before it had synced.

    `place` returns what an entry stores for a position in the file; it increases with the position.
    """
    start = _check_header(content, size, key)
    found = RecoveredCache(Mark("", 0.0))
    pending: list[tuple[Records, int]] = []
    dictionaries: dict[int, Dictionary] = {}  # like records, they count with the next mark: the rest is cut off
    while (block := read_block(content, start, size)) is not None:
        try:
            if block.tag == RECORDS:
                pending.append((cast("Records", decode(block.head, Records)), block.blobs))
            elif block.tag == DICTIONARY:
                stored = cast("StoredDictionary", decode(block.head, StoredDictionary))
                dictionaries[stored.number] = Dictionary(stored.content, stored.is_trained, stored.level, stored.ratio)
            elif block.tag == MARK:
                mark = cast("Mark", decode(block.head, Mark))
                if not _EARLIEST <= mark.saved_at <= _LATEST:
                    break
                labels = [_labels_of(records) for records, _ in pending]
                for (records, blobs), of_entries in zip(pending, labels, strict=True):
                    _apply(records, blobs, of_entries, found, place)
                found.mark = mark
                found.dictionaries.update(dictionaries)
                pending, dictionaries, found.end = [], {}, block.end
            else:
                break
        except (DecodeError, IndexError):
            break  # the checksums match, so another program has written it
        start = block.end
    if not found.end:
        if size == start:
            raise UnusableFileError("")
        raise UnusableFileError("it contains no complete state")
    return found


def _check_header(content: bytes | memoryview, size: int, key: Mapping[str, str]) -> int:
    """Return the end of the header."""
    if not size:
        raise UnusableFileError("it is empty")
    if bytes(content[: len(MAGIC)]) != MAGIC:
        raise UnusableFileError("it is not a cache file")
    block = read_block(content, len(MAGIC), size)
    if block is None or block.tag != HEADER:
        raise UnusableFileError("its header is damaged")
    try:
        header = cast("FileHeader", decode(block.head, FileHeader))
    except DecodeError:
        raise UnusableFileError("its header has another form") from None
    if header.format != FORMAT:
        age = "a newer" if header.format > FORMAT else "an older"
        raise UnusableFileError(f"it was written by {age} version of listwatch (format {header.format}, not {FORMAT})")
    if header.key != key:
        names = sorted(name for name in {*key, *header.key} if key.get(name) != header.key.get(name))
        raise UnusableFileError(f"it is a cache of something else: {', '.join(names)} differ")
    return block.end


def _labels_of(records: Records) -> list[Labels]:
    """Return the labels of each entry; raises IndexError if there are none with its number."""
    labels: list[Labels] = [shared_labels(raw) for raw in records.labels]
    return [labels[each.shared_labels] for each in records.entries]  # type: ignore[call-overload]  # see `Records`


def _apply(
    records: Records, blobs: int, labels: list[Labels], found: RecoveredCache, place: Callable[[int], int]
) -> None:
    contents = found.contents
    for removed in records.removed:
        contents.pop(removed, None)
    first = place(blobs)
    namespace = ""
    for entry, of_entry in zip(records.entries, labels, strict=True):
        entry.shared_labels = of_entry
        entry.blob += first  # type: ignore[operator]  # see `Records`
        if entry.namespace != namespace:
            namespace = intern(entry.namespace)
        entry.namespace = namespace
        contents[f"{namespace}/{entry.name}" if namespace else entry.name] = entry
    found.records += len(records.entries) + len(records.removed)
