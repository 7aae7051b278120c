"""Sends requests: rate limiting, retries, statistics, warnings and errors of the server.

When a request is sent again:

                          do                stream,        watch
                                            web socket
429, 5xx + Retry-After    after that time   the same       the same
429, 5xx without          never             never          never
connection lost           GET, after 1 s    never          after 1 s
timeout                   never             never          after 1 s
refused, and others       never             never          never

A longer Retry-After than `max_retry_after` is shortened to that. The retry observer of the context is notified before
each retry, and may lengthen the delay. `request` builds the requests; a Transport sends each attempt. The log has each
attempt at DEBUG: method, path without query, status and duration.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakSet

from msgspec.structs import replace

from listwatch.api.http_messages import HTTPRequest, HTTPResponse, error_from_response, request_id, retry_after
from listwatch.client.config.client_config import ServerWarning
from listwatch.client.rest.client_statistics import ClientCounters, ClientStatistics
from listwatch.client.rest.rate_limiter import RateLimiter
from listwatch.client.rest.request_spans import record_outcome, request_attributes, span_name
from listwatch.client.rest.transport_protocols import ResponseStream, Transport, WebSocket
from listwatch.client.rest.warnings import WarningReporter
from listwatch.client.rest.write_guard import check_write
from listwatch.client.rest.write_observer import notify_write_observer
from listwatch.clock import Clock
from listwatch.errors import (
    ConnectionLostError,
    ListWatchError,
    ProtocolError,
    TransportError,
    TransportTimeoutError,
    UsageError,
)
from listwatch.logs.folded_log import FoldedLog, cause_of_text
from listwatch.tasks.retry_observer import notify_retry_observer
from listwatch.tracing.switch import switch

if TYPE_CHECKING:
    from listwatch.tracing.spans import Tracing

__all__ = [
    "DEFAULT_RETRIES",
    "RequestKind",
    "Retry",
    "RetryPolicy",
    "Sender",
    "next_retry",
]

_log = logging.getLogger("listwatch.client")

DEFAULT_RETRIES = 10
"""How often a request is sent again before its error is raised."""

_RETRY_DELAY = 1.0
_WATCH_RESPONSE_TIMEOUT = 30.0
"""Seconds until the response to a watch must begin; servers send its head before the first event."""
_LONG_WAIT = 1.0
_THROTTLING_LOG_INTERVAL = 10.0


# --- Retries ----------------------------------------------------------------------------------------------------------


class RequestKind(Enum):
    """How the response is read: as a whole, as a stream of bytes, as the events of a watch, or as messages."""

    DO = "do"
    STREAM = "stream"
    WATCH = "watch"
    WEB_SOCKET = "web socket"


_Response = HTTPResponse | ResponseStream | WebSocket


class _Send(Protocol):
    async def __call__(self, request: HTTPRequest, *, timeout: float | None) -> _Response: ...


class RetryPolicy(NamedTuple):
    """The timeout in seconds of one attempt, or with `covers_retries` of all together, and the number of retries.

    With `covers_retries`, a retry that would start after the timeout is not waited for.
    """

    timeout: float | None
    max_retries: int
    covers_retries: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """Send the request again after a delay in seconds."""

    delay: float
    reason: str


class _ResponseHead(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


def next_retry(outcome: _ResponseHead | TransportError, *, kind: RequestKind, method: str) -> Retry | None:
    """Decide whether to send a request again after this outcome; None if the outcome is final."""
    if isinstance(outcome, TransportError):
        return Retry(_RETRY_DELAY, outcome.message) if _is_transient(outcome, kind, method) else None
    if outcome.status != 429 and outcome.status < 500:
        return None
    # Without Retry-After the response is final.
    delay = retry_after(outcome.headers)
    return None if delay is None else Retry(float(delay), f"the server responded with status {outcome.status}")


def _is_transient(error: TransportError, kind: RequestKind, method: str) -> bool:
    # A write without a response may have been executed, so only reads are repeated.
    match kind:
        case RequestKind.DO:
            return method == "GET" and isinstance(error, ConnectionLostError)
        case RequestKind.WATCH:
            return isinstance(error, ConnectionLostError | TransportTimeoutError)
        case RequestKind.STREAM | RequestKind.WEB_SOCKET:
            return False


# --- The sender -------------------------------------------------------------------------------------------------------


class Sender:
    """Sends all requests of one client."""

    def __init__(
        self,
        transport: Transport,
        *,
        limiter: RateLimiter | None,
        warnings: WarningReporter,
        clock: Clock,
        server: str = "",
        max_retry_after: float | None = None,
    ) -> None:
        """`server` is the URL of the server, for spans and observers of writes."""
        self._transport = transport
        self._server = server
        self._limiter = limiter
        self._max_retry_after = math.inf if max_retry_after is None else max_retry_after
        self._warnings = warnings
        self._clock = clock
        self._active: set[asyncio.Timeout] = set()  # one per request in progress; closing the sender lets them expire
        self._streams: dict[RequestKind, WeakSet[ResponseStream | WebSocket]] = {
            RequestKind.STREAM: WeakSet(),
            RequestKind.WATCH: WeakSet(),
            RequestKind.WEB_SOCKET: WeakSet(),
        }
        self._counters = ClientCounters()
        self._retry_log = FoldedLog(_log, clock)
        self._throttling_log = FoldedLog(_log, clock, interval=_THROTTLING_LOG_INTERVAL)

    async def do(self, request: HTTPRequest, policy: RetryPolicy) -> tuple[HTTPResponse, tuple[ServerWarning, ...]]:
        """Return a successful response and the server's warnings. Raises the error of any other response."""
        started = self._clock.monotonic()
        try:
            response = await self._send(request, policy, RequestKind.DO)
        finally:
            self._counters.add_duration(request.method, self._clock.monotonic() - started)
        assert isinstance(response, HTTPResponse)
        self._counters.add_sizes(request.method, len(request.body or b""), response.size)
        warnings = self._check(request, response)
        notify_write_observer(request, response, self._server)
        return response, warnings

    async def open_stream(self, request: HTTPRequest, policy: RetryPolicy) -> ResponseStream:
        """Return the body of a successful response. Raises the error of any other response."""
        response = await self._send(request, policy, RequestKind.STREAM)
        return self._register(request, response, RequestKind.STREAM)  # type: ignore[return-value]  # it is a stream

    async def open_web_socket(self, request: HTTPRequest, policy: RetryPolicy) -> WebSocket:
        """Return an open WebSocket. Raises the error of a response without an upgrade."""
        response = await self._send(request, policy, RequestKind.WEB_SOCKET)
        return self._register(request, response, RequestKind.WEB_SOCKET)  # type: ignore[return-value]  # as above

    async def open_watch(self, request: HTTPRequest, policy: RetryPolicy) -> ResponseStream:
        """Return the body of a watch. Watches are not rate-limited."""
        if not policy.covers_retries:
            policy = policy._replace(timeout=min(policy.timeout or math.inf, _WATCH_RESPONSE_TIMEOUT))
        response = await self._send(request, policy, RequestKind.WATCH)
        return self._register(request, response, RequestKind.WATCH)  # type: ignore[return-value]  # as above

    def statistics(self) -> ClientStatistics:
        open_now = {kind: sum(not each.is_closed for each in streams) for kind, streams in self._streams.items()}
        return self._counters.statistics(
            open_watches=open_now[RequestKind.WATCH],
            open_streams=open_now[RequestKind.STREAM] + open_now[RequestKind.WEB_SOCKET],
        )

    async def aclose(self) -> None:
        """Fail all requests in progress, and close all connections."""
        now = asyncio.get_running_loop().time()
        while self._active:
            self._active.pop().reschedule(now)
        await self._transport.aclose()

    async def _send(self, request: HTTPRequest, policy: RetryPolicy, kind: RequestKind) -> _Response:
        """Send a request until the response is final, or the client is closed."""
        try:
            async with asyncio.timeout(None) as scope:
                self._active.add(scope)
                if kind is not RequestKind.WATCH and self._limiter is not None:
                    await self._throttle(self._limiter, request)
                return await self._send_with_retries(request, policy, kind)
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._active.discard(scope)
        raise ConnectionLostError("the client was closed during the request", doing=request.describe())

    async def _send_with_retries(self, request: HTTPRequest, policy: RetryPolicy, kind: RequestKind) -> _Response:
        timeout, retries_left = policy.timeout, policy.max_retries
        deadline = self._clock.monotonic() + timeout if policy.covers_retries and timeout is not None else math.inf
        earlier: TransportError | None = None
        while True:
            if switch.tracing is None:
                outcome = await self._send_once(request, kind, timeout)
            else:
                resends = policy.max_retries - retries_left
                outcome = await self._send_traced(switch.tracing, request, kind, timeout, resends=resends)
            retry = next_retry(outcome, kind=kind, method=request.method) if retries_left else None
            if retry is None:
                break
            left = deadline - self._clock.monotonic()
            delay = min(retry.delay, self._max_retry_after)
            if delay >= left:
                break
            error = _error_of(request, outcome, retry)
            observed = notify_retry_observer(error, delay)
            delay = delay if observed is None else min(observed, left)
            earlier = outcome if isinstance(outcome, TransportError) else earlier
            retries_left -= 1
            self._counters.retried[request.method, _code(outcome)] += 1
            if observed is None:  # an observer reports the failure itself
                self._log_retry(request, retry, delay, error, attempt=policy.max_retries - retries_left)
            await self._wait_to_retry(request, delay)
            if deadline < math.inf:
                timeout = max(deadline - self._clock.monotonic(), 0.0)
        if not isinstance(outcome, TransportError):
            return outcome
        if earlier and str(earlier) != str(outcome):
            outcome.add_note(f"an earlier attempt failed too: {earlier}")
        raise outcome

    async def _send_once(
        self, request: HTTPRequest, kind: RequestKind, timeout: float | None
    ) -> _Response | TransportError:
        send = self._sending(kind)
        check_write(request)
        started = self._clock.monotonic()
        try:
            response = await send(request, timeout=timeout)
        except asyncio.CancelledError:
            notify_write_observer(request, None, self._server)
            raise
        except TransportError as error:
            notify_write_observer(request, None, self._server)
            self._counters.add_failure(request.method)
            if _log.isEnabledFor(logging.DEBUG):
                self._log_attempt(request, f"failed: {error.message}", started)
            return error
        if response.status >= 500:
            notify_write_observer(request, None, self._server)
        self._counters.add_response(request.method, response.status)
        if _log.isEnabledFor(logging.DEBUG):
            self._log_attempt(request, "", started, status=response.status, request_id=request_id(response.headers))
        return response

    async def _send_traced(
        self, tracing: Tracing, request: HTTPRequest, kind: RequestKind, timeout: float | None, *, resends: int
    ) -> _Response | TransportError:
        """Send a request once, in a span of its own, whose context it carries."""
        attributes = request_attributes(request, self._server, is_watch=kind is RequestKind.WATCH, resends=resends)
        with tracing.request(span_name(request.method, attributes), attributes) as span:
            headers = {**request.headers, **tracing.headers()}
            outcome = await self._send_once(replace(request, headers=headers), kind, timeout)
            record_outcome(tracing, span, request, outcome)
        return outcome

    def _sending(self, kind: RequestKind) -> _Send:
        if kind is RequestKind.DO:
            return self._transport.send
        if kind is not RequestKind.WEB_SOCKET:
            return self._transport.open_stream
        opening: _Send | None = getattr(self._transport, "open_web_socket", None)  # optional for transports
        if opening is None:
            raise UsageError(f"{type(self._transport).__name__} opens no WebSockets; use the default transport")
        return opening

    def _log_attempt(
        self, request: HTTPRequest, failure: str, started: float, *, status: int = 0, request_id: str = ""
    ) -> None:
        # Without the query, whose parameters may hold secrets.
        path, milliseconds = request.target.partition("?")[0], (self._clock.monotonic() - started) * 1000
        fields = {
            "method": request.method,
            "path": path,
            "status": status,
            "ms": milliseconds,
            "request_id": request_id,
        }
        _log.debug("%s %s: %s in %.1f ms", request.method, path, failure or status, milliseconds, extra=fields)

    def _log_retry(
        self, request: HTTPRequest, retry: Retry, delay: float, error: ListWatchError, *, attempt: int
    ) -> None:
        shortened = f" (Retry-After: {retry.delay:g} s)" if delay < retry.delay else ""
        self._retry_log.log(
            logging.WARNING,
            (request.method, request.target.partition("?")[0], cause_of_text(error)),
            "%s: %s; attempt %d failed, retrying in %g s%s",
            request.describe(),
            retry.reason,
            attempt,
            delay,
            shortened,
            fields={**_fields(request), "attempt": attempt, "delay": delay},
        )

    async def _wait_to_retry(self, request: HTTPRequest, delay: float) -> None:
        await self._clock.sleep(delay)
        if self._limiter is not None:
            await self._throttle(self._limiter, request)

    async def _throttle(self, limiter: RateLimiter, request: HTTPRequest) -> None:
        waited = await limiter.wait()
        self._counters.add_throttling(request.method, waited or 0.0)
        if waited > _LONG_WAIT:
            self._throttling_log.log(
                logging.WARNING,
                "throttled",
                "%s was throttled for %.1f s by the client's rate limiter (qps, burst)",
                request.describe(),
                waited,
                fields={**_fields(request), "seconds": waited},
            )

    def _check(self, request: HTTPRequest, response: HTTPResponse) -> tuple[ServerWarning, ...]:
        warnings = self._warnings.report(response.warnings) if response.warnings else ()
        if error := error_from_response(request, response):
            raise error
        return warnings

    def _register(self, request: HTTPRequest, response: _Response, kind: RequestKind) -> ResponseStream | WebSocket:
        if isinstance(response, HTTPResponse):
            self._check(request, response)
            # A server that ignores the upgrade responds as to a plain request.
            expected = "an upgrade of the connection" if kind is RequestKind.WEB_SOCKET else "a stream"
            raise ProtocolError(
                f"the response is a whole one with status {response.status}, not {expected}", doing=request.describe()
            )
        self._warnings.report(response.warnings)
        self._streams[kind].add(response)
        return response


def _code(outcome: _Response | TransportError) -> str:
    return "<error>" if isinstance(outcome, TransportError) else str(outcome.status)


def _fields(request: HTTPRequest) -> dict[str, object]:
    return {"method": request.method, "path": request.target.partition("?")[0]}


def _error_of(request: HTTPRequest, outcome: _Response | TransportError, retry: Retry) -> ListWatchError:
    """Return the error of an attempt that is retried."""
    if isinstance(outcome, TransportError):
        return outcome
    error = None
    if isinstance(outcome, HTTPResponse):
        error = error_from_response(request, outcome)
    return error or TransportError(retry.reason, doing=request.describe())
