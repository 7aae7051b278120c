"""Reads bearer tokens from files that the kubelet or another program rotates."""

from __future__ import annotations

from pathlib import Path

from listwatch.client.config.client_config import is_header_value
from listwatch.errors import CredentialError

__all__ = ["read_token_file"]


def read_token_file(path: str) -> str:
    """Return the token in a file, stripped of white space; CredentialError if there is none."""
    try:
        token = Path(path).read_bytes().strip().decode("ascii", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is invalid"
        raise CredentialError(f"the token cannot be read: {reason}", file=path, field="token_file") from None
    if not token:
        raise CredentialError("the file is empty", file=path, field="token_file")
    if not token.isascii() or not is_header_value(token):
        raise CredentialError("the file does not contain a single token", file=path, field="token_file")
    return token
