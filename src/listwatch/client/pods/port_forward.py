"""A local port whose connections lead to a port of a pod.

Each local connection opens its own connection to the pod, which is chosen again for each: a pod that was replaced, or a
lost connection to the API server, ends the connections of that moment, not the listener.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

from listwatch.client.pods.port_stream import PortStream
from listwatch.client.pods.relay import relay
from listwatch.clock import Clock
from listwatch.errors import ListWatchError, UsageError
from listwatch.logs.folded_log import FoldedLog

__all__ = ["PortForward"]

_log = logging.getLogger("listwatch.client")


class PortForward:
    """Listens at a local port, and connects each connection to a port of a pod. Use it with `async with`.

    A connection that fails is closed and logged; the listener stays. While the pod or the server cannot be reached, a
    new connection waits up to about ten seconds.
    """

    def __init__(
        self,
        open_stream: Callable[[], Awaitable[PortStream]],
        *,
        address: str,
        local_port: int,
        doing: str,
        clock: Clock,
        on_connection: Callable[[], object] | None = None,
    ) -> None:
        self._open_stream = open_stream
        self._address = address
        self._requested_port = local_port
        self._doing = doing
        self._clock = clock
        self._on_connection = on_connection
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._failure_log = FoldedLog(_log, clock)
        self._opened = 0
        self._failed = 0
        self._last_error: ListWatchError | None = None

    @property
    def address(self) -> str:
        """The local address."""
        return self._address

    @property
    def local_port(self) -> int:
        """The local port, which the system has chosen if none was requested."""
        if self._server is None or not self._server.sockets:
            raise UsageError(f"{self._doing} is not open; use it with `async with`")
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._connections)

    @property
    def failures(self) -> int:
        """How many connections have failed."""
        return self._failed

    @property
    def last_error(self) -> ListWatchError | None:
        """The error of the last connection that failed."""
        return self._last_error

    async def open(self) -> None:
        """Start listening, if that was not done yet. OSError if the local port is in use."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, self._address, self._requested_port)

    async def aclose(self) -> None:
        """Close the listener and all its connections."""
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)
        with suppress(OSError):
            await self._server.wait_closed()
        self._failure_log.flush()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer), name=f"{self._doing}: connection")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._opened += 1
        if self._on_connection is not None:
            self._on_connection()
        try:
            stream = await self._open_stream()
            await relay(stream, reader, writer, self._clock)
        except ListWatchError as error:
            self._failed += 1
            self._last_error = error
            self._failure_log.log(
                logging.WARNING, str(error), "%s: a connection failed: %s", self._doing, error, fields={}
            )
        finally:
            writer.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        port = self._server.sockets[0].getsockname()[1] if self._server and self._server.sockets else "closed"
        return f"<PortForward {self._doing}, local port {port}>"
