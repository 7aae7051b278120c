"""A file that holds a bearer token, which somebody else replaces now and then. `auth` sends what it holds."""

from __future__ import annotations

from pathlib import Path

from listwatch.client.config.client_config import fits_header
from listwatch.errors import CredentialError

__all__ = ["read_token"]


def read_token(path: str) -> str:
    """The token, without the white space around it; a CredentialError says why there is none."""
    try:
        token = Path(path).read_bytes().strip().decode("ascii", "replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no path"
        raise CredentialError(f"the token cannot be read: {reason}", file=path, field="token_file") from None
    if not token:
        raise CredentialError("there is no token in it", file=path, field="token_file")
    if not token.isascii() or not fits_header(token):
        raise CredentialError("this is not one token, but something else", file=path, field="token_file")
    return token
