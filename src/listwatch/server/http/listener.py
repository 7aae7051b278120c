"""Accepts HTTP connections. `exchange` responds to their requests."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod

from listwatch.server.http.exchange import RequestHandler

__all__ = ["Listener"]

_log = logging.getLogger(__name__)

# The limit of Go's server for the request line and headers: one megabyte.
_MAX_LINE = 1 << 20

_PROTOCOL_OPTIONS: dict[str, Any] = {
    "logger": _log,
    "access_log": None,  # the server has a RequestLog
    "auto_decompress": False,
    "max_line_size": _MAX_LINE,
    "max_field_size": _MAX_LINE,
}
_BACKLOG = 1024

# How aiohttp reports a request whose only problem is its method.
_UNKNOWN_METHOD = re.compile(r"b'[A-Z]+ /\S* HTTP/1")

# Iterations of the event loop; more than a watch needs to send its last chunk.
_ITERATIONS_TO_END = 20
_SHUTDOWN_TIMEOUT = 5.0


class Protocol(web.RequestHandler):
    """Reads HTTP from one connection; a malformed request gets an error response without its content in it."""

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if isinstance(exc, BadHttpMethod) and _UNKNOWN_METHOD.search(exc.message):
            status = 405
        response = web.Response(status=status, text=f"{status} {HTTPStatus(status).phrase}")
        response.force_close()
        return response


class Listener:
    """Listens on one address and passes the requests to a handler."""

    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler
        self._protocols: web.Server | None = None
        self._server: asyncio.Server | None = None
        self._connected: Callable[[], asyncio.Protocol] | None = None
        self._further: list[asyncio.Task[asyncio.Server]] = []

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Listen, and return the port."""
        loop = asyncio.get_running_loop()
        # A watch is cancelled when its client disconnects.
        self._protocols = web.Server(self._handler.handle, handler_cancellation=True)
        self._connected = partial(Protocol, self._protocols, loop=loop, **_PROTOCOL_OPTIONS)
        self._server = await loop.create_server(self._connected, host, port, ssl=tls, backlog=_BACKLOG)
        return int(self._server.sockets[0].getsockname()[1])

    def also_listen(self, host: str, port: int, tls: ssl.SSLContext) -> int:
        """Listen on another port as well, and return that port; connections are accepted as soon as the loop runs."""
        assert self._connected is not None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        loop = asyncio.get_running_loop()
        serving = loop.create_server(self._connected, sock=opened, ssl=tls, backlog=_BACKLOG)
        self._further.append(loop.create_task(serving, name="API server, HTTPS"))
        return int(opened.getsockname()[1])

    @property
    def connections(self) -> int:
        return len(self._protocols.connections) if self._protocols else 0

    async def stop(self) -> None:
        """Stop accepting connections, let requests finish that need not wait, and abort the others."""
        if self._server is None or self._protocols is None:
            return
        servers = [self._server, *[await each for each in self._further]]
        for server in servers:
            server.close()
        for _ in range(_ITERATIONS_TO_END):
            await asyncio.sleep(0)
            if not self._handler.open_requests:
                break
        for protocol in self._protocols.connections:
            if protocol.transport is not None:
                protocol.transport.abort()
        await self._protocols.shutdown(_SHUTDOWN_TIMEOUT)
        for server in servers:
            await server.wait_closed()
