"""Streams of bytes between a client and a kubelet, with bounded buffers: a slow side slows the other one down."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

__all__ = ["InputStream", "OutputStream"]

MAX_BUFFERED = 128 * 1024
_MAX_PIECE = 64 * 1024


class InputStream:
    """Bytes that a client sends. Iterate over it for the pieces as they arrive; it ends when the client closes it."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_closed = False
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()

    def __aiter__(self) -> InputStream:
        return self

    async def __anext__(self) -> bytes:
        await self._wait_for_data()
        if not self._pieces:
            raise StopAsyncIteration
        return self._take(self._pieces.popleft())

    async def read(self, size: int = -1) -> bytes:
        """Return all bytes up to the end, or at most `size` as soon as there are any; empty at the end."""
        if size < 0:
            return b"".join([piece async for piece in self])
        await self._wait_for_data()
        if not self._pieces or not size:
            return b""
        piece = self._pieces.popleft()
        if len(piece) > size:
            self._pieces.appendleft(piece[size:])
        return self._take(piece[:size])

    async def readline(self) -> bytes:
        """Return the next line with its newline; the last line may have none, and is empty at the end."""
        line = bytearray()
        async for piece in self:
            head, newline, rest = piece.partition(b"\n")
            line += head + newline
            if rest:
                self._pieces.appendleft(rest)
                self._size += len(rest)
            if newline:
                break
        return bytes(line)

    async def _wait_for_data(self) -> None:
        while not self._pieces and not self._is_closed:
            self._changed.clear()
            await self._changed.wait()

    def _take(self, piece: bytes) -> bytes:
        self._size -= len(piece)
        self._has_room.set()
        return piece

    # --- The side of the server

    async def feed(self, data: bytes) -> None:
        """Add received bytes; waits while the buffer is full. After `close`, they are dropped."""
        while self._size >= MAX_BUFFERED and not self._is_closed:
            self._has_room.clear()
            await self._has_room.wait()
        if data and not self._is_closed:
            self._pieces.append(data)
            self._size += len(data)
            self._changed.set()

    def close(self) -> None:
        """End the stream; what has arrived can still be read."""
        self._is_closed = True
        self._changed.set()
        self._has_room.set()


class OutputStream:
    """Bytes for a client. If the client did not request this stream, they are dropped."""

    def __init__(
        self,
        send: Callable[[bytes], Awaitable[None]] | None = None,
        end: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._end = end

    @property
    def can_end(self) -> bool:
        """Whether the protocol of the client can end this direction only."""
        return self._end is not None

    async def write(self, data: bytes | str) -> None:
        """Send bytes, or text as UTF-8; waits while the client reads slowly. ConnectionError if it has gone."""
        if self._send is None:
            return
        octets = data.encode() if isinstance(data, str) else bytes(data)
        for start in range(0, len(octets), _MAX_PIECE):
            await self._send(octets[start : start + _MAX_PIECE])

    async def close(self) -> None:
        """End this direction, where the protocol of the client can express that; nothing may be written after it."""
        self._send, end = None, self._end
        if end is not None:
            self._end = None
            await end()
