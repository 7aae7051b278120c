"""The requests that a kubelet serves: commands, logs, connections to ports, and proxied requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from listwatch.models.core_v1 import Pod
from listwatch.server.kubelet.byte_streams import InputStream, OutputStream
from listwatch.server.requests import User
from listwatch.tasks.cancellation import cancel_and_wait

__all__ = [
    "AttachSession",
    "ExecSession",
    "LogRequest",
    "PortConnection",
    "ProxyRequest",
    "ProxyResponse",
    "TerminalSize",
    "TerminalSizes",
]

_MAX_SIZES = 64
_READ_SIZE = 64 * 1024


class TerminalSize(NamedTuple):
    """The size of a client's terminal, in characters."""

    width: int
    height: int


class TerminalSizes:
    """The sizes of a client's terminal, as they change; iterate over it. If they are not read, old ones are dropped."""

    def __init__(self) -> None:
        self._sizes: deque[TerminalSize] = deque(maxlen=_MAX_SIZES)
        self._changed = asyncio.Event()
        self._is_closed = False

    def __aiter__(self) -> AsyncIterator[TerminalSize]:
        return self

    async def __anext__(self) -> TerminalSize:
        while not self._sizes:
            if self._is_closed:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._sizes.popleft()

    def add(self, size: TerminalSize) -> None:
        self._sizes.append(size)
        self._changed.set()

    def close(self) -> None:
        self._is_closed = True
        self._changed.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachSession:
    """A client attached to a running container. With a `tty`, clients request no separate stderr."""

    pod: Pod
    container: str
    user: User
    tty: bool = False
    stdin: InputStream = field(repr=False)
    stdout: OutputStream = field(repr=False)
    stderr: OutputStream = field(repr=False)
    resizes: TerminalSizes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecSession(AttachSession):
    """A command that a client runs in a container."""

    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRequest:
    """A request for the log of a container, with the options of `kubectl logs`."""

    pod: Pod
    container: str
    user: User
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortConnection:
    """One connection of a client to a port of a pod. Either side can close its direction first."""

    pod: Pod
    port: int
    user: User
    input: InputStream = field(repr=False)
    output: OutputStream = field(repr=False)

    async def forward_to(self, host: str, port: int) -> None:
        """Connect the client to a TCP port of this machine or another one, until both sides have finished.

        If the protocol of the client cannot end one direction, the connection ends with that of the target.
        """
        reader, writer = await asyncio.open_connection(host, port)
        sending = asyncio.get_running_loop().create_task(self._send_to(writer))
        try:
            while data := await reader.read(_READ_SIZE):
                await self.output.write(data)
            if self.output.can_end:
                await self.output.close()
                await sending
        finally:
            # If the target closes its direction with an error, the other direction is over as well.
            with suppress(OSError):
                await cancel_and_wait(sending)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _send_to(self, writer: asyncio.StreamWriter) -> None:
        async for piece in self.input:
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRequest:
    """An HTTP request to a pod, Service or node through the API server.

    `resource` is pods, services or nodes; `port` is a number or a name, empty for the default one. `headers` has no
    credentials of the client. Iterate over `body` for the pieces of the request body.
    """

    resource: str
    namespace: str
    name: str
    scheme: str
    port: str
    method: str
    path: str
    query_string: str
    user: User
    headers: Mapping[str, str] = field(repr=False)
    body: AsyncIterable[bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProxyResponse:
    """The response to a proxied request; a body that is an iterator is sent as it is produced."""

    body: bytes | str | AsyncIterable[bytes] = field(default=b"", repr=False)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
