"""An HTTP server that sends scripted bytes, for tests of clients.

async with ScriptedServer(respond(429, headers={"Retry-After": "1"}), [stream_head(), chunk(b"{"), RESET]) as server:
    config = ClientConfig(host=server.url)
    ...
    assert [request.method for request in server.requests] == ["GET", "GET"]

It listens on 127.0.0.1 only and sends nothing but its script.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from typing import Self

__all__ = [
    "CLOSE",
    "HANG",
    "LAST_CHUNK",
    "RESET",
    "Action",
    "ReceivedRequest",
    "ScriptedServer",
    "chunk",
    "respond",
    "stream_head",
]

_MAX_HEAD = 2**20


class Action(Enum):
    """An action of the server other than sending bytes."""

    CLOSE = "close the connection cleanly"
    RESET = "reset the connection"
    HANG = "send nothing more until the client disconnects"


CLOSE, RESET, HANG = Action.CLOSE, Action.RESET, Action.HANG

Step = bytes | Action | asyncio.Event
"""Bytes to send, an action, or an event to wait for."""
Reply = Step | Sequence[Step]

LAST_CHUNK = b"0\r\n\r\n"


def respond(status: int = 200, body: bytes = b"", *, headers: Mapping[str, str] | None = None) -> bytes:
    """A complete response; JSON unless the headers say otherwise."""
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    return _head(status, fields) + body


def stream_head(status: int = 200, *, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of a chunked response."""
    return _head(status, {"Content-Type": "application/json", "Transfer-Encoding": "chunked", **(headers or {})})


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    known = status in set(HTTPStatus)
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase if known else 'Unknown'}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One received request; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int
    """The number of its connection, starting at 1."""
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """All values of each header."""


class ScriptedServer:
    """Sends one scripted reply per request, over any connection, and records the requests."""

    def __init__(
        self,
        *replies: Reply,
        otherwise: Reply | None = None,
        greeting: Reply = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`otherwise` is sent when the script is used up, `greeting` when a client connects."""
        self._replies: deque[Reply] = deque(replies)
        self._otherwise = respond(500, b"the script is used up") if otherwise is None else otherwise
        self._greeting = greeting
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def open_connections(self) -> int:
        return len(self._handlers)

    def will(self, *replies: Reply) -> None:
        """Append to the script."""
        self._replies.extend(replies)

    async def wait_requests(self, count: int) -> None:
        """Return when that many requests were received."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= count)

    async def wait_connections(self, count: int) -> None:
        """Return when that many connections were accepted."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.connections >= count)

    async def wait_all_closed(self) -> None:
        """Return when all connections are closed."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._handlers)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MAX_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for handler in list(self._handlers):
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        name = f"connection {self.connections}"
        self._handlers.add(asyncio.create_task(self._handle(reader, writer, self.connections), name=name))

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            await self._notify()
            if self._tls:
                await writer.start_tls(self._tls)
            await self._play(self._greeting, reader, writer)
            while not writer.is_closing():
                self.requests.append(await _read_request(reader, number))
                await self._notify()
                await self._play(self._replies.popleft() if self._replies else self._otherwise, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client disconnected
        finally:
            writer.transport.abort()
            this = asyncio.current_task()
            assert this is not None
            self._handlers.discard(this)
            await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _play(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for step in _steps(reply):
            match step:
                case bytes():
                    writer.write(step)
                    await writer.drain()
                case asyncio.Event():
                    await step.wait()
                case Action.CLOSE:
                    writer.close()
                    await writer.wait_closed()
                case Action.RESET:
                    _reset(writer)
                case Action.HANG:
                    await reader.read()


def _steps(reply: Reply) -> Iterator[Step]:
    if isinstance(reply, bytes | Action | asyncio.Event):
        yield reply
    else:
        yield from reply


def _reset(writer: asyncio.StreamWriter) -> None:
    # With a linger time of 0 the kernel sends RST instead of FIN.
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader, number: int) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    repeated: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        repeated.setdefault(name.strip().lower(), []).append(value.strip())
    headers = {name: values[-1] for name, values in repeated.items()}
    return ReceivedRequest(method, target, headers, await _read_body(reader, headers), number, repeated)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while length := int((await reader.readline()).split(b";")[0], 16):
        body += (await reader.readexactly(length + 2))[:-2]
    await reader.readline()
    return body
