"""A watch that resumes after the last resource version when it ends.

    WATCH from the last version ──ended, lost, failed──▶ WATCH from the last version     at most once a second
                               └──410, 401, 403──────▶ raised

It does not list. An informer also relists and keeps a store.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Generic, Protocol, Self, TypeVar

from listwatch.api.statuses import suggests_delay
from listwatch.api.watch_events import BookmarkEvent, ErrorEvent, WatchEvent
from listwatch.backoff import MAX_RETRY_AFTER
from listwatch.clock import Clock, SystemClock
from listwatch.errors import (
    APIError,
    ForbiddenError,
    GoneError,
    ResponseTooLargeError,
    TransportError,
    UnauthorizedError,
    UsageError,
    WatchClosedError,
)
from listwatch.logs.folded_log import FoldedLog, cause_of_text
from listwatch.meta import is_known_older
from listwatch.objects.object import Object

__all__ = ["RetryWatcher", "Watchable"]

_log = logging.getLogger("listwatch.client")

_MIN_INTERVAL = 1.0
_FINAL_ERRORS = (GoneError, ForbiddenError, UnauthorizedError, ResponseTooLargeError)
_UNREADABLE = "ClientWatchDecoding"

T = TypeVar("T", bound=Object)


class Watchable(Protocol[T]):
    """Anything that can be watched: a ResourceClient, or another source of an informer."""

    def watch(
        self, *, resource_version: str, allow_watch_bookmarks: bool
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[T] | ErrorEvent], bool | None]: ...


class RetryWatcher(Generic[T]):
    """Iterates over the events after a resource version, and resumes the watch when it ends or fails.

    Errors that a retry cannot fix are raised: ExpiredError, ForbiddenError, UnauthorizedError, an undecodable event.
    """

    def __init__(self, source: Watchable[T], resource_version: str, *, clock: Clock | None = None) -> None:
        if not hasattr(source, "watch"):
            raise UsageError(f"{source!r} cannot be watched: pass a ResourceClient, such as client.core_v1.pods()")
        if resource_version in ("", "0"):
            raise UsageError(
                f"a RetryWatcher cannot start from resource version {resource_version!r}, which is not fixed; "
                "list first, and pass the resource_version of the list"
            )
        self._source = source
        self._clock = clock or SystemClock()
        self._watch: AbstractAsyncContextManager[object, bool | None] | None = None
        self._stream: AsyncIterator[WatchEvent[T] | ErrorEvent] | None = None
        self._not_before = -math.inf  # when the next watch may start
        self._reading: asyncio.Timeout | None = None  # while a task waits for an event
        self._is_closed = False
        self._failures = 0
        self._failure_log = FoldedLog(_log, self._clock)
        self.resource_version = resource_version
        """The resource version of the last event."""

    async def aclose(self) -> None:
        """Stop watching; a pending iteration ends."""
        if self._reading is None:
            await self._close_watch()
        elif not self._is_closed:
            self._reading.reschedule(asyncio.get_running_loop().time())
        self._is_closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent[T]:
        if self._reading:
            raise UsageError("another task is already reading this RetryWatcher")
        try:
            # aclose() ends the wait by moving this timeout to now.
            async with asyncio.timeout(None) as self._reading:
                while not self._is_closed:
                    if event := await self._next():
                        return event
        except TimeoutError:
            if not self._is_closed:
                raise
        except Exception:
            self._is_closed = True
            raise
        finally:
            self._reading = None
            if self._is_closed:
                await self._close_watch()
        raise StopAsyncIteration

    async def _next(self) -> WatchEvent[T] | None:
        """Return the next event; None after a bookmark or the end of a watch. Cancellation loses no event."""
        try:
            return self._accept(await anext(self._stream or await self._open_watch()))
        except StopAsyncIteration:
            await self._close_watch()
        except (APIError, TransportError) as error:
            await self._close_watch()
            if _is_final(error):
                raise
            delay = min(suggests_delay(error) or 0.0, MAX_RETRY_AFTER)
            self._not_before = max(self._not_before, self._clock.monotonic() + delay)
            self._log_failure(error)
        return None

    def _log_failure(self, error: Exception) -> None:
        self._failures += 1
        delay = max(self._not_before - self._clock.monotonic(), 0.0)
        self._failure_log.log(
            logging.WARNING,
            cause_of_text(error),
            "The watch of %r was interrupted after resource version %s: %s; attempt %d failed, retrying in %.1f s",
            self._source,
            self.resource_version,
            error,
            self._failures,
            delay,
            fields={
                "resource": repr(self._source),
                "resource_version": self.resource_version,
                "attempt": self._failures,
                "delay": delay,
            },
        )

    async def _open_watch(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        if (left := self._not_before - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        self._not_before = self._clock.monotonic() + _MIN_INTERVAL
        if _log.isEnabledFor(logging.DEBUG):
            fields = {"resource": repr(self._source), "resource_version": self.resource_version}
            _log.debug("Watching %r from version %s", self._source, self.resource_version, extra=fields)
        watch = self._source.watch(resource_version=self.resource_version, allow_watch_bookmarks=True)
        self._stream, self._watch = await watch.__aenter__(), watch
        return self._stream

    async def _close_watch(self) -> None:
        watch, self._watch, self._stream = self._watch, None, None
        if watch is not None:
            await watch.__aexit__(None, None, None)

    def _accept(self, event: WatchEvent[T] | ErrorEvent) -> WatchEvent[T] | None:
        if isinstance(event, ErrorEvent):
            raise event.error
        self._failures = 0
        if not event.object.resource_version:
            raise WatchClosedError(
                f"the event of {event.object.describe()} has no resourceVersion, so the watch cannot be resumed"
            )
        if not is_known_older(event.object.resource_version, self.resource_version):
            self.resource_version = event.object.resource_version
        return None if isinstance(event, BookmarkEvent) else event

    def __repr__(self) -> str:
        return f"<RetryWatcher of {self._source} @{self.resource_version}>"


def _is_final(error: APIError | TransportError) -> bool:
    is_unreadable = isinstance(error, APIError) and any(cause.reason == _UNREADABLE for cause in error.causes)
    return is_unreadable or isinstance(error, _FINAL_ERRORS)
