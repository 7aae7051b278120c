"""Sends requests to one API server over aiohttp.

    AiohttpTransport ─▶ Pools ─▶ Exchange ─▶ HTTPResponse, AiohttpStream or AiohttpWebSocket

Adds credentials, TLS and proxies; retries are left to the `sender`. Only this package imports aiohttp, and only
TransportErrors leave it.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import ssl
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet, finalize

import aiohttp
from yarl import URL

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, is_success
from listwatch.client.auth.credential import OWN_HEADER, Credential, describe_credential
from listwatch.client.auth.credentials import credentials_for
from listwatch.client.config.client_config import ClientConfig, closed_client
from listwatch.client.config.tls import TLSContexts
from listwatch.client.transport.connection import AiohttpStream, Exchange
from listwatch.client.transport.connection_pool import Pool, Pools
from listwatch.client.transport.network_errors import TRANSLATABLE, translate_error
from listwatch.client.transport.proxies import proxy_for
from listwatch.client.transport.sockets import SocksProxy
from listwatch.client.transport.web_socket import (
    MAX_MESSAGE_SIZE,
    AbortableWebSocket,
    AiohttpWebSocket,
    HandshakeRejectedError,
    WebSocketExchange,
)
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import (
    ConnectionLostError,
    ProtocolError,
    TLSError,
    TransportError,
    TransportTimeoutError,
    UsageError,
)

__all__ = ["AiohttpTransport"]

_log = logging.getLogger("listwatch.client")

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 10
_LARGE_BODY = 2**20  # aiohttp warns about larger bytes, and writes a file object in parts
_FETCH_TIMEOUT = 30.0
_NEEDS_TLS = "if the server expects TLS, write https:// in the URL"
# How Go's server, and so kube-apiserver, responds to plain HTTP on a port with TLS.
_PLAIN_HTTP_REJECTED = b"Client sent an HTTP request to an HTTPS server."
_MAX_FETCH_SIZE = 2**20
_PROTOCOLS_HEADER = "Sec-WebSocket-Protocol"


class AiohttpTransport:
    """Sends requests to the server of a ClientConfig, with its credentials. Raises TransportErrors."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._base_url = config.base_url
        self._host = urlsplit(self._base_url).netloc
        self._uses_tls = config.uses_tls
        self._tls = TLSContexts(config, clock=self._clock)
        self._credentials = credentials_for(config, fetch=self._fetch, clock=self._clock)
        self._socks, self._proxy = _parse_proxy(self._proxy_for(self._base_url))
        self._max_event_size = config.max_event_size or sys.maxsize
        self._max_response_size = config.max_response_size or sys.maxsize
        self._impersonation = config.impersonate.headers() if config.impersonate else ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: Pools | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._streams: WeakSet[AiohttpStream | AiohttpWebSocket] = WeakSet()
        self._is_closed = False
        self._has_responded = False
        self.owner = type(self).__name__
        """The class of the client that has to close this transport, for messages."""
        self._unclosed: finalize[..., object] | None = None

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """Send a request once, and return the whole response, whatever its status."""
        try:
            async with time_limit(self._clock, timeout):
                exchange = await self._exchange(request, streaming=False)
                body_filter = request.filter() if request.filter else None
                return self._checked(await exchange.read(self._max_response_size, body_filter))
        except TimeoutError:
            problem: Exception = self._timeout_error(timeout, request.describe(), "set a longer timeout")
        except TRANSLATABLE as error:
            problem = self._translated(error, request.describe())
        raise problem  # outside of the handler: aiohttp's errors hold the request, with its credentials

    async def open_stream(
        self, request: HTTPRequest, *, timeout: float | None, parts: Callable[[], AsyncIterator[bytes]] | None = None
    ) -> AiohttpStream | HTTPResponse:
        """Send a request once. Return a successful (2xx) response as a stream, any other as a whole.

        The timeout covers the head of the response, not the stream. `parts` replaces the body by one that is sent in
        chunks.
        """
        try:
            async with time_limit(self._clock, timeout):
                exchange = await self._exchange(request, streaming=True, parts=parts)
                if not is_success(exchange.response.status):
                    return self._checked(await exchange.read(self._max_response_size))
            return self._stream(exchange, request.describe())
        except TimeoutError:
            # Not the timeout of the response, which may be read for hours: servers send its head at once.
            problem: Exception = self._timeout_error(
                timeout, request.describe(), "the server, or a proxy before it, does not start the response"
            )
        except TRANSLATABLE as error:
            problem = self._translated(error, request.describe())
        raise problem

    async def open_web_socket(self, request: HTTPRequest, *, timeout: float | None) -> AiohttpWebSocket | HTTPResponse:
        """Open a WebSocket with one of the subprotocols in the header Sec-WebSocket-Protocol.

        Return the response if the server does not upgrade the connection. The timeout covers the handshake.
        """
        try:
            async with time_limit(self._clock, timeout):
                exchange = await self._handshake(request)
                if isinstance(exchange, Exchange):
                    return self._checked(await exchange.read(self._max_response_size))
            socket = AiohttpWebSocket(exchange, clock=self._clock, doing=request.describe(), host=self._host)
            self._streams.add(socket)
            return socket
        except TimeoutError:
            advice = "the server, or a proxy before it, does not respond to the upgrade of the connection"
            problem: Exception = self._timeout_error(timeout, request.describe(), advice)
        except aiohttp.WSServerHandshakeError as error:
            problem = ProtocolError(
                f"the response is no valid WebSocket handshake ({error.message})",
                doing=request.describe(),
                host=self._host,
            )
        except TRANSLATABLE as error:
            problem = self._translated(error, request.describe())
        raise problem

    async def aclose(self) -> None:
        """Close all connections, also those in use."""
        self._is_closed = True
        if self._unclosed is not None:
            self._unclosed.detach()
        if self._loop is not asyncio.get_running_loop():
            # Never used, or used in a loop that is closed, with all its connections.
            if self._pools:
                self._pools.abandon()
            return
        for stream in list(self._streams):
            stream.close()
        await self._credentials.aclose()
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        if self._pools:
            await self._pools.aclose()

    # --- one exchange ------------------------------------------------------------------------------------------------

    async def _exchange(
        self, request: HTTPRequest, *, streaming: bool, parts: Callable[[], AsyncIterator[bytes]] | None = None
    ) -> Exchange:
        async def send(url: str, credential: Credential) -> Exchange:
            return await self._send_once(request, url, credential, streaming=streaming, parts=parts)

        exchange = await self._send_with_credentials(request, send)
        assert isinstance(exchange, Exchange)
        return exchange

    async def _handshake(self, request: HTTPRequest) -> WebSocketExchange | Exchange:
        async def send(url: str, credential: Credential) -> WebSocketExchange | Exchange:
            return await self._connect_once(request, url, credential)

        return await self._send_with_credentials(request, send)

    async def _send_with_credentials(
        self,
        request: HTTPRequest,
        send: Callable[[str, Credential], Awaitable[WebSocketExchange | Exchange]],
    ) -> WebSocketExchange | Exchange:
        """Send a request. Follow redirects on the same server; on 401, renew the credentials once.

        If TLS fails and the certificate files have changed, the new ones are used from then on.
        """
        self._check_usable()
        url, may_renew, may_reread, redirects = self._base_url + request.target, True, True, 0
        # The caller's own Authorization header replaces the configured credentials: no plugin is run.
        has_credential = "Authorization" in request.headers
        while True:
            credential = Credential() if has_credential else await self._credentials.current()
            try:
                exchange = await send(url, credential)
            except TLSError:
                # The certificates may have been replaced since their files were read. A write is not repeated.
                if self._tls.reread() and may_reread and request.method in ("GET", "HEAD"):
                    may_reread = False
                    continue
                raise
            if isinstance(exchange, WebSocketExchange):
                return exchange
            status = exchange.response.status
            if status == 401 and may_renew and not has_credential and await self._renew(credential, exchange):
                may_renew = False
            elif status in _REDIRECTS and redirects < _MAX_REDIRECTS and (next_url := _redirect_target(exchange, url)):
                url, redirects = next_url, redirects + 1
            elif status == 401:
                sent = (
                    OWN_HEADER if has_credential else describe_credential(self._config, credential, self._clock.now())
                )
                return exchange._replace(credential=sent)
            else:
                return exchange
            exchange.release()

    async def _renew(self, rejected: Credential, exchange: Exchange) -> bool:
        try:
            return await self._credentials.renew(rejected)
        except BaseException:
            exchange.close()
            raise

    async def _send_once(
        self,
        request: HTTPRequest,
        url: str,
        credential: Credential,
        *,
        streaming: bool,
        parts: Callable[[], AsyncIterator[bytes]] | None,
    ) -> Exchange:
        tls = self._tls.current(credential.certificate) if self._uses_tls else None
        pools = self._current_pools(tls)
        pool = pools.streams if streaming else pools.requests
        pool.enter()
        try:
            response = await pool.session.request(
                request.method,
                URL(url, encoded=True),
                headers=self._headers(request, credential),
                data=_payload(request.body) if parts is None else parts(),
                allow_redirects=False,
                ssl=tls or True,
                server_hostname=self._config.tls_server_name or None,
                proxy=self._proxy,
            )
        except BaseException:
            pool.leave()
            raise
        self._has_responded = True
        return Exchange(response, pool.leave)

    async def _connect_once(
        self, request: HTTPRequest, url: str, credential: Credential
    ) -> WebSocketExchange | Exchange:
        tls = self._tls.current(credential.certificate) if self._uses_tls else None
        pool = self._current_pools(tls).streams
        pool.enter()
        headers = [each for each in self._headers(request, credential) if each[0] != _PROTOCOLS_HEADER]
        try:
            socket = await pool.session.ws_connect(
                URL(url, encoded=True),
                protocols=[each.strip() for each in request.headers.get(_PROTOCOLS_HEADER, "").split(",")],
                headers=headers,
                max_msg_size=MAX_MESSAGE_SIZE,
                timeout=aiohttp.ClientWSTimeout(ws_receive=None, ws_close=None),  # limits follow the clock
                ssl=tls or True,
                server_hostname=self._config.tls_server_name or None,
                proxy=self._proxy,
            )
        except HandshakeRejectedError as rejected:
            self._has_responded = True
            return Exchange(rejected.response, pool.leave)
        except BaseException:
            pool.leave()
            raise
        self._has_responded = True
        assert isinstance(socket, AbortableWebSocket)
        return WebSocketExchange(socket, pool.leave)

    def _stream(self, exchange: Exchange, doing: str) -> AiohttpStream:
        try:
            stream = AiohttpStream(
                exchange,
                clock=self._clock,
                doing=doing,
                host=self._host,
                max_event_size=self._max_event_size,
                max_response_size=self._max_response_size,
            )
        except ProtocolError:
            exchange.close()
            raise
        self._streams.add(stream)
        return stream

    def _headers(self, request: HTTPRequest, credential: Credential) -> list[tuple[str, str]]:
        headers = list(request.headers.items())
        if credential.authorization:
            headers.append(("Authorization", credential.authorization))
        if self._impersonation and "Impersonate-User" not in request.headers:
            headers += self._impersonation
        return headers

    def _timeout_error(self, timeout: float | None, doing: str, advice: str) -> TransportTimeoutError:
        issuer = self._credentials.pending_issuer
        what = f"no credentials from {issuer}" if issuer else "no response"
        message = f"{what} within {timeout or 0:.3g} s; {'set a longer timeout' if issuer else advice}"
        return TransportTimeoutError(message, doing=doing, host=self._host)

    def _translated(self, error: Exception, doing: str) -> Exception:
        problem = translate_error(error, doing, self._host)
        # Servers that expect TLS close the connection, or respond with an alert.
        is_unclear = isinstance(problem, ConnectionLostError | ProtocolError) and not self._has_responded
        if is_unclear and isinstance(problem, TransportError) and not self._uses_tls:
            problem.message += f"; {_NEEDS_TLS}"
        return problem

    def _checked(self, response: HTTPResponse) -> HTTPResponse:
        if response.status == 400 and not self._uses_tls and response.body.strip() == _PLAIN_HTTP_REJECTED:
            raise TLSError("the server expects TLS on this port; write https:// in the URL")
        return response

    # --- connections -------------------------------------------------------------------------------------------------

    def _current_pools(self, tls: ssl.SSLContext | None) -> Pools:
        self._check_usable()
        if self._pools is None or self._pools.tls is not tls:
            self._retire_pools()
            self._pools = Pools(
                tls,
                clock=self._clock,
                socks=self._socks,
                user_agent=self._config.user_agent,
                disable_compression=self._config.disable_compression,
            )
            if not threading.current_thread().daemon:
                self._unclosed = finalize(self, _report_unclosed, self._pools, self.owner, self._base_url)
        return self._pools

    def _check_usable(self) -> None:
        if self._is_closed:
            raise closed_client()
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise UsageError(
                "the client was used in another event loop; create one client per loop, or use listwatch.blocking"
            )

    def _retire_pools(self) -> None:
        if self._pools is None:
            return
        if self._unclosed is not None:
            self._unclosed.detach()
        task = asyncio.create_task(self._pools.retire(), name="retire connections")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    def _proxy_for(self, url: str) -> str:
        return proxy_for(url, configured=self._config.proxy_url, environment=os.environ)

    # --- other servers -----------------------------------------------------------------------------------------------

    async def _fetch(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, tls: ssl.SSLContext | None
    ) -> tuple[int, bytes]:
        """Send a request to another server, such as an identity provider, over a separate connection."""
        socks, proxy = _parse_proxy(self._proxy_for(url))
        pool = Pool(clock=self._clock, socks=socks, user_agent=self._config.user_agent)
        try:
            async with time_limit(self._clock, _FETCH_TIMEOUT):
                response = await pool.session.request(
                    method, url, headers=headers, data=body, allow_redirects=False, ssl=tls or True, proxy=proxy
                )
                return response.status, await _read_limited(response.content, _MAX_FETCH_SIZE)
        except TRANSLATABLE as error:
            host = urlsplit(url).netloc.rpartition("@")[2]  # without user and password
            problem = translate_error(error, f"{method} {urlsplit(url).path}", host)
        finally:
            await pool.aclose()
        raise problem

    def __repr__(self) -> str:
        return f"<AiohttpTransport to {self._base_url}, {'closed' if self._is_closed else 'open'}>"


def _report_unclosed(pools: Pools, owner: str, url: str) -> None:
    """Name a client that was garbage-collected, or exists at exit, without being closed; close its connections.

    Called instead of the warnings of aiohttp, which do not name it. Clients in a daemon thread, as those of the
    blocking API, end with the process.
    """
    pools.abandon()
    message = (
        f"{owner} of {url} was never closed; use it as `async with {owner}(...) as client:`, "
        "or call `await client.aclose()` at its end"
    )
    _log.warning("%s", message, extra={"server": url})
    warnings.warn(message, ResourceWarning, stacklevel=2)


def _parse_proxy(proxy: str) -> tuple[SocksProxy | None, URL | None]:
    """The proxy as a SocksProxy, or as the URL of an HTTP proxy for aiohttp, which does not support SOCKS."""
    if proxy.startswith("socks5"):
        return SocksProxy.from_url(proxy), None
    return None, URL(proxy) if proxy else None


def _redirect_target(exchange: Exchange, url: str) -> str:
    """The URL to follow a redirect to; "" if it must not be followed. Only reads are, and only on the same server."""
    if exchange.response.method not in ("GET", "HEAD"):
        return ""
    try:
        target = urljoin(url, exchange.response.headers.get("Location", ""))
        is_same_server = urlsplit(target)[:2] == urlsplit(url)[:2] and target != url
    except ValueError:
        return ""
    return target if is_same_server and target.isprintable() and " " not in target else ""


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    return io.BytesIO(body) if body is not None and len(body) > _LARGE_BODY else body


async def _read_limited(content: aiohttp.StreamReader, limit: int) -> bytes:
    body = b""
    while piece := await content.readany():
        body += piece
        if len(body) > limit:
            raise ProtocolError(f"the response is longer than {limit} bytes")
    return body
