"""One HTTP connection and the response that is read from it, from the socket to the decoded body.

    socket ─▶ Connection ─▶ aiohttp's parser ─────────▶ Exchange.read()     a whole response
    socket ─▶ StreamConnection ─▶ ChunkedDecoder ─────▶ AiohttpStream       a body that is read as it arrives

`connection_pool` opens connections; `aiohttp_transport` sends requests over them.
"""

from __future__ import annotations

import asyncio
import re
import socket
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch.api.http_messages import HTTPResponse
from listwatch.client.transport.network_errors import TRANSLATABLE, translate_error
from listwatch.clock import Clock
from listwatch.cooperative import TimeSlice
from listwatch.errors import ProtocolError, StreamIdleError, UsageError
from listwatch.objects.wire import LARGE

__all__ = [
    "AiohttpStream",
    "ChunkedDecoder",
    "Connection",
    "Exchange",
    "GzipDecoder",
    "ReceiveCoalescer",
    "StreamConnection",
]

_MAX_HEAD_SIZE = 2**20
_LAST_CHUNK = b"0\r\n\r\n"
_IS_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)


# --- Connections ------------------------------------------------------------------------------------------------------


class Connection(ResponseHandler, asyncio.BufferedProtocol):
    """Reads into a buffer that all connections of a pool share, and closes without TLS close_notify.

    Allocating the largest possible read and returning most of it would take longer than the read. An event loop that
    does not support buffered protocols calls `data_received` instead. Waiting for close_notify could hang on a dead
    peer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, buffer: memoryview) -> None:
        super().__init__(loop)
        self._read_buffer = buffer
        self._body: aiohttp.StreamReader | None = None  # of the latest response

    def feed_data(self, data: tuple[Any, aiohttp.StreamReader], size: int = 0) -> None:
        self._body = data[1]
        super().feed_data(data, size)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._read_buffer[:nbytes]))

    def close(self) -> None:
        body, self._body = self._body, None
        self.abort()
        # aiohttp drops its reference to the body, so a pending read would never return.
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError())


class StreamConnection(Connection):
    """Decodes chunked bodies itself, once per network read. aiohttp parses everything else.

    API servers send each watch event as a chunk, and aiohttp wakes up, copies and counts per chunk.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, buffer: memoryview) -> None:
        super().__init__(loop, buffer)
        self._head: bytes | None = None  # the incomplete response head, while a response is awaited
        self._decoder: ChunkedDecoder | None = None

    def set_response_params(self, **options: Any) -> None:
        self._head, self._decoder, self._body = b"", None, None
        super().set_response_params(**options)

    def buffer_updated(self, nbytes: int) -> None:
        if self._decoder is not None:
            self._feed_body(self._decoder, self._read_buffer[:nbytes])
        else:
            super().buffer_updated(nbytes)

    def data_received(self, data: bytes) -> None:
        if self._decoder is not None:
            self._feed_body(self._decoder, data)
        elif self._head is None or not data:
            super().data_received(data)
        else:
            self._head += data
            head, end, rest = self._head.partition(b"\r\n\r\n")
            if end or b"\n\n" in head or len(head) > _MAX_HEAD_SIZE:
                self._head = None
                self._start_response(head + end, rest)

    def _start_response(self, head: bytes, body: bytes) -> None:
        super().data_received(head)
        if self._body is not None and _IS_CHUNKED.search(head):
            self._body.begin_http_chunk_receiving()  # aiohttp accepts no chunk after data that was fed
            self._decoder = ChunkedDecoder()
            self._feed_body(self._decoder, body)
        elif body:
            super().data_received(body)

    def _feed_body(self, decoder: ChunkedDecoder, data: bytes | memoryview) -> None:
        body = self._body
        if body is None or body.is_eof() or not data:
            return
        try:
            body.feed_data(decoder.feed(data))
        except ProtocolError as error:
            body.set_exception(error)
            self.close()
        if decoder.is_complete:
            self.force_close()  # trailers are not read
            super().data_received(_LAST_CHUNK)  # aiohttp's parser has seen no chunk; this one completes the body

    def eof_received(self) -> None:
        if self._head:
            self._start_response(self._head, b"")  # aiohttp reports what is wrong with it
        super().eof_received()


# --- Decoders ---------------------------------------------------------------------------------------------------------

# The line end of a chunk and the size line of the next one are matched together.
_CHUNK_BOUNDARY = re.compile(rb"\r\n([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_PARTIAL_BOUNDARY = re.compile(rb"(\r(\n([0-9a-fA-F]{0,16}[ \t]*(;[^\r\n]{0,4096})?\r?)?)?)?")


class ChunkedDecoder:
    """Decodes a chunked body that arrives in pieces of any size."""

    __slots__ = ("_pending", "_remaining", "is_complete")

    def __init__(self) -> None:
        self._pending = b"\r\n"  # the partial boundary that was received; the first size line follows no chunk
        self._remaining = 0  # bytes that are missing of the current chunk
        self.is_complete = False
        """True after the last chunk, which is empty."""

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Return a copy of the content of this piece. Raises ProtocolError if it is not chunked."""
        if self.is_complete:
            return b""
        data = memoryview(self._pending + piece if self._pending else piece)
        contents = []
        start, end, size = 0, self._remaining, len(data)
        while end < size and (boundary := _CHUNK_BOUNDARY.match(data, end)):
            contents.append(data[start:end])
            start = boundary.end()
            end = start + int(boundary[1], 16)
            if start == end:
                self.is_complete = True
                break
        contents.append(data[start:end])
        self._remaining = max(end - size, 0)
        self._pending = b"" if self.is_complete else bytes(data[end:])
        if self._pending and not _PARTIAL_BOUNDARY.fullmatch(self._pending):
            raise ProtocolError("the response is not valid HTTP (a chunk does not have the size that it states)")
        return b"".join(contents)


class GzipDecoder:
    """Decompresses gzip that arrives in pieces of any size.

    API servers end a gzip member at every flush of a stream, so that one body has many members.
    """

    __slots__ = ("_member",)

    def __init__(self) -> None:
        self._member: zlib._Decompress | None = None  # None between two members

    def feed(self, piece: bytes) -> bytes:
        """Return the content that this piece completes, which may be empty. Raises zlib.error if it is not gzip."""
        contents = []
        while piece:
            member = self._member or zlib.decompressobj(16 + zlib.MAX_WBITS)
            contents.append(member.decompress(piece))
            piece = member.unused_data
            self._member = None if member.eof else member
        return contents[0] if len(contents) == 1 else b"".join(contents)

    def finish(self) -> None:
        """Check that the body is complete. Raises EOFError if a member is not."""
        if self._member is not None:
            raise EOFError("the gzip stream is truncated")


def _decoder_for(headers: Mapping[str, str]) -> GzipDecoder | None:
    match headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return GzipDecoder()
        case encoding:
            raise ProtocolError(f"the response has the Content-Encoding {encoding[:40]!r}, which was not requested")


# --- Responses --------------------------------------------------------------------------------------------------------


class Exchange(NamedTuple):
    """A request that was sent, and the head of its response."""

    response: aiohttp.ClientResponse
    leave_pool: Callable[[], None]

    async def read(self) -> HTTPResponse:
        """Read the whole response, and return the connection to the pool."""
        headers = self.response.headers
        try:
            pieces = await self._read_body(_decoder_for(headers))
        except BaseException:
            self.close()
            raise
        self.release()
        content = pieces if sum(map(len, pieces)) > LARGE else b"".join(pieces)
        return HTTPResponse(self.response.status, headers, content, headers.getall("Warning", ()))

    async def _read_body(self, decoder: GzipDecoder | None) -> list[bytes]:
        pieces, time_slice = [], TimeSlice()
        while piece := await self.response.content.readany():
            pieces.append(decoder.feed(piece) if decoder else piece)
            await time_slice.checkpoint()
        if decoder:
            decoder.finish()
        return pieces

    def release(self) -> None:
        """Return the connection to the pool if the response is complete, else close it."""
        self.response.release()
        self.leave_pool()

    def close(self) -> None:
        """Close the connection."""
        self.response.close()
        self.leave_pool()


class AiohttpStream:
    """The body of a response, read as it arrives.

    With an idle timeout, a read that waits for longer raises StreamIdleError.
    """

    def __init__(self, exchange: Exchange, *, clock: Clock, doing: str, host: str) -> None:
        headers = exchange.response.headers
        self.status: int = exchange.response.status
        self.headers: Mapping[str, str] = headers
        self.warnings: Sequence[str] = headers.getall("Warning", ())
        self._decoder = _decoder_for(headers)
        self._content = exchange.response.content
        self._exchange = exchange
        self._clock = clock
        self._doing = doing
        self._host = host
        self._reading_since: float | None = None
        self._idle_before = 0.0  # seconds that cancelled reads waited since the last data
        self._idle_timeout = 0.0
        self._idle_timer: asyncio.Task[None] | None = None
        self._timed_out = False
        self._coalescer: ReceiveCoalescer | None = None
        self.is_closed = False

    def set_idle_timeout(self, seconds: float) -> None:
        """From now on, treat the peer as dead when a read waits for longer than this."""
        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timeout = seconds
        self._idle_timer = asyncio.create_task(self._close_when_idle(), name=f"idle timeout of {self._doing}")

    def coalesce_reads(self, *, enabled: bool) -> None:
        """From now on, let the system collect large amounts of data for some milliseconds before a read, or not."""
        if self._coalescer:
            self._coalescer.stop()
        connection = self._exchange.response.connection  # None if the whole response has arrived
        transport = connection.transport if connection else None
        self._coalescer = ReceiveCoalescer(transport) if enabled and transport else None

    async def read(self) -> bytes:
        """Return the data that has arrived, waiting for some if there is none; b"" at the end."""
        try:
            while not self.is_closed:
                piece = await self._read_piece()
                if not piece:
                    self._finish()
                elif content := self._decode(piece):
                    if self._coalescer:
                        self._coalescer.received(len(piece))
                    return content
        except TRANSLATABLE as error:
            problem = translate_error(error, self._doing, self._host)
        else:
            return b""
        raise problem  # outside of the handler: aiohttp's errors hold the request, with its credentials

    def close(self) -> None:
        """Close the connection. A pending read returns b""."""
        if self.is_closed:
            return
        self.is_closed = True
        self.coalesce_reads(enabled=False)
        if self._idle_timer:
            self._idle_timer.cancel()
        self._exchange.close()

    async def _read_piece(self) -> bytes:
        if self._reading_since is not None:
            raise UsageError(f"{self._doing}: another task is already reading this stream")
        self._reading_since = self._clock.monotonic() - self._idle_before
        self._idle_before = 0.0
        try:
            return await self._content.readany()
        except asyncio.CancelledError:
            # A caller that cancels its reads and reads again does not extend the idle timeout.
            self._idle_before = self._clock.monotonic() - self._reading_since
            raise
        except Exception:
            if self._timed_out:
                message = f"no data for {self._idle_timeout:g} s; the server or the network is assumed to be dead"
                raise StreamIdleError(message) from None
            if self.is_closed:
                return b""  # closed by another task during the read
            self.close()
            raise
        finally:
            self._reading_since = None

    def _decode(self, piece: bytes) -> bytes:
        if self._decoder is None:
            return piece
        try:
            return self._decoder.feed(piece)
        except Exception:
            self.close()
            raise

    def _finish(self) -> None:
        if self.is_closed:
            return
        self.close()
        if self._decoder:
            self._decoder.finish()

    async def _close_when_idle(self) -> None:
        while (remaining := self._time_until_idle()) > 0:
            await self._clock.sleep(remaining)
        self._timed_out, self._idle_timer = True, None
        self.close()

    def _time_until_idle(self) -> float:
        # Time between two reads does not count: a slow reader is not a sign of a dead peer.
        now = self._clock.monotonic()
        return (now if self._reading_since is None else self._reading_since) + self._idle_timeout - now

    def __repr__(self) -> str:
        return f"<AiohttpStream of {self._doing}, {'closed' if self.is_closed else 'open'}>"


class ReceiveCoalescer:
    """Raises the low-water mark of a socket while large amounts of data arrive, such as initial events.

    Servers send those one by one, and a wake-up per event takes several times as long as reading it. After some
    milliseconds the mark is lowered again, so that no event is delayed for long.
    """

    _MIN_TOTAL = 2**18  # bytes to receive before reads are coalesced: short responses are not delayed
    _LOW_WATER_MARK = 2**17  # bytes to wake up for
    _MAX_DELAY = 0.005  # seconds of the event loop's time

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._socket = transport.get_extra_info("socket")
        self._total = 0
        self._timer: asyncio.TimerHandle | None = None

    def received(self, size: int) -> None:
        """Count the bytes of a read, and let more of them collect before the next one."""
        self._total += size
        if self._total > self._MIN_TOTAL:
            if self._timer:
                self._timer.cancel()
            self._set_low_water_mark(self._LOW_WATER_MARK)
            self._timer = self._loop.call_later(self._MAX_DELAY, self._set_low_water_mark, 1)

    def stop(self) -> None:
        """Wake up for every byte again."""
        if self._timer:
            self._timer.cancel()
            self._set_low_water_mark(1)

    def _set_low_water_mark(self, size: int) -> None:
        if self._socket is None or self._transport.is_closing():
            return
        with suppress(OSError, AttributeError):  # not supported by every system
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)
