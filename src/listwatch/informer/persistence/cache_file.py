"""The file of a persistent cache: opened once, locked, appended to, and replaced when much of it is outdated.

    NAME.cache    the file; only its owner can read it
    NAME.lock     locked while a process uses the file
    NAME.new      the next file, while it is written

All functions block, so they are called in a thread. A process may be killed at any time: a file is complete up to its
last mark, and a new one takes the name of the old one when it is complete and on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from listwatch.cache.compact.dictionaries import Dictionary
from listwatch.cache.compact.entry import Entry
from listwatch.cache.persistent.file_format import Mark, chunks, encode_dictionary, encode_header, encode_mark
from listwatch.cache.persistent.file_format import encode_records as encode
from listwatch.cache.persistent.recovery import RecoveredCache, UnusableFileError, recover
from listwatch.errors import ListWatchError
from listwatch.informer.persistence.mapped_files import MappedFiles

__all__ = ["CacheFile", "CacheInUseError", "ChangedFileError"]

_CHUNK_RECORDS = 1000
_CHUNK_BYTES = 4 * 2**20
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OWNER_ONLY = 0o600


Dictionaries = Callable[[], Mapping[int, Dictionary]]
"""Returns the dictionaries in use, by number."""


class CacheInUseError(ListWatchError):
    """Another informer, or another process, uses the file."""


class ChangedFileError(ListWatchError):
    """Another program has changed or deleted the file while it is used."""


class CacheFile:
    """One file. After an OSError it is closed and not written any more; what was read from it stays readable."""

    def __init__(self, path: Path, key: Mapping[str, str], files: MappedFiles) -> None:
        self.path = path
        self.key = key
        self.files = files
        self.records = 0
        """How many objects and removals the file contains."""
        self._number = 0
        self._replaced = 0  # the file before this one, to which entries may still refer
        self._descriptor: int | None = None
        self._lock: int | None = None
        self._size = 0
        self._dictionaries: set[int] = set()  # those that the file contains

    @property
    def is_open(self) -> bool:
        return self._descriptor is not None

    # --- opening -------------------------------------------------------------------------------------------------

    def open(self) -> RecoveredCache | str:
        """Lock the file and return its contents, or why they cannot be used; "" if there was no file.

        Raises OSError, and CacheInUseError if the file is in use.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._take_lock()
        existed = self.path.exists()
        descriptor = self._descriptor = os.open(self.path, _FLAGS, _OWNER_ONLY)
        os.fchmod(descriptor, _OWNER_ONLY)
        if not existed:
            self._begin(descriptor)
            return ""
        self._number = self.files.add(descriptor)
        try:
            found = self._recover(descriptor)
        except UnusableFileError as error:
            self.discard()
            return str(error)
        self._size, self.records = found.end, found.records
        self._dictionaries = {*found.dictionaries}
        return found

    def _recover(self, descriptor: int) -> RecoveredCache:
        size = os.fstat(descriptor).st_size
        content = self.files.whole(self._number) if size else b""
        number, place = self._number, self.files.place
        found = recover(content, size, self.key, lambda offset: place(number, offset))
        del content
        if found.end < size:
            # Nothing after the last mark is read: blobs there are not part of the contents.
            os.ftruncate(descriptor, found.end)
            self.files.was_truncated(number)
        os.lseek(descriptor, 0, os.SEEK_END)
        return found

    def discard(self) -> None:
        """Replace a file that cannot be used by an empty one."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None
        self.files.forget(self._number)
        os.unlink(self.path)
        self._descriptor = os.open(self.path, _FLAGS | os.O_EXCL, _OWNER_ONLY)
        self._begin(self._descriptor)

    def _begin(self, descriptor: int) -> None:
        self._number = self.files.add(descriptor)
        self._size = _write(descriptor, encode_header(self.key))
        self._dictionaries = set()
        self.records = 0

    def _take_lock(self) -> None:
        import fcntl

        lock = os.open(self.path.with_suffix(".lock"), _FLAGS, _OWNER_ONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise CacheInUseError("it is in use by another informer or process") from None
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    # --- writing -------------------------------------------------------------------------------------------------

    def append(
        self,
        stored: Iterable[tuple[Entry, bytes]],
        removed: Sequence[str],
        mark: Mark,
        dictionaries: Dictionaries,
    ) -> list[int]:
        """Add changes and a mark; return the places of the blobs, in order."""
        assert self._descriptor is not None
        self._check_unchanged(self._descriptor)
        places = self._write_records(self._descriptor, stored, removed, dictionaries)
        self._size += _write(self._descriptor, encode_mark(mark))
        return places

    def rewrite(self, stored: Iterable[tuple[Entry, bytes]], mark: Mark, dictionaries: Dictionaries) -> list[int]:
        """Replace the file by one with exactly these objects; return the places of their blobs, in order."""
        if self._descriptor is not None:
            self._check_unchanged(self._descriptor)
        new = self.path.with_suffix(".new")
        with suppress(FileNotFoundError):
            os.unlink(new)
        descriptor = os.open(new, _FLAGS | os.O_EXCL, _OWNER_ONLY)
        previous, replaced = self._descriptor, self._number
        try:
            self._begin(descriptor)
            places = self._write_records(descriptor, stored, (), dictionaries)
            self._size += _write(descriptor, encode_mark(mark))
            os.fsync(descriptor)
            os.replace(new, self.path)
            self._sync_folder()
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                os.unlink(new)
            raise
        self._descriptor = descriptor
        if previous is not None:
            os.close(previous)
        self.files.forget(self._replaced)
        self._replaced = replaced
        return places

    def _check_unchanged(self, descriptor: int) -> None:
        """Raise ChangedFileError if another program has changed the file, or OSError if it was deleted."""
        opened, named = os.fstat(descriptor), os.stat(self.path, follow_symlinks=False)
        if (opened.st_ino, opened.st_dev) != (named.st_ino, named.st_dev):
            raise ChangedFileError("another file has its name")
        if opened.st_size != self._size:
            raise ChangedFileError(f"another program has changed its size from {self._size} to {opened.st_size} bytes")

    def _write_records(
        self,
        descriptor: int,
        stored: Iterable[tuple[Entry, bytes]],
        removed: Sequence[str],
        dictionaries: Dictionaries,
    ) -> list[int]:
        places: list[int] = []
        number, place = self._number, self.files.place
        if removed:
            self._size += _write(descriptor, encode((), removed).content)
        for part in chunks(stored, count=_CHUNK_RECORDS, size=_CHUNK_BYTES):
            self._write_dictionaries(descriptor, dictionaries())  # those that were in use when the part was packed
            encoded, start = encode(part, ()), self._size
            self._size += _write(descriptor, encoded.content)
            places += [place(number, start + offset) for offset in encoded.offsets]
        self.records += len(places) + len(removed)
        return places

    def _write_dictionaries(self, descriptor: int, dictionaries: Mapping[int, Dictionary]) -> None:
        for number in sorted(dictionaries.keys() - self._dictionaries):
            self._size += _write(descriptor, encode_dictionary(number, dictionaries[number]))
            self._dictionaries.add(number)

    def sync(self) -> None:
        """Wait until the file is on the disk."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Close and unlock the file. What was read from it stays readable."""
        descriptor, self._descriptor = self._descriptor, None
        lock, self._lock = self._lock, None
        for each in (descriptor, lock):
            if each is not None:
                os.close(each)

    def forget(self) -> None:
        """Release a closed file, to which no stored entry refers."""
        self.files.forget(self._number)
        self.files.forget(self._replaced)


def _write(descriptor: int, content: bytes) -> int:
    """Write all of it; return the size."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    return len(content)
