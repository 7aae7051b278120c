"""One request that was sent, and its answer: as a whole, or as a stream that notices when its peer is dead.

`transport` makes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import aiohttp

from listwatch.api.responses import HTTPResponse
from listwatch.client.transport.connections import EXPLAINABLE, Pool, explained
from listwatch.client.transport.gzip_stream import GzipDecoder
from listwatch.client.transport.receive_coalescer import Gathering
from listwatch.clock import Clock
from listwatch.cooperative import TimeSlice
from listwatch.errors import ProtocolError, StreamIdleError, UsageError
from listwatch.objects.wire import LONG

__all__ = ["AiohttpStream", "Exchange"]


class Exchange(NamedTuple):
    """A request that was sent, and the beginning of its answer."""

    response: aiohttp.ClientResponse
    pool: Pool

    async def read(self) -> HTTPResponse:
        """The whole answer."""
        headers = self.response.headers
        try:
            pieces = await self._pieces(_decoder(headers))
        except BaseException:
            self.close()
            raise
        self.discard()
        content = pieces if sum(map(len, pieces)) > LONG else b"".join(pieces)
        return HTTPResponse(self.response.status, headers, content, headers.getall("Warning", ()))

    async def _pieces(self, decoder: GzipDecoder | None) -> list[bytes]:
        pieces, time_slice = [], TimeSlice()
        while piece := await self.response.content.readany():
            pieces.append(decoder.feed(piece) if decoder else piece)
            await time_slice.checkpoint()
        if decoder:
            decoder.finish()
        return pieces

    def discard(self) -> None:
        """Be done with it; its connection serves others if the answer was complete."""
        self.response.release()
        self.pool.leave()

    def close(self) -> None:
        """Be done with it and its connection."""
        self.response.close()
        self.pool.leave()


def _decoder(headers: Mapping[str, str]) -> GzipDecoder | None:
    match headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return GzipDecoder()
        case encoding:
            raise ProtocolError(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")


class AiohttpStream:
    """The body of an answer as it comes; it ends, or raises StreamIdleError when its peer is silent for too long."""

    def __init__(self, exchange: Exchange, *, clock: Clock, doing: str, host: str) -> None:
        headers = exchange.response.headers
        self.status: int = exchange.response.status
        self.headers: Mapping[str, str] = headers
        self.warnings: Sequence[str] = headers.getall("Warning", ())
        self._decoder = _decoder(headers)
        self._content = exchange.response.content
        self._exchange = exchange
        self._clock = clock
        self._doing = doing
        self._host = host
        self._waiting_since: float | None = None
        self._waited = 0.0  # by those who gave up since something came
        self._patience = 0.0
        self._watchdog: asyncio.Task[None] | None = None
        self._gathering: Gathering | None = None
        self._is_dead = False
        self.is_closed = False

    def expect_within(self, patience: float) -> None:
        """From now on, take the peer for dead after so many seconds of silence."""
        if self._watchdog:
            self._watchdog.cancel()
        self._patience = patience
        self._watchdog = asyncio.create_task(self._watch_silence(), name=f"silence of {self._doing}")

    def gather(self, *, in_bulk: bool) -> None:
        """From now on, let what comes in bulk gather for some milliseconds before it is read."""
        if self._gathering:
            self._gathering.stop()
        connection = self._exchange.response.connection  # None if the whole answer is there already
        transport = connection.transport if connection else None
        self._gathering = Gathering(transport) if in_bulk and transport else None

    async def read(self) -> bytes:
        """The next bytes, as many as there are; b"" at the end."""
        try:
            while not self.is_closed:
                piece = await self._next_piece()
                if not piece:
                    self._end()
                elif read := self._decoded(piece):
                    if self._gathering:
                        self._gathering.saw(len(piece))
                    return read
        except EXPLAINABLE as error:  # as `about` does, which would take longer than to read
            problem = explained(error, self._doing, self._host)
        else:
            return b""
        raise problem

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""
        if self.is_closed:
            return
        self.is_closed = True
        self.gather(in_bulk=False)
        if self._watchdog:
            self._watchdog.cancel()
        self._exchange.close()

    async def _next_piece(self) -> bytes:
        if self._waiting_since is not None:
            raise UsageError(f"{self._doing}: another task is already reading this stream")
        self._waiting_since = self._clock.monotonic() - self._waited
        self._waited = 0.0
        try:
            return await self._content.readany()
        except asyncio.CancelledError:
            # Silence goes on, also for those who give up and ask again.
            self._waited = self._clock.monotonic() - self._waiting_since
            raise
        except Exception:
            if self._is_dead:
                message = f"nothing came for {self._patience:g} s; the server, or the way to it, is taken for dead"
                raise StreamIdleError(message) from None
            if self.is_closed:
                return b""  # somebody closed it meanwhile
            self.close()
            raise
        finally:
            self._waiting_since = None

    def _decoded(self, piece: bytes) -> bytes:
        if self._decoder is None:
            return piece
        try:
            return self._decoder.feed(piece)
        except Exception:
            self.close()
            raise

    def _end(self) -> None:
        if self.is_closed:
            return
        self.close()
        if self._decoder:
            self._decoder.finish()

    async def _watch_silence(self) -> None:
        while (left := self._time_left()) > 0:
            await self._clock.sleep(left)
        self._is_dead, self._watchdog = True, None
        self.close()

    def _time_left(self) -> float:
        # A reader that takes its time is no reason to take the peer for dead.
        now = self._clock.monotonic()
        return (now if self._waiting_since is None else self._waiting_since) + self._patience - now

    def __repr__(self) -> str:
        return f"<AiohttpStream of {self._doing}, {'closed' if self.is_closed else 'open'}>"
