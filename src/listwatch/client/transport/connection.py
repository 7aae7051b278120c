"""One HTTP connection and the response that is read from it, from the socket to the decoded body.

    socket ─▶ Connection ─▶ aiohttp's parser ─────────▶ Exchange.read()     a whole response
    socket ─▶ StreamConnection ─▶ ChunkedDecoder ─────▶ AiohttpStream       a body that is read as it arrives

`gzip_decoder` decompresses bodies; `connection_pool` opens connections; `aiohttp_transport` sends requests over them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch.api.http_messages import BodyFilter, HTTPResponse, is_success
from listwatch.client.transport.gzip_decoder import decoder_for
from listwatch.client.transport.network_errors import TRANSLATABLE, translate_error
from listwatch.client.transport.read_buffer import SMALLEST_READ, ReadBuffer
from listwatch.client.transport.sockets import ReceiveCoalescer
from listwatch.clock import Clock
from listwatch.errors import ProtocolError, ResponseTooLargeError, StreamIdleError, UsageError
from listwatch.objects.list_splitter import LARGE
from listwatch.tasks.cooperative import TimeSlice

__all__ = [
    "AiohttpStream",
    "ChunkedDecoder",
    "Connection",
    "Exchange",
    "StreamConnection",
]

_MAX_HEAD_SIZE = 2**20
_MAX_INFORMATIONAL = 10  # responses with a 1xx status before the actual response
_MAX_ERROR_BODY = 2**20  # the rest of the body of an error response is not read
_SMALL_PIECE = 2**14
_LAST_CHUNK = b"0\r\n\r\n"
_IS_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)


# --- Connections ------------------------------------------------------------------------------------------------------


class Connection(ResponseHandler, asyncio.BufferedProtocol):
    """Reads into a buffer that all connections of a pool share, and closes without TLS close_notify.

    An event loop that does not support buffered protocols calls `data_received` instead. Waiting for close_notify could
    hang on a dead peer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, buffer: ReadBuffer) -> None:
        super().__init__(loop)
        self._read_buffer = buffer
        self._read_size = SMALLEST_READ
        self._read_part = memoryview(b"")  # of the buffer, for the current read
        self._body: aiohttp.StreamReader | None = None  # of the latest response
        self._informational = 0  # responses with a 1xx status to the current request

    def set_response_params(self, **options: Any) -> None:
        self._informational = 0
        super().set_response_params(**options)

    def feed_data(self, data: tuple[Any, aiohttp.StreamReader], size: int = 0) -> None:
        message, self._body = data
        if message.code < 200 and message.code != 101:
            self._informational += 1
            if self._informational > _MAX_INFORMATIONAL:
                self._reject("too many responses with a 1xx status")
                return
        super().feed_data(data, size)

    def _reject(self, reason: str) -> None:
        """Fail the request that waits for the head of its response."""
        if self.transport is not None:
            self.transport.abort()
        self.set_exception(ProtocolError(f"the response is not valid HTTP ({reason})"))

    def get_buffer(self, sizehint: int) -> memoryview:
        self._read_part = self._read_buffer.part(self._read_size)
        return self._read_part

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._received(nbytes)))

    def _received(self, size: int) -> memoryview:
        """Return the data of a read. A read that fills its memory has left more data, and the next one gets more."""
        self._read_size = 2 * size if size == len(self._read_part) else SMALLEST_READ
        return self._read_part[:size]

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

    def __init__(self, loop: asyncio.AbstractEventLoop, buffer: ReadBuffer) -> None:
        super().__init__(loop, buffer)
        self._head: bytearray | None = None  # the incomplete response head, while a response is awaited
        self._decoder: ChunkedDecoder | None = None

    def set_response_params(self, **options: Any) -> None:
        self._head, self._decoder, self._body = bytearray(), None, None
        super().set_response_params(**options)

    def buffer_updated(self, nbytes: int) -> None:
        if self._decoder is not None:
            self._feed_body(self._decoder, self._received(nbytes))
        else:
            super().buffer_updated(nbytes)

    def data_received(self, data: bytes) -> None:
        if self._decoder is not None:
            self._feed_body(self._decoder, data)
        elif self._head is None or not data:
            super().data_received(data)
        else:
            searched = max(len(self._head) - 3, 0)  # a head in small pieces is searched once
            self._head += data
            if (
                self._head.find(b"\r\n\r\n", searched) >= 0
                or self._head.find(b"\n\n", searched) >= 0
                or len(self._head) > _MAX_HEAD_SIZE
            ):
                head, end, rest = bytes(self._head).partition(b"\r\n\r\n")
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
            self._start_response(bytes(self._head), b"")  # aiohttp reports what is wrong with it
        super().eof_received()


# --- Chunks -----------------------------------------------------------------------------------------------------------

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


# --- Responses --------------------------------------------------------------------------------------------------------


class Exchange(NamedTuple):
    """A request that was sent, and the head of its response."""

    response: aiohttp.ClientResponse
    leave_pool: Callable[[], None]
    credential: str = ""
    """For status 401: which credential was sent."""

    async def read(self, max_size: int, body_filter: BodyFilter | None = None) -> HTTPResponse:
        """Read the whole response, or what the filter keeps of it, and return the connection to the pool.

        Raises ResponseTooLargeError as soon as the body exceeds `max_size`. The body of an error response is cut
        instead, so that its status is not lost.
        """
        headers = self.response.headers
        try:
            if is_success(self.response.status):
                self._check_length(max_size)
                pieces = await self._read_body(max_size, body_filter)
            else:
                pieces = await self._read_body(min(max_size, _MAX_ERROR_BODY), cut=True)
        except BaseException:
            self.close()
            raise
        self.release()
        content = pieces if sum(map(len, pieces)) > LARGE else b"".join(pieces)
        return HTTPResponse(self.response.status, headers, content, headers.getall("Warning", ()), self.credential)

    def _check_length(self, max_size: int) -> None:
        length = self.response.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) > max_size and self.response.method != "HEAD":
            raise _too_large(max_size)

    async def _read_body(
        self, max_size: int, body_filter: BodyFilter | None = None, *, cut: bool = False
    ) -> list[bytes]:
        decoder, time_slice = decoder_for(self.response.headers), TimeSlice()
        pieces: list[bytes] = []
        small = bytearray()  # collects small pieces, because each object takes more memory than its content
        size = 0
        while received := await self.response.content.readany():
            for piece in decoder.feed(received) if decoder else (received,):
                size += len(piece)
                if size > max_size:
                    if not cut:
                        raise _too_large(max_size)
                    return [*pieces, bytes(small), piece[: len(piece) + max_size - size]]
                if body_filter is not None:
                    piece = body_filter.feed(piece)
                if small or len(piece) < _SMALL_PIECE:
                    small += piece
                    if len(small) >= _SMALL_PIECE:
                        pieces.append(bytes(small))
                        small.clear()
                else:
                    pieces.append(piece)
                await time_slice.checkpoint()
        if decoder:
            decoder.finish()
        if body_filter is not None:
            small += body_filter.finish()
        if small:
            pieces.append(bytes(small))
        return pieces

    def release(self) -> None:
        """Return the connection to the pool if the response is complete, else close it."""
        self.response.release()
        self.leave_pool()

    def close(self) -> None:
        """Close the connection."""
        self.response.close()
        self.leave_pool()

    def __repr__(self) -> str:
        # Without the headers, which may hold cookies.
        return f"<Exchange {self.response.method} {self.response.url.raw_path}: {self.response.status}>"


def _too_large(limit: int) -> ResponseTooLargeError:
    return ResponseTooLargeError.of("the response", limit, "max_response_size")


class AiohttpStream:
    """The body of a response, read as it arrives.

    With an idle timeout, a read that waits for longer raises StreamIdleError.
    """

    def __init__(
        self, exchange: Exchange, *, clock: Clock, doing: str, host: str, max_event_size: int, max_response_size: int
    ) -> None:
        headers = exchange.response.headers
        self.status: int = exchange.response.status
        self.headers: Mapping[str, str] = headers
        self.warnings: Sequence[str] = headers.getall("Warning", ())
        self.max_event_size = max_event_size
        """The limit in bytes for one event, if this is a watch."""
        self.max_response_size = max_response_size
        """The limit in bytes for readers that collect the whole body."""
        self._decoder = decoder_for(headers)
        self._contents: Iterator[bytes] = iter(())  # slices of the last piece that are not decompressed yet
        self._time_slice = TimeSlice()
        self._content = exchange.response.content
        self._exchange = exchange
        self._clock = clock
        self._doing = doing
        self._host = host
        self._reading_since: float | None = None
        self._idle_before = 0.0  # seconds that earlier reads waited since the last data that counts
        self._idle_timeout = 0.0
        self._expects_lines = False
        self._last_wait = 0.0  # the idle time before the last data
        self._is_incomplete = False  # whether the last data did not end the idle time
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

    def expect_lines(self) -> None:
        """From now on, only data with a line feed ends the idle time: a peer that sends single bytes counts as dead."""
        self._expects_lines = self._decoder is None

    def extend_idle_time(self) -> None:
        """Count the last read as idle time: its data completed no event."""
        self._idle_before, self._is_incomplete = self._last_wait, True

    def coalesce_reads(self, *, enabled: bool) -> None:
        """Enable or disable that the system collects large amounts of data for some milliseconds before a read."""
        if self._coalescer:
            self._coalescer.stop()
        connection = self._exchange.response.connection  # None if the whole response has arrived
        transport = connection.transport if connection else None
        self._coalescer = ReceiveCoalescer(transport) if enabled and transport else None

    async def read(self) -> bytes:
        """Return the data that has arrived, waiting for some if there is none; b"" at the end."""
        try:
            while not self.is_closed:
                if self._decoder and (content := await self._next_content()):
                    return content
                piece = await self._read_piece()
                if not piece:
                    self._finish()
                    continue
                if self._coalescer:
                    self._coalescer.received(len(piece))
                if self._decoder is None:
                    return piece
                self._contents = self._decoder.feed(piece)
                del piece  # error trackers record local variables
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
            piece = await self._content.readany()
            self._last_wait = self._clock.monotonic() - self._reading_since
            self._is_incomplete = self._expects_lines and b"\n" not in piece
            if self._is_incomplete:
                self._idle_before = self._last_wait
            return piece
        except asyncio.CancelledError:
            # A caller that cancels its reads and reads again does not extend the idle timeout.
            self._idle_before = self._clock.monotonic() - self._reading_since
            raise
        except Exception:
            if self._timed_out:
                unit = "line" if self._expects_lines else "event"
                what = f"no complete {unit}" if self._is_incomplete else "no data"
                message = f"{what} for {self._idle_timeout:g} s; the server or the network is assumed to be dead"
                raise StreamIdleError(message) from None
            if self.is_closed:
                return b""  # closed by another task during the read
            self.close()
            raise
        finally:
            self._reading_since = None

    async def _next_content(self) -> bytes:
        """Decompress the next slice of the last piece; b"" at its end."""
        await self._time_slice.checkpoint()
        try:
            return next(self._contents, b"")
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
