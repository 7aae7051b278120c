"""Secrets in the data directory, so that a restarted server has the same token and certificate authority."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from listwatch.atomic_file import replace_file
from listwatch.errors import ConfigError

__all__ = ["checked_token", "read_or_create", "read_or_create_token"]

_TOKEN_FILE = "token"


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


def read_or_create_token(folder: str | os.PathLike[str], make: Callable[[], str]) -> str:
    """Return the token in a file of the folder; a missing file is created."""
    content = read_or_create(folder, _TOKEN_FILE, lambda: make().encode())
    where = os.path.join(folder, _TOKEN_FILE)
    try:
        return checked_token(content.decode(errors="replace"), where)
    except ConfigError as error:
        raise ConfigError(f"{error}; restore the file, or delete it to generate another token") from None


def checked_token(text: str, where: str) -> str:
    """Return a token without surrounding white space; raises ConfigError, which does not contain the token."""
    token = text.strip()
    if not token:
        raise ConfigError(f"{where} is empty; it has to contain a token")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise ConfigError(f"{where} does not contain a single token of printable ASCII characters")
    return token
