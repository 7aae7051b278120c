r"""The records of a recording: encoding and decoding.

    {"type":"start","format":1,"created":1789000000.0,"version":"0.1.0"}      one run of a recorder
    {"type":"request","at":0.01,"id":1,"verb":"list","version":"v1","resource":"pods","query":{"limit":"500"}}
    {"type":"response","at":0.02,"id":1,"status":200,"media_type":"application/json"}
    {"type":"data","at":0.02,"id":1,"size":812}                               followed by `size` bytes
    {"type":"end","at":0.02,"id":1,"how":"complete"}
    {"type":"stop","at":60.0,"reason":"closed"}

Each record is a line of JSON. The bytes of a body follow their line, and a line feed follows them. Times are seconds
since the start. The file has the records in members of gzip: `zcat` shows them, and each member has a checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec

from listwatch.errors import DecodeError

__all__ = [
    "FORMAT",
    "Data",
    "End",
    "Ending",
    "Entry",
    "Record",
    "Request",
    "Response",
    "Start",
    "Stop",
    "Verb",
    "decode_records",
    "encode_record",
]

FORMAT = 1
"""Incremented by every change after which an older version of listwatch would misread a recording."""

Verb = Literal["list", "watch", "get"]
Ending = Literal["complete", "closed", "lost", "idle", "refused", "timeout", "failed"]
"""How an exchange ended: by the server, by the client, or with an error."""


class Start(msgspec.Struct, frozen=True, tag="start", gc=False):
    """The start of a recorder. Several runs may append to one file."""

    format: int
    created: float
    """Seconds since the epoch."""
    version: str = ""


class Request(msgspec.Struct, frozen=True, tag="request", omit_defaults=True, gc=False):
    """A request that was sent. Its headers are not recorded, nor are query parameters of unknown meaning."""

    at: float
    id: int
    verb: Verb
    version: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""
    query: dict[str, str] = {}
    metadata_only: bool = False


class Response(msgspec.Struct, frozen=True, tag="response", omit_defaults=True, gc=False):
    """The head of a response."""

    at: float
    id: int
    status: int
    media_type: str = "application/json"
    retry_after: int = 0


class Data(msgspec.Struct, frozen=True, tag="data", gc=False):
    """A part of the body of a response."""

    at: float
    id: int
    size: Annotated[int, msgspec.Meta(ge=0)]


class End(msgspec.Struct, frozen=True, tag="end", gc=False):
    """The end of an exchange."""

    at: float
    id: int
    how: Ending


class Stop(msgspec.Struct, frozen=True, tag="stop", gc=False):
    """The end of a recorder. One that was killed writes none."""

    at: float
    reason: str


Record = Start | Request | Response | Data | End | Stop


class Entry(NamedTuple):
    """A record, and the bytes that follow it."""

    record: Record
    body: bytes = b""

    def __repr__(self) -> str:
        return f"<Entry {self.record}>"  # without the bytes of objects


_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def encode_record(record: Record, body: bytes = b"") -> bytes:
    """Encode a record and the bytes that follow it."""
    return b"%b\n%b\n" % (_encode(record), body) if body else b"%b\n" % _encode(record)


def decode_records(content: bytes) -> Iterator[Entry]:
    """Yield the records of one member of a file, which has only whole ones; raises DecodeError."""
    position, size = 0, len(content)
    while position < size:
        end = content.find(b"\n", position)
        try:
            record = _decoder.decode(content[position : end if end >= 0 else size])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise DecodeError("a record of the recording cannot be decoded") from None
        position = end + 1 if end >= 0 else size
        if isinstance(record, Data):
            body = content[position : position + record.size]
            if len(body) < record.size:
                raise DecodeError("a record of the recording is not complete")
            position += record.size + 1
            yield Entry(record, body)
        else:
            yield Entry(record)
