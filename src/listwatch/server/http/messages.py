"""The bytes of HTTP messages: compression, warnings, and responses that are sent in pieces."""

from __future__ import annotations

import asyncio
import socket
import struct
import zlib
from collections.abc import Iterable

from aiohttp import StreamReader, web

from listwatch.errors import RequestEntityTooLargeError

__all__ = [
    "COMPRESSED",
    "MAX_BODY",
    "ResponseStream",
    "accepts_gzip",
    "add_warnings",
    "compress",
    "read_slowly",
    "reset",
    "too_large",
]

MAX_BODY = 3 * 1024 * 1024

# The fastest level, in pieces between which other requests can run.
_LEVEL, _PIECE = 1, 1 << 20
_GZIP = 16 + zlib.MAX_WBITS

COMPRESSED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
# The longest text of all warnings of a response together. If it is exceeded, each is cut to the second limit.
_MAX_WARNINGS, _MAX_WARNING = 4096, 256
_CONTROL_CHARACTERS = dict.fromkeys([*range(32), 127], " ")


def accepts_gzip(request: web.BaseRequest) -> bool:
    return "gzip" in (token.strip() for token in request.headers.get("Accept-Encoding", "").split(","))


async def compress(body: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    pieces = []
    for start in range(0, len(body), _PIECE):
        pieces.append(packer.compress(body[start : start + _PIECE]))
        await asyncio.sleep(0)
    return b"".join([*pieces, packer.flush()])


def _gzip_member(data: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH) + packer.flush()


def add_warnings(response: web.StreamResponse, warnings: Iterable[str]) -> None:
    """Add Warning headers. As in kube-apiserver, long texts are cut off, and those above the limit are dropped."""
    texts = list(dict.fromkeys(filter(None, warnings)))
    if sum(map(len, texts)) > _MAX_WARNINGS:
        texts = [text[:_MAX_WARNING] for text in texts]
    size = 0
    for text in texts:
        if size >= _MAX_WARNINGS:
            break
        size += len(text)
        escaped = text.translate(_CONTROL_CHARACTERS).replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{escaped}"')


async def read_slowly(content: StreamReader) -> bytes:
    """Read a body that has not arrived yet; raises RequestEntityTooLargeError."""
    body = bytearray()
    while len(body) <= MAX_BODY and not content.at_eof():
        body += await content.readany()
    if len(body) > MAX_BODY:
        raise too_large()
    return bytes(body)


def too_large() -> RequestEntityTooLargeError:
    return RequestEntityTooLargeError(f"Request entity too large: limit is {MAX_BODY}")


def reset(request: web.BaseRequest) -> web.Response:
    """Reset the connection, as after a crash of the server; the returned response is not sent."""
    transport = request.transport
    if transport is not None:
        if (connection := transport.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()


class ResponseStream:
    """The response to a watch, sent in pieces; each compressed piece is a separate gzip member.

    A member is flushed before it ends: Go's reader returns what a block has only when the block is not the last one, or
    when the next member has begun, which may be minutes later.
    """

    def __init__(self, request: web.BaseRequest, headers: dict[str, str], *, compressed: bool) -> None:
        self._request = request
        self._compressed = compressed
        self.response = web.StreamResponse(headers=headers | COMPRESSED if compressed else headers)

    async def open(self) -> None:
        # HTTP/1.0 has no chunks; there the end of the connection is the end of the stream.
        if self._request.version >= (1, 1):
            self.response.enable_chunked_encoding()
        await self.response.prepare(self._request)

    async def send(self, data: bytes) -> None:
        await self.response.write(_gzip_member(data) if self._compressed else data)

    def close(self) -> None:
        if self._request.transport is not None:
            self._request.transport.close()

    def abort(self) -> None:
        reset(self._request)
