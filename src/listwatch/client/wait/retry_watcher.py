"""A watch that goes on where it was, each time it ends. It lists nothing: what is too old for that, it says.

    WATCH from the last version ──ended, lost, refused──▶ WATCH from the last version     at most once a second
                               └──410, 401, 403───────▶ raised

An informer does more: it lists again, and keeps what it saw.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Protocol, Self, TypeVar

from listwatch.api.statuses import suggests_delay
from listwatch.api.watch_events import BookmarkEvent, ErrorEvent, WatchEvent
from listwatch.clock import Clock, SystemClock
from listwatch.errors import (
    APIError,
    ForbiddenError,
    GoneError,
    TransportError,
    UnauthorizedError,
    UsageError,
    WatchClosedError,
)
from listwatch.objects.object import Object

__all__ = ["RetryWatcher", "Watchable"]

_log = logging.getLogger(__name__)

_SHORTEST = 1.0
_BEYOND_RETRY = (GoneError, ForbiddenError, UnauthorizedError)
_UNREADABLE = "ClientWatchDecoding"

T = TypeVar("T", bound=Object)


class Watchable(Protocol[T]):
    """Can be watched from a version on: a ResourceClient, or any source of an informer."""

    def watch(
        self, *, resource_version: str, allow_watch_bookmarks: bool
    ) -> AbstractAsyncContextManager[AsyncIterator[WatchEvent[T] | ErrorEvent], Any]: ...


class RetryWatcher(Generic[T]):
    """Everything that happens after a version, for as long as the server remembers what came after the last one seen.

    Raises what no further try can mend: ExpiredError, ForbiddenError, UnauthorizedError, an event that is unreadable.
    """

    def __init__(self, source: Watchable[T], resource_version: str, *, clock: Clock | None = None) -> None:
        if not hasattr(source, "watch"):
            raise UsageError(f"{source!r} cannot be watched: give a client's resource, as client.core_v1.pods()")
        if resource_version in ("", "0"):
            raise UsageError(
                f"a RetryWatcher cannot start from version {resource_version!r}, which is another one each time; "
                "list first, and start from the version of that list"
            )
        self._source = source
        self._clock = clock or SystemClock()
        self._watch: AbstractAsyncContextManager[Any, Any] | None = None
        self._stream: AsyncIterator[WatchEvent[T] | ErrorEvent] | None = None
        self._not_before = -math.inf  # when the next watch may begin
        self._reading: asyncio.Timeout | None = None  # while somebody waits for an event
        self._is_closed = False
        self.resource_version = resource_version
        """The last version seen."""

    async def aclose(self) -> None:
        """Stop watching; whoever is reading sees the end."""
        if self._reading is None:
            await self._leave()
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
            # Its time is up when somebody closes this meanwhile.
            async with asyncio.timeout(None) as self._reading:
                while not self._is_closed:
                    if news := await self._next():
                        return news
        except TimeoutError:
            if not self._is_closed:
                raise
        except Exception:
            self._is_closed = True
            raise
        finally:
            self._reading = None
            if self._is_closed:
                await self._leave()
        raise StopAsyncIteration

    async def _next(self) -> WatchEvent[T] | None:
        """What comes next; None if the watch has ended, or told nothing of an object. Cancelled, it loses nothing."""
        try:
            return self._news(await anext(self._stream or await self._enter()))
        except StopAsyncIteration:
            await self._leave()
        except (APIError, TransportError) as error:
            await self._leave()
            if _is_final(error):
                raise
            self._not_before = max(self._not_before, self._clock.monotonic() + (suggests_delay(error) or 0.0))
            _log.info("a watch was interrupted after version %s: %s", self.resource_version, error)
        return None

    async def _enter(self) -> AsyncIterator[WatchEvent[T] | ErrorEvent]:
        if (left := self._not_before - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)
        self._not_before = self._clock.monotonic() + _SHORTEST
        watch = self._source.watch(resource_version=self.resource_version, allow_watch_bookmarks=True)
        self._stream, self._watch = await watch.__aenter__(), watch
        return self._stream

    async def _leave(self) -> None:
        watch, self._watch, self._stream = self._watch, None, None
        if watch is not None:
            await watch.__aexit__(None, None, None)

    def _news(self, event: WatchEvent[T] | ErrorEvent) -> WatchEvent[T] | None:
        if isinstance(event, ErrorEvent):
            raise event.error
        if not event.object.resource_version:
            raise WatchClosedError(f"{event.object.describe()} came without a version: the watch cannot go on from it")
        self.resource_version = event.object.resource_version
        return None if isinstance(event, BookmarkEvent) else event

    def __repr__(self) -> str:
        return f"<RetryWatcher of {self._source} @{self.resource_version}>"


def _is_final(error: APIError | TransportError) -> bool:
    is_unreadable = isinstance(error, APIError) and any(cause.reason == _UNREADABLE for cause in error.causes)
    return is_unreadable or isinstance(error, _BEYOND_RETRY)
