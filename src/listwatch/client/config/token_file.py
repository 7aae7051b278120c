"""Reads bearer tokens from files that the kubelet or another program rotates."""

from __future__ import annotations

from listwatch.client.config.bounded_files import read_regular_file
from listwatch.client.config.client_config import is_header_value
from listwatch.client.config.redaction import without_frames
from listwatch.errors import CredentialError

__all__ = ["read_token_file"]

_MAX_TOKEN_SIZE = 2**20


def read_token_file(path: str) -> str:
    """Return the token in a file, stripped of white space; CredentialError if there is none."""
    try:
        return _read(path)
    except CredentialError as error:
        problem = without_frames(error)
    raise problem


def _read(path: str) -> str:
    try:
        token = read_regular_file(path, max_size=_MAX_TOKEN_SIZE).strip().decode("ascii", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is invalid"
        raise CredentialError(f"the token cannot be read: {reason}", file=path, field="token_file") from None
    if not token:
        raise CredentialError("the file is empty", file=path, field="token_file")
    if not token.isascii() or not is_header_value(token):
        raise CredentialError("the file does not contain a single token", file=path, field="token_file")
    return token
