"""The events of one watch, from the network's pieces to typed values.

    bytes ─▶ EventReader ─▶ a batch for each network read ─▶ one event after the other

A watch resumes nothing by itself: it ends when the server ends it, and an informer, or who else reads it, goes on.

One rule notices a dead peer, for watches that are read directly and for those of informers alike: a read that waits for
longer than the watch may be silent raises StreamIdleError. That is the time after which the server ends the watch, and
less once the server has sent a bookmark, since it sends those about every minute. An idle watch of a healthy server
is never given up, because the server ends it in time or sends bookmarks. The transport's stream keeps the time.

TCP keepalive, which every connection has (`transport/sockets.py`), makes the system close a connection to a host that
is gone, in 45 seconds. It cannot replace this rule: a proxy, or a server that hangs, still acknowledges its probes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Generic, Self, TypeVar

from listwatch.api.statuses import status_from_error
from listwatch.api.watch_events import BookmarkEvent, ErrorEvent, EventReader, WatchEvent, read_event
from listwatch.client.rest.byte_stream import ByteStream
from listwatch.errors import (
    ConnectionLostError,
    DecodeError,
    InternalServerError,
    RequestError,
    StatusCause,
    StatusDetails,
)
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

__all__ = ["WatchStream", "patience_for"]

T = TypeVar("T", bound=Object)

# A server that sends bookmarks does so about every minute, without promising it.
_SILENCE_BETWEEN_BOOKMARKS = 180.0
_GRACE = 30.0
# What servers choose for a watch that names no end of its own.
_LONGEST_WATCH = 3600.0


def patience_for(timeout_seconds: float | None) -> float:
    """How long a watch may be silent before its server is taken for dead: it would have ended by then."""
    if not isinstance(timeout_seconds, int | float | None):
        raise RequestError(f"timeout_seconds must be a number of seconds, not {timeout_seconds!r}")
    return (timeout_seconds or _LONGEST_WATCH) + _GRACE  # servers take 0 for nothing said, too


class WatchStream(Generic[T]):
    """The events of one watch as they come; asks when it is entered or first read, and closes when left.

    A loop over it raises what a server says in an ERROR event; `batches` gives such an event as it is.
    """

    def __init__(
        self, body: ByteStream, kind: type[T], *, patience: float, initial: bool = False, doing: str = "watch"
    ) -> None:
        self._body = body
        self._kind = kind
        self._patience = patience
        self._initial = initial
        self._awaits_bookmark = initial or patience > _SILENCE_BETWEEN_BOOKMARKS
        self._doing = doing
        self._reader = EventReader(kind)
        self._pending: deque[WatchEvent[T] | ErrorEvent] = deque()
        self._is_started = False

    @property
    def is_closed(self) -> bool:
        return self._body.is_closed

    async def open(self) -> None:
        """Ask for the watch, if that is not done yet; an answer that says no is raised."""
        await self._body.open()
        if not self._is_started:
            self._is_started = True
            self._body._set_idle_timeout(self._patience, coalesce_reads=self._initial)

    async def batches(self) -> AsyncIterator[list[WatchEvent[T] | ErrorEvent]]:
        """The events, as many at a time as came at a time."""
        while batch := self._take_pending() if self._pending else await self._next_batch():
            yield batch

    def close(self) -> None:
        """Stop at once; whoever is reading sees the end."""
        self._pending.clear()
        self._reader.finish()  # no error if half an event is left: nobody waits for the rest
        self._body.close()

    async def aclose(self) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent[T]:
        if not self._pending:
            self._pending.extend(await self._next_batch())
        if not self._pending:
            raise StopAsyncIteration
        event = self._pending.popleft()
        if isinstance(event, ErrorEvent):
            self.close()
            raise event.error
        return event

    def _take_pending(self) -> list[WatchEvent[T] | ErrorEvent]:
        pending = list(self._pending)
        self._pending.clear()
        return pending

    async def _next_batch(self) -> list[WatchEvent[T] | ErrorEvent]:
        """What the next network read completes; nothing at the end."""
        if not self._is_started:
            await self.open()
        while piece := await self._body.read():
            if events := self._events(piece):
                return events
        return self._last_event()

    def _events(self, piece: bytes) -> list[WatchEvent[T] | ErrorEvent]:
        events: list[WatchEvent[T] | ErrorEvent] = []
        try:
            events.extend(self._reader.feed(piece))  # keeps what came before an error
        except DecodeError as error:
            # To go on would be to miss an event. Nobody could tell.
            events.append(_unreadable(error))
            self.close()
        if self._awaits_bookmark and any(type(event) is BookmarkEvent for event in events):
            self._awaits_bookmark = False
            self._body._set_idle_timeout(min(self._patience, _SILENCE_BETWEEN_BOOKMARKS))
        return events

    def _last_event(self) -> list[WatchEvent[T] | ErrorEvent]:
        rest = self._reader.finish()
        if not rest:
            return []
        try:
            return [read_event(rest, self._kind)]
        except DecodeError:
            raise ConnectionLostError("the connection ended in the middle of an event", doing=self._doing) from None

    def __repr__(self) -> str:
        return f"<WatchStream of {self._kind.__name__}, {'closed' if self.is_closed else 'open'}>"


def _unreadable(error: DecodeError) -> ErrorEvent:
    reason = f"an event of the watch cannot be read: {error}"
    cause = StatusCause(reason="ClientWatchDecoding", message=str(error))
    failure = InternalServerError(reason, details=StatusDetails(causes=(cause,)))
    return ErrorEvent(Unstructured.from_dict(status_from_error(failure)))
