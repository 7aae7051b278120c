"""Lets whoever wants to know see what is written, by any client, in a task and all that it starts.

    with observing_writes(remember):
        await pods.update(pod)           remember(request, answer)

A thread that a task starts with its context is seen as well. `sender` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from listwatch.api.requests import HTTPRequest
from listwatch.api.responses import HTTPResponse

__all__ = ["WriteObserver", "observing_writes", "tell_written"]

WriteObserver = Callable[[HTTPRequest, HTTPResponse], None]

_observer: ContextVar[WriteObserver | None] = ContextVar("who sees what is written", default=None)


@contextmanager
def observing_writes(observer: WriteObserver) -> Iterator[None]:
    """Show it every request in this block that is no GET and was answered with yes."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def tell_written(request: HTTPRequest, answer: HTTPResponse) -> None:
    observer = _observer.get()
    if observer is not None and request.method != "GET":
        observer(request, answer)
