"""A connector of aiohttp whose connections lead to the ports of a pod."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Generator
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from listwatch.client.pod_http.port_sockets import PortSockets
from listwatch.client.pods.port_opener import PodPorts, PortOpener
from listwatch.clock import Clock, SystemClock
from listwatch.selectors import LabelSelectorLike

__all__ = ["PodConnector"]

_MAX_CONNECTIONS = 100
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class PodConnector(aiohttp.BaseConnector):
    """Connects an `aiohttp.ClientSession` to a pod: the port of a URL is a port of the pod, its host is ignored.

        connector = PodConnector(client.core_v1.pods("default"), "web-0")
        async with aiohttp.ClientSession(connector=connector) as session:
            async with session.get("http://web-0:8080/healthz") as response: ...

    With `label_selector` instead of a name, each new connection leads to a pod that is ready at that time. The
    connections go through the API server, with the credentials of the client. The session closes the connector.
    """

    def __init__(
        self,
        pods: PodPorts,
        name: str = "",
        *,
        label_selector: LabelSelectorLike = None,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._sockets = PortSockets(PortOpener(pods, name, label_selector, clock=clock), clock)
        super().__init__(limit=_MAX_CONNECTIONS)

    async def _create_connection(self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any) -> ResponseHandler:
        local = await self._sockets.open(req.url.port or _PORTS[req.url.scheme])
        tls = req.ssl if isinstance(req.ssl, ssl.SSLContext) else None
        if tls is None and req.url.scheme in ("https", "wss"):
            tls = ssl.create_default_context()
        name = (req.server_hostname or req.url.raw_host) if tls else None
        loop = asyncio.get_running_loop()
        _, protocol = await loop.create_connection(self._factory, sock=local, ssl=tls, server_hostname=name)
        return protocol

    def close(self, *, abort_ssl: bool = False) -> Awaitable[None]:
        """Close all connections."""
        closing = super().close(abort_ssl=abort_ssl)
        return _Waiting(closing, self._sockets.close())


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
