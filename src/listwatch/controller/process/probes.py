"""A small HTTP server for the probes of a kubelet and for metrics.

    async with ProbeServer({"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}, port=8081): ...

It listens on the loopback address by default.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import NamedTuple, Self

from listwatch.errors import UsageError

__all__ = ["ProbeResponse", "ProbeServer", "run_checks"]

_log = logging.getLogger("listwatch.controller")

_HEADER_LIMIT = 16 * 1024
_REQUEST_TIMEOUT = 5.0


class ProbeResponse(NamedTuple):
    """The response for one path."""

    text: str
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = "text/plain; charset=utf-8"


async def run_checks(checks: Mapping[str, Callable[[], object]], *, notes: Iterable[str] = ()) -> ProbeResponse:
    """Call each check, plain or async: 200 if none raises, else 503; the text lists them, and the notes."""
    lines, passed = [], True
    for name, check in checks.items():
        try:
            result = check()
            if inspect.isawaitable(result):
                await result
        except Exception as error:  # noqa: BLE001  # user code
            lines.append(f"[-] {name}: {error}")
            passed = False
        else:
            lines.append(f"[+] {name}")
    lines += [*notes, "ok" if passed else "failed"]
    return ProbeResponse("\n".join([*lines, ""]), HTTPStatus.OK if passed else HTTPStatus.SERVICE_UNAVAILABLE)


class ProbeServer:
    """Serves GET and HEAD for a few paths, between entering and leaving; port 0 selects a free port."""

    def __init__(
        self, paths: Mapping[str, Callable[[], Awaitable[ProbeResponse]]], *, port: int, host: str = "127.0.0.1"
    ) -> None:
        self._paths = paths
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        if self._server is None:
            return self._port
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(self._accept, self._host, self._port, limit=_HEADER_LIMIT)
        except (OSError, OverflowError) as error:
            raise UsageError(f"cannot serve probes at {self._host}:{self._port}: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)
        await self._server.wait_closed()
        self._server = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="probe")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_TIMEOUT):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._respond(head))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError) as error:
            _log.debug("A probe request failed: %r", error, extra={"port": self._port})
        finally:
            writer.transport.abort()

    async def _respond(self, head: bytes) -> bytes:
        method, target, *_ = [*head.split(b"\r\n", 1)[0].decode("latin-1").split(" "), "", ""]
        path = target.partition("?")[0]
        if method not in ("GET", "HEAD"):
            response = ProbeResponse("only GET and HEAD are supported\n", HTTPStatus.METHOD_NOT_ALLOWED)
        elif path not in self._paths:
            response = ProbeResponse(f"not found; paths: {', '.join(self._paths)}\n", HTTPStatus.NOT_FOUND)
        else:
            response = await self._call(path)
        body = response.text.encode()
        lines = [
            f"HTTP/1.1 {response.status.value} {response.status.phrase}",
            f"Content-Type: {response.content_type}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body)

    async def _call(self, path: str) -> ProbeResponse:
        try:
            return await self._paths[path]()
        except Exception:  # noqa: BLE001  # a probe always gets a response
            _log.exception("The handler of %s failed", path, extra={"path": path})
            return ProbeResponse("internal error; see the log\n", HTTPStatus.INTERNAL_SERVER_ERROR)
