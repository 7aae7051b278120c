"""The connections that `transport` uses: pools of them, how they are opened, and what their errors mean.

    requests ─▶ Pool      short exchanges share a bounded number of connections
    streams ──▶ Pool      so that watches, however many, never take one of those away

The errors of the HTTP library end here. `exchange` is what goes over a connection.
"""

from __future__ import annotations

import asyncio
import functools
import platform
import re
import ssl
import sys
import zlib
from collections.abc import Awaitable
from typing import Any, TypeVar

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch._version import __version__
from listwatch.client.transport.chunked_body import ChunkedBody
from listwatch.client.transport.network_errors import error_of_system
from listwatch.client.transport.sockets import SocksProxy, open_socket
from listwatch.clock import Clock, time_limit
from listwatch.errors import ConnectError, ConnectionLostError, ProtocolError, TransportError, TransportTimeoutError

__all__ = ["EXPLAINABLE", "Pool", "Pools", "about", "explained"]

_CONNECT_TIMEOUT = 30.0  # for name, connection, proxy and TLS together
_KEPT_IDLE = 30.0  # less than servers and load balancers keep a connection that nobody uses
_MOST_CONNECTIONS = 100
_READ_SIZE = 2**19
_MOST_AT_ONCE = 2**18  # as much as event loops read at once
_LONGEST_HEADER = 2**16
_LONGEST_HEAD = 2**20
_LAST_CHUNK = b"0\r\n\r\n"
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)

T = TypeVar("T")

_FOREIGN = (aiohttp.ClientError, OSError, zlib.error, EOFError)
EXPLAINABLE = (*_FOREIGN, TransportError)


# --- Errors -----------------------------------------------------------------------------------------------------------


async def about(doing: str, host: str, work: Awaitable[T]) -> T:
    """Let nothing but our errors out of some work, and let them say what was being done."""
    try:
        return await work
    except EXPLAINABLE as error:
        ours = explained(error, doing, host)
    # Raised out here, because the library's errors hold the request, and so its credentials.
    raise ours


def explained(error: Exception, doing: str, host: str) -> Exception:
    """Our error for one of the library's; it says what was being done. Any other error is left as it is."""
    ours = _our_error(error) if isinstance(error, _FOREIGN) else error
    if isinstance(ours, TransportError):
        ours.doing, ours.host = doing, host
    return ours


async def _with_our_errors(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # In here, and not only around the call: the library repeats requests after errors that it knows, even a DELETE.
    try:
        return await handler(request)
    except _FOREIGN as error:
        ours = _our_error(error)
    raise ours


def _our_error(error: Exception) -> TransportError:
    match error:
        case aiohttp.ClientHttpProxyError(status=status):
            return ConnectError(f"the proxy refuses to connect us (status {status})")
        case aiohttp.ClientProxyConnectionError():
            return ConnectError(f"the proxy cannot be reached ({error.strerror}); check proxy_url or the environment")
        case aiohttp.ConnectionTimeoutError():
            return TransportTimeoutError(f"no connection within {_CONNECT_TIMEOUT:g} s; check host, port and network")
        case aiohttp.ClientPayloadError():
            return ConnectionLostError("the connection ended in the middle of the answer")
        case aiohttp.ServerDisconnectedError():
            return ConnectionLostError("the server closed the connection without an answer")
        case aiohttp.ClientResponseError(message=message):
            # Its first line says why; the others would show what came, which may be secret.
            reason, *_ = message.splitlines() or [""]
            return ProtocolError(f"what came back is not proper HTTP ({reason.strip(' :')})")
        case zlib.error():
            return ProtocolError("the answer is said to be gzip, and is not")
        case EOFError():
            return ConnectionLostError("the compressed answer ends in the middle")
        case _:
            return error_of_system(error) or ConnectionLostError(f"the connection failed ({type(error).__name__})")


# --- Pools ------------------------------------------------------------------------------------------------------------


class _Connection(ResponseHandler, asyncio.BufferedProtocol):
    """Closes at once, without the farewell of TLS, for which a dead peer would be waited for.

    It reads into room that many share. To ask the system for as much as may come at once, and to give most of it back,
    would take longer than to read. An event loop that has its own way calls `data_received` instead.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, room: memoryview) -> None:
        super().__init__(loop)
        self._room = room
        self._body: aiohttp.StreamReader | None = None  # of the last response that began

    def feed_data(self, data: tuple[Any, aiohttp.StreamReader], size: int = 0) -> None:
        self._body = data[1]
        super().feed_data(data, size)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(self._room[:nbytes]))

    def close(self) -> None:
        body, self._body = self._body, None
        self.abort()
        # The library forgets it, and whoever reads it would wait for ever.
        if body is not None and not body.is_eof() and body.exception() is None:
            body.set_exception(aiohttp.ClientPayloadError())


class _StreamConnection(_Connection):
    """Reads chunked bodies itself; the HTTP library reads everything else."""

    def __init__(self, loop: asyncio.AbstractEventLoop, room: memoryview) -> None:
        super().__init__(loop, room)
        self._head: bytes | None = None  # what came of the answer's, while one is awaited and it is incomplete
        self._chunks: ChunkedBody | None = None

    def set_response_params(self, **options: Any) -> None:
        self._head, self._chunks, self._body = b"", None, None
        super().set_response_params(**options)

    def buffer_updated(self, nbytes: int) -> None:
        if self._chunks is not None:
            self._feed(self._chunks, self._room[:nbytes])
        else:
            super().buffer_updated(nbytes)

    def data_received(self, data: bytes) -> None:
        if self._chunks is not None:
            self._feed(self._chunks, data)
        elif self._head is None or not data:
            super().data_received(data)
        else:
            self._head += data
            head, ends, rest = self._head.partition(b"\r\n\r\n")
            if ends or b"\n\n" in head or len(head) > _LONGEST_HEAD:
                self._head = None
                self._begin(head + ends, rest)

    def _begin(self, head: bytes, body: bytes) -> None:
        super().data_received(head)
        if self._body is not None and _CHUNKED.search(head):
            self._body.begin_http_chunk_receiving()  # else the library takes no chunk after data that was fed
            self._chunks = ChunkedBody()
            self._feed(self._chunks, body)
        elif body:
            super().data_received(body)

    def _feed(self, chunks: ChunkedBody, data: bytes | memoryview) -> None:
        body = self._body
        if body is None or body.is_eof() or not data:
            return
        try:
            body.feed_data(chunks.feed(data))
        except ProtocolError as error:
            body.set_exception(error)
            self.close()
        if chunks.is_complete:
            self.force_close()  # trailers that follow are not read
            super().data_received(_LAST_CHUNK)  # the library has seen no chunk yet: this completes the body for it

    def eof_received(self) -> None:
        if self._head:
            self._begin(self._head, b"")  # it is for the library to say what is wrong with it
        super().eof_received()


def _new_connection(loop: asyncio.AbstractEventLoop, room: memoryview, *, streams: bool) -> ResponseHandler:
    return _StreamConnection(loop, room) if streams else _Connection(loop, room)


class _Connector(aiohttp.TCPConnector):
    """Opens connections that notice a dead peer, in limited time, and by way of a SOCKS proxy if there is one."""

    def __init__(self, *, clock: Clock, socks: SocksProxy | None, limit: int, streams: bool) -> None:
        super().__init__(limit=limit, keepalive_timeout=_KEPT_IDLE, socket_factory=open_socket)
        room = memoryview(bytearray(_MOST_AT_ONCE))
        self._factory = functools.partial(_new_connection, loop=asyncio.get_running_loop(), room=room, streams=streams)
        self._clock = clock
        self._socks = socks

    async def _create_connection(self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any) -> Any:
        async with time_limit(self._clock, _CONNECT_TIMEOUT):
            if self._socks is None:
                return await super()._create_connection(req, *args, **kwargs)
            return await self._through(self._socks, req)

    async def _through(self, socks: SocksProxy, req: aiohttp.ClientRequest) -> Any:
        host = req.url.raw_host or ""
        opened = await socks.connect(host, req.url.port or 0)
        tls = req.ssl if isinstance(req.ssl, ssl.SSLContext) else None
        name = (req.server_hostname or host) if tls else None
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(self._factory, sock=opened, ssl=tls, server_hostname=name)
        return protocol


class Pool:
    """The connections for one purpose, made with one SSL context, and how many exchanges use them now."""

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
            headers={"User-Agent": user_agent or _our_user_agent(), "Accept-Encoding": encoding},
            cookie_jar=aiohttp.DummyCookieJar(),
            # Time is limited by our own clock.
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            # The library stops after the first of several gzip members.
            auto_decompress=False,
            middlewares=(_with_our_errors,),
            read_bufsize=_READ_SIZE,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        self._users = 0
        self._unused: asyncio.Event | None = None

    def enter(self) -> None:
        self._users += 1

    def leave(self) -> None:
        self._users -= 1
        if self._unused and not self._users:
            self._unused.set()

    async def retire(self) -> None:
        """Close it as soon as nobody uses it, or when this is cancelled."""
        self._unused = asyncio.Event()
        try:
            if self._users:
                await self._unused.wait()
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        await self.session.close()


class Pools:
    """One pool for requests and one for streams, good for as long as the SSL context stays the same."""

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
        self.requests = Pool(
            clock=clock, socks=socks, user_agent=user_agent, encoding=encoding, limit=_MOST_CONNECTIONS
        )
        self.streams = Pool(clock=clock, socks=socks, user_agent=user_agent, streams=True)

    async def retire(self) -> None:
        """Close what nobody uses, and the rest when that is done."""
        await asyncio.gather(self.requests.retire(), self.streams.retire())

    async def aclose(self) -> None:
        await asyncio.gather(self.requests.aclose(), self.streams.aclose())


def _our_user_agent() -> str:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"listwatch/{__version__} ({platform.system().lower()}/{platform.machine()}) python/{python}"
