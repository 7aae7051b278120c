"""The log of a container as lines of text, as they are written."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Self

from listwatch.client.rest.byte_stream import ByteStream

__all__ = ["LogStream"]


class LogStream:
    """The lines of a log, without their line feeds; asks when it is entered or first read, and closes when left."""

    def __init__(self, body: ByteStream) -> None:
        self._body = body
        self._lines: deque[str] = deque()
        self._unfinished: list[bytes] = []

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""
        self._lines.clear()
        self._unfinished.clear()
        self._body.close()

    async def aclose(self) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self._body.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if not await self._has_lines():
            raise StopAsyncIteration
        return self._lines.popleft()

    async def batches(self) -> AsyncIterator[list[str]]:
        """The lines, as many at a time as came at a time."""
        while await self._has_lines():
            lines = list(self._lines)
            self._lines.clear()
            yield lines

    async def _has_lines(self) -> bool:
        while not self._lines:
            piece = await self._body.read()
            if not piece and not self._unfinished:
                return False
            self._feed(piece or b"\n")
        return True

    def _feed(self, piece: bytes) -> None:
        *complete, rest = piece.split(b"\n")
        if complete:
            complete[0] = b"".join([*self._unfinished, complete[0]])
            self._unfinished.clear()
        if rest:
            self._unfinished.append(rest)
        self._lines.extend(line.decode(errors="replace") for line in complete)

    def __repr__(self) -> str:
        return f"<LogStream, {'closed' if self._body.is_closed else 'open'}>"
