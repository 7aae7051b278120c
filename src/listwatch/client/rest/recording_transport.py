"""Records the requests that read objects, and their responses. Requests and responses are not changed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from listwatch.api.http_messages import BodyFilter, HTTPRequest, HTTPResponse, is_success
from listwatch.client.rest.transport_protocols import ResponseStream, Transport
from listwatch.errors import (
    ConnectError,
    ConnectionLostError,
    StreamIdleError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.recording.recorder import RecordedExchange, Recorder
from listwatch.recording.records import Ending
from listwatch.recording.targets import target_of

__all__ = ["RecordingTransport"]


class RecordingTransport:
    """A Transport that records. All methods except `send` and `open_stream` are those of the wrapped transport."""

    def __init__(self, transport: Transport, recorder: Recorder) -> None:
        self._transport = transport
        self._recorder = recorder

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """Return the whole response, with any status."""
        recorded = self._begin(request)
        if recorded is None:
            return await self._transport.send(request, timeout=timeout)
        filters = request.filter
        if filters is not None:
            # The filter removes objects that the caller has cached, which have to be recorded as well.
            request = msgspec.structs.replace(request, filter=lambda: _RecordingFilter(recorded, filters()))
        try:
            response = await self._transport.send(request, timeout=timeout)
        except BaseException as error:
            recorded.end(_ending_of(error))
            raise
        _record_response(recorded, response, with_content=filters is None or not is_success(response.status))
        await recorded.wait_written()
        return response

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> ResponseStream | HTTPResponse:
        """Return a successful (2xx) response as a stream, any other as a whole."""
        recorded = self._begin(request)
        if recorded is None:
            return await self._transport.open_stream(request, timeout=timeout)
        try:
            response = await self._transport.open_stream(request, timeout=timeout)
        except BaseException as error:
            recorded.end(_ending_of(error))
            raise
        if isinstance(response, HTTPResponse):
            _record_response(recorded, response)
            return response
        recorded.response(response.status, response.headers)
        return RecordingStream(response, recorded)

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        await self._transport.aclose()

    def _begin(self, request: HTTPRequest) -> RecordedExchange | None:
        target = target_of(request)
        return None if target is None else self._recorder._begin(target)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return getattr(self._transport, name)  # optional methods of transports


class RecordingStream:
    """A ResponseStream that records what is read."""

    def __init__(self, stream: ResponseStream, recorded: RecordedExchange) -> None:
        self._stream = stream
        self._recorded = recorded
        self.status: int = stream.status
        self.headers: Mapping[str, str] = stream.headers
        self.warnings: Sequence[str] = stream.warnings

    @property
    def is_closed(self) -> bool:
        return self._stream.is_closed

    async def read(self) -> bytes:
        """Return the data that has arrived, waiting for some if there is none; b"" at the end."""
        # Before the read: one that is cancelled afterwards would lose what it has received.
        await self._recorded.wait_written()
        try:
            piece = await self._stream.read()
        except (asyncio.CancelledError, UsageError):
            raise  # the stream can still be read
        except BaseException as error:
            self._recorded.end(_ending_of(error))
            raise
        if piece:
            self._recorded.data(piece)
        else:
            self._recorded.end("complete")
        return piece

    def set_idle_timeout(self, seconds: float) -> None:
        """From now on, raise StreamIdleError when a read waits for longer than this."""
        self._stream.set_idle_timeout(seconds)

    def close(self) -> None:
        """Close the connection. A pending read returns b""."""
        self._recorded.end("closed")
        self._stream.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            return getattr(self._stream, name)  # optional methods of streams


class _RecordingFilter:
    """Records the pieces of a body, and passes them to another filter."""

    def __init__(self, recorded: RecordedExchange, inner: BodyFilter) -> None:
        self._recorded = recorded
        self._inner = inner

    def feed(self, piece: bytes, /) -> bytes:
        self._recorded.data(piece)
        return self._inner.feed(piece)

    def finish(self) -> bytes:
        """Return the rest, when the body is complete."""
        return self._inner.finish()


def _record_response(recorded: RecordedExchange, response: HTTPResponse, *, with_content: bool = True) -> None:
    recorded.response(response.status, response.headers)
    if with_content:
        content = response.content
        for piece in [content] if isinstance(content, bytes) else content:
            recorded.data(piece)
    recorded.end("complete")


def _ending_of(error: BaseException) -> Ending:
    match error:
        case asyncio.CancelledError():
            return "closed"
        case StreamIdleError():
            return "idle"
        case ConnectError():
            return "refused"
        case TransportTimeoutError():
            return "timeout"
        case ConnectionLostError():
            return "lost"
        case _:
            return "failed"
