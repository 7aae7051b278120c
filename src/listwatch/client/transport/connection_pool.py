"""Pools of HTTP connections to one server.

requests ─▶ Pool      short requests share a limited number of connections
streams ──▶ Pool      watches have separate connections, without a limit, so that they never block requests
"""

from __future__ import annotations

import asyncio
import functools
import platform
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch._version import __version__
from listwatch.client.transport.connection import Connection, StreamConnection
from listwatch.client.transport.network_errors import CONNECT_TIMEOUT, FOREIGN, to_transport_error
from listwatch.client.transport.read_buffer import ReadBuffer
from listwatch.client.transport.sockets import SocksProxy, open_socket
from listwatch.client.transport.web_socket import AbortableWebSocket, HandshakeRejectedError
from listwatch.clock import Clock, time_limit

__all__ = ["Pool", "Pools"]

_KEEP_ALIVE = 30.0  # seconds; less than servers and load balancers keep an idle connection
_MAX_CONNECTIONS = 100
_STREAM_BUFFER_SIZE = 2**19
_MAX_HEADER_SIZE = 2**16


class Pool:
    """Connections with the same purpose and SSL context, and the number of requests that use them."""

    def __init__(
        self,
        *,
        clock: Clock,
        socks: SocksProxy | None,
        user_agent: str,
        encoding: str = "identity",
        limit: int = 0,
        streams: bool = False,
    ) -> None:
        self.session = aiohttp.ClientSession(
            connector=_Connector(clock=clock, socks=socks, limit=limit, streams=streams),
            headers={"User-Agent": user_agent or _default_user_agent(), "Accept-Encoding": encoding},
            cookie_jar=aiohttp.DummyCookieJar(),
            # Timeouts follow the clock of the client.
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            # aiohttp stops after the first gzip member.
            auto_decompress=False,
            middlewares=(_translate_errors, _reject_handshakes) if streams else (_translate_errors,),
            ws_response_class=AbortableWebSocket,  # type: ignore[arg-type]  # generic by an option of `receive`
            read_bufsize=_STREAM_BUFFER_SIZE,
            max_line_size=_MAX_HEADER_SIZE,
            max_field_size=_MAX_HEADER_SIZE,
        )
        self._loop = asyncio.get_running_loop()
        self._users = 0
        self._unused: asyncio.Event | None = None

    def enter(self) -> None:
        """Count a request that uses the pool."""
        self._users += 1

    def leave(self) -> None:
        """Count a request that no longer uses the pool."""
        self._users -= 1
        if self._unused and not self._users:
            self._unused.set()

    async def retire(self) -> None:
        """Close the pool when the last request has left it, or when this is cancelled."""
        self._unused = asyncio.Event()
        try:
            if self._users:
                await self._unused.wait()
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        await self.session.close()

    def abandon(self) -> None:
        """Close the connections of a pool that was never closed; from any thread."""
        connector = self.session.connector
        if connector is None:
            return
        self.session.detach()
        loop = self._loop
        if loop.is_closed():
            return  # with all its connections
        with suppress(RuntimeError):  # it was closed meanwhile
            loop.call_soon_threadsafe(lambda: loop.create_task(_close(connector)))


class Pools:
    """The pools for requests and for streams. A change of the SSL context needs new ones."""

    def __init__(
        self,
        tls: ssl.SSLContext | None,
        *,
        clock: Clock,
        socks: SocksProxy | None,
        user_agent: str,
        disable_compression: bool,
    ) -> None:
        self.tls = tls
        encoding = "identity" if disable_compression else "gzip"
        self.requests = Pool(clock=clock, socks=socks, user_agent=user_agent, encoding=encoding, limit=_MAX_CONNECTIONS)
        self.streams = Pool(clock=clock, socks=socks, user_agent=user_agent, streams=True)

    async def retire(self) -> None:
        """Close each pool when it is unused."""
        await asyncio.gather(self.requests.retire(), self.streams.retire())

    async def aclose(self) -> None:
        await asyncio.gather(self.requests.aclose(), self.streams.aclose())

    def abandon(self) -> None:
        """Close all connections of a client that was never closed; from any thread."""
        self.requests.abandon()
        self.streams.abandon()


async def _close(connector: aiohttp.BaseConnector) -> None:
    await connector.close()


class _Connector(aiohttp.TCPConnector):
    """Opens connections with TCP keepalive, within a timeout, and through a SOCKS proxy if there is one."""

    def __init__(self, *, clock: Clock, socks: SocksProxy | None, limit: int, streams: bool) -> None:
        super().__init__(limit=limit, keepalive_timeout=_KEEP_ALIVE, socket_factory=open_socket)
        protocol: Callable[..., ResponseHandler] = StreamConnection if streams else Connection
        loop = asyncio.get_running_loop()
        self._factory = functools.partial(protocol, loop=loop, buffer=ReadBuffer(loop))
        self._clock = clock
        self._socks = socks

    def __del__(self, _warnings: object = None) -> None:
        """Do not warn as aiohttp does: the transport names the client that was never closed."""

    async def _create_connection(self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any) -> ResponseHandler:
        async with time_limit(self._clock, CONNECT_TIMEOUT):
            if self._socks is None:
                return await super()._create_connection(req, *args, **kwargs)
            return await self._connect_through(self._socks, req)

    async def _connect_through(self, socks: SocksProxy, req: aiohttp.ClientRequest) -> ResponseHandler:
        host = req.url.raw_host or ""
        opened = await socks.connect(host, req.url.port or 0)
        tls = req.ssl if isinstance(req.ssl, ssl.SSLContext) else None
        name = (req.server_hostname or host) if tls else None
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(self._factory, sock=opened, ssl=tls, server_hostname=name)
        return protocol


async def _translate_errors(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # A middleware, because aiohttp repeats requests, even a DELETE, after some of its own errors.
    try:
        return await handler(request)
    except FOREIGN as error:
        problem = to_transport_error(error)
    raise problem  # outside of the handler: aiohttp's errors hold the request, with its credentials


async def _reject_handshakes(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # A middleware, because `ws_connect` drops the body of a response, in which API servers state their error.
    response = await handler(request)
    if response.status != 101 and request.headers.get("Upgrade") == "websocket":
        raise HandshakeRejectedError(response)
    return response


def _default_user_agent() -> str:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"listwatch/{__version__} ({platform.system().lower()}/{platform.machine()}) python/{python}"
