"""Accepts HTTP connections. `exchange` responds to their requests.

A client cannot hold a connection without using it: one that sends no request, half a request, or does not read its
response is disconnected. If the process has no more file descriptors, accepting pauses until there are some again.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import socket
import ssl
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web

from listwatch.server.http.connection_protocol import Protocol
from listwatch.server.http.exchange import RequestHandler

__all__ = ["ConnectionSettings", "Listener"]

_log = logging.getLogger("listwatch.server")

# The limit of Go's server for the request line and headers is one megabyte. The line is limited to less, because yarl
# caches the URLs that it has parsed.
_MAX_HEADER = 1 << 20
_MAX_LINE = 1 << 18

_PROTOCOL_OPTIONS: dict[str, Any] = {
    "logger": _log,
    "access_log": None,  # the server has a RequestLog
    "auto_decompress": False,
    "lingering_time": 1.0,  # for the rest of a body that was not read
    "max_line_size": _MAX_LINE,
    "max_field_size": _MAX_HEADER,
}
_BACKLOG = 1024
_HANDSHAKE_TIMEOUT = 10.0

_PAUSE = 1.0
"""Seconds until the next attempt to accept a connection, for instance if the process has no more file descriptors."""

_LOG_INTERVAL = 10.0

# Iterations of the event loop; more than a watch needs to send its last chunk.
_ITERATIONS_TO_END = 20
_SHUTDOWN_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The limits of connections, in seconds; the first three are those of a real API server."""

    idle_timeout: float = 90.0
    """The time until the headers of the next request are complete."""
    body_timeout: float = 60.0
    """The time until the body of a request is complete."""
    stall_timeout: float = 60.0
    """The time in which a client reads nothing of a response, after which it is disconnected."""
    max_connections: int = 10_000
    """Further connections are closed at once."""


class Listener:
    """Listens on one address and passes the requests to a handler."""

    def __init__(self, handler: RequestHandler, settings: ConnectionSettings) -> None:
        self._handler = handler
        self._settings = settings
        self._protocols: web.Server | None = None
        self._connected: Callable[[], asyncio.BaseProtocol] | None = None
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Listen, and return the port."""
        loop = asyncio.get_running_loop()
        # A watch is cancelled when its client disconnects.
        self._protocols = web.Server(self._handler.handle, handler_cancellation=True)
        self._connected = partial(
            Protocol,
            self._protocols,
            loop=loop,
            stall_timeout=self._settings.stall_timeout,
            keepalive_timeout=self._settings.idle_timeout,
            **_PROTOCOL_OPTIONS,
        )
        for each in await _listening_sockets(host, port):
            self._serve(each, tls)
        return int(self._sockets[0].getsockname()[1])

    def also_listen(self, host: str, port: int, tls: ssl.SSLContext) -> int:
        """Listen on another port as well, and return that port; connections are accepted as soon as the loop runs."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        opened.setblocking(False)
        self._serve(opened, tls)
        return int(opened.getsockname()[1])

    @property
    def address(self) -> str:
        """The IP address at which clients on this machine reach the server."""
        found = str(self._sockets[0].getsockname()[0])
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(found, found)

    @property
    def connections(self) -> int:
        return len(self._protocols.connections) if self._protocols else 0

    async def stop(self) -> None:
        """Stop accepting connections. Requests that can finish without waiting do; the others are aborted."""
        if self._protocols is None:
            return
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for each in self._sockets:
            each.close()
        for _ in range(_ITERATIONS_TO_END):
            await asyncio.sleep(0)
            if not self._handler.open_requests:
                break
        for protocol in self._protocols.connections:
            if protocol.transport is not None:
                protocol.transport.abort()
        await self._protocols.shutdown(_SHUTDOWN_TIMEOUT)

    def _serve(self, listening: socket.socket, tls: ssl.SSLContext | None) -> None:
        self._sockets.append(listening)
        self._start_task(self._accept(listening, tls))

    def _start_task(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Accept connections until cancelled. Not asyncio's own loop, which logs a thousand errors at once."""
        loop = asyncio.get_running_loop()
        refusals = _RefusalLog(loop)
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as error:
                if error.errno != errno.ECONNABORTED:  # only that connection has failed
                    refusals.begin(str(error.strerror))
                    await asyncio.sleep(_PAUSE)
                continue
            if self.connections + len(self._tasks) > self._settings.max_connections:
                refusals.begin(f"the limit of {self._settings.max_connections} connections is reached")
                connection.close()
                continue
            refusals.end()
            self._start_task(self._connect(connection, tls))
            # An accept that need not wait does not suspend: open connections are served between two of them.
            await asyncio.sleep(0)

    async def _connect(self, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        timeout = _HANDSHAKE_TIMEOUT if tls else None
        assert self._connected is not None
        try:
            await loop.connect_accepted_socket(self._connected, connection, ssl=tls, ssl_handshake_timeout=timeout)
        except (OSError, TimeoutError):
            connection.close()  # the client has disconnected, or the TLS handshake failed


class _RefusalLog:
    """Logs when connections begin to be refused and when that ends, not more often than every `_LOG_INTERVAL`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._is_reported = False
        self._next = -math.inf

    def begin(self, reason: str) -> None:
        if self._is_reported or self._loop.time() < self._next:
            return
        self._is_reported, self._next = True, self._loop.time() + _LOG_INTERVAL
        _log.error("New connections are refused: %s", reason)

    def end(self) -> None:
        if self._is_reported:
            self._is_reported = False
            _log.warning("New connections are accepted again")


# What `getaddrinfo` returns: family, type, protocol, canonical name, and the address of the family.
_AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


async def _resolve(host: str, port: int) -> Sequence[_AddressInfo]:
    # An address needs no lookup, and so no thread of the event loop.
    with suppress(socket.gaierror, UnicodeEncodeError):
        flags = socket.AI_PASSIVE | socket.AI_NUMERICHOST
        # As bytes: Python would import its codec for international names to encode a text.
        return socket.getaddrinfo(host.encode("ascii") or None, port, type=socket.SOCK_STREAM, flags=flags)
    loop = asyncio.get_running_loop()
    return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)


async def _listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Open a socket for each address of a host; raises OSError or OverflowError."""
    found = await _resolve(host, port)
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            try:
                listening = socket.socket(family, kind, protocol)
            except OSError:
                continue  # the system does not support this family
            sockets.append(listening)
            if sys.platform != "win32":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.setblocking(False)
            listening.bind(address)
            listening.listen(_BACKLOG)
    except BaseException:
        for each in sockets:
            each.close()
        raise
    if not sockets:
        raise OSError(errno.EADDRNOTAVAIL, "no address of this host can be used")
    return sockets
