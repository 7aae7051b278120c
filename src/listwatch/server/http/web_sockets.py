"""WebSockets over which clients and kubelets exchange streams."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

from aiohttp import WSMsgType, web

from listwatch.errors import APIError, BadRequestError, MethodNotAllowedError
from listwatch.server.internal_errors import internal_error
from listwatch.server.kubelet.kubelet import NotServedError
from listwatch.server.requests import APIRequest

__all__ = ["KubeletCall", "WebSocket", "run_until_disconnected"]

_log = logging.getLogger("listwatch.server")

# The largest message that kube-apiserver receives.
_MAX_MESSAGE = 32 * 1024 * 1024
_CLOSE_TIMEOUT = 5.0


class WebSocket:
    """The server's side of a WebSocket; sending waits while the client reads slowly."""

    def __init__(self, request: web.BaseRequest, protocol: str) -> None:
        self._request = request
        protocols = (protocol,) if protocol else ()
        self.response = web.WebSocketResponse(
            protocols=protocols, timeout=_CLOSE_TIMEOUT, max_msg_size=_MAX_MESSAGE, compress=False
        )

    @property
    def is_disconnected(self) -> bool:
        """True if nothing can be sent any more: the WebSocket is closed, or its connection is lost."""
        transport = self._request.transport
        return self.response.closed or transport is None or transport.is_closing()

    async def open(self, started: Callable[[int], None]) -> None:
        """Accept the WebSocket; raises an APIError if the handshake of the client is not valid."""
        if self._request.method != "GET":
            raise MethodNotAllowedError("bad method")
        try:
            await self.response.prepare(self._request)
        except web.HTTPException:
            raise BadRequestError("mismatch challenge/response") from None
        started(101)

    async def send(self, message: bytes | str) -> None:
        """Send a message; raises ConnectionError if the client has gone."""
        if isinstance(message, str):
            await self.response.send_str(message)
        else:
            await self.response.send_bytes(message)

    async def receive(self) -> bytes | str | None:
        """Return the next message; None if the client has closed the WebSocket."""
        message = await self.response.receive()
        if message.type is WSMsgType.BINARY:
            return bytes(message.data)
        return str(message.data) if message.type is WSMsgType.TEXT else None

    async def close(self) -> None:
        """Close the WebSocket; waits a while for the client, so that it receives all that was sent."""
        await self.response.close()


async def run_until_disconnected(receiving: Coroutine[None, None, None], work: asyncio.Task[None]) -> None:
    """Wait until the work is done, or until nothing can be received any more; then stop both."""
    receiver = asyncio.get_running_loop().create_task(receiving)
    try:
        await asyncio.wait((work, receiver), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop(work, receiver)


async def stop(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and wait for their ends; raises the exception that ended one of them."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


class KubeletCall:
    """Calls a kubelet for one request, and turns its exceptions into errors for the client."""

    def __init__(self, request: APIRequest, *, doing: str, refused: Callable[[], str] = str) -> None:
        self._request = request
        self._doing = doing
        self._refused = refused

    def ignore(self, error: Exception) -> None:
        """Log an error after a disconnect for debugging only: most likely, it is a consequence of that."""
        self._log(logging.DEBUG, "The kubelet failed after its client had disconnected: %s", error)

    def error(self, error: Exception) -> APIError:
        """Return the error for the client; an unexpected exception of the kubelet is logged."""
        if isinstance(error, APIError):
            return error
        try:
            return internal_error(self.reason(error))
        except APIError as unreachable:
            return unreachable

    def reason(self, error: Exception) -> str:
        """Return why the kubelet failed, as a text; raises an APIError if its node has no address."""
        if isinstance(error, NotServedError):
            return self._refused()
        if isinstance(error, APIError):
            return f"{self._doing}: {error.message}"
        self._log(logging.ERROR, "The kubelet failed: %s", error)
        return f"{self._doing}: {type(error).__name__}: {error}"

    def _log(self, level: int, message: str, error: Exception) -> None:
        request = self._request
        extra = {"resource": f"{request.resource.plural}/{request.subresource}", "key": str(request.key)}
        _log.log(level, message, self._doing, exc_info=error, extra=extra)
