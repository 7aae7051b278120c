"""Speaks HTTP: finds out who asks for what, and sends what the other parts of the server answer.

    who ─▶ faults ─▶ may they ─▶ what ─▶ verbs, a watch, or no resource ─▶ settled ─▶ answer

Every refusal is a Status. Whatever goes wrong with one request, the others do not notice.
"""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from functools import partial
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMethod

from listwatch.api.statuses import status_from_error
from listwatch.errors import APIError, ExpiredError, InternalServerError, RequestTimeoutError, UnauthorizedError
from listwatch.server.access.access import read_token_path
from listwatch.server.codec.representations import (
    Representation,
    encode_plain,
    encode_response,
    negotiate,
    negotiate_error,
    negotiate_watch,
    wants_pretty,
)
from listwatch.server.faults.faults import DropResponse, Expire, Fail, Refuse
from listwatch.server.faults.request_log import LoggedRequest
from listwatch.server.http.backend import Backend
from listwatch.server.http.messages import Stream, accepts_gzip, error_headers, read_body, reset, respond
from listwatch.server.protocol.list_options import read_watch_options
from listwatch.server.protocol.routes import RequestInfo, read_target, route
from listwatch.server.requests import APIRequest, NonResourceRequest, Response, User
from listwatch.server.watch.watching import Watch, error_line

__all__ = ["Exchange", "Listener"]

_log = logging.getLogger(__name__)

# As Go's server, which allows a request line and headers of a megabyte.
_MAX_LINE = 1 << 20

_PROTOCOL_OPTIONS: dict[str, Any] = {
    "logger": _log,
    "access_log": None,  # `request_log` is for that
    "auto_decompress": False,
    "max_line_size": _MAX_LINE,
    "max_field_size": _MAX_LINE,
}
_BACKLOG = 1024

# How aiohttp reports a request that is in order but for its method.
_UNKNOWN_METHOD = re.compile(r"b'[A-Z]+ /\S* HTTP/1")

# More than it takes a watch that is told to end to say so to its client.
_TURNS_TO_END = 20
_SHUTDOWN_TIMEOUT = 5.0


class Exchange:
    """One request and its answer."""

    def __init__(self, backend: Backend, request: web.BaseRequest) -> None:
        self._backend = backend
        self._request = request
        self._accept = request.headers.get("Accept", "")
        self._user_agent = request.headers.get("User-Agent", "")
        token, self._target = read_token_path(request.raw_path)
        self._authorization = f"Bearer {token}" if token else request.headers.get("Authorization", "")
        self._info, self._refusal = self._read_target()
        self._user = self._identify()
        self._record = LoggedRequest.of(self._info, self._user, self._user_agent)
        self._plan = backend.faults.begin(self._record)
        self._warnings: list[str] = []

    def _read_target(self) -> tuple[RequestInfo, APIError | None]:
        """Find out what is asked for, or why that cannot be known."""
        try:
            return read_target(self._request.method, self._target), None
        except APIError as error:
            return RequestInfo(self._request.method, self._target), error

    def _identify(self) -> User | None:
        """Find out who is asking, unless there is nothing to ask for."""
        if self._refusal:
            return None
        transport = self._request.transport
        certificate = transport.get_extra_info("peercert") if transport else None
        try:
            return self._backend.access.authenticate(self._authorization, certificate)
        except APIError as error:
            self._refusal = error
            return None

    async def run(self) -> web.StreamResponse:
        """Respond, whatever it takes."""
        backend = self._backend
        backend.requests.add(self._record)
        try:
            return await self._answer()
        except ConnectionError:
            return reset(self._request)  # the client is gone
        except Exception as error:  # noqa: BLE001  # whatever it is, the server goes on
            return await self._refuse(self._as_answer(error))
        finally:
            backend.faults.end(self._plan)
            self._record.is_finished = True
            backend.requests.changed()

    async def _answer(self) -> web.StreamResponse:
        if self._plan.faults and (struck := await self._suffer()) is not None:
            return struck
        if self._refusal or not self._user:
            raise self._refusal or UnauthorizedError("Unauthorized")
        match self._route(self._user):
            case NonResourceRequest() as request:
                return await self._send(self._backend.non_resources.respond(request))
            case APIRequest(verb="watch") as request:
                return await self._watch(request)
            case request:
                return await self._do(request)

    async def _suffer(self) -> web.StreamResponse | None:
        """What a fault answers; None if all goes on, if only after a while."""
        if delay := self._plan.delay:
            await self._backend.clock.sleep(delay)
        if self._plan.find(Refuse):
            return reset(self._request)
        if fail := self._plan.find(Fail):
            return await self._refuse(fail.error)
        if self._plan.find(Expire) and self._info.verb != "watch":
            raise ExpiredError("The resourceVersion for the provided list is too old.")
        return None

    def _route(self, user: User) -> APIRequest | NonResourceRequest:
        access, headers = self._backend.access, self._request.headers
        user = access.impersonate(user, headers.items())
        self._record.user = user.name
        access.authorize(user, self._info)
        return route(self._info, self._backend.registry, headers=headers, user=user)

    # --- What is asked once

    async def _do(self, request: APIRequest) -> web.StreamResponse:
        representation = negotiate(request.accept, pretty=wants_pretty(request.query, self._user_agent))
        self._warnings = request.warnings
        if request.method not in ("GET", "HEAD"):
            request.body = await read_body(self._request)
        try:
            answer = self._backend.verbs.respond(request)
        finally:
            # A refusal too may tell of something that is not safe yet.
            await self._backend.commits.settled()
        if self._plan.find(DropResponse):
            return reset(self._request)
        if "Content-Type" not in answer.headers:
            answer.body = encode_response(answer, representation)
            answer.headers["Content-Type"] = representation.media_type
        return await self._send(answer)

    def _as_answer(self, error: Exception) -> APIError:
        if isinstance(error, APIError):
            return error
        _log.error("%s %s failed", self._info.method, self._info.path, exc_info=error)
        return InternalServerError("Internal error occurred: see the log of the server")

    async def _refuse(self, error: APIError) -> web.StreamResponse:
        if self._record.status:
            return reset(self._request)  # too late for another answer than the one that has begun
        pretty = wants_pretty(self._info.query, self._user_agent)
        representation = negotiate_error(self._accept, pretty=pretty)
        headers = {"Content-Type": representation.media_type, **error_headers(error)}
        body = encode_plain(status_from_error(error), representation)
        return await self._send(Response(body, error.status_code, headers))

    async def _send(self, answer: Response) -> web.StreamResponse:
        assert isinstance(answer.body, bytes)
        self._record.status = answer.code
        headers = {**self._headers(), **answer.headers}
        return await respond(self._request, answer.code, answer.body, headers, self._warnings)

    def _headers(self) -> dict[str, str]:
        audit_id = self._request.headers.get("Audit-Id") or self._backend.new_id()
        return {"Audit-Id": audit_id, "Cache-Control": "no-cache, private"}

    # --- What goes on

    async def _watch(self, request: APIRequest) -> web.StreamResponse:
        backend = self._backend
        representation = negotiate_watch(request.accept)
        options = read_watch_options(request, backend.registry)
        storage_id = backend.registry.storage_id(request.resource)
        compressed = options.marks_end_of_initial_events and accepts_gzip(self._request)
        headers = {**self._headers(), "Content-Type": representation.media_type}
        stream = Stream(self._request, headers, compressed=compressed)
        watch = backend.watches.new(request.resource, storage_id, options, representation, self._plan)
        try:
            refusal = await self._begin(watch, representation)
            self._record.status = 200
            await stream.open()
            backend.requests.changed()
            await (stream.send(refusal) if refusal else watch.run(stream))
        finally:
            watch.close()
        return stream.response

    async def _begin(self, watch: Watch, representation: Representation) -> bytes:
        """Begin, or return the event that says why not."""
        try:
            await watch.begin()
        except (ExpiredError, RequestTimeoutError) as error:
            if self._backend.watch_errors_as_http:
                raise
            return error_line(error, representation)
        return b""


class Protocol(web.RequestHandler):
    """Reads HTTP from one connection; what cannot be read is refused, and neither repeated nor logged."""

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if isinstance(exc, BadHttpMethod) and _UNKNOWN_METHOD.search(exc.message):
            status = 405
        response = web.Response(status=status, text=f"{status} {HTTPStatus(status).phrase}")
        response.force_close()
        return response


class Listener:
    """Takes connections at one address, and answers their requests."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._under_way = 0
        self._protocols: web.Server | None = None
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Listen, and return the port."""
        loop = asyncio.get_running_loop()
        # A watch ends when its client has gone.
        self._protocols = web.Server(self._handle, handler_cancellation=True)
        connected = partial(Protocol, self._protocols, loop=loop, **_PROTOCOL_OPTIONS)
        self._server = await loop.create_server(connected, host, port, ssl=tls, backlog=_BACKLOG)
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        return len(self._protocols.connections) if self._protocols else 0

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self._under_way += 1
        try:
            return await Exchange(self._backend, request).run()
        finally:
            self._under_way -= 1

    async def stop(self) -> None:
        """Take no more connections, let end what can end now, and cut the rest off."""
        if self._server is None or self._protocols is None:
            return
        self._server.close()
        for _ in range(_TURNS_TO_END):
            await asyncio.sleep(0)
            if not self._under_way:
                break
        for protocol in self._protocols.connections:
            if protocol.transport is not None:
                protocol.transport.abort()
        await self._protocols.shutdown(_SHUTDOWN_TIMEOUT)
        await self._server.wait_closed()
