"""Waits for changes with an informer: neither a lost connection nor an expired version ends the wait.

    await until_with_sync(pods, Pod, lambda change: change.object.status.phase == "Running", timeout=60)

`client.until` waits with a watch from a version that the caller passes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TypeVar

from listwatch.api.predicates import EventConditions, describe_last
from listwatch.cache.indexer import Indexer
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import WaitTimeoutError
from listwatch.informer.handlers import Change
from listwatch.informer.reflector.lister_watcher import ListerWatcher
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.keyed import Cached

__all__ = ["until_with_sync"]

T = TypeVar("T", bound=Cached)


async def until_with_sync(
    source: ListerWatcher[T],
    kind: type[T],
    condition: Callable[[Change[T]], bool],
    *then: Callable[[Change[T]], bool],
    precondition: Callable[[Indexer[T]], bool] | None = None,
    timeout: float | None = None,
    clock: Clock | None = None,
) -> Change[T] | None:
    """Wait until the conditions were met one after the other; return the change that met the last one.

    Existing objects count as additions. With a precondition, the store is filled first, and None is returned if the
    precondition is true for it. Raises WaitTimeoutError with the `last` change after `timeout` seconds; until then a
    source that fails is retried.
    """
    clock, conditions = clock or SystemClock(), EventConditions([condition, *then])
    informer = SharedIndexInformer(source, kind, clock=clock)
    last: Change[T] | None = None
    try:
        async with time_limit(clock, timeout), informer, aclosing(informer.changes()) as changes:
            if precondition is not None:
                await informer.wait_for_sync()
                if precondition(informer.indexer):
                    return None
            async for last in changes:
                if conditions.are_met_by(last):
                    break
    except TimeoutError:
        reason = "" if informer.has_synced else f"; {informer.why_not_synced()}"
        message = f"condition not met within {timeout} s: {conditions}; {describe_last(last)}{reason}"
        raise WaitTimeoutError(message, last=last) from None
    return last
