"""Checks each write of a task, right before it is handed to the transport.

with guarding_writes(check):
    await pods.update(pod)           calls check(request) first; an exception prevents the request
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from listwatch.api.http_messages import HTTPRequest

__all__ = ["WriteGuard", "check_write", "guarding_writes"]

WriteGuard = Callable[[HTTPRequest], None]

_guard: ContextVar[WriteGuard | None] = ContextVar("write_guard", default=None)


@contextmanager
def guarding_writes(guard: WriteGuard) -> Iterator[None]:
    """Call the guard before every attempt of a request in this block that is not a GET or HEAD; in any thread."""
    token = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(token)


def check_write(request: HTTPRequest) -> None:
    """Call the guard of the current context, if there is one."""
    guard = _guard.get()
    if guard is not None and request.method not in ("GET", "HEAD"):
        guard(request)
