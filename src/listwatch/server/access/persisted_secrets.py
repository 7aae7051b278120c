"""Secrets in the data directory, so that a restarted server has the same token and certificate authority."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from listwatch.atomic_file import replace_file
from listwatch.errors import ConfigError

__all__ = ["read_or_create"]


def read_or_create(folder: str | os.PathLike[str], name: str, make: Callable[[], bytes]) -> bytes:
    """Return the content of a file; a missing file is created, readable by its owner only."""
    file = Path(folder, name)
    try:
        if file.exists():
            return file.read_bytes()
        content = make()
        replace_file(file, content)
    except OSError as error:
        raise ConfigError(f"cannot be read or created: {error.strerror}", file=str(file)) from None
    return content
