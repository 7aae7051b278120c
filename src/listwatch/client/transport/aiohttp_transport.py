"""Carries requests to one API server and brings the answers back. What they mean is for those above.

    AiohttpTransport ──▶ Pools ──▶ Exchange ──▶ HTTPResponse or AiohttpStream

`auth` says who is asking and `tls` whom to trust. With `connections` and `exchange`, this is all that knows the HTTP
library; whatever goes wrong leaves here as an error of ours.
"""

from __future__ import annotations

import asyncio
import io
import os
import ssl
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet

import aiohttp
from yarl import URL

from listwatch.api.requests import HTTPRequest
from listwatch.api.responses import HTTPResponse, is_success
from listwatch.client.auth.credentials import Credential, credentials_for
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.config.tls import TLSContexts
from listwatch.client.transport.connections import Pool, Pools, about
from listwatch.client.transport.exchange import AiohttpStream, Exchange
from listwatch.client.transport.proxies import proxy_for
from listwatch.client.transport.sockets import SocksProxy
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import ProtocolError, TransportTimeoutError, UsageError

__all__ = ["AiohttpTransport"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 10
_LARGE_BODY = 2**20  # the HTTP library wants to write what is larger in parts
_FETCH_TIMEOUT = 30.0
_MOST_FETCHED = 2**20


class AiohttpTransport:
    """Sends requests to the server of a ClientConfig, as the one whom it names, and raises no errors but ours."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._base_url = config.base_url
        self._host = urlsplit(self._base_url).netloc
        self._uses_tls = config.uses_tls
        self._tls = TLSContexts(config, clock=self._clock)
        self._credentials = credentials_for(config, fetch=self._fetch, clock=self._clock)
        self._socks, self._proxy = _split(self._proxy_for(self._base_url))
        self._impersonation = config.impersonate.headers() if config.impersonate else ()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: Pools | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._streams: WeakSet[AiohttpStream] = WeakSet()
        self._is_closed = False

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        """The whole answer, whatever it says."""
        return await about(request.describe(), self._host, self._send(request, timeout))

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> AiohttpStream | HTTPResponse:
        """An answer that says yes as a stream, with so much time for its beginning; any other as a whole."""
        return await about(request.describe(), self._host, self._open_stream(request, timeout))

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        self._is_closed = True
        if self._loop is not asyncio.get_running_loop():
            return  # it was never used, or its loop is over and took every connection with it
        for stream in list(self._streams):
            stream.close()
        await self._credentials.aclose()
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        if self._pools:
            await self._pools.aclose()

    # --- one exchange ------------------------------------------------------------------------------------------------

    async def _send(self, request: HTTPRequest, timeout: float | None) -> HTTPResponse:
        try:
            async with time_limit(self._clock, timeout):
                exchange = await self._exchange(request, streaming=False)
                return await exchange.read()
        except TimeoutError:
            raise self._late(timeout) from None

    async def _open_stream(self, request: HTTPRequest, timeout: float | None) -> AiohttpStream | HTTPResponse:
        try:
            async with time_limit(self._clock, timeout):
                exchange = await self._exchange(request, streaming=True)
                if not is_success(exchange.response.status):
                    return await exchange.read()
        except TimeoutError:
            raise self._late(timeout) from None
        return self._stream(exchange, request.describe())

    async def _exchange(self, request: HTTPRequest, *, streaming: bool) -> Exchange:
        """Send it, again with new credentials if those were refused, and where the same server points to."""
        self._check_usable()
        url, may_renew, redirects = self._base_url + request.target, True, 0
        while True:
            credential = await self._credential(request)
            exchange = await self._send_once(request, url, credential, streaming=streaming)
            status = exchange.response.status
            if status == 401 and may_renew and await self._is_renewed(request, credential, exchange):
                may_renew = False
            elif status in _REDIRECTS and redirects < _MOST_REDIRECTS and (next_url := _followed(exchange, url)):
                url, redirects = next_url, redirects + 1
            else:
                return exchange
            exchange.discard()

    async def _credential(self, request: HTTPRequest) -> Credential:
        # A caller who says who is asking needs no plugin to be run.
        return Credential() if "Authorization" in request.headers else await self._credentials.current()

    async def _is_renewed(self, request: HTTPRequest, used: Credential, exchange: Exchange) -> bool:
        if "Authorization" in request.headers:
            return False
        try:
            return await self._credentials.rejected(used)
        except BaseException:
            exchange.close()
            raise

    async def _send_once(self, request: HTTPRequest, url: str, credential: Credential, *, streaming: bool) -> Exchange:
        tls = self._tls.current(credential.certificate) if self._uses_tls else None
        pools = self._current_pools(tls)
        pool = pools.streams if streaming else pools.requests
        pool.enter()
        try:
            response = await pool.session.request(
                request.method,
                URL(url, encoded=True),
                headers=self._headers(request, credential),
                data=_payload(request.body),
                allow_redirects=False,
                ssl=tls or True,
                server_hostname=self._config.tls_server_name or None,
                proxy=self._proxy,
            )
        except BaseException:
            pool.leave()
            raise
        return Exchange(response, pool)

    def _stream(self, exchange: Exchange, doing: str) -> AiohttpStream:
        try:
            stream = AiohttpStream(exchange, clock=self._clock, doing=doing, host=self._host)
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
        return self._pools

    def _check_usable(self) -> None:
        if self._is_closed:
            raise UsageError("the client is closed; make another one")
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise UsageError("the client belongs to another event loop; make one for each, or use listwatch.blocking")

    def _retire_pools(self) -> None:
        if self._pools is None:
            return
        task = asyncio.create_task(self._pools.retire(), name="retire connections")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    def _proxy_for(self, url: str) -> str:
        return proxy_for(url, configured=self._config.proxy_url, environment=os.environ)

    # --- other servers -----------------------------------------------------------------------------------------------

    async def _fetch(
        self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, tls: ssl.SSLContext | None
    ) -> tuple[int, bytes]:
        """One answer of some other server, such as an identity provider, by way of a connection of its own."""
        socks, proxy = _split(self._proxy_for(url))
        pool = Pool(clock=self._clock, socks=socks, user_agent=self._config.user_agent)

        async def fetched() -> tuple[int, bytes]:
            async with time_limit(self._clock, _FETCH_TIMEOUT):
                response = await pool.session.request(
                    method, url, headers=headers, data=body, allow_redirects=False, ssl=tls or True, proxy=proxy
                )
                return response.status, await _read_at_most(response.content, _MOST_FETCHED)

        try:
            return await about(f"{method} {urlsplit(url).path}", _host_in(url), fetched())
        finally:
            await pool.aclose()

    def _late(self, timeout: float | None) -> TransportTimeoutError:
        what = f"no credentials yet from {issuer}" if (issuer := self._credentials.awaited) else "no answer"
        return TransportTimeoutError(f"{what} within {timeout or 0:.3g} s; a longer timeout gives it more time")

    def __repr__(self) -> str:
        return f"<AiohttpTransport to {self._base_url}, {'closed' if self._is_closed else 'open'}>"


def _split(proxy: str) -> tuple[SocksProxy | None, URL | None]:
    """The same proxy as we and as the HTTP library want to have it, who speak different languages with them."""
    if proxy.startswith("socks5"):
        return SocksProxy.from_url(proxy), None
    return None, URL(proxy) if proxy else None


def _followed(exchange: Exchange, url: str) -> str:
    """Where a redirect leads, if it may be followed: from reading to reading, on the same server."""
    if exchange.response.method not in ("GET", "HEAD"):
        return ""
    try:
        target = urljoin(url, exchange.response.headers.get("Location", ""))
        is_near = _origin(target) == _origin(url) and target != url
    except ValueError:
        return ""
    return target if is_near and target.isprintable() and " " not in target else ""


def _host_in(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]  # without user and password


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    return io.BytesIO(body) if body is not None and len(body) > _LARGE_BODY else body


async def _read_at_most(content: aiohttp.StreamReader, limit: int) -> bytes:
    read = b""
    while piece := await content.readany():
        read += piece
        if len(read) > limit:
            raise ProtocolError(f"the answer is longer than {limit} bytes")
    return read
