"""One HTTP connection: disconnects clients that do not read, and responds to malformed requests."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod

__all__ = ["Protocol"]

# How aiohttp reports a request whose only problem is its method.
_UNKNOWN_METHOD = re.compile(r"b'[A-Z]+ /\S* HTTP/1")

# The idle timeout of streams of a real API server.
_STREAM_STALL_TIMEOUT = 4 * 3600.0


class Protocol(web.RequestHandler):
    """Reads HTTP from one connection; a malformed request gets an error response without its content in it."""

    __slots__ = ("_stall_timeout", "_stall_timer", "_unsent")

    def __init__(self, server: web.Server, *, stall_timeout: float, **options: Any) -> None:
        super().__init__(server, **options)
        self._stall_timeout = stall_timeout
        self._stall_timer: asyncio.TimerHandle | None = None
        self._unsent = 0

    def allow_slow_reader(self) -> None:
        """Let the client of a stream pause for hours, as a real API server does."""
        self._stall_timeout = _STREAM_STALL_TIMEOUT

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_progress()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        super().connection_lost(exc)

    def _watch_progress(self) -> None:
        transport = self.transport
        assert isinstance(transport, asyncio.Transport)
        self._unsent = transport.get_write_buffer_size()
        self._stall_timer = self._loop.call_later(self._stall_timeout, self._check_progress, transport)

    def _check_progress(self, transport: asyncio.Transport) -> None:
        unsent = transport.get_write_buffer_size()
        if unsent and unsent >= self._unsent:
            self._stall_timer = None
            transport.abort()
        elif unsent:
            self._watch_progress()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if isinstance(exc, BadHttpMethod) and _UNKNOWN_METHOD.search(exc.message):
            status = 405
        response = web.Response(status=status, text=f"{status} {HTTPStatus(status).phrase}")
        response.force_close()
        return response
