"""Observes the writes of all clients in a task and in the tasks and threads that inherit its context.

with observing_writes(record):
    await pods.update(pod)           calls record(request, response)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from listwatch.api.http_messages import HTTPRequest, HTTPResponse

__all__ = ["WriteObserver", "notify_write_observer", "observing_writes"]

WriteObserver = Callable[[HTTPRequest, HTTPResponse], None]

_observer: ContextVar[WriteObserver | None] = ContextVar("write_observer", default=None)


@contextmanager
def observing_writes(observer: WriteObserver) -> Iterator[None]:
    """Call the observer after every successful request in this block that is not a GET."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def notify_write_observer(request: HTTPRequest, response: HTTPResponse) -> None:
    """Call the observer of the current context, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(request, response)
