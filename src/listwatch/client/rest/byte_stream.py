"""The body of one answer, piece by piece as it comes: logs, or whatever else is too long to wait for its end.

`watch_stream` reads events from one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Self

from listwatch.client.rest.sender import Stream
from listwatch.errors import UsageError
from listwatch.objects.wire import LineSplitter

__all__ = ["ByteStream"]

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class ByteStream:
    """Asks when it is entered or first read, ends when the server ends it, and closes its connection when left."""

    def __init__(self, opener: Callable[[], Awaitable[Stream | None]]) -> None:
        self._opener = opener
        self._stream: Stream | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # None before it was opened
        self._opening: asyncio.Timeout | None = None  # while it is being opened
        self._is_closed = False

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers, once it is there."""
        return self._stream.headers if self._stream else _NO_HEADERS

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def open(self) -> None:
        """Ask for it, if that is not done yet; an answer that says no is raised."""
        if self._opening and not self._is_closed:
            raise UsageError("another task is already reading this stream")
        if self._loop is None and not self._is_closed:
            self._loop = asyncio.get_running_loop()
            await self._ask()

    async def read(self) -> bytes:
        """The next bytes, as many as there are; b"" at the end."""
        if self._stream is None:
            await self.open()
        if self._stream is None or self._is_closed:
            return b""
        try:
            piece = await self._stream.read()
        except UsageError:
            raise  # somebody else is reading, and may go on
        except Exception:  # and not if it is cancelled, which loses nothing: who reads on finds all that came
            self.close()
            raise
        if not piece:
            self.close()
        return b"" if self.is_closed else piece  # somebody may have closed it meanwhile

    async def read_all(self) -> bytes:
        """Everything up to the end."""
        return b"".join([piece async for piece in self])

    async def lines(self) -> AsyncIterator[bytes]:
        """Line by line, without blank ones."""
        splitter = LineSplitter()
        async for piece in self:
            for line in splitter.feed(piece):
                yield line
        if last := splitter.finish():
            yield last

    def _set_idle_timeout(self, seconds: float, *, coalesce_reads: bool = False) -> None:
        """From now on, raise StreamIdleError when a read waits for longer than this."""
        if self._stream and not self._is_closed:
            self._stream.set_idle_timeout(seconds)
            if coalesce := getattr(self._stream, "coalesce_reads", None):  # optional for transports
                coalesce(enabled=coalesce_reads)

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""
        if self._opening and self._loop and not self._is_closed:
            self._opening.reschedule(self._loop.time())
        self._is_closed = True
        if self._stream:
            self._stream.close()

    async def aclose(self) -> None:
        self.close()

    async def _ask(self) -> None:
        try:
            # Its time is up when somebody closes this meanwhile.
            async with asyncio.timeout(None) as self._opening:
                self._stream = await self._opener()
        except asyncio.CancelledError:
            self._loop = None  # whoever reads it after all asks again
            raise
        except Exception as error:
            if self._is_closed and isinstance(error, TimeoutError):
                return
            self._is_closed = True
            raise
        finally:
            self._opening = None
        if self._stream is None or self._is_closed:
            self.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if piece := await self.read():
            return piece
        raise StopAsyncIteration

    def __del__(self) -> None:
        # Whoever breaks out of a loop over this needs no `async with`. The garbage collector may run in any thread.
        if self._stream and not self._is_closed and self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stream.close)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open" if self._stream else "not open yet"
        return f"<{type(self).__name__}, {state}>"
