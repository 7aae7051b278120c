"""An HTTP server that says exactly the bytes it is told to, to see what a client makes of them.

async with ScriptedServer(answer(429, headers={"Retry-After": "1"}), [stream_head(), chunk(b"{"), RESET]) as server:
    config = ClientConfig(host=server.url)
    ...
    assert [request.method for request in server.requests] == ["GET", "GET"]

It listens on 127.0.0.1 alone, and speaks of nothing but what is in its script.
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
    "answer",
    "chunk",
    "stream_head",
]

_LONGEST_HEAD = 2**20


class Action(Enum):
    """What a server can do other than send something."""

    CLOSE = "close the connection in good order"
    RESET = "break the connection"
    HANG = "say nothing more until the client hangs up"


CLOSE, RESET, HANG = Action.CLOSE, Action.RESET, Action.HANG

Step = bytes | Action | asyncio.Event
"""Something to send, something to do, or something that the test decides when to go on after."""
Reply = Step | Sequence[Step]

LAST_CHUNK = b"0\r\n\r\n"


def answer(status: int = 200, body: bytes = b"", *, headers: Mapping[str, str] | None = None) -> bytes:
    """A complete answer; JSON unless its headers say otherwise."""
    said = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    return _head(status, said) + body


def stream_head(status: int = 200, *, headers: Mapping[str, str] | None = None) -> bytes:
    """The beginning of an answer that goes on in chunks."""
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
    """One request as the client sent it; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int
    """Which of the connections it came over, the first being 1."""
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Every value of every header, for those that come more than once."""


class ScriptedServer:
    """Plays one reply after the other, one for each request over whichever connection, and keeps what it received."""

    def __init__(
        self,
        *replies: Reply,
        otherwise: Reply | None = None,
        greeting: Reply = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`otherwise` is played when the replies have run out, and `greeting` when somebody connects."""
        self._replies: deque[Reply] = deque(replies)
        self._otherwise = answer(500, b"the script is over") if otherwise is None else otherwise
        self._greeting = greeting
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Condition()
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def open_connections(self) -> int:
        return len(self._talks)

    def will(self, *replies: Reply) -> None:
        """Add to the script."""
        self._replies.extend(replies)

    async def wait_requests(self, count: int) -> None:
        """Return when that many requests have come."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.requests) >= count)

    async def wait_connections(self, count: int) -> None:
        """Return when that many connections have been made."""
        async with self._news:
            await self._news.wait_for(lambda: self.connections >= count)

    async def wait_all_closed(self) -> None:
        """Return when no connection is left."""
        async with self._news:
            await self._news.wait_for(lambda: not self._talks)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._welcome, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for talk in list(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await self._server.wait_closed()

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talk = asyncio.create_task(self._talk(reader, writer, self.connections), name=f"talk {self.connections}")
        self._talks.add(talk)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            await self._tell()
            if self._tls:
                await writer.start_tls(self._tls)
            await self._play(self._greeting, reader, writer)
            while not writer.is_closing():
                self.requests.append(await _read_request(reader, number))
                await self._tell()
                await self._play(self._replies.popleft() if self._replies else self._otherwise, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client hung up, or never wanted to talk
        finally:
            writer.transport.abort()
            this = asyncio.current_task()
            assert this is not None
            self._talks.discard(this)
            await self._tell()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

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
    # With no time to linger, the system says RST where it would say FIN.
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
