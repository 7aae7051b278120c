"""Continue tokens: what a client brings back to get the next page of a list. `list_options` finds them in requests."""

from __future__ import annotations

import base64
import binascii
from posixpath import normpath

import msgspec

from listwatch.errors import BadRequestError
from listwatch.meta import ObjectKey

_TOKEN_VERSION = "meta.k8s.io/v1"
_INVALID_TOKEN = "invalid continue token: continue key is not valid"


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


def write_continue(last: ObjectKey, revision: int | None, namespace: str) -> str:
    """The token for what comes after an object in a list of a namespace, or of all; without a revision, as of then."""
    path = last.name if namespace else str(last)
    # The next key that there could be, as etcd counts: what the real server writes, and clients never look at.
    token = _Token(_TOKEN_VERSION, -1 if revision is None else revision, f"/{path}\0")
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).rstrip(b"=").decode()


def read_continue(text: str, namespace: str) -> tuple[int | None, ObjectKey]:
    """The revision, None for the latest, and the object after which the list goes on."""
    token = _decode_token(text)
    if token.v != _TOKEN_VERSION:
        raise BadRequestError(f"{_INVALID_TOKEN}: server does not recognize this encoded version {token.v}")
    if token.rv == 0:
        raise BadRequestError(f"{_INVALID_TOKEN}: incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not token.start:
        raise BadRequestError(f"{_INVALID_TOKEN}: encoded start key empty (version {_TOKEN_VERSION})")
    path = "/" + token.start.removeprefix("/")
    if normpath(path) != path:
        raise BadRequestError(f"{_INVALID_TOKEN}: {token.start}")
    return (token.rv if token.rv > 0 else None), _key(path[1:].removesuffix("\0"), namespace)


def _decode_token(text: str) -> _Token:
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        decoded = base64.b64decode(padded, altchars=b"-_", validate=True)
        return msgspec.json.decode(decoded, type=_Token)
    except (UnicodeEncodeError, binascii.Error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequestError(f"{_INVALID_TOKEN}: {error}") from None


def _key(path: str, namespace: str) -> ObjectKey:
    if namespace:
        return ObjectKey(namespace, path)
    first, _, name = path.rpartition("/")
    return ObjectKey(first, name)
