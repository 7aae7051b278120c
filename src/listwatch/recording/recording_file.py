"""The file of a recording: members of gzip, each with whole records, appended one after the other.

A recorder that is killed loses what it has not written, and a later one removes the incomplete member before it
appends. All functions block.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from listwatch.errors import ConfigError, DecodeError
from listwatch.recording.records import FORMAT, Entry, Start, decode_records

__all__ = ["RecordingWriter", "Scan", "read_entries", "scan_recording"]

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_OWNER_ONLY = 0o600
_LEVEL = 1  # a tenth larger than level 3, in two thirds of the time
_GZIP = 31  # the window of zlib, with the header and the checksum of gzip
_GZIP_MAGIC = b"\x1f\x8b"
_READ_SIZE = 1 << 18
_MAX_MEMBER = 1 << 28
"""The largest decompressed member in bytes: recorders write a megabyte, or one body that is larger."""


# --- Writing ----------------------------------------------------------------------------------------------------------


class RecordingWriter:
    """Appends members to a file that only its owner can read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.size = 0
        self._descriptor: int | None = None

    def open(self) -> None:
        """Open or create the file, and remove an incomplete member at its end; raises ConfigError."""
        try:
            descriptor = os.open(self.file, _FLAGS, _OWNER_ONLY)
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise self._unusable("cannot be written: it is not a regular file")
            self._lock(descriptor)
            if os.fstat(descriptor).st_size:
                self.size = scan_recording(self.file).end
                os.ftruncate(descriptor, self.size)
                os.lseek(descriptor, self.size, os.SEEK_SET)
            os.fchmod(descriptor, _OWNER_ONLY)  # not of a file that is no recording
        except OSError as error:
            os.close(descriptor)
            raise self._unusable(f"cannot be written: {error.strerror}") from None
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _lock(self, descriptor: int) -> None:
        try:
            import fcntl
        except ImportError:
            return  # Windows
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._unusable("is written by another recorder; share one Recorder, or use another file") from None

    def append(self, content: bytes, *, max_size: int) -> bool:
        """Write a member, unless the file would be too large; after an OSError, the file is as before."""
        assert self._descriptor is not None
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        left = memoryview(compressor.compress(content) + compressor.flush())
        size = len(left)
        if self.size + size > max_size:
            return False
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
                os.lseek(self._descriptor, self.size, os.SEEK_SET)
            raise
        self.size += size
        return True

    def close(self) -> None:
        """Wait until the file is on the disk, and close it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.fsync(descriptor)
            os.close(descriptor)

    def _unusable(self, reason: str) -> ConfigError:
        return ConfigError(f"the recording {reason}", file=str(self.file))


# --- Reading ----------------------------------------------------------------------------------------------------------


class _Member(NamedTuple):
    content: bytes
    end: int
    """The position in the file after it."""


class Scan(NamedTuple):
    """The part of a file that can be read, and why the rest cannot; empty if all of it can."""

    end: int
    size: int
    problem: str


def read_entries(file: str | os.PathLike[str], *, end: int | None = None) -> Iterator[Entry]:
    """Yield the records of a recording up to a position of the file; raises ConfigError.

    It ends without an error at a member that is damaged or incomplete.
    """
    try:
        with open(file, "rb") as opened:
            for member in _checked(_members(opened, file), file):
                if end is not None and member.end > end:
                    return
                yield from decode_records(member.content)
    except OSError as error:
        raise ConfigError(f"the recording cannot be read: {error.strerror}", file=os.fspath(file)) from None
    except (zlib.error, EOFError, DecodeError):
        return


def scan_recording(file: str | os.PathLike[str]) -> Scan:
    """Find the end of the readable part of a recording; raises ConfigError if there is none."""
    end, problem = 0, ""
    try:
        with open(file, "rb") as opened:
            try:
                for member in _checked(_members(opened, file), file):
                    for _ in decode_records(member.content):
                        pass
                    end = member.end
            except EOFError:
                problem = "its last part is incomplete"
            except (zlib.error, DecodeError):
                problem = f"it is damaged after byte {end}"
            size = os.fstat(opened.fileno()).st_size
    except OSError as error:
        raise ConfigError(f"the recording cannot be read: {error.strerror}", file=os.fspath(file)) from None
    if not end:
        raise ConfigError(f"the recording cannot be used: {problem or 'it is empty'}", file=os.fspath(file))
    return Scan(end, size, problem)


def _checked(members: Iterator[_Member], file: str | os.PathLike[str]) -> Iterator[_Member]:
    """Pass on the members of a recording in a format that can be read; raises ConfigError."""
    for number, member in enumerate(members):
        if number == 0 or member.content.startswith(b'{"type":"start"'):
            try:
                first = next(decode_records(member.content), None)
            except DecodeError:
                first = None
            if first is None or not isinstance(first.record, Start):
                raise _foreign(file)
            if first.record.format > FORMAT:
                raise ConfigError(
                    f"the recording has format {first.record.format}, written by listwatch {first.record.version}, and "
                    f"this version of listwatch reads format {FORMAT}; install a newer version",
                    file=os.fspath(file),
                )
        yield member


def _members(opened: BinaryIO, file: str | os.PathLike[str]) -> Iterator[_Member]:
    """Yield the members; raises zlib.error at a damaged one, and EOFError at an incomplete one."""
    position, pending = 0, b""
    while pending := pending or opened.read(_READ_SIZE):
        if len(pending) < len(_GZIP_MAGIC):
            pending += opened.read(_READ_SIZE)
        if not pending.startswith(_GZIP_MAGIC):
            if position == 0:
                raise _foreign(file)
            raise zlib.error("no header of a member")
        decompressor = zlib.decompressobj(_GZIP)
        parts, size = [], 0
        while True:
            position += len(pending)
            parts.append(decompressor.decompress(pending, _MAX_MEMBER - size + 1))
            size += len(parts[-1])
            if size > _MAX_MEMBER:
                raise zlib.error("a member is too large")
            if decompressor.eof:
                break
            pending = opened.read(_READ_SIZE)
            if not pending:
                raise EOFError
        pending = decompressor.unused_data
        position -= len(pending)
        yield _Member(b"".join(parts), position)


def _foreign(file: str | os.PathLike[str]) -> ConfigError:
    return ConfigError("the file is not a recording of listwatch", file=os.fspath(file))
