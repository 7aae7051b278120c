"""Observes the retries of requests, in a task and in the tasks that inherit its context.

    with observing_retries(report):
        await pods.list()            calls report(error, delay) before each retry, and waits as long as it returns

A reflector reports the failed attempts of its requests this way, without knowing which client sends them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["RetryObserver", "notify_retry_observer", "observing_retries"]

RetryObserver = Callable[[Exception, float], float]
"""Receives the error of an attempt and the delay in seconds before the next one; returns the delay to wait."""


class _Observed:
    """The observer of one block, which is removed at its end.

    The event loop keeps the contexts of cancelled timers until their time has come, and with them what they refer to:
    the observer of a reflector refers to a cache.
    """

    __slots__ = ("observer",)

    def __init__(self, observer: RetryObserver) -> None:
        self.observer: RetryObserver | None = observer


_observed: ContextVar[_Observed | None] = ContextVar("retry_observer", default=None)


@contextmanager
def observing_retries(observer: RetryObserver) -> Iterator[None]:
    """Call the observer before every retry of a request in this block."""
    observed = _Observed(observer)
    token = _observed.set(observed)
    try:
        yield
    finally:
        _observed.reset(token)
        observed.observer = None


def notify_retry_observer(error: Exception, delay: float) -> float | None:
    """Report a failed attempt to the observer of the current context.

    Return the delay before the next attempt; None if there is no observer.
    """
    observed = _observed.get()
    observer = None if observed is None else observed.observer
    return None if observer is None else observer(error, delay)
