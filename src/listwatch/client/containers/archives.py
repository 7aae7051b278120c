"""Packs local files into an archive, and extracts one, in a thread: reading and writing files blocks.

`archive_paths.py` decides what is extracted. Symbolic links are created after all files, so that no file is written
through one of them, and links that exist are replaced, never followed.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from listwatch.client.containers.archive_paths import Member, MemberHeader, plan_member, safe_mode
from listwatch.errors import ResponseTooLargeError, UnsafeArchiveError

__all__ = ["CopyResult", "Extraction", "PullStream", "PushStream", "pack"]

_BLOCK = 2**16


@dataclass(slots=True)
class CopyResult:
    """What was copied, and what was skipped with its reason."""

    files: int = 0
    size: int = 0
    """Bytes of all files."""
    skipped: dict[str, str] = field(default_factory=dict)
    """The paths that were not copied, with reasons: devices, and links that lead out of the target."""


class PushStream(io.RawIOBase):
    """A file whose writes call a function."""

    def __init__(self, push: Callable[[bytes], None]) -> None:
        super().__init__()
        self._push = push

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        octets = bytes(data)  # type: ignore[call-overload]  # a buffer; the type exists since Python 3.12
        self._push(octets)
        return len(octets)


class PullStream(io.RawIOBase):
    """A file whose reads call a function, which returns b"" at the end."""

    def __init__(self, pull: Callable[[], bytes]) -> None:
        super().__init__()
        self._pull = pull
        self._left = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = bytearray(self._left)
        while size < 0 or len(found) < size:
            piece = self._pull()
            if not piece:
                break
            found += piece
        self._left = bytes(found[size:]) if size >= 0 else b""
        return bytes(found[:size] if size >= 0 else found)


def pack(source: Path, name: str, push: Callable[[bytes], None]) -> CopyResult:
    """Write a file or a directory as an archive whose members are below `name`."""
    result = CopyResult()

    def select(header: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (header.isreg() or header.isdir() or header.issym() or header.islnk()):
            result.skipped[header.name] = "it is no file, directory or link"
            return None
        header.uid = header.gid = 0
        header.uname = header.gname = ""
        result.files += header.isreg() or header.islnk()
        result.size += header.size
        return header

    with tarfile.open(fileobj=PushStream(push), mode="w|", bufsize=_BLOCK, format=tarfile.GNU_FORMAT) as archive:
        archive.add(source, arcname=name, filter=select)
    return result


class Extraction:
    """Extracts the archive of one file or directory to a local path."""

    def __init__(self, base: str, target: Path, *, max_size: int | None) -> None:
        self._base = base
        self._target = target
        self._max_size = max_size
        self._links: list[Member] = []
        self.result = CopyResult()

    def run(self, pull: Callable[[], bytes]) -> None:
        """Extract everything. Raises UnsafeArchiveError, tarfile.TarError or OSError."""
        stream = PullStream(pull)
        with tarfile.open(fileobj=stream, mode="r|", bufsize=_BLOCK, tarinfo=MemberHeader) as archive:
            for header in archive:
                self._extract(archive, header)
                archive.members.clear()  # type: ignore[attr-defined]  # undocumented; it would keep all headers
        while pull():
            pass  # padding; the command ends when all of its output was read
        self._create_links()

    def _create_links(self) -> None:
        created = []
        for member in self._links:
            path = self._path(member)
            if path.is_dir() and not path.is_symlink():
                raise UnsafeArchiveError(f"{path} is a directory, and the archive has a link of that name")
            _remove_file(path)
            path.symlink_to(member.link)
            created.append((member, path))
        # A link through other links can lead out of the target, although its text does not show it.
        root = os.path.realpath(self._target)
        for member, path in created:
            if os.path.commonpath((root, os.path.realpath(path))) != root:
                path.unlink()
                self.result.skipped["/".join(member.path)] = "the symbolic link leads out of the target"

    def _extract(self, archive: tarfile.TarFile, header: tarfile.TarInfo) -> None:
        member = plan_member(header, self._base)
        match member.action:
            case "directory":
                path = self._path(member)
                if path.is_symlink() or (path.exists() and not path.is_dir()):
                    _remove_file(path)
                path.mkdir(mode=safe_mode(header), exist_ok=True)
            case "file":
                content = archive.extractfile(header)
                assert content is not None  # it is a regular file
                self._write(self._path(member), content, safe_mode(header))
            case "hardlink":
                original = self._path(Member("file", tuple(member.link.split("/"))))
                if original.is_symlink() or not original.is_file():
                    raise UnsafeArchiveError(f"the archive has a link to {member.link!r:.200}, which it does not have")
                with original.open("rb") as content:
                    self._write(self._path(member), content, original.stat().st_mode & 0o777)
            case "symlink":
                self._links.append(member)
            case "skip":
                self.result.skipped["/".join(member.path) or self._base] = member.reason

    def _path(self, member: Member) -> Path:
        """Return the local path of a member; its directories exist, and none of them is a link."""
        if not member.path:
            is_file_into_folder = member.action != "directory" and self._target.is_dir()
            return self._target / self._base if is_file_into_folder else self._target
        folder = self._target
        folder.mkdir(exist_ok=True)
        for part in member.path[:-1]:
            folder = folder / part
            if folder.is_symlink():
                raise UnsafeArchiveError(f"{folder} is a symbolic link; remove it, or copy to another directory")
            folder.mkdir(exist_ok=True)
        return folder / member.path[-1]

    def _write(self, path: Path, content: IO[bytes], mode: int) -> None:
        if path.is_dir() and not path.is_symlink():
            raise UnsafeArchiveError(f"{path} is a directory, and the archive has a file of that name")
        _remove_file(path)
        # Exclusive: nothing that appears meanwhile is followed or overwritten.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(content, _Counted(file, self._count), _BLOCK)
        self.result.files += 1

    def _count(self, size: int) -> None:
        self.result.size += size
        if self._max_size is not None and self.result.size > self._max_size:
            raise ResponseTooLargeError(f"the files have more than {self._max_size:,} bytes; pass a larger max_size")


class _Counted:
    """A file that counts what is written to it."""

    def __init__(self, file: io.BufferedWriter, count: Callable[[int], None]) -> None:
        self._file = file
        self._count = count

    def write(self, data: bytes) -> int:
        self._count(len(data))
        return self._file.write(data)


def _remove_file(path: Path) -> None:
    if path.is_symlink() or path.exists():
        path.unlink()
