"""Waits until an object is as somebody wants it, by watching it: nothing is asked for over and over.

    await wait_for(client.apps_v1.deployments("default"), "web", ready, timeout=120)
    await wait_for(pods, "web-0", "condition=Ready=False")

`conditions.py` has what can be waited for; any function of an object, or of None where there is none, will do as well.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from random import Random
from typing import Any, TypeVar

from listwatch.api.predicates import check_predicate
from listwatch.api.watch_events import DeletedEvent
from listwatch.backoff import REFLECTOR_BACKOFF
from listwatch.client.resources.resource_reader import ResourceReader
from listwatch.client.wait.conditions import parse_condition
from listwatch.client.wait.retry_watcher import RetryWatcher
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import ExpiredError, UsageError, WaitTimeoutError
from listwatch.objects.object import Object

__all__ = ["wait_for"]

T = TypeVar("T", bound=Object)


async def wait_for(
    client: ResourceReader[T],
    name: str,
    condition: Callable[[T | None], bool] | str,
    *,
    timeout: float | None = None,
    clock: Clock | None = None,
) -> T | None:
    """The object as it was when the condition was first true; None where the condition is that there is none.

    WaitTimeoutError after `timeout` seconds, with the `last` state seen. Errors of the first list are raised.
    """
    is_met: Callable[[Any], bool] = parse_condition(condition) if isinstance(condition, str) else condition
    check_predicate(is_met, "condition: give a function of an object, or a text as 'ready'")
    if not isinstance(client, ResourceReader):
        raise UsageError(f"{client!r} cannot be waited in: give a client's resource, as client.core_v1.pods('default')")
    clock = clock or SystemClock()
    last: T | None = None
    try:
        async with time_limit(clock, timeout), aclosing(_states(client, name, clock)) as states:
            async for last in states:
                if is_met(last):
                    break
    except TimeoutError:
        state = "it is not there" if last is None else f"last seen as {last!r}"
        message = f"waited {timeout} s for {name!r} of {client!r} to be {_words(is_met)}: {state}"
        raise WaitTimeoutError(message, last=last) from None
    return last


async def _states(client: ResourceReader[T], name: str, clock: Clock) -> AsyncGenerator[T | None]:
    """The object now and after each change, None where there is none."""
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


def _words(condition: Callable[[Any], bool]) -> str:
    return getattr(condition, "__name__", "") or str(condition)
