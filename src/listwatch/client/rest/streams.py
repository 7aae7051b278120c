"""Response bodies that are read as they arrive: bytes, lines of a log, and the events of a watch.

    ResponseStream ─▶ ByteStream ─▶ LogStream       lines of text
                                 ─▶ WatchStream     EventReader ─▶ one batch of events per network read

A watch ends when the server ends it. Informers and RetryWatcher resume watches.

A dead peer is detected in one place, for watches that are read directly and for those of informers: a read that waits
for longer than the idle timeout raises StreamIdleError. The idle timeout is the time after which the server ends the
watch, and shorter once the server has sent a bookmark, since it sends those about every minute. An idle watch of a
healthy server never times out, because the server ends it in time or sends bookmarks. The transport's stream measures
the time.

All connections have TCP keepalive too (`transport/sockets.py`), which closes a connection to an unreachable host after
45 seconds. It cannot replace the idle timeout: a proxy, or a server that hangs, still acknowledges the probes.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast

from listwatch.api.http_messages import is_protobuf
from listwatch.api.statuses import status_from_error
from listwatch.api.watch_events import (
    DEFAULT_MAX_EVENT_SIZE,
    AddedEvent,
    BatchedEvent,
    BookmarkEvent,
    ErrorEvent,
    EventReader,
    ReceivedEvent,
    UnchangedEvents,
    UndecodableEvent,
    WatchEvent,
    read_events,
)
from listwatch.client.rest.heap_pages import HeapPages
from listwatch.client.rest.transport_protocols import ResponseStream
from listwatch.clock import SystemClock
from listwatch.errors import (
    ConnectionLostError,
    DecodeError,
    InternalServerError,
    RequestError,
    ResponseTooLargeError,
    StatusCause,
    StatusDetails,
    UsageError,
)
from listwatch.logs.folded_log import FoldedLog
from listwatch.objects.caching.known_objects import KnownObjects
from listwatch.objects.json.wire import LineSplitter
from listwatch.objects.object import Object
from listwatch.objects.unstructured import Unstructured

if TYPE_CHECKING:
    from listwatch.api.protobuf_events import ProtobufEventReader

__all__ = ["ByteStream", "LogStream", "WatchStream", "idle_timeout_for"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger("listwatch.client")

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

# Servers that send bookmarks do so about every minute, without a guarantee.
_IDLE_TIMEOUT_WITH_BOOKMARKS = 180.0
_GRACE = 30.0
# The longest timeout that servers choose for a watch without timeoutSeconds.
_MAX_WATCH_TIMEOUT = 3600.0
_MAX_LOG_LINE = 2**20  # bytes


def idle_timeout_for(timeout_seconds: float | None) -> float:
    """Return the idle timeout of a watch: the time after which the server ends it, plus a grace period."""
    if not isinstance(timeout_seconds, int | float | None):
        raise RequestError(f"timeout_seconds must be a number of seconds, not {timeout_seconds!r}")
    return (timeout_seconds or _MAX_WATCH_TIMEOUT) + _GRACE  # for servers 0 is the same as no timeout


class ByteStream:
    """The body of a response.

    The request is sent when the stream is entered or first read. The connection is closed at the end of the body, on
    leaving `async with`, or when a loop over the stream is left.
    """

    def __init__(self, opener: Callable[[], Awaitable[ResponseStream | None]]) -> None:
        self._opener = opener
        self._stream: ResponseStream | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # None before the request is sent
        self._opening: asyncio.Timeout | None = None  # while the request is being sent
        self._is_closed = False

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response; empty before the stream is open."""
        return self._stream.headers if self._stream else _NO_HEADERS

    @property
    def is_closed(self) -> bool:
        """True after the end of the body, an error, or `close`."""
        return self._is_closed

    async def open(self) -> None:
        """Send the request if that was not done yet. Raises the error of an unsuccessful response."""
        if self._opening and not self._is_closed:
            raise UsageError("another task is already reading this stream")
        if self._loop is None and not self._is_closed:
            self._loop = asyncio.get_running_loop()
            await self._send_request()

    async def read(self) -> bytes:
        """Return the data that has arrived, waiting for some if there is none; b"" at the end."""
        if self._stream is None:
            await self.open()
        if self._stream is None or self._is_closed:
            return b""
        try:
            piece = await self._stream.read()
        except UsageError:
            raise  # another task is reading, and may continue
        except Exception:  # not CancelledError: a cancelled read loses no data, so the stream stays open
            self.close()
            raise
        if not piece:
            self.close()
        return b"" if self.is_closed else piece  # another task may have closed it during the read

    async def read_all(self) -> bytes:
        """Read everything up to the end."""
        pieces, size = [], 0
        async for piece in self:
            pieces.append(piece)
            size += len(piece)
            if size > (limit := self._limit("max_response_size", sys.maxsize)):
                self.close()
                del pieces, piece  # error trackers record local variables
                raise ResponseTooLargeError.of("the body", limit, "max_response_size")
        return b"".join(pieces)

    async def lines(self) -> AsyncIterator[bytes]:
        """Read line by line, without blank lines."""
        splitter = LineSplitter()
        async for piece in self:
            splitter.max_size = self._limit("max_event_size", splitter.max_size)
            try:
                complete = splitter.feed(piece)
            except ResponseTooLargeError:
                self.close()
                raise
            for line in complete:
                yield line
        if last := splitter.finish():
            yield last

    def close(self) -> None:
        """Close the connection. A pending read returns b""."""
        if self._opening and self._loop and not self._is_closed:
            self._opening.reschedule(self._loop.time())
        self._is_closed = True
        if self._stream:
            self._stream.close()

    async def aclose(self) -> None:
        """Close the connection. A pending read returns b""."""
        self.close()

    def _set_idle_timeout(self, seconds: float, *, coalesce_reads: bool = False) -> None:
        """From now on, raise StreamIdleError when a read waits for longer than this."""
        if self._stream and not self._is_closed:
            self._stream.set_idle_timeout(seconds)
            if coalesce := getattr(self._stream, "coalesce_reads", None):  # optional for transports
                coalesce(enabled=coalesce_reads)

    def _expect_lines(self) -> None:
        """From now on, data without a line feed does not end the idle time."""
        if expect_lines := getattr(self._stream, "expect_lines", None):  # optional for transports
            expect_lines()

    def _extend_idle_time(self) -> None:
        """Declare that the last data completed nothing, and so does not end the idle time."""
        if extend := getattr(self._stream, "extend_idle_time", None):  # optional for transports
            extend()

    def _limit(self, name: str, default: int) -> int:
        """The limit of an open stream. Transports need not have limits."""
        limit: int = getattr(self._stream, name, default)
        return limit

    async def _send_request(self) -> None:
        try:
            # `close` lets this timeout expire.
            async with asyncio.timeout(None) as self._opening:
                self._stream = await self._opener()
        except asyncio.CancelledError:
            self._loop = None  # a later read sends the request again
            raise
        except Exception as error:
            if self._is_closed and isinstance(error, TimeoutError):
                return
            self._is_closed = True
            raise
        finally:
            self._opening = None
        if self._stream is None or self._is_closed:
            self.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if piece := await self.read():
            return piece
        raise StopAsyncIteration

    def __del__(self) -> None:
        # Closes the connection when a loop is left without `async with`. The garbage collector may run in any thread.
        if self._stream and not self._is_closed and self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stream.close)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open" if self._stream else "not open yet"
        return f"<{type(self).__name__}, {state}>"


class LogStream:
    """The log of a container, line by line, without line feeds.

    The request is sent when the stream is entered or first read. A line of more than 1 MiB is returned in parts.
    """

    def __init__(self, body: ByteStream) -> None:
        self._body = body
        self._lines: deque[str] = deque()
        self._partial = bytearray()

    def close(self) -> None:
        """Close the connection. A pending read ends the iteration."""
        self._lines.clear()
        self._partial.clear()
        self._body.close()

    async def aclose(self) -> None:
        """Close the connection. A pending read ends the iteration."""
        self.close()

    async def batches(self) -> AsyncIterator[list[str]]:
        """Iterate over the lines of each network read."""
        while await self._fill():
            lines = list(self._lines)
            self._lines.clear()
            yield lines

    async def _fill(self) -> bool:
        """Wait until there are lines. Return False at the end."""
        while not self._lines:
            piece = await self._body.read()
            if not piece and not self._partial:
                return False
            self._feed(piece or b"\n")
        return True

    def _feed(self, piece: bytes) -> None:
        *complete, rest = piece.split(b"\n")
        if complete:
            complete[0] = bytes(self._partial + complete[0])
            self._partial.clear()
        self._lines.extend(line.decode(errors="replace") for line in complete)
        self._partial += rest
        if len(self._partial) > _MAX_LOG_LINE:
            part = bytes(self._partial)
            # The last character may be incomplete.
            end = len(part) - next((back for back in (1, 2, 3) if part[-back] >= 0xC0), 0)
            self._lines.append(part[:end].decode(errors="replace"))
            self._partial[:] = part[end:]

    async def __aenter__(self) -> Self:
        await self._body.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if not await self._fill():
            raise StopAsyncIteration
        return self._lines.popleft()

    def __repr__(self) -> str:
        return f"<LogStream, {'closed' if self._body.is_closed else 'open'}>"


class WatchStream(Generic[T]):
    """The events of a watch.

    The request is sent when the stream is entered or first read. Iterating raises the error of an ERROR event, and
    skips and logs an event whose object cannot be decoded; `batches` returns both.
    """

    def __init__(
        self,
        body: ByteStream,
        kind: type[T],
        *,
        idle_timeout: float,
        initial_events: bool = False,
        doing: str = "watch",
        selects: Callable[[T], bool] | None = None,
        known: KnownObjects[T] | None = None,
    ) -> None:
        self._body = body
        self._kind = kind
        self._known = known
        self._selects = selects
        self._idle_timeout = idle_timeout
        self._initial_events = initial_events
        self._pages = HeapPages() if initial_events and known is None else None
        self._awaits_bookmark = initial_events or idle_timeout > _IDLE_TIMEOUT_WITH_BOOKMARKS
        self._doing = doing
        self._reader: EventReader[T] | ProtobufEventReader[T] = EventReader(kind)
        self._pending: deque[BatchedEvent[T]] = deque()
        self._failure: ResponseTooLargeError | None = None  # to be raised after the events before it
        self._has_frames = False  # the events are frames of protobuf
        self._is_started = False
        self._skipped = 0
        self._skip_log: FoldedLog | None = None

    @property
    def is_closed(self) -> bool:
        """True after the end of the watch, an error, or `close`."""
        return self._body.is_closed

    @property
    def skipped(self) -> int:
        """How many events were skipped by iterating, because their objects cannot be decoded."""
        return self._skipped

    async def open(self) -> None:
        """Send the request if that was not done yet. Raises the error of an unsuccessful response."""
        await self._body.open()
        if not self._is_started:
            self._is_started = True
            max_size = self._body._limit("max_event_size", DEFAULT_MAX_EVENT_SIZE)
            if is_protobuf(self._body.headers):
                from listwatch.api.protobuf_events import ProtobufEventReader  # few programs receive protobuf

                self._reader, self._has_frames = (
                    ProtobufEventReader(self._kind, max_size=max_size, known=self._known),
                    True,
                )
            else:
                self._reader = EventReader(self._kind, max_size=max_size, known=self._known)
                self._body._expect_lines()
            self._body._set_idle_timeout(self._idle_timeout, coalesce_reads=self._initial_events)

    async def batches(self) -> AsyncIterator[list[ReceivedEvent[T]]]:
        """Iterate over the events of each network read."""
        while batch := self._take_pending() if self._pending else await self._read_batch():
            yield cast("list[ReceivedEvent[T]]", batch)  # other elements occur for informers only
            del batch  # the next one may arrive much later

    def close(self) -> None:
        """Close the connection. A pending read ends the iteration."""
        self._pending.clear()
        self._failure = None
        self._reader.finish()  # drops a partial event
        self._body.close()

    async def aclose(self) -> None:
        """Close the connection. A pending read ends the iteration."""
        self.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchEvent[T]:
        while True:
            if not self._pending:
                self._pending.extend(await self._read_batch())
            if not self._pending:
                raise StopAsyncIteration
            event = self._pending.popleft()
            if isinstance(event, UnchangedEvents):
                self._pending.extendleft(reversed([AddedEvent(each) for each in event.objects.values()]))
                continue
            if isinstance(event, UndecodableEvent):
                self._skip(event)
                continue
            if isinstance(event, ErrorEvent):
                self.close()
                raise event.error
            return event

    def _skip(self, event: UndecodableEvent) -> None:
        self._skipped += 1
        # A server may send nothing else.
        self._skip_log = self._skip_log or FoldedLog(_log, SystemClock())
        message = "%s: skipped an event (%d so far): %s"
        method, _, path = self._doing.partition(" ")
        self._skip_log.log(
            logging.WARNING,
            "skipped",
            message,
            self._doing,
            self._skipped,
            event.error,
            fields={"method": method, "path": path},
        )

    def _take_pending(self) -> list[BatchedEvent[T]]:
        pending = list(self._pending)
        self._pending.clear()
        return pending

    async def _read_batch(self) -> list[BatchedEvent[T]]:
        """Read until at least one event is complete; an empty list at the end."""
        if not self._is_started:
            await self.open()
        while piece := await self._body.read():
            events = self._decode(piece)
            del piece  # error trackers record local variables
            if events:
                return events
        if self._failure:
            failure, self._failure = self._failure, None
            raise failure
        return self._last_event()

    def _decode(self, piece: bytes) -> list[BatchedEvent[T]]:
        events: list[BatchedEvent[T]] = []
        if self._pages is not None:
            self._pages.expect(len(piece))
        try:
            events.extend(self._reader.feed(piece))  # keeps the events before an error
        except DecodeError as error:
            # Skipping it would silently lose an event.
            events.append(_decode_error_event(error))
            self.close()
        except ResponseTooLargeError as error:
            error.doing = self._doing
            self.close()
            self._failure = error.with_traceback(None)  # its frames hold objects, which may be Secrets
        if not events and self._has_frames:
            self._body._extend_idle_time()
        if self._awaits_bookmark and any(type(event) is BookmarkEvent for event in events):
            self._awaits_bookmark = False
            self._known = self._pages = None
            self._reader.forget_known()  # the initial events are complete
            self._body._set_idle_timeout(min(self._idle_timeout, _IDLE_TIMEOUT_WITH_BOOKMARKS))
        return self._selected(events)

    def _selected(self, events: Sequence[BatchedEvent[T]]) -> list[BatchedEvent[T]]:
        """Drop the events of objects that are not selected; events without an object remain."""
        selects = self._selects
        if selects is None:
            return [*events]
        selected: list[BatchedEvent[T]] = []
        for event in events:
            if isinstance(event, UnchangedEvents):
                selected.append(UnchangedEvents({key: item for key, item in event.objects.items() if selects(item)}))
            elif isinstance(event, ErrorEvent | UndecodableEvent | BookmarkEvent) or selects(event.object):
                selected.append(event)
        return selected

    def _last_event(self) -> list[BatchedEvent[T]]:
        """The event that no line feed follows. It may have been cut, so it is decoded completely."""
        rest = self._reader.finish()
        if not rest:
            return []
        try:
            if not self._has_frames:  # a frame has a length, and this one is not complete
                return self._selected(list(read_events(rest, self._kind)))
        except DecodeError:
            del rest  # error trackers record local variables
        raise ConnectionLostError("the connection was closed in the middle of an event", doing=self._doing)

    def __repr__(self) -> str:
        return f"<WatchStream of {self._kind.__name__}, {'closed' if self.is_closed else 'open'}>"


def _decode_error_event(error: DecodeError) -> ErrorEvent:
    cause = StatusCause(reason="ClientWatchDecoding", message=str(error))
    failure = InternalServerError(
        f"an event of the watch cannot be decoded: {error}", details=StatusDetails(causes=(cause,))
    )
    return ErrorEvent(Unstructured.from_dict(status_from_error(failure)))
