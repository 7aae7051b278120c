"""A transport of httpx whose connections lead to the ports of a pod; the only module that imports httpx."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self

import httpcore
import httpx

from listwatch.client.pod_http.port_sockets import PortSockets
from listwatch.clock import Clock
from listwatch.errors import ListWatchError

__all__ = ["PodTransport"]

_MAX_CONNECTIONS = 100
_ERRORS: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}


class PodTransport(httpx.AsyncBaseTransport):
    """The connections of an `httpx.AsyncClient` lead to a pod; `pod_transport` creates it."""

    def __init__(self, sockets: PortSockets, verify: ssl.SSLContext | None, clock: Clock) -> None:
        self._sockets = sockets
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=verify, max_connections=_MAX_CONNECTIONS, network_backend=_Backend(sockets, clock)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; errors of the connection are those of httpx."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        url = request.url
        with _httpx_errors():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
        await self._sockets.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for piece in self._response.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    try:
        yield
    except tuple(_ERRORS) as error:
        raise _ERRORS[type(error)](str(error)) from error


class _Backend(httpcore.AsyncNetworkBackend):
    """Opens connections to the pod, whatever the host is."""

    def __init__(self, sockets: PortSockets, clock: Clock) -> None:
        self._sockets = sockets
        self._clock = clock

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,  # the signature of httpcore
    ) -> httpcore.AsyncNetworkStream:
        errors: list[ListWatchError] = []
        try:
            async with asyncio.timeout(timeout):
                local = await self._sockets.open(port, errors.append)
                reader, writer = await asyncio.open_connection(sock=local)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"port {port} was not connected within {timeout} s") from error
        except (ListWatchError, OSError) as error:
            raise httpcore.ConnectError(str(error)) from error
        return _Stream(reader, writer, errors)

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    """One connection: a local socket, and the error with which its other end may end."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, errors: list[ListWatchError]
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._errors = errors

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with self._httpcore_errors(httpcore.ReadTimeout, httpcore.ReadError, timeout):
            async with asyncio.timeout(timeout):
                data = await self._reader.read(max_bytes)
        if not data and self._errors:
            raise httpcore.ReadError(str(self._errors[0]))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with self._httpcore_errors(httpcore.WriteTimeout, httpcore.WriteError, timeout):
            async with asyncio.timeout(timeout):
                self._writer.write(buffer)
                await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Self:
        with self._httpcore_errors(httpcore.ConnectTimeout, httpcore.ConnectError, timeout):
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        return self

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":  # of an idle connection: httpcore opens a new one instead of using it again
            return self._reader.at_eof() or self._reader.exception() is not None or self._writer.is_closing()
        return self._writer.get_extra_info(info)

    @contextmanager
    def _httpcore_errors(
        self, on_timeout: type[Exception], on_error: type[Exception], timeout: float | None
    ) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise on_timeout(f"nothing happened within {timeout} s") from error
        except OSError as error:
            raise on_error(str(self._errors[0] if self._errors else error)) from error
