"""The seam through which Python code serves the containers of an API server's pods: `APIServer(kubelet=…)`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from typing import Protocol

from listwatch.server.kubelet.container_log import last_lines
from listwatch.server.kubelet.sessions import (
    AttachSession,
    ExecSession,
    LogRequest,
    PortConnection,
    ProxyRequest,
    ProxyResponse,
)

__all__ = ["FunctionKubelet", "Kubelet", "NotServedError"]


class NotServedError(Exception):
    """Raised by the methods of a Kubelet that are not overridden."""


class Kubelet(Protocol):
    """Serves the containers of all pods that have a node. Inherit from it and override what a test needs.

    What is not overridden responds as if no kubelet could be reached. An APIError that a method raises is the
    response; another exception is logged, and the client gets an internal error. If a client disconnects, the method
    that serves it is cancelled.
    """

    def logs(self, request: LogRequest) -> AsyncIterable[bytes]:
        """Return the pieces of a log; with `follow`, until the container ends."""
        raise NotServedError

    async def exec(self, session: ExecSession) -> int | None:
        """Run a command and return its exit code; None is zero."""
        raise NotServedError

    async def attach(self, session: AttachSession) -> int | None:
        """Connect a client to the process of a container; return its exit code when it ends. None is zero."""
        raise NotServedError

    async def port_forward(self, connection: PortConnection) -> None:
        """Serve one connection to a port of a pod; it is closed when this returns."""
        raise NotServedError

    async def proxy(self, request: ProxyRequest) -> ProxyResponse:
        """Respond to an HTTP request to a pod, a Service or a node."""
        raise NotServedError


class FunctionKubelet(Kubelet):
    """A Kubelet made of functions. Requests without a function get the error of a kubelet that cannot be reached.

    `logs` may also return a whole log as bytes, of which the requested last lines are sent.
    """

    def __init__(
        self,
        *,
        logs: Callable[[LogRequest], AsyncIterable[bytes] | bytes] | None = None,
        exec: Callable[[ExecSession], Awaitable[int | None]] | None = None,
        attach: Callable[[AttachSession], Awaitable[int | None]] | None = None,
        port_forward: Callable[[PortConnection], Awaitable[None]] | None = None,
        proxy: Callable[[ProxyRequest], Awaitable[ProxyResponse]] | None = None,
    ) -> None:
        self._logs = logs
        self._exec = exec
        self._attach = attach
        self._port_forward = port_forward
        self._proxy = proxy

    def logs(self, request: LogRequest) -> AsyncIterable[bytes]:
        if self._logs is None:
            raise NotServedError
        found = self._logs(request)
        return _whole_log(last_lines(found, request.tail_lines)) if isinstance(found, bytes) else found

    async def exec(self, session: ExecSession) -> int | None:
        if self._exec is None:
            raise NotServedError
        return await self._exec(session)

    async def attach(self, session: AttachSession) -> int | None:
        if self._attach is None:
            raise NotServedError
        return await self._attach(session)

    async def port_forward(self, connection: PortConnection) -> None:
        if self._port_forward is None:
            raise NotServedError
        await self._port_forward(connection)

    async def proxy(self, request: ProxyRequest) -> ProxyResponse:
        if self._proxy is None:
            raise NotServedError
        return await self._proxy(request)


async def _whole_log(text: bytes) -> AsyncIterator[bytes]:
    yield text
