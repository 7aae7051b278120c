"""Observes the writes of all clients in a task and in the tasks and threads that inherit its context.

with observing_writes(record):
    await pods.update(pod)           calls record(request, response, server); the response is None if there is none
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

import msgspec

from listwatch.api.http_messages import HTTPRequest, HTTPResponse
from listwatch.objects.json.wire import DECODE_FAILURES
from listwatch.objects.unstructured import Unstructured

__all__ = ["WriteObserver", "notify_write_observer", "observing_writes", "uid_of_deleted"]

WriteObserver = Callable[[HTTPRequest, HTTPResponse | None, str], None]
"""Receives a write, its successful response, and the URL of the server.

The response is None if it is not known whether the server has executed the write.
"""

_observer: ContextVar[WriteObserver | None] = ContextVar("write_observer", default=None)


class observing_writes:  # noqa: N801  # used like a function; a generator would take three times as long
    """Call the observer after every write in this block that was executed, or may have been."""

    __slots__ = ("_observer", "_token")

    def __init__(self, observer: WriteObserver) -> None:
        self._observer = observer

    def __enter__(self) -> None:
        self._token = _observer.set(self._observer)

    def __exit__(self, *_: object) -> None:
        _observer.reset(self._token)


def notify_write_observer(request: HTTPRequest, response: HTTPResponse | None, server: str) -> None:
    """Call the observer of the current context, if there is one and the request is a write."""
    observer = _observer.get()
    if observer is not None and request.method not in ("GET", "HEAD"):
        observer(request, response, server)


class _Details(msgspec.Struct, gc=False):
    uid: str = ""


class _Status(msgspec.Struct, gc=False):
    details: _Details = msgspec.field(default_factory=_Details)


_statuses = msgspec.json.Decoder(_Status)


def uid_of_deleted(response: Unstructured) -> str:
    """The uid of a deleted object, of which the response is the last state, or a Status with details."""
    if response.uid:
        return response.uid
    try:
        return _statuses.decode(response.to_json()).details.uid
    except DECODE_FAILURES:
        return ""
