"""One HTTP request and its response, from the headers that were read to the bytes that are sent.

    authenticate ─▶ faults ─▶ authorize ─▶ route ─▶ pipeline, watch or non-resource ─▶ commit ─▶ respond

Every error response is a Status. An error in one request does not affect the others.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import formatdate
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from aiohttp import hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import SERVER_SOFTWARE

from listwatch.api.statuses import status_from_error
from listwatch.clock import Clock
from listwatch.errors import (
    APIError,
    BadRequestError,
    ExpiredError,
    InternalServerError,
    MethodNotAllowedError,
    NotFoundError,
    RequestTimeoutError,
    UnauthorizedError,
)
from listwatch.meta import Resource
from listwatch.server.access.access import Access
from listwatch.server.access.origins import AllowedHosts
from listwatch.server.codec.decoding import JSON_MEDIA_TYPE
from listwatch.server.codec.representations import (
    TABLE,
    Representation,
    encode_list,
    encode_plain,
    encode_response,
    negotiate,
    negotiate_error,
    negotiate_watch,
    wants_pretty,
)
from listwatch.server.faults.faults import DropResponse, Expire, Fail, FaultInjector, FaultPlan, Refuse
from listwatch.server.faults.request_log import LoggedRequest, RequestRecorder
from listwatch.server.http.connection_protocol import Protocol
from listwatch.server.http.messages import (
    COMPRESSED,
    MAX_BODY,
    ResponseStream,
    accepts_gzip,
    add_warnings,
    compress,
    read_slowly,
    reset,
    too_large,
)
from listwatch.server.json_tree import quoted
from listwatch.server.protocol.list_options import read_watch_options
from listwatch.server.protocol.non_resources import NonResources
from listwatch.server.protocol.routes import RequestInfo, read_target, route
from listwatch.server.requests import (
    ANONYMOUS,
    APIRequest,
    ListResponse,
    NonResourceRequest,
    Replay,
    Response,
    User,
)
from listwatch.server.schema.registry import Registry
from listwatch.server.storage.commits import Commits
from listwatch.server.storage.values import JournalError, Stored
from listwatch.server.tables.tables import Tables
from listwatch.server.verbs.connections import needs_connection
from listwatch.server.verbs.pipeline import Pipeline
from listwatch.server.watch.watching import StateConverter, Watch, Watches, error_line
from listwatch.server.webhook_calls import ResponseBudget
from listwatch.tasks.cooperative import run_sliced

if TYPE_CHECKING:
    from listwatch.server.kubelet.kubelet import Kubelet
    from listwatch.server.replay.replayed_api import ReplayedAPI

__all__ = ["Backend", "RequestHandler"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.server")

_MIN_SIZE_TO_COMPRESS = 128 * 1024
_REQUEST_TIMEOUT = 60.0
"""The seconds in which a request that calls webhooks has to complete, as in kube-apiserver."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The parts of the server that a request may need."""

    registry: Registry
    access: Access
    allowed_hosts: AllowedHosts
    pipeline: Pipeline | ReplayedAPI
    non_resources: NonResources
    watches: Watches | ReplayedAPI
    tables: Tables
    commits: Commits
    faults: FaultInjector
    requests: RequestRecorder
    clock: Clock
    new_id: Callable[[], str]
    watch_errors_as_http: bool
    """Report a watch that cannot start with an HTTP status instead of an ERROR event."""
    body_timeout: float
    """The seconds in which a body has to arrive."""
    compression: bool
    """Compress large responses and initial events for clients that accept gzip."""
    kubelet: Kubelet | None
    """Serves logs, commands, ports and proxies; without it, they respond as if no kubelet could be reached."""
    webhook_services: Mapping[str, str]
    """The URLs of services of webhooks, by namespace and name."""
    webhook_responses: ResponseBudget
    replayed: ReplayedAPI | None = None
    """For a server that replays a recording; it is also the pipeline and has the watches."""


class RequestHandler:
    """Responds to the requests of all connections."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._date = _DateHeader()
        self.open_requests = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.open_requests += 1
        try:
            return await Exchange(self._backend, request, self._date).run()
        finally:
            self.open_requests -= 1


class Exchange:
    """One request and its response."""

    def __init__(self, backend: Backend, request: web.BaseRequest, date: Callable[[], str]) -> None:
        self._backend = backend
        self._date = date
        self._request = request
        headers = request.headers
        self._accept = headers.get(hdrs.ACCEPT, "")
        self._user_agent = headers.get(hdrs.USER_AGENT, "")
        self._target = request.raw_path
        self._info, self._error = self._read_target()
        self._user = self._authenticate()
        self._record = LoggedRequest._of(self._info, self._user, self._user_agent)
        self._warnings: list[str] = []
        # A fault that is added later affects open watches only.
        has_faults = backend.faults or self._info.verb == "watch"
        self._plan = backend.faults.begin(self._record) if has_faults else None
        # The log is bounded, and keeps nothing that a client without credentials has sent.
        if self._user is None:
            self._record = LoggedRequest._of_unknown_client(self._info)
        else:
            self._record = self._record._bounded(len(self._target))
            if self._plan:
                self._plan.request = self._record

    def _read_target(self) -> tuple[RequestInfo, APIError | None]:
        try:
            return read_target(self._request.method, self._target), None
        except APIError as error:
            return RequestInfo(self._request.method, self._target), error

    def _authenticate(self) -> User | None:
        if self._error:
            return None
        transport = self._request.transport
        certificate = transport.get_extra_info("peercert") if transport else None
        try:
            user = self._backend.access.authenticate(self._request.headers.get(hdrs.AUTHORIZATION, ""), certificate)
            if user is ANONYMOUS:
                self._backend.allowed_hosts.check(self._request.headers)
            return user
        except APIError as error:
            self._error = error
            return None

    async def run(self) -> web.StreamResponse:
        """Respond to the request; errors become responses."""
        backend = self._backend
        backend.requests.add(self._record)
        try:
            return await self._respond()
        except ConnectionError:
            return reset(self._request)  # the client has disconnected
        except Exception as error:  # noqa: BLE001  # the server has to survive any error in a request
            return await self._send_error(self._as_api_error(error))
        finally:
            if self._plan:
                backend.faults.end(self._plan)
            self._record.is_finished = True
            backend.requests.notify()

    async def _respond(self) -> web.StreamResponse:
        if self._plan and self._plan.faults and (response := await self._apply_faults(self._plan)) is not None:
            return response
        if self._error or not self._user:
            raise self._error or UnauthorizedError("Unauthorized")
        match self._route(self._user):
            case NonResourceRequest() as request:
                return await self._send(self._backend.non_resources.respond(request))
            case APIRequest(verb="watch") as request:
                return await self._watch(request)
            case request if request.subresource and needs_connection(request, has_kubelet=bool(self._backend.kubelet)):
                return await self._connect(await self._admitted_connection(request))
            case request:
                return await self._run_pipeline(request)

    async def _apply_faults(self, plan: FaultPlan) -> web.StreamResponse | None:
        """Return the response of a fault; None if the request is handled normally, possibly after a delay."""
        if plan.delay:
            await self._backend.clock.sleep(plan.delay)
        if plan.find(Refuse):
            return reset(self._request)
        if fail := plan.find(Fail):
            return await self._send_error(fail.error)
        if plan.find(Expire) and self._info.verb != "watch":
            raise ExpiredError("The resourceVersion for the provided list is too old.")
        return None

    def _route(self, user: User) -> APIRequest | NonResourceRequest:
        access, headers = self._backend.access, self._request.headers
        user = access.impersonate(user, headers.items(), self._info)
        self._record.user = user.name
        access.authorize(user, self._info)
        request = self._routed(user)
        if isinstance(request, APIRequest) and request.verb == "connect" and request.subresource != "proxy":
            # A WebSocket is opened with GET; to run a command with it needs the same permission as with POST.
            access.authorize_as(user, self._info, "create")
        return request

    def _routed(self, user: User) -> APIRequest | NonResourceRequest:
        backend = self._backend
        try:
            request = route(self._info, backend.registry, headers=self._request.headers, user=user)
        except APIError as error:
            self._add_custom_warning()
            is_missing = isinstance(error, NotFoundError | MethodNotAllowedError)
            if is_missing and backend.replayed is not None and self._info.resource:
                raise backend.replayed.refusal(self._info) from None
            raise
        if backend.replayed is not None and isinstance(request, APIRequest):
            backend.replayed.check(request, self._info)
        return request

    def _add_warnings(self, request: APIRequest) -> None:
        """Warn of a deprecated kind or version, also if the request is rejected later."""
        self._warnings = request.warnings
        if warning := self._backend.pipeline.deprecation_warning(request.resource):
            request.warnings.append(warning)

    def _add_custom_warning(self) -> None:
        """Warn of a deprecated version of a custom resource, for which a request cannot be routed."""
        info, registry = self._info, self._backend.registry
        resource = registry.lookup(info.group, info.version, info.resource) if info.is_resource else None
        if resource and registry.is_custom_only(resource.group):
            warning = self._backend.pipeline.deprecation_warning(resource)
            self._warnings = [warning] if warning else []

    # --- Requests with one response

    async def _run_pipeline(self, request: APIRequest) -> web.StreamResponse:
        self._add_warnings(request)
        representation = negotiate(
            request.accept,
            pretty=wants_pretty(request.query, self._user_agent),
            protobuf="protobuf" not in request.accept or _has_protobuf(request),
            tables=TABLE not in request.accept or self._backend.tables.offers(request),
        )
        if request.method not in ("GET", "HEAD"):
            request.body = await _read_body(self._request, self._backend.body_timeout)
        try:
            response = await self._respond_durably(request)
        except JournalError:
            if request.method not in ("GET", "HEAD"):
                raise
            # The response depended on writes that were rolled back.
            response = await self._respond_durably(request)
        if self._plan and self._plan.find(DropResponse):
            return reset(self._request)
        if "Content-Type" not in response.headers:
            response.body = await self._encode(request, response, representation)
            response.headers["Content-Type"] = representation.media_type
        return await self._send(response)

    async def _encode(self, request: APIRequest, response: Response, representation: Representation) -> bytes:
        if representation.kind == TABLE:
            representation = self._with_printer(request, representation)
        elif representation.media_type == JSON_MEDIA_TYPE:
            return encode_response(response, representation)
        if not isinstance(response.body, ListResponse):
            return encode_response(response, representation)
        return await run_sliced(encode_list(response.body, representation))

    def _with_printer(self, request: APIRequest, representation: Representation) -> Representation:
        return replace(representation, printer=self._backend.tables.printer(request, representation.api_version))

    async def _respond_durably(self, request: APIRequest) -> Response:
        pipeline = self._backend.pipeline
        try:
            if pipeline.needs_webhooks(request):
                return await self._run_with_webhooks(request, pipeline.respond)
            return pipeline.respond(request)
        finally:
            self._record.annotate(request.audit_annotations)
            # An error response too may depend on writes that are not durable yet.
            await self._backend.commits.wait_durable()

    async def _run_with_webhooks(self, request: APIRequest, run: Callable[[APIRequest], T]) -> T:
        """Start the request again after each webhook that it needs; the pipeline itself does not wait."""
        from listwatch.server.http.webhook_client import run_with_webhooks

        request.replay = replay = Replay(self._backend.new_id)
        warnings = [*request.warnings]

        def start() -> T:
            request.warnings[:] = warnings
            return run(request)

        services, budget = self._backend.webhook_services, self._backend.webhook_responses
        return await run_with_webhooks(start, replay, services, budget, timeout=_timeout_of(request))

    async def _admitted_connection(self, request: APIRequest) -> APIRequest:
        """Return a request for a connection, as admission has changed it; logs are not admitted."""
        pipeline = self._backend.pipeline
        if request.verb != "connect":
            return request
        try:
            if pipeline.needs_webhooks(request):
                return await self._run_with_webhooks(request, pipeline.admit_connection)
            return pipeline.admit_connection(request)
        finally:
            self._warnings = request.warnings
            self._record.annotate(request.audit_annotations)

    def _as_api_error(self, error: Exception) -> APIError:
        if isinstance(error, APIError):
            if notes := getattr(error, "__notes__", None):
                self._log_reason("; ".join(notes))
            return error
        if isinstance(error, JournalError):
            return InternalServerError(
                "Internal error occurred: the request was not stored, because the storage of the server cannot be "
                f"written{f' ({error.reason})' if error.reason else ''}; see the log of the server"
            )
        if isinstance(error, RecursionError):
            return BadRequestError("the object is nested too deeply for the embedded server")
        extra = {"method": self._record.method, "path": self._record.path}
        _log.error("Request failed with an unexpected error", exc_info=error, extra=extra)
        return InternalServerError("Internal error occurred: see the log of the server")

    def _log_reason(self, reason: str) -> None:
        """Log why a request was rejected where the response does not say it."""
        record = self._record
        extra = {"method": record.method, "path": record.path}
        _log.info("%s %s was rejected: %s", record.method, record.path, reason, extra=extra)

    async def _send_error(self, error: APIError) -> web.StreamResponse:
        if self._record.status:
            return reset(self._request)  # the headers of another response have been sent
        pretty = wants_pretty(self._info.query, self._user_agent)
        representation = negotiate_error(self._accept, pretty=pretty)
        headers = {"Content-Type": representation.media_type}
        if error.retry_after:
            headers["Retry-After"] = str(math.ceil(error.retry_after))
        body = encode_plain(status_from_error(error), representation)
        return await self._send(Response(body, error.status_code, headers))

    async def _send(self, response: Response) -> web.StreamResponse:
        body = response.body
        assert isinstance(body, bytes)
        self._record.status = response.code
        headers = {**self._headers(), **response.headers, "Date": self._date()}
        if len(body) > _MIN_SIZE_TO_COMPRESS and self._backend.compression and accepts_gzip(self._request):
            headers |= COMPRESSED
            body = await compress(body)
        request = self._request
        if not self._warnings and response.code < 300 and request.keep_alive and request.method != "HEAD":
            return WholeResponse(body, response.code, headers)
        sent = web.Response(body=body, status=response.code, headers=headers)
        if self._warnings:
            add_warnings(sent, self._warnings)
        return sent

    def _headers(self) -> dict[str, str]:
        audit_id = self._request.headers.get("Audit-Id") or self._backend.new_id()
        return {"Audit-Id": audit_id, "Cache-Control": "no-cache, private"}

    # --- Streams

    async def _connect(self, request: APIRequest) -> web.StreamResponse:
        """Serve a log, a command, ports or a proxy."""
        # Few servers have a kubelet.
        from listwatch.server.http.kubelet_exchange import KubeletExchange

        backend = self._backend
        if request.subresource == "log":
            negotiate(request.accept)  # kube-apiserver refuses even text/plain, although that is the format of a log
        await backend.commits.wait_durable()

        def started(status: int) -> None:
            self._record.status = status
            if isinstance(protocol := self._request.protocol, Protocol):
                protocol.allow_slow_reader()
            backend.requests.notify()

        exchange = KubeletExchange(
            self._request,
            request,
            backend.pipeline.connections,
            backend.kubelet,
            headers=self._headers(),
            started=started,
        )
        response = await exchange.run()
        return await self._send(response) if isinstance(response, Response) else response

    async def _watch(self, request: APIRequest) -> web.StreamResponse:
        backend, plan = self._backend, self._plan
        assert plan is not None
        self._add_warnings(request)
        representation = negotiate_watch(
            request.accept, protobuf=_has_protobuf(request), tables=backend.tables.offers(request)
        )
        if representation.kind == TABLE:
            representation = self._with_printer(request, representation)
        options = read_watch_options(request, backend.registry)
        storage_id = backend.registry.storage_id(request.resource)
        compressed = options.marks_end_of_initial_events and backend.compression and accepts_gzip(self._request)
        headers = {**self._headers(), "Content-Type": representation.stream_media_type}
        stream = ResponseStream(self._request, headers, compressed=compressed)
        add_warnings(stream.response, request.warnings)
        watch = backend.watches.new(
            request.resource, storage_id, options, representation, plan, self._state_converter(request.resource)
        )
        try:
            error = await self._begin_watch(watch, representation)
            self._record.status = 200
            await stream.open()
            backend.requests.notify()
            await (stream.send(error) if error else watch.run(stream))
        finally:
            watch.close()
        return stream.response

    def _state_converter(self, resource: Resource) -> StateConverter | None:
        """Return a function that converts the objects of a watch; None if no webhook converts them."""
        convert = self._backend.pipeline.converter(resource)
        if convert is None:
            return None

        async def convert_all(states: Sequence[Stored]) -> list[Stored]:
            from listwatch.server.http.webhook_client import run_with_webhooks

            replay = Replay(self._backend.new_id)
            services, budget = self._backend.webhook_services, self._backend.webhook_responses
            return await run_with_webhooks(partial(convert, states, replay), replay, services, budget)

        return convert_all

    async def _begin_watch(self, watch: Watch, representation: Representation) -> bytes:
        """Begin the watch; returns the ERROR event to send if it cannot begin."""
        try:
            await watch.begin()
        except (ExpiredError, RequestTimeoutError) as error:
            if self._backend.watch_errors_as_http:
                raise
            return error_line(error, representation)
        return b""


def _has_protobuf(request: APIRequest) -> bool:
    """Whether the requested kind has a protobuf encoding, which custom resources do not have."""
    # Many servers serve JSON only.
    from listwatch.protobuf.envelope import supports

    return supports(request.resource.api_version, request.resource.kind)


def _timeout_of(request: APIRequest) -> float:
    """Return the seconds that a request may take; its query can name fewer than usual. Raises BadRequestError."""
    text = request.query.text("timeout")
    if not text:
        return _REQUEST_TIMEOUT
    # Few clients set it.
    from listwatch.server.cel.library.times import parse_duration
    from listwatch.server.cel.values import CELError

    try:
        seconds = parse_duration(text).nanoseconds / 1e9
    except CELError:
        why = f"time: invalid duration {quoted(text)}"
        raise BadRequestError(f"invalid timeout specified in the request URL - {why}") from None
    return min(seconds, _REQUEST_TIMEOUT) if seconds > 0 else _REQUEST_TIMEOUT


async def _read_body(request: web.BaseRequest, timeout: float) -> bytes:
    """Read the whole body; raises RequestEntityTooLargeError or RequestTimeoutError."""
    if (request.content_length or 0) > MAX_BODY:
        raise too_large()
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    content = request.content
    try:
        if content.is_eof() and content.exception() is None:
            # A small body has arrived with the headers; it is not copied.
            body = content.read_nowait()
            if len(body) <= MAX_BODY:
                return body
            raise too_large()
        async with asyncio.timeout(timeout):
            return await read_slowly(content)
    except TimeoutError:
        raise RequestTimeoutError(f"the body of the request did not arrive within {timeout:g} seconds") from None
    except web.RequestPayloadError:
        raise BadRequestError("the body of the request cannot be read") from None


class _DateHeader:
    """The Date header, which is formatted once a second."""

    def __init__(self) -> None:
        self._text = ""
        self._until = 0.0

    def __call__(self) -> str:
        now = asyncio.get_running_loop().time()
        if now >= self._until:
            self._text, self._until = formatdate(usegmt=True), now + 1.0
        return self._text


class WholeResponse(web.StreamResponse):
    """A response with a body, sent in one piece, on a connection that stays open.

    A `web.Response`, whose parts may change until it is sent, takes twice as long.
    """

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status=status, headers=headers)
        self._content = body

    @property
    def keep_alive(self) -> bool:
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        headers, writer = self.headers, request.writer
        headers[hdrs.CONTENT_LENGTH] = str(len(self._content))
        headers[hdrs.SERVER] = SERVER_SOFTWARE
        major, minor = request.version
        if not minor:
            headers[hdrs.CONNECTION] = "keep-alive"
        await writer.write_headers(f"HTTP/{major}.{minor} {self.status} {self.reason}", headers)
        await writer.write_eof(self._content)
        return writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Nothing is left to send."""
