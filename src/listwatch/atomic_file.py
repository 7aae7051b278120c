"""Replaces files atomically: readers see the old or the new content, even if the program is killed meanwhile."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(file: Path, content: bytes) -> None:
    """Write a file that only its owner can read; missing directories are created. Raises OSError."""
    file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # readable by its owner only
    try:
        with open(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            # Otherwise a power failure may leave an empty file under the new name.
            os.fsync(descriptor)
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
