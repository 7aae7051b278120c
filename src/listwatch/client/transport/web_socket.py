"""WebSockets over the connections of a transport, as exec, attach and port-forward use them.

The handshake is an ordinary request of the transport: with its credentials, TLS and proxies. A response without an
upgrade is read as any other one, so that its Status is not lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import aiohttp

from listwatch.client.transport.network_errors import TRANSLATABLE, translate_error
from listwatch.clock import Clock, time_limit
from listwatch.errors import ConnectionLostError, ProtocolError, ResponseTooLargeError, TransportTimeoutError
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = ["MAX_MESSAGE_SIZE", "AbortableWebSocket", "AiohttpWebSocket", "HandshakeRejectedError", "WebSocketExchange"]

MAX_MESSAGE_SIZE = 2**24
"""Bytes of one message. API servers send 32 KiB at once."""

# Load balancers close a connection without data after a minute or more.
_PING_INTERVAL = 30.0
_CLOSE_TIMEOUT = 2.0
_TOO_LARGE = 1009  # the close code of a message that exceeds the limit


class HandshakeRejectedError(Exception):
    """The server responded to the handshake with an ordinary response."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        super().__init__()
        self.response = response


class AbortableWebSocket(aiohttp.ClientWebSocketResponse[bool]):
    """A WebSocket of aiohttp that can be closed without the closing handshake."""

    def abort(self) -> None:
        """Close the connection; a pending `receive` returns."""
        self._response.close()

    @property
    def handshake_headers(self) -> Mapping[str, str]:
        return self._response.headers

    @property
    def handshake_warnings(self) -> Sequence[str]:
        return self._response.headers.getall("Warning", ())


class WebSocketExchange(NamedTuple):
    """A handshake that succeeded."""

    socket: AbortableWebSocket
    leave_pool: Callable[[], None]


class AiohttpWebSocket:
    """One open WebSocket. Messages are sent and received by any task; only one may receive at a time."""

    status = 101

    def __init__(self, exchange: WebSocketExchange, *, clock: Clock, doing: str, host: str) -> None:
        self._socket, self._leave_pool = exchange
        self._clock = clock
        self._doing = doing
        self._host = host
        self._pings = asyncio.create_task(self._ping(), name=f"pings of {doing}")
        self.headers: Mapping[str, str] = self._socket.handshake_headers
        self.warnings: Sequence[str] = self._socket.handshake_warnings
        self.is_closed = False

    @property
    def protocol(self) -> str:
        """The subprotocol that the server has chosen; empty if it has chosen none."""
        return self._socket.protocol or ""

    async def send(self, message: bytes) -> None:
        """Send a message; waits while the server reads slowly."""
        try:
            await self._socket.send_bytes(message)
            return
        except TRANSLATABLE as error:
            problem = translate_error(error, self._doing, self._host)
        raise problem  # outside of the handler: aiohttp's errors hold the request, with its credentials

    async def receive(self, *, timeout: float | None = None) -> bytes | None:
        """Return the next message; None when the server has closed the WebSocket. TransportTimeoutError is possible."""
        try:
            async with time_limit(self._clock, timeout):
                message = await self._socket.receive()
        except TimeoutError:
            problem: Exception = TransportTimeoutError(
                f"no message within {timeout or 0:g} s", doing=self._doing, host=self._host
            )
        except TRANSLATABLE as error:
            problem = translate_error(error, self._doing, self._host)
        else:
            if message.type is aiohttp.WSMsgType.BINARY:
                return bytes(message.data)
            if message.type is aiohttp.WSMsgType.TEXT:
                return message.data if isinstance(message.data, bytes) else str(message.data).encode()
            if message.type is not aiohttp.WSMsgType.ERROR:
                return None
            problem = self._receive_error(message.data)
        raise problem

    async def aclose(self) -> None:
        """Close the WebSocket with the closing handshake, or without it if the server does not take part in time."""
        try:
            async with time_limit(self._clock, _CLOSE_TIMEOUT):
                await self._socket.close()
        except (*TRANSLATABLE, TimeoutError):
            pass
        finally:
            self.close()
            await cancel_and_wait(self._pings)

    def close(self) -> None:
        """Close the connection at once. A pending `receive` returns None."""
        if not self.is_closed:
            self.is_closed = True
            self._pings.cancel()
            self._socket.abort()
            self._leave_pool()

    def _receive_error(self, error: object) -> Exception:
        if isinstance(error, aiohttp.WebSocketError):
            if error.code == _TOO_LARGE:
                return ResponseTooLargeError(
                    f"a message of the WebSocket has more than {MAX_MESSAGE_SIZE:,} bytes",
                    doing=self._doing,
                    host=self._host,
                )
            return ProtocolError(f"the WebSocket is not valid ({error})", doing=self._doing, host=self._host)
        if isinstance(error, TRANSLATABLE):
            return translate_error(error, self._doing, self._host)
        return ConnectionLostError("the connection was closed", doing=self._doing, host=self._host)

    async def _ping(self) -> None:
        try:
            while True:
                await self._clock.sleep(_PING_INTERVAL)
                await self._socket.ping()
        except TRANSLATABLE:
            pass  # `receive` reports the end of the connection

    def __repr__(self) -> str:
        return f"<AiohttpWebSocket of {self._doing}, {'closed' if self.is_closed else 'open'}>"
