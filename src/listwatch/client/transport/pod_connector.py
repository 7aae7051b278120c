"""A connector of aiohttp whose connections lead to the ports of a pod."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Generator
from contextlib import suppress
from typing import Any, Protocol

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch.client.transport.relay import PortConnection, relay
from listwatch.clock import Clock, SystemClock
from listwatch.errors import ListWatchError

__all__ = ["PodConnector"]

_log = logging.getLogger("listwatch.client")
_MAX_CONNECTIONS = 100
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class _OpenedPort(PortConnection, Protocol):
    async def open(self) -> None: ...


class _Pods(Protocol):
    def open_port(self, name: str, port: int) -> _OpenedPort: ...


class PodConnector(aiohttp.BaseConnector):
    """Connects an `aiohttp.ClientSession` to a pod: the port of a URL is a port of the pod, its host is ignored.

        connector = PodConnector(client.core_v1.pods("default"), "web-0")
        async with aiohttp.ClientSession(connector=connector) as session:
            async with session.get("http://web-0:8080/healthz") as response: ...

    The connections go through the API server, with the credentials of the client. The session closes the connector.
    """

    def __init__(self, pods: _Pods, name: str, *, clock: Clock | None = None) -> None:
        super().__init__(limit=_MAX_CONNECTIONS)
        self._pods = pods
        self._name = name
        self._clock = clock or SystemClock()
        self._relays: set[asyncio.Task[None]] = set()

    async def _create_connection(self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any) -> ResponseHandler:
        stream = self._pods.open_port(self._name, req.url.port or _PORTS[req.url.scheme])
        await stream.open()
        ours, theirs = socket.socketpair()
        self._start_relay(stream, theirs)
        tls = req.ssl if isinstance(req.ssl, ssl.SSLContext) else None
        if tls is None and req.url.scheme in ("https", "wss"):
            tls = ssl.create_default_context()
        name = (req.server_hostname or req.url.raw_host) if tls else None
        loop = asyncio.get_running_loop()
        ours.setblocking(False)  # the signature of the standard library
        _, protocol = await loop.create_connection(self._factory, sock=ours, ssl=tls, server_hostname=name)
        return protocol

    def _start_relay(self, stream: PortConnection, local: socket.socket) -> None:
        task = asyncio.get_running_loop().create_task(self._relay(stream, local), name=f"{stream!r} of PodConnector")
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)

    async def _relay(self, stream: PortConnection, local: socket.socket) -> None:
        try:
            reader, writer = await asyncio.open_connection(sock=local)
            await relay(stream, reader, writer, self._clock)
        except ListWatchError as error:
            # The session sees only that the connection was closed.
            _log.warning("A connection to pod %s failed: %s", self._name, error, extra={"pod": self._name})

    def close(self, *, abort_ssl: bool = False) -> Awaitable[None]:
        """Close all connections."""
        closing = super().close(abort_ssl=abort_ssl)
        relays = [*self._relays]
        for task in relays:
            task.cancel()
        return _Waiting(closing, relays)


class _Waiting:
    """Waits for the end of a connector; aiohttp allows that `close` is not awaited."""

    def __init__(self, closing: Awaitable[None], relays: list[asyncio.Task[None]]) -> None:
        self._closing = closing
        self._relays = relays

    def __await__(self) -> Generator[object, None, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        await self._closing
        if self._relays:
            with suppress(OSError):
                await asyncio.wait(self._relays)
