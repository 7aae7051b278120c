"""What a client needs of the connections to its server: single requests, streams and WebSockets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from listwatch.api.http_messages import HTTPRequest, HTTPResponse

__all__ = ["ResponseStream", "Transport", "WebSocket", "WebSocketTransport"]


class ResponseStream(Protocol):
    """The body of a response, read as it arrives.

    A stream may also have `coalesce_reads(*, enabled: bool)`, which allows it to delay reads for some milliseconds
    while large amounts of data arrive, `expect_lines()`, after which data without a line feed does not end the idle
    time, `extend_idle_time()`, which declares the same of the last data, and the limits `max_event_size` and
    `max_response_size` in bytes.
    """

    status: int
    headers: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def is_closed(self) -> bool: ...

    async def read(self) -> bytes:
        """Return the data that has arrived, waiting for some if there is none; b"" at the end."""

    def set_idle_timeout(self, seconds: float) -> None:
        """From now on, raise StreamIdleError when a read waits for longer than this."""

    def close(self) -> None:
        """Close the connection. A pending read returns b""."""


class WebSocket(Protocol):
    """An open WebSocket."""

    status: int
    headers: Mapping[str, str]
    warnings: Sequence[str]

    @property
    def is_closed(self) -> bool: ...

    @property
    def protocol(self) -> str:
        """The subprotocol that the server has chosen; empty if it has chosen none."""

    async def send(self, message: bytes) -> None:
        """Send a message; waits while the server reads slowly."""

    async def receive(self, *, timeout: float | None = None) -> bytes | None:
        """Return the next message; None when the server has closed the WebSocket."""

    async def aclose(self) -> None:
        """Close the WebSocket with the closing handshake."""

    def close(self) -> None:
        """Close the connection at once. A pending `receive` returns None."""


class Transport(Protocol):
    """Sends a request to the server once."""

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """Return the whole response, whatever its status."""

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> ResponseStream | HTTPResponse:
        """Return a successful (2xx) response as a stream, any other as a whole. The timeout covers only its head."""

    async def aclose(self) -> None:
        """Close all connections, also those in use."""


class WebSocketTransport(Transport, Protocol):
    """A Transport that can open WebSockets too; exec, attach and port-forward need one."""

    async def open_web_socket(self, request: HTTPRequest, *, timeout: float | None) -> WebSocket | HTTPResponse:
        """Open a WebSocket with a subprotocol of the request; return the response if there is no upgrade."""
