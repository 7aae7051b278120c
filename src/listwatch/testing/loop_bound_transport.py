"""The transport of the fixture `api_client`, which closes its connections with the event loop in which it is used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.client.config.client_config import ClientConfig
from listwatch.client.transport.aiohttp_transport import AiohttpTransport
from listwatch.client.transport.connection import AiohttpStream

__all__ = ["LoopBoundTransport"]


class LoopBoundTransport(AiohttpTransport):
    """Closes its connections when its event loop is shut down, or earlier with `close`.

    A fixture cannot know which plugin runs a test, nor when that plugin closes the loop. But every runner finalizes the
    asynchronous generators of its loop before it closes it, and one of them closes the connections.
    """

    def __init__(self, config: ClientConfig) -> None:
        super().__init__(config)
        self._finalizer: AsyncGenerator[None, None] | None = None

    async def send(self, request: HTTPRequest, *, timeout: float | None) -> HTTPResponse:
        await self._bind_to_loop()
        return await super().send(request, timeout=timeout)

    async def open_stream(
        self, request: HTTPRequest, *, timeout: float | None, parts: Callable[[], AsyncIterator[bytes]] | None = None
    ) -> AiohttpStream | HTTPResponse:
        await self._bind_to_loop()
        return await super().open_stream(request, timeout=timeout, parts=parts)

    def close(self) -> None:
        """Close the connections from outside of the loop, unless it is closed already."""
        loop = self._loop
        if self._finalizer is not None and loop is not None and not loop.is_closed() and not loop.is_running():
            loop.run_until_complete(self._finalizer.aclose())

    async def _bind_to_loop(self) -> None:
        if self._finalizer is None:
            self._finalizer = self._close_at_the_end()
            await anext(self._finalizer)

    async def _close_at_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.aclose()
