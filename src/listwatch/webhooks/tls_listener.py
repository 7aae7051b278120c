"""Accepts TLS connections, and closes all of them when it stops, including unfinished handshakes."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable, Coroutine

from listwatch.errors import UsageError

__all__ = ["TLSListener"]

_log = logging.getLogger("listwatch.webhooks")

_BACKLOG = 128
_HANDSHAKE_TIMEOUT = 10.0
_PAUSE = 1.0
"""Seconds until the next attempt to accept a connection, for instance if the process has no more file descriptors."""


class TLSListener:
    """Listens on one address between `start` and `stop`. `asyncio.Server` would wait for unfinished handshakes."""

    def __init__(
        self, protocol: Callable[[], asyncio.BaseProtocol], tls: ssl.SSLContext, *, max_handshakes: int
    ) -> None:
        self._protocol = protocol
        self._tls = tls
        self._max_handshakes = max_handshakes
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that it listens on; 0 before the start."""
        return int(self._sockets[0].getsockname()[1]) if self._sockets else 0

    async def start(self, host: str, port: int) -> None:
        """Listen on all addresses of the host; raises UsageError."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, _, _, _, address in dict.fromkeys(found):
                # All addresses get the port that was selected for the first one.
                place = (address[0], self.port or port)
                self._sockets.append(socket.create_server(place, family=family, backlog=_BACKLOG))
        except (OSError, OverflowError) as error:
            self._close()
            raise UsageError(f"cannot serve webhooks at {host}:{port}: {error}") from error
        for each in self._sockets:
            each.setblocking(False)
            self._start_task(self._accept(each))

    async def stop(self) -> None:
        """Stop accepting connections, and abort handshakes."""
        for task in tuple(self._tasks):
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:
            self._close()

    def _close(self) -> None:
        while self._sockets:
            self._sockets.pop().close()

    def _start_task(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as error:
                if error.errno != errno.ECONNABORTED:  # only that connection has failed
                    _log.error("Cannot accept connections to webhooks: %s", error.strerror)
                    await asyncio.sleep(_PAUSE)
                continue
            if len(self._tasks) > self._max_handshakes:
                connection.close()
                continue
            self._start_task(self._connect(connection))
            # An accept that does not wait does not suspend: yield, so that open connections are served.
            await asyncio.sleep(0)

    async def _connect(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(
                self._protocol, connection, ssl=self._tls, ssl_handshake_timeout=_HANDSHAKE_TIMEOUT
            )
        except (OSError, TimeoutError):
            connection.close()  # the client has disconnected, or the handshake failed
