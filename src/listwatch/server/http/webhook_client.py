"""Calls admission and conversion webhooks."""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Callable, Mapping
from typing import TypeVar

import aiohttp

from listwatch.errors import RequestTimeoutError, StatusDetails
from listwatch.server.requests import Replay, WebhookCall, WebhookNeededError, WebhookResponse
from listwatch.server.webhook_calls import ResponseBudget

__all__ = ["call_webhook", "run_with_webhooks"]

T = TypeVar("T")
Key = tuple[str, ...]

_MAX_RESPONSE = 16 * 1024 * 1024


async def run_with_webhooks(
    function: Callable[[], T],
    replay: Replay,
    services: Mapping[str, str],
    budget: ResponseBudget,
    *,
    timeout: float | None = None,
) -> T:
    """Call a function, and again after the webhooks that it needs; it reads the responses from the replay.

    All of it may take `timeout` seconds. Raises RequestTimeoutError, or TooManyRequestsError if requests hold too many
    responses.
    """
    held = 0

    def take(size: int) -> None:
        nonlocal held
        budget.take(size)
        held += size

    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    return function()
                except WebhookNeededError as needed:
                    calls = needed.calls
                replay.responses.update(await _call_webhooks(calls, services, take))
                await asyncio.sleep(0)  # also if the webhook could not be called, so that the timeout applies
    except TimeoutError:
        message = "Timeout: request did not complete within the allotted timeout"
        raise RequestTimeoutError(message, details=StatusDetails()) from None
    finally:
        budget.release(held)


async def _call_webhooks(
    calls: Mapping[Key, WebhookCall], services: Mapping[str, str], take: Callable[[int], None]
) -> dict[Key, WebhookResponse]:
    """Call webhooks at the same time. An error, such as TooManyRequestsError, cancels the other calls."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(call_webhook(call, services, take)) for key, call in calls.items()}
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return {key: task.result() for key, task in tasks.items()}


async def call_webhook(call: WebhookCall, services: Mapping[str, str], take: Callable[[int], None]) -> WebhookResponse:
    """Send the review to a webhook. Its problems are part of the response; `services` has URLs for services."""
    url, name = call.url, None
    if call.service:
        namespace, _, service = call.service.partition("/")
        name = f"{service}.{namespace}.svc"
        shown = f"https://{name}:{call.port}{call.path or '/'}?timeout={call.timeout}s"
        base = services.get(call.service) or services.get(f"*/{service}")
        if base is None:
            why = f'service "{service}" not found; map it with webhook_services={{"{call.service}": "https://…"}}'
            return WebhookResponse(problem=f'Post "{shown}": {why}')
        url = base.rstrip("/") + (call.path or "/")
    else:
        shown = f"{url}?timeout={call.timeout}s"
    post = f'Post "{shown}"'
    response: aiohttp.ClientResponse | None = None
    try:
        context = ssl.create_default_context(cadata=call.ca_bundle or None)
    except (ssl.SSLError, TypeError):  # not PEM, or not even ASCII
        return WebhookResponse(problem="unable to load root certificates: unable to parse bytes as PEM block")
    try:
        async with (
            asyncio.timeout(call.timeout),
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout()) as session,
            session.post(
                url,
                params={"timeout": f"{call.timeout}s"},
                data=call.body,
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                ssl=context if url.startswith("https:") else True,
                server_hostname=name if url.startswith("https:") else None,
                allow_redirects=False,
            ) as response,
        ):
            return await _received(response, post, take)
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        why = _network_problem(error)
        if response is not None:
            why = f"unexpected error when reading response body. Please retry. Original error: {why}"
            return WebhookResponse(problem=why)
        return WebhookResponse(problem=f"{post}: {why}")


async def _received(response: aiohttp.ClientResponse, post: str, take: Callable[[int], None]) -> WebhookResponse:
    body = bytearray()
    async for part in response.content.iter_any():
        take(len(part))
        body += part
        if len(body) > _MAX_RESPONSE:
            return WebhookResponse(problem=f"{post}: the response is larger than {_MAX_RESPONSE >> 20} MiB")
    return WebhookResponse(bytes(body), status=response.status, content_type=response.headers.get("Content-Type", ""))


# OpenSSL's codes for a certificate that no known authority has signed, and for one that is not valid at this time.
_UNKNOWN_AUTHORITY, _NOT_VALID_NOW = (18, 19, 20, 21), (9, 10)


def _network_problem(error: Exception) -> str:
    """Describe why a webhook could not be called with the words of Go, which users find in its documentation."""
    match error:
        case TimeoutError():
            return "context deadline exceeded"
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_certificate_problem(error.certificate_error)}"
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorSSLError() if "WRONG_VERSION_NUMBER" in str(error):
            return "http: server gave HTTP response to HTTPS client"
        case aiohttp.ClientConnectorError() if error.errno == errno.ECONNREFUSED:
            return f"dial tcp {error.host}:{error.port}: connect: connection refused"
        case aiohttp.ServerDisconnectedError():
            return "EOF"
        case aiohttp.ClientPayloadError():
            return "unexpected EOF"
        case OSError() if error.errno in (errno.ECONNRESET, None):
            return "read: connection reset by peer"
    return str(error)


def _certificate_problem(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _UNKNOWN_AUTHORITY:
            return "certificate signed by unknown authority"
        if error.verify_code in _NOT_VALID_NOW:
            return "certificate has expired or is not yet valid"
        return error.verify_message
    return str(error)
