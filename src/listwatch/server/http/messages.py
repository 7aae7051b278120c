"""HTTP as the server reads and writes it: bodies within a limit, answers with the headers that clients look for.

`http` decides what to answer; here it becomes bytes on a connection.
"""

from __future__ import annotations

import asyncio
import gzip
import math
import socket
import struct
import zlib
from collections.abc import Iterable

from aiohttp import web

from listwatch.errors import APIError, BadRequestError, RequestEntityTooLargeError

__all__ = ["Stream", "accepts_gzip", "error_headers", "read_body", "reset", "respond"]

MAX_BODY = 3 * 1024 * 1024
_MIN_SIZE_TO_COMPRESS = 128 * 1024
# The fastest level, in pieces between which others have their turn.
_LEVEL, _PIECE = 1, 1 << 20
_GZIP = 16 + zlib.MAX_WBITS

_COMPRESSED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
_NOT_IN_A_HEADER = dict.fromkeys([*range(32), 127], " ")


async def read_body(request: web.BaseRequest) -> bytes:
    """The whole body; raises RequestEntityTooLargeError."""
    if (request.content_length or 0) > MAX_BODY:
        raise _too_large()
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    try:
        body = await request.content.readany()
        # A small one comes in one piece, and is not copied.
        return body if request.content.at_eof() and len(body) <= MAX_BODY else await _read_on(request, body)
    except web.RequestPayloadError:
        raise BadRequestError("the body of the request cannot be read") from None


async def _read_on(request: web.BaseRequest, begun: bytes) -> bytes:
    body = bytearray(begun)
    while len(body) <= MAX_BODY and not request.content.at_eof():
        body += await request.content.readany()
    if len(body) > MAX_BODY:
        raise _too_large()
    return bytes(body)


def _too_large() -> RequestEntityTooLargeError:
    return RequestEntityTooLargeError(f"Request entity too large: limit is {MAX_BODY}")


def accepts_gzip(request: web.BaseRequest) -> bool:
    return "gzip" in (token.strip() for token in request.headers.get("Accept-Encoding", "").split(","))


# --- Answers ----------------------------------------------------------------------------------------------------------


async def respond(
    request: web.BaseRequest, code: int, body: bytes, headers: dict[str, str], warnings: Iterable[str] = ()
) -> web.Response:
    """An answer with a body, compressed if that is wanted and worthwhile."""
    if len(body) > _MIN_SIZE_TO_COMPRESS and accepts_gzip(request):
        headers |= _COMPRESSED
        body = await _compressed(body)
    response = web.Response(body=body, status=code, headers=headers)
    for warning in dict.fromkeys(warnings):
        response.headers.add("Warning", f"299 - {_quoted(warning)}")
    return response


def error_headers(error: APIError) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(error.retry_after))} if error.retry_after else {}


def _quoted(text: str) -> str:
    escaped = text.translate(_NOT_IN_A_HEADER).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


async def _compressed(body: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    pieces = []
    for start in range(0, len(body), _PIECE):
        pieces.append(packer.compress(body[start : start + _PIECE]))
        await asyncio.sleep(0)
    return b"".join([*pieces, packer.flush()])


def reset(request: web.BaseRequest) -> web.Response:
    """Reset the connection, as a machine that crashed would; what is returned goes nowhere."""
    transport = request.transport
    if transport is not None:
        if (connection := transport.get_extra_info("socket")) is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return web.Response()


class Stream:
    """The answer to a watch, which is sent bit by bit; each bit is a gzip member of its own, if that is wanted."""

    def __init__(self, request: web.BaseRequest, headers: dict[str, str], *, compressed: bool) -> None:
        self._request = request
        self._compressed = compressed
        self.response = web.StreamResponse(headers=headers | _COMPRESSED if compressed else headers)

    async def open(self) -> None:
        # Who speaks HTTP/1.0 knows no chunks; the end of the connection is the end of the stream.
        if self._request.version >= (1, 1):
            self.response.enable_chunked_encoding()
        await self.response.prepare(self._request)

    async def send(self, data: bytes) -> None:
        await self.response.write(gzip.compress(data, _LEVEL, mtime=0) if self._compressed else data)

    def close(self) -> None:
        if self._request.transport is not None:
            self._request.transport.close()

    def abort(self) -> None:
        reset(self._request)
