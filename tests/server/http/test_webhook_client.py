"""The limits of requests that call webhooks."""

from collections.abc import Callable

import pytest

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
