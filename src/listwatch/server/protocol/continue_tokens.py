"""Continue tokens, which clients send back to get the next page of a list. `list_options` reads them from requests."""

from __future__ import annotations

import base64
import string
from posixpath import normpath

import msgspec

from listwatch.errors import BadRequestError, DecodeError
from listwatch.json_value import JSON, JSONObject
from listwatch.meta import ObjectKey
from listwatch.server.codec.decoding import parse_json
from listwatch.server.codec.scalars import json_type

_TOKEN_VERSION = "meta.k8s.io/v1"
_INVALID_TOKEN = "invalid continue token: continue key is not valid"


_ALPHABET = frozenset(string.ascii_letters + string.digits + "-_")
_GO_TYPES = {"v": "string", "rv": "int64", "start": "string"}


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""


def write_continue(last: ObjectKey, revision: int | None, namespace: str) -> str:
    """Encode the token of the page after an object; without a revision, it is read at the latest one."""
    path = last.name if namespace else str(last)
    # The smallest key after it in etcd, as kube-apiserver writes it.
    token = _Token(_TOKEN_VERSION, -1 if revision is None else revision, f"/{path}\0")
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).rstrip(b"=").decode()


def read_continue(text: str, namespace: str) -> tuple[int | None, ObjectKey]:
    """Decode a token to its revision, None for the latest, and the key after which the list continues."""
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
        tree = parse_json(_decode_base64(text), find_duplicates=False)
        if not isinstance(tree, dict | None):
            raise DecodeError(f"json: cannot unmarshal {json_type(tree)} into Go value of type storage.continueToken")
        members = {name: _member(tree or {}, name) for name in _GO_TYPES}
        return msgspec.convert({name: value for name, value in members.items() if value is not None}, _Token)
    except DecodeError as error:
        raise BadRequestError(f"{_INVALID_TOKEN}: {error.message}") from None


def _decode_base64(text: str) -> bytes:
    wrong = next((place for place, character in enumerate(text) if character not in _ALPHABET), None)
    if wrong is None and len(text) % 4 == 1:
        wrong = len(text) - 1
    if wrong is not None:
        raise DecodeError(f"illegal base64 data at input byte {len(text[:wrong].encode())}")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _member(tree: JSONObject, name: str) -> JSON:
    value, go_type = tree.get(name), _GO_TYPES[name]
    if value is not None and type(value) is not (int if go_type == "int64" else str):
        mismatch = f"{json_type(value)} into Go struct field continueToken.{name} of type {go_type}"
        raise DecodeError(f"json: cannot unmarshal {mismatch}")
    return value


def _key(path: str, namespace: str) -> ObjectKey:
    if namespace:
        return ObjectKey(namespace, path)
    first, _, name = path.rpartition("/")
    return ObjectKey(first, name)
