"""Decides what of an archive is extracted, and where: an archive of a container is not trusted.

A member stays below the target: absolute paths and `..` are refused. Devices, pipes and symbolic links that lead out of
the target are skipped. `archives.py` reads and writes files.
"""

from __future__ import annotations

import posixpath
import tarfile
from dataclasses import dataclass
from typing import Literal

from listwatch.errors import UnsafeArchiveError

__all__ = ["Member", "MemberHeader", "plan_member", "safe_mode", "split_remote_path"]

_MAX_HEADER = 2**20  # of long names and extended attributes, which are read at once
_MAX_NAME = 4096
_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class MemberHeader(tarfile.TarInfo):
    """A header that refuses extensions which would take too much memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> MemberHeader:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _HEADERS and header.size > _MAX_HEADER:
            raise UnsafeArchiveError(f"the archive has a header of {header.size:,} bytes")
        return header


@dataclass(frozen=True, slots=True)
class Member:
    """What to do with a member of an archive. `path` has the parts of its path below the target."""

    action: Literal["file", "directory", "symlink", "hardlink", "skip"]
    path: tuple[str, ...]
    link: str = ""
    """The text of a symbolic link, or the path of a hard link below the target."""
    reason: str = ""


def split_remote_path(path: str) -> tuple[str, str]:
    """Return the directory and the last part of a path in a container; the last part of `/` is a dot."""
    folder, base = posixpath.split(posixpath.normpath(path))
    if base in ("", ".", ".."):
        return posixpath.normpath(path), "."
    return folder or ".", base


def safe_mode(header: tarfile.TarInfo) -> int:
    """Return the permissions of a member, without setuid, setgid and sticky bits; its owner can always read it."""
    mode = header.mode & 0o777
    return mode | (0o700 if header.isdir() else 0o400)


def plan_member(header: tarfile.TarInfo, base: str) -> Member:
    """Decide what to do with a member of the archive of `base`. Raises UnsafeArchiveError."""
    path = _below(header.name, base)
    if header.isdir():
        return Member("directory", path)
    if header.isreg():  # also sparse files
        return Member("file", path)
    if header.islnk():
        return Member("hardlink", path, link="/".join(_below(header.linkname, base)))
    if header.issym():
        if _escapes(path, header.linkname):
            return Member("skip", path, reason="the symbolic link leads out of the target")
        return Member("symlink", path, link=header.linkname)
    return Member("skip", path, reason="it is no file, directory or link")


def _below(name: str, base: str) -> tuple[str, ...]:
    """Return the parts of a path below the base, without it."""
    parts = [each for each in name.split("/") if each not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\0" in name or len(name) > _MAX_NAME:
        raise UnsafeArchiveError(f"the archive has the path {name!r:.200}, which is not below the copied path")
    if base == ".":
        return tuple(parts)
    if not parts or parts[0] != base:
        raise UnsafeArchiveError(f"the archive has the path {name!r:.200}, which is not below {base!r:.200}")
    return tuple(parts[1:])


def _escapes(path: tuple[str, ...], target: str) -> bool:
    """Whether a symbolic link at a path below the target leads out of the target."""
    if not path or target.startswith("/") or "\0" in target:
        return True
    depth = len(path) - 1
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False
