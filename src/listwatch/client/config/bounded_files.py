"""Reads the files of a configuration with a limit on their size; paths may also name pipes and devices."""

from __future__ import annotations

import errno
import os
import stat

__all__ = ["MAX_FILE_SIZE", "read_any_file", "read_regular_file"]

MAX_FILE_SIZE = 16 * 2**20
"""Bytes of a kubeconfig, and of a file with certificates or keys."""


def read_regular_file(path: str | os.PathLike[str], *, max_size: int = MAX_FILE_SIZE) -> bytes:
    """Return the contents of a regular file; OSError for any other, and for one that is too large.

    Reading a pipe again, on the event loop, could block forever.
    """
    return _read(path, os.O_NONBLOCK if hasattr(os, "O_NONBLOCK") else 0, max_size)


def read_any_file(path: str | os.PathLike[str], *, max_size: int = MAX_FILE_SIZE) -> bytes:
    """Return the contents of a file, a pipe such as that of `<(command)`, or a device; OSError if it is too large."""
    return _read(path, 0, max_size)


def _read(path: str | os.PathLike[str], flags: int, max_size: int) -> bytes:
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as file:
        if flags and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = file.read(max_size + 1)
    if len(content) > max_size:
        raise OSError(errno.EFBIG, f"it has more than {max_size:,} bytes")
    return content
