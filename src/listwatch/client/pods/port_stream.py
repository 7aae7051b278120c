"""One connection to a port of a pod, over a WebSocket with two channels: data, and the text of an error.

The protocol cannot end one direction only: a connection is closed as a whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Self

from listwatch.client.pods.channels import data_messages
from listwatch.client.rest.transport_protocols import WebSocket
from listwatch.errors import ConnectionLostError, PortForwardError, ProtocolError, UsageError

__all__ = ["PortStream"]

_DATA, _ERROR = range(2)
_PORT_SIZE = 2  # the first message of each channel is the port


class PortStream:
    """One connection to a port of a pod. Use it with `async with`.

    Nothing is read in the background: a slow reader slows the peer down.
    """

    def __init__(self, opener: Callable[[], Awaitable[WebSocket]], *, doing: str) -> None:
        self._opener = opener
        self._doing = doing
        self._socket: WebSocket | None = None
        self._left = b""
        self._has_port = [False, False]
        self._is_closed = False
        self._received = 0

    @property
    def is_closed(self) -> bool:
        """True after the end of the connection, or `close`."""
        return self._is_closed

    @property
    def received(self) -> int:
        """How many bytes were received."""
        return self._received

    async def open(self) -> None:
        """Open the connection if that was not done yet. Raises the error of an unsuccessful response."""
        if self._socket is None and not self._is_closed:
            self._socket = await self._opener()

    async def write(self, data: bytes) -> None:
        """Send data; waits while the peer reads slowly."""
        socket = self._open_socket
        for message in data_messages(_DATA, bytes(data)):
            await socket.send(message)

    async def read(self, size: int = -1) -> bytes:
        """Return data as soon as there is any, at most `size` bytes; b"" at the end of the connection.

        PortForwardError if the port cannot be connected to, as when no process listens at it.
        """
        await self.open()
        if not self._left:
            self._left = await self._read()
        data = self._left if size < 0 else self._left[:size]
        self._left = self._left[len(data) :]
        return data

    async def read_all(self) -> bytes:
        """Return all data up to the end of the connection."""
        return b"".join([piece async for piece in self])

    def close(self) -> None:
        """Close the connection at once. A pending read returns b""."""
        self._is_closed = True
        if self._socket is not None:
            self._socket.close()

    async def aclose(self) -> None:
        """Close the connection."""
        self._is_closed = True
        if self._socket is not None:
            await self._socket.aclose()

    async def _read(self) -> bytes:
        socket = self._open_socket
        while not self._is_closed:
            try:
                message = await socket.receive()
            except ConnectionLostError:
                if socket.is_closed:  # by another task
                    break
                raise
            if message is None:
                break
            if not message or message[0] > _ERROR:
                raise ProtocolError("a message of port-forward has no valid channel", doing=self._doing)
            channel, data = message[0], message[1:]
            if not self._has_port[channel]:
                self._has_port[channel] = True
                data = data[_PORT_SIZE:]
            if channel == _ERROR and data:
                await self.aclose()
                raise PortForwardError(f"{self._doing}: {data.decode(errors='replace').strip()[:1000]}")
            if channel == _DATA and data:
                self._received += len(data)
                return data
        await self.aclose()
        return b""

    @property
    def _open_socket(self) -> WebSocket:
        if self._socket is None:
            raise UsageError(f"{self._doing} is not open; use it with `async with`")
        return self._socket

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if piece := await self.read():
            return piece
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open" if self._socket else "not open yet"
        return f"<PortStream {self._doing}, {state}>"
