"""Carries requests to one API server and brings the answers back, over the connections of `connections`.

`auth` says who is asking and `tls` whom to trust. Whatever goes wrong leaves here as an error of ours; what an answer
means is for those above.
"""

from __future__ import annotations

import asyncio
import io
import os
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from weakref import WeakSet

import aiohttp
from yarl import URL

from listwatch.api.requests import HTTPRequest
from listwatch.api.responses import HTTPResponse, is_success
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import ProtocolError, StreamIdleError, TransportError, TransportTimeoutError, UsageError

from .auth import Credential, credentials_for
from .config import ClientConfig
from .connections import Pool, Pools, about
from .gzip_stream import GzipDecoder
from .proxies import proxy_for
from .sockets import SocksProxy
from .tls import TLSContexts

__all__ = ["AiohttpStream", "AiohttpTransport"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 10
_LARGE_BODY = 2**20  # the HTTP library wants to write what is larger in parts
_FETCH_TIMEOUT = 30.0
_MOST_FETCHED = 2**20


class _Exchange(NamedTuple):
    """A request that was sent, and the beginning of its answer."""

    response: aiohttp.ClientResponse
    pool: Pool

    async def read(self) -> HTTPResponse:
        """The whole answer."""
        headers = self.response.headers
        try:
            decoder = _decoder(headers)
            body = await self.response.content.read()
            if decoder:
                body = decoder.feed(body)
                decoder.finish()
        except BaseException:
            self.close()
            raise
        self.discard()
        return HTTPResponse(self.response.status, headers, body, headers.getall("Warning", ()))

    def discard(self) -> None:
        """Be done with it; its connection serves others if the answer was complete."""
        self.response.release()
        self.pool.leave()

    def close(self) -> None:
        """Be done with it and its connection."""
        self.response.close()
        self.pool.leave()


def _decoder(headers: Mapping[str, str]) -> GzipDecoder | None:
    match headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return GzipDecoder()
        case encoding:
            raise ProtocolError(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")


class AiohttpStream:
    """The body of an answer as it comes; ends with b"", or with StreamIdleError when its peer is silent for too long."""

    def __init__(self, exchange: _Exchange, *, clock: Clock, doing: str, host: str) -> None:
        headers = exchange.response.headers
        self.status: int = exchange.response.status
        self.headers: Mapping[str, str] = headers
        self.warnings = headers.getall("Warning", ())
        self._decoder = _decoder(headers)
        self._content = exchange.response.content
        self._exchange = exchange
        self._clock = clock
        self._doing = doing
        self._host = host
        self._waiting_since: float | None = None
        self._patience = 0.0
        self._watchdog: asyncio.Task[None] | None = None
        self._is_dead = False
        self._is_closed = False

    def expect_within(self, patience: float) -> None:
        """From now on, take the peer for dead after so many seconds of silence."""
        if self._watchdog:
            self._watchdog.cancel()
        self._patience = patience
        self._watchdog = asyncio.create_task(self._watch_silence(), name=f"silence of {self._doing}")

    async def read(self) -> bytes:
        """The next bytes, as many as there are; b"" at the end."""
        while not self._is_closed:
            with about(self._doing, self._host):
                piece = await self._next_piece()
                if not piece:
                    self._end()
                elif read := self._decoded(piece):
                    return read
        return b""

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._watchdog:
            self._watchdog.cancel()
        self._exchange.close()

    async def _next_piece(self) -> bytes:
        if self._waiting_since is not None:
            raise UsageError(f"{self._doing}: another task is already reading this stream")
        self._waiting_since = self._clock.monotonic()
        try:
            return await self._content.readany()
        except Exception:
            if self._is_dead:
                message = f"nothing came for {self._patience:g} s; the server, or the way to it, is taken for dead"
                raise StreamIdleError(message) from None
            if self._is_closed:
                return b""  # somebody closed it meanwhile
            self.close()
            raise
        except BaseException:
            self.close()
            raise
        finally:
            self._waiting_since = None

    def _decoded(self, piece: bytes) -> bytes:
        if self._decoder is None:
            return piece
        try:
            return self._decoder.feed(piece)
        except Exception:
            self.close()
            raise

    def _end(self) -> None:
        was_closed, _ = self._is_closed, self.close()
        if self._decoder and not was_closed:
            self._decoder.finish()

    async def _watch_silence(self) -> None:
        while (left := self._time_left()) > 0:
            await self._clock.sleep(left)
        self._is_dead, self._watchdog = True, None
        self.close()

    def _time_left(self) -> float:
        # A reader that takes its time is no reason to take the peer for dead.
        now = self._clock.monotonic()
        return (now if self._waiting_since is None else self._waiting_since) + self._patience - now

    def __repr__(self) -> str:
        return f"<AiohttpStream of {self._doing}, {'closed' if self._is_closed else 'open'}>"


class AiohttpTransport:
    """Sends requests to the server of a ClientConfig, as the one whom it names, and raises no errors but ours."""

    def __init__(self, config: ClientConfig, *, clock: Clock | None = None) -> None:
        self._config = config
        self._clock = clock or SystemClock()
        self._base_url = config.base_url
        self._host = urlsplit(self._base_url).netloc
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
        with about(request.describe(), self._host):
            try:
                async with time_limit(self._clock, timeout):
                    exchange = await self._exchange(request, streaming=False)
                    return await exchange.read()
            except TimeoutError:
                raise _late(timeout) from None

    async def open_stream(self, request: HTTPRequest, *, timeout: float | None) -> AiohttpStream | HTTPResponse:
        """An answer that says yes as a stream, with so much time for its beginning; any other as a whole."""
        doing = request.describe()
        with about(doing, self._host):
            try:
                async with time_limit(self._clock, timeout):
                    exchange = await self._exchange(request, streaming=True)
                    if not is_success(exchange.response.status):
                        return await exchange.read()
            except TimeoutError:
                raise _late(timeout) from None
            stream = AiohttpStream(exchange, clock=self._clock, doing=doing, host=self._host)
            self._streams.add(stream)
            return stream

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        self._is_closed = True
        for stream in list(self._streams):
            stream.close()
        await self._credentials.aclose()
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        if self._pools:
            await self._pools.aclose()

    # --- one exchange ------------------------------------------------------------------------------------------------

    async def _exchange(self, request: HTTPRequest, *, streaming: bool) -> _Exchange:
        """Send it, again with new credentials if those were refused, and where the same server points to."""
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

    async def _is_renewed(self, request: HTTPRequest, used: Credential, exchange: _Exchange) -> bool:
        if "Authorization" in request.headers:
            return False
        try:
            return await self._credentials.rejected(used)
        except BaseException:
            exchange.close()
            raise

    async def _send_once(self, request: HTTPRequest, url: str, credential: Credential, *, streaming: bool) -> _Exchange:
        tls = self._tls.current(credential.certificate)
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
        return _Exchange(response, pool)

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
            raise UsageError("the client belongs to another event loop; make one for each loop, or use listwatch.blocking")

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
        try:
            with about(f"{method} {urlsplit(url).path}", urlsplit(url).netloc):
                async with time_limit(self._clock, _FETCH_TIMEOUT):
                    response = await pool.session.request(
                        method, url, headers=headers, data=body, allow_redirects=False, ssl=tls or True, proxy=proxy
                    )
                    return response.status, await _read_at_most(response.content, _MOST_FETCHED)
        finally:
            await pool.aclose()

    def __repr__(self) -> str:
        return f"<AiohttpTransport to {self._base_url}, {'closed' if self._is_closed else 'open'}>"


def _late(timeout: float | None) -> TransportTimeoutError:
    return TransportTimeoutError(f"no answer within {timeout:g} s; give it a longer timeout if it needs more")


def _split(proxy: str) -> tuple[SocksProxy | None, URL | None]:
    """The same proxy as we and as the HTTP library want to have it, who speak different languages with them."""
    if proxy.startswith("socks5"):
        return SocksProxy.from_url(proxy), None
    return None, URL(proxy) if proxy else None


def _followed(exchange: _Exchange, url: str) -> str:
    """Where a redirect leads, if it may be followed: from reading to reading, on the same server."""
    if exchange.response.method not in ("GET", "HEAD"):
        return ""
    target = urljoin(url, exchange.response.headers.get("Location", ""))
    return target if _origin(target) == _origin(url) and target != url else ""


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
