"""A load generator for HTTP servers that costs as little as Python allows, so that the server is the bottleneck.

A full client takes as long for a request as a server does, which would hide how fast the server is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from functools import partial

__all__ = ["post_all"]

_HEAD = (
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nUser-Agent: bench\r\n"
    "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: "
)


async def post_all(url: str, path: str, token: str, bodies: Sequence[bytes], *, connections: int) -> float:
    """Post every body over a number of connections; return the objects created per second."""
    host, port = url.removeprefix("http://").split(":")
    head = _HEAD.format(path=path, host=host, token=token).encode()
    requests = iter([b"%s%d\r\n\r\n%s" % (head, len(body), body) for body in bodies])
    loop = asyncio.get_running_loop()
    posters = [Poster(requests, loop.create_future()) for _ in range(connections)]
    started = time.perf_counter()
    for poster in posters:
        await loop.create_connection(partial(_same, poster), host, int(port))
    await asyncio.gather(*(poster.done for poster in posters))
    return len(bodies) / (time.perf_counter() - started)


def _same(poster: Poster) -> Poster:
    return poster


class Poster(asyncio.Protocol):
    """One connection: sends a request when the response to the previous one has arrived."""

    def __init__(self, requests: Iterator[bytes], done: asyncio.Future[None]) -> None:
        self.done = done
        self._requests = requests
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, ends, rest = self._received.partition(b"\r\n\r\n")
        if not ends or len(rest) < _content_length(head):
            return
        self._received = b""
        if head.startswith(b"HTTP/1.1 201 "):
            self._send()
        else:
            self._finish(RuntimeError(f"create failed: {rest.decode()}"))

    def connection_lost(self, _error: Exception | None) -> None:
        self._finish(ConnectionError("the server closed the connection"))

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._finish()
        elif self._transport:
            self._transport.write(request)

    def _finish(self, error: Exception | None = None) -> None:
        if not self.done.done():
            self.done.set_exception(error) if error else self.done.set_result(None)
        if self._transport:
            self._transport.close()


def _content_length(head: bytes) -> int:
    _, _, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.split(b"\r\n", 1)[0])
