"""The limits of requests that call webhooks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from listwatch.errors import RequestTimeoutError, TooManyRequestsError
from listwatch.server.http.webhook_client import run_with_webhooks
from listwatch.server.requests import Replay, WebhookCall, WebhookNeededError
from listwatch.server.webhook_calls import ResponseBudget

UNKNOWN = WebhookCall(url="", service="system/unknown", port=443, path="", ca_bundle="", body=b"{}", timeout=10)


def needs_webhooks(count: int) -> Callable[[], int]:
    """A function that needs so many webhooks before it returns how often it was called."""
    calls = 0

    def function() -> int:
        nonlocal calls
        calls += 1
        if calls <= count:
            raise WebhookNeededError({("first", "hooks", f"hook {calls}"): UNKNOWN})
        return calls

    return function


async def test_a_function_is_called_again_after_each_webhook():
    replay = Replay(lambda: "uid")
    assert await run_with_webhooks(needs_webhooks(3), replay, {}, ResponseBudget(), timeout=60) == 4
    assert len(replay.responses) == 3


async def test_all_webhooks_of_a_request_have_to_respond_in_time():
    with pytest.raises(RequestTimeoutError, match="did not complete within the allotted timeout"):
        await run_with_webhooks(needs_webhooks(1), Replay(lambda: "uid"), {}, ResponseBudget(), timeout=-1)


def test_responses_above_the_limit_are_rejected_until_others_are_released():
    budget = ResponseBudget(limit=10)
    budget.take(6)
    with pytest.raises(TooManyRequestsError) as raised:
        budget.take(5)
    assert raised.value.retry_after == 1
    budget.release(6)
    budget.take(10)


@asynccontextmanager
async def unfinished_responses(start: bytes) -> AsyncIterator[str]:
    """The URL of a server whose responses start with these bytes, and do not end; "/silent" sends none."""
    released = asyncio.Event()

    async def respond(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if request.path != "/silent":
            await response.prepare(request)
            await response.write(start)
        await released.wait()
        return response

    app = web.Application()
    app.router.add_post("/{path:.*}", respond)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        released.set()
        await runner.cleanup()


async def test_a_response_above_the_limit_is_rejected_while_it_arrives_and_ends_the_other_calls():
    def function() -> None:
        calls = {("first", "hooks", name): replace(UNKNOWN, path=f"/{name}") for name in ("large", "silent")}
        raise WebhookNeededError(calls)

    budget = ResponseBudget(limit=10)
    async with unfinished_responses(b"x" * 11) as url:
        others = asyncio.all_tasks()
        with pytest.raises(TooManyRequestsError):
            await run_with_webhooks(function, Replay(lambda: "uid"), {"system/unknown": url}, budget, timeout=5)
        assert not [task for task in asyncio.all_tasks() - others if "call_webhook" in repr(task)]
    budget.take(10)
