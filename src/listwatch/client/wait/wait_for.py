"""Waits until an object meets a condition, by watching it; there is no polling.

    await wait_for(client.apps_v1.deployments("default"), "web", ready, timeout=120)
    await wait_for(pods, "web-0", "condition=Ready=False")

A condition is one of `conditions.py`, its string form, or any function of an object, or of None if it does not exist.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from random import Random
from typing import TypeVar

from listwatch.api.predicates import check_predicate
from listwatch.api.watch_events import DeletedEvent
from listwatch.backoff import REFLECTOR_BACKOFF
from listwatch.client.resources.base_resource_client import BaseResourceClient
from listwatch.client.wait.conditions import describe_status, parse_condition
from listwatch.client.wait.retry_watcher import RetryWatcher
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import ExpiredError, UsageError, WaitTimeoutError
from listwatch.objects.object import Object

__all__ = ["wait_for"]

T = TypeVar("T", bound=Object)


async def wait_for(
    client: BaseResourceClient[T],
    name: str,
    condition: Callable[[T | None], bool] | str,
    *,
    timeout: float | None = None,
    clock: Clock | None = None,
) -> T | None:
    """Wait until the object meets the condition; return it, or None if the condition is met by its absence.

    WaitTimeoutError after `timeout` seconds, with the `last` state. An error of the first list is raised.
    """
    is_met: Callable[[T | None], bool] = parse_condition(condition) if isinstance(condition, str) else condition
    check_predicate(is_met, "condition: pass a function of an object, or a string such as 'ready'")
    if not isinstance(client, BaseResourceClient):
        raise UsageError(f"{client!r} is not a ResourceClient: pass one, such as client.core_v1.pods('default')")
    clock = clock or SystemClock()
    last: T | None = None
    try:
        async with time_limit(clock, timeout), aclosing(_states(client, name, clock)) as states:
            async for last in states:
                if is_met(last):
                    break
    except TimeoutError:
        state = "it does not exist" if last is None else _describe(last)
        message = f"timed out after {timeout} s waiting for {name!r} of {client!r} to be {_name_of(is_met)}: {state}"
        raise WaitTimeoutError(message, last=last) from None
    return last


def _describe(last: Object) -> str:
    status = describe_status(last)
    return f"its last state is {last!r}" + (f" with {status}" if status else "")


async def _states(client: BaseResourceClient[T], name: str, clock: Clock) -> AsyncGenerator[T | None]:
    """Yield the object now and after each change; None if it does not exist."""
    selected = client.selecting(field_selector={"metadata.name": name})
    delays = REFLECTOR_BACKOFF.delays(Random())
    while True:
        found = await selected.list()
        yield found[0] if found else None
        try:
            async with RetryWatcher(selected, found.resource_version, clock=clock) as events:
                async for event in events:
                    yield None if isinstance(event, DeletedEvent) else event.object
        except ExpiredError:
            await clock.sleep(next(delays))


def _name_of(condition: object) -> str:
    return getattr(condition, "__name__", "") or str(condition)
