"""Calls admission and conversion webhooks."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from typing import TypeVar

import aiohttp

from listwatch.errors import RequestTimeoutError
from listwatch.server.requests import Replay, WebhookCall, WebhookNeededError, WebhookResponse
from listwatch.server.webhook_calls import ResponseBudget

__all__ = ["call_webhook", "run_with_webhooks"]

T = TypeVar("T")

_MAX_RESPONSE = 3 * 1024 * 1024


async def run_with_webhooks(
    function: Callable[[], T],
    replay: Replay,
    services: Mapping[str, str],
    budget: ResponseBudget,
    *,
    timeout: float | None = None,
) -> T:
    """Call a function, and again after each webhook that it needs; it reads the responses from the replay.

    All of it may take `timeout` seconds. Raises RequestTimeoutError, or TooManyRequestsError if other requests hold too
    many responses.
    """
    held = 0
    try:
        async with asyncio.timeout(timeout):
            while True:
                try:
                    return function()
                except WebhookNeededError as needed:
                    call = needed.call, needed.key
                response = await call_webhook(call[0], services)
                budget.take(len(response.body))
                held += len(response.body)
                replay.responses[call[1]] = response
                await asyncio.sleep(0)  # also if the webhook could not be called, so that the timeout applies
    except TimeoutError:
        raise RequestTimeoutError("Timeout: request did not complete within the allotted timeout") from None
    finally:
        budget.release(held)


async def call_webhook(call: WebhookCall, services: Mapping[str, str]) -> WebhookResponse:
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
    try:
        async with asyncio.timeout(call.timeout):
            return await _post(call, url, name, shown)
    except TimeoutError:
        return WebhookResponse(problem=f'Post "{shown}": context deadline exceeded')
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return WebhookResponse(problem=f'Post "{shown}": {error}')


async def _post(call: WebhookCall, url: str, server_name: str | None, shown: str) -> WebhookResponse:
    try:
        context = ssl.create_default_context(cadata=call.ca_bundle or None)
    except (ssl.SSLError, TypeError):  # not PEM, or not even ASCII
        return WebhookResponse(problem="unable to load root certificates: unable to parse bytes as PEM block")
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout()) as session,
        session.post(
            url,
            params={"timeout": f"{call.timeout}s"},
            data=call.body,
            headers=headers,
            ssl=context if url.startswith("https:") else True,
            server_hostname=server_name if url.startswith("https:") else None,
            allow_redirects=False,
        ) as response,
    ):
        body = await response.content.read(_MAX_RESPONSE + 1)
        while len(body) <= _MAX_RESPONSE and (more := await response.content.read(_MAX_RESPONSE)):
            body += more
        if len(body) > _MAX_RESPONSE:
            return WebhookResponse(problem=f'Post "{shown}": the response is larger than 3 MiB')
        if response.status != 200:
            text = body[:200].decode(errors="replace").strip() or "unknown"
            return WebhookResponse(
                problem=f'an error on the server ("{text}") has prevented the request from succeeding'
                if response.status >= 500
                else f"the server rejected our request with status {response.status}: {text}"
            )
        return WebhookResponse(body=body)
