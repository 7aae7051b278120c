"""Secrets that a data directory keeps, so that those who knew a server know it again after a restart."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from listwatch.errors import ConfigError

__all__ = ["kept_file"]


def kept_file(folder: str | os.PathLike[str], name: str, make: Callable[[], bytes]) -> bytes:
    """What the file says; makes it, for its owner's eyes only, if it is not there."""
    file = Path(folder, name)
    try:
        if file.exists():
            return file.read_bytes()
        content = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        # Never there by halves: a server that is killed meanwhile must find all of it or nothing.
        part = file.with_name(f".{name}.part")
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        part.write_bytes(content)
        part.replace(file)
    except OSError as error:
        raise ConfigError(f"cannot be used: {error.strerror}", file=str(file)) from None
    return content
