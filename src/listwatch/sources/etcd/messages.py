"""Requests and responses of etcd's JSON gateway as values.

The gateway sends bytes as base64, 64-bit numbers as strings, and leaves out everything that is zero, false or empty.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Annotated, TypeVar

import msgspec

from listwatch.errors import ProtocolError
from listwatch.json_value import JSONObject

__all__ = [
    "Authenticated",
    "DeletedRange",
    "Header",
    "KeyValueMessage",
    "LeaseGranted",
    "LeaseKeptAlive",
    "ListedRange",
    "ServerVersion",
    "TransactionResult",
    "WatchFrame",
    "WatchResponse",
    "WatchedEvent",
    "Written",
    "compare",
    "decode",
    "encode",
    "prefix_end",
    "text",
]

R = TypeVar("R")


# --- Responses --------------------------------------------------------------------------------------------------------


Number = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,20}\Z")]
"""A 64-bit number. Those of single keys are not checked here, because that would take as long as to decode the key."""


class Header(msgspec.Struct, frozen=True, gc=False):
    """The state of the member that responded. `revision` is its current one, whatever was requested."""

    revision: Number = "0"
    cluster_id: str = ""
    member_id: str = ""


class KeyValueMessage(msgspec.Struct, frozen=True, gc=False):
    """One key at one revision; a deleted one has only key and revision."""

    key: bytes = b""
    value: bytes = b""
    mod_revision: str = "0"
    create_revision: str = "0"
    lease: str = "0"


class ListedRange(msgspec.Struct, frozen=True):
    """The response to a range request."""

    header: Header = Header()
    kvs: list[KeyValueMessage] = []
    more: bool = False
    count: Number = "0"  # of the keys in the range, also with a limit


class Written(msgspec.Struct, frozen=True):
    """The response to a put."""

    header: Header = Header()


class DeletedRange(msgspec.Struct, frozen=True):
    """The response to a delete."""

    header: Header = Header()
    deleted: str = "0"
    prev_kvs: list[KeyValueMessage] = []


class OperationResult(msgspec.Struct, frozen=True):
    """The result of one operation of a transaction."""

    response_range: ListedRange | None = None
    response_put: Written | None = None
    response_delete_range: DeletedRange | None = None


class TransactionResult(msgspec.Struct, frozen=True):
    """The response to a transaction: whether the comparisons were true, and the results of the chosen operations."""

    header: Header = Header()
    succeeded: bool = False
    responses: list[OperationResult] = []


class LeaseGranted(msgspec.Struct, frozen=True):
    """The response to a grant."""

    id: str = msgspec.field(name="ID", default="0")
    ttl: str = msgspec.field(name="TTL", default="0")


class LeaseKeptAlive(msgspec.Struct, frozen=True):
    """The response to a renewal; without a TTL, the lease does not exist."""

    result: LeaseGranted = LeaseGranted()


class Authenticated(msgspec.Struct, frozen=True):
    """The response to a login."""

    token: str = ""


class ServerVersion(msgspec.Struct, frozen=True):
    """The response to a request for the version."""

    etcdserver: str = ""


class WatchedEvent(msgspec.Struct, frozen=True, gc=False):
    """One change of one key. A deletion has the key and the revision in `kv`, and the last state in `prev_kv`."""

    kv: KeyValueMessage
    type: str = "PUT"
    prev_kv: KeyValueMessage | None = None


class WatchResponse(msgspec.Struct, frozen=True):
    """One message of a watch."""

    header: Header = Header()
    events: list[WatchedEvent] = []
    created: bool = False
    canceled: bool = False
    fragment: bool = False
    compact_revision: str = "0"
    cancel_reason: str = ""


class StreamError(msgspec.Struct, frozen=True):
    """The error that ends a stream; etcd 3.6 sends `code`, etcd 3.5 sends `grpc_code`."""

    code: int = 0
    grpc_code: int = 0
    message: str = ""


class WatchFrame(msgspec.Struct, frozen=True):
    """One line of a watch."""

    result: WatchResponse | None = None
    error: StreamError | None = None


_decoders: dict[type, msgspec.json.Decoder[object]] = {
    kind: msgspec.json.Decoder(kind)
    for kind in (
        Authenticated,
        DeletedRange,
        LeaseGranted,
        LeaseKeptAlive,
        ListedRange,
        ServerVersion,
        TransactionResult,
        WatchFrame,
        Written,
    )
}


def decode(body: bytes | bytearray | memoryview, kind: type[R], *, shows_body: bool = True) -> R:
    """Decode a response; raises ProtocolError for anything that is not from etcd's gateway."""
    try:
        return _decoders[kind].decode(body)  # type: ignore[return-value]  # the decoder of this kind
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        start = bytes(body[:60]).decode(errors="replace") if shows_body else f"{len(body)} bytes"
        raise ProtocolError(f"the response is not of etcd's JSON gateway: {start!r}; check the endpoint") from None


# --- Requests ---------------------------------------------------------------------------------------------------------


def encode(request: JSONObject) -> bytes:
    return msgspec.json.encode(request)


def text(value: bytes) -> str:
    """Bytes as the gateway expects them."""
    return b64encode(value).decode("ascii")


def prefix_end(prefix: bytes) -> bytes:
    """The end of the range of all keys with this prefix."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b"\0"


def compare(key: bytes, target: str, value: str | int, result: str = "EQUAL") -> JSONObject:
    """One comparison of a transaction. Without `target`, etcd would compare the version of the key."""
    field = {"CREATE": "create_revision", "MOD": "mod_revision", "VERSION": "version"}[target]
    return {"key": text(key), "target": target, "result": result, field: str(value)}
