"""The HTTPS server of webhooks. `reviewer.py` makes the responses."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Self

from aiohttp import web

from listwatch.clock import Clock, time_limit
from listwatch.tasks.cancellation import cancel_and_wait
from listwatch.webhooks.certificates.certificate_keeper import CertificateKeeper
from listwatch.webhooks.configuration import CONVERSION_PATH
from listwatch.webhooks.reviews.review_errors import ReviewError
from listwatch.webhooks.reviews.reviewer import ReviewResponse
from listwatch.webhooks.statistics import HookCounters
from listwatch.webhooks.tls_listener import TLSListener

__all__ = ["Review", "WebhookListener"]

_log = logging.getLogger("listwatch.webhooks")

_BODY_TIMEOUT = 10.0
_MAX_HANDSHAKES = 1000
"""Further connections are closed at once."""
_IDLE_TIMEOUT = 90.0
"""Seconds until the headers of the next request are complete."""
_SHUTDOWN_TIMEOUT = 5.0
_MAX_TIMEOUT = 30.0
_OBJECTS_PER_CONVERSION = 10
"""A conversion gets all objects of a page; its body may be larger by this factor."""
_SECONDS = re.compile(r"([0-9]{1,6})s")

Review = Callable[[bytes, float], Awaitable[ReviewResponse]]
"""Returns the response to the body of a review within a number of seconds."""


class WebhookListener:
    """Serves reviews by path, between entering and leaving. Every failure is a response, and the server continues."""

    def __init__(
        self,
        reviews: dict[str, Review],
        keeper: CertificateKeeper,
        *,
        host: str,
        port: int,
        max_requests: int,
        max_body: int,
        clock: Clock,
    ) -> None:
        self._reviews = reviews
        self._keeper = keeper
        self._host = host
        self._port = port
        self._max_requests = max_requests
        self._max_body = max_body
        self._clock = clock
        self._counters = {path: HookCounters(path) for path in reviews}
        self._running = self.refused = 0
        self._protocols: web.Server | None = None
        self._listener: TLSListener | None = None
        self._keeping: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return (self._listener and self._listener.port) or self._port

    @property
    def counters(self) -> tuple[HookCounters, ...]:
        return tuple(self._counters.values())

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        # The access log and the log of malformed requests of aiohttp would quote objects.
        silent = logging.Logger("listwatch.webhooks.http", level=logging.CRITICAL + 1)  # noqa: LOG001  # not shared
        self._protocols = web.Server(
            self._handle,
            handler_cancellation=True,
            access_log=None,
            logger=silent,
            keepalive_timeout=_IDLE_TIMEOUT,
            auto_decompress=False,
            lingering_time=1.0,
        )
        self._listener = TLSListener(self._protocols, self._keeper.tls.context, max_handshakes=_MAX_HANDSHAKES)
        await self._listener.start(self._host, self._port)
        self._keeping = asyncio.create_task(self._keeper.run(), name="webhook certificate")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listener is not None
        assert self._protocols is not None
        assert self._keeping is not None
        self._keeping.cancel()  # first, since leaving may be cancelled
        try:
            await self._listener.stop()
        finally:
            await self._protocols.shutdown(_SHUTDOWN_TIMEOUT)
        await cancel_and_wait(self._keeping)

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        review, counters = self._reviews.get(request.path), self._counters.get(request.path)
        if review is None or counters is None:
            self.refused += 1
            return _failure(HTTPStatus.NOT_FOUND, f"there is no webhook at {request.path[:200]}")
        if self._running >= self._max_requests:
            self.refused += 1
            _log.warning("Rejected a review: %d reviews are in progress, which is max_requests", self._running)
            return _failure(HTTPStatus.SERVICE_UNAVAILABLE, f"{self._running} reviews are in progress")
        self._running += 1
        counters.running += 1
        started = self._clock.monotonic()
        status, is_rejected = int(HTTPStatus.INTERNAL_SERVER_ERROR), False
        try:
            body, is_rejected = await review(await self._body(request, self._limit(request.path)), _timeout(request))
            status = HTTPStatus.OK
            return web.Response(body=body, content_type="application/json")
        except ReviewError as error:
            status = error.status
            return _failure(status, str(error))
        except Exception:  # noqa: BLE001  # the API server always gets a response
            _log.exception("The webhook at %s failed", request.path, extra={"path": request.path})
            return _failure(status, "internal error; see the log of the webhook")
        finally:
            self._running -= 1
            counters.running -= 1
            counters.add(status, self._clock.monotonic() - started, is_rejected=is_rejected)

    def _limit(self, path: str) -> int:
        return self._max_body * (_OBJECTS_PER_CONVERSION if path == CONVERSION_PATH else 1)

    async def _body(self, request: web.BaseRequest, limit: int) -> bytes:
        if request.method != "POST":
            raise ReviewError("reviews are sent with POST", status=HTTPStatus.METHOD_NOT_ALLOWED)
        if (
            request.content_type != "application/json"
            or request.headers.get("Content-Encoding", "identity") != "identity"
        ):
            raise ReviewError("expected Content-Type: application/json", status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        too_large = ReviewError(
            f"the body is larger than {limit} bytes; raise max_body= of Webhooks",
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )
        if (request.content_length or 0) > limit:
            raise too_large
        body = bytearray()
        try:
            async with time_limit(self._clock, _BODY_TIMEOUT):
                async for chunk in request.content.iter_any():
                    body += chunk
                    if len(body) > limit:
                        raise too_large
        except TimeoutError:
            why = f"the body did not arrive within {_BODY_TIMEOUT:g} s"
            raise ReviewError(why, status=HTTPStatus.REQUEST_TIMEOUT) from None
        return bytes(body)


def _timeout(request: web.BaseRequest) -> float:
    """The timeout of the API server, which is a parameter of the URL."""
    found = _SECONDS.fullmatch(request.query.get("timeout", ""))
    return min(float(found[1]), _MAX_TIMEOUT) if found and int(found[1]) else _MAX_TIMEOUT


def _failure(status: int, message: str) -> web.Response:
    response = web.Response(status=status, text=f"{message}\n")
    response.force_close()  # the rest of the body is not read
    return response
