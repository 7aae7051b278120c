"""Answers those who ask a program over HTTP how it is: probes of a kubelet, and whoever collects metrics.

    async with ProbeServer({"/healthz": healthz, "/readyz": readyz, "/metrics": metrics}, port=8081): ...

`manager` says what there is to answer. It listens on this machine alone, unless told otherwise.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple, Self

from listwatch.errors import UsageError

__all__ = ["Answer", "ProbeServer"]

_log = logging.getLogger("listwatch.controller")

# A request line and headers of ordinary size, and ordinary patience with who sends them.
_LIMIT = 16 * 1024
_PATIENCE = 5.0


class Answer(NamedTuple):
    """What one path says now."""

    text: str
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = "text/plain; charset=utf-8"


class ProbeServer:
    """Answers GET and HEAD at a few paths, between entering and leaving; a port of 0 is any that is free."""

    def __init__(
        self, paths: Mapping[str, Callable[[], Awaitable[Answer]]], *, port: int, host: str = "127.0.0.1"
    ) -> None:
        self._paths = paths
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """Where it listens."""
        if self._server is None:
            return self._port
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(self._accept, self._host, self._port, limit=_LIMIT)
        except (OSError, OverflowError) as error:
            raise UsageError(f"cannot answer probes at {self._host}:{self._port}: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)
        await self._server.wait_closed()
        self._server = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer), name="probe")
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, EOFError, asyncio.LimitOverrunError, TimeoutError) as error:
            _log.debug("a probe went wrong: %r", error)
        finally:
            writer.transport.abort()

    async def _answer(self, head: bytes) -> bytes:
        method, target, *_ = [*head.split(b"\r\n", 1)[0].decode("latin-1").split(" "), "", ""]
        path = target.partition("?")[0]
        if method not in ("GET", "HEAD"):
            answer = Answer("only GET is answered here\n", HTTPStatus.METHOD_NOT_ALLOWED)
        elif path not in self._paths:
            answer = Answer(f"there is {', '.join(self._paths)}\n", HTTPStatus.NOT_FOUND)
        else:
            answer = await self._asked(path)
        body = answer.text.encode()
        lines = [
            f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
            f"Content-Type: {answer.content_type}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body)

    async def _asked(self, path: str) -> Answer:
        try:
            return await self._paths[path]()
        except Exception:  # noqa: BLE001  # a probe is answered, whatever it asked for
            _log.exception("the answer at %s failed", path)
            return Answer("failed; the log says why\n", HTTPStatus.INTERNAL_SERVER_ERROR)
