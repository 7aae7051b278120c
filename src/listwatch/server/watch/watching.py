"""Sends watch streams: the initial events, later events and bookmarks. `watch_feed` has the events.

    begin ──▶ initial events ──▶ their end bookmark ──▶ events and periodic bookmarks ──▶ a bookmark ──▶ end
      └─ too old: 410

A watch whose client does not read is aborted when its backlog is too large; it does not delay other watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Protocol

from listwatch.api.statuses import status_from_error
from listwatch.clock import Clock, time_limit
from listwatch.errors import APIError, ExpiredError, RequestTimeoutError
from listwatch.meta import Resource
from listwatch.server.codec.representations import Representation, encode_bookmark, encode_event, encode_object
from listwatch.server.faults.faults import CutStream, DropBookmarks, Expire, FaultPlan, HoldEvents
from listwatch.server.protocol.list_options import WatchOptions
from listwatch.server.storage.values import Event, JournalError, RevisionCompactedError, Stored
from listwatch.server.watch.watch_feed import Feeds, Reader, View

__all__ = ["StateConverter", "Watch", "WatchSettings", "Watches", "error_line"]

# The bytes that are sent at once; between two bursts, other watches can send.
_BURST = 1 << 20

_CONVERTED_AT_ONCE = 100
"""The events that are converted by webhooks together."""
_LAST_BOOKMARK = 2.0
"""Seconds before the end at which the last bookmark is sent."""
_MAX_WAIT = 3.0
"""Seconds for which a watch waits for the revision that it begins with."""
_GRACE = 5.0
"""Seconds after the end of a watch in which its client can read what was sent."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The intervals of bookmarks and the timeouts of watches, in seconds, and the limits of their backlogs."""

    bookmark_interval: float = 60.0
    min_timeout: float = 1800.0
    """A watch without timeoutSeconds ends after a random time between this and twice this."""
    max_backlog: int = 50_000
    max_backlog_bytes: int = 128 << 20


StateConverter = Callable[[Sequence[Stored]], Awaitable[list[Stored]]]
"""Returns states in the version of a watch; raises an APIError."""


class Connection(Protocol):
    """The connection to the client of a watch."""

    async def send(self, data: bytes) -> None:
        """Return when more can be sent."""

    def close(self) -> None:
        """Close without ending the response; what was sent still arrives."""

    def abort(self) -> None:
        """Close at once; what was sent may be lost."""


def error_line(error: APIError, representation: Representation) -> bytes:
    """Encode an error as an ERROR event."""
    return encode_event("ERROR", encode_object(status_from_error(error)), representation)


class Watches:
    """All open watches."""

    def __init__(self, feeds: Feeds, clock: Clock, random: Random, settings: WatchSettings) -> None:
        self.feeds = feeds
        self.clock = clock
        self.settings = settings
        self.on_opened: Callable[[], object] = lambda: None
        """Called when a watch has begun."""
        self._random = random
        self._open: dict[Watch, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    def new(
        self,
        resource: Resource,
        storage_id: str,
        options: WatchOptions,
        representation: Representation,
        plan: FaultPlan,
        convert: StateConverter | None = None,
    ) -> Watch:
        timeout = options.timeout
        if timeout is None:
            timeout = self.settings.min_timeout * (1.0 + self._random.random())
        view = self.feeds.view(resource, options.selection, representation)
        return Watch(self, view, storage_id, options, plan, timeout, convert)

    def close(self) -> None:
        """End all watches, without waiting for clients that do not read."""
        for watch in tuple(self._open):
            watch.stop()

    def finish(self, storage_id: str) -> None:
        """End the watches of one stored resource, after the events so far."""
        for watch in tuple(self._open):
            if watch.storage_id == storage_id:
                watch.finish()

    def send_bookmarks(self) -> None:
        """Send a bookmark on all watches that requested bookmarks."""
        for watch in tuple(self._open):
            watch.send_bookmark()

    def interrupt(self, *, namespace: str, error: APIError | None = None, cut: bool = False) -> None:
        """End the watches of a namespace or all, after pending events, with an ERROR event or by cutting the stream."""
        for watch in tuple(self._open):
            if namespace in ("", watch.namespace):
                watch.finish(error=error, cut=cut)

    @property
    def backlog(self) -> int:
        """The number of events that the slowest client has not read."""
        return max((watch.backlog for watch in self._open), default=0)

    def opened(self, watch: Watch) -> None:
        self._open[watch] = None
        self.on_opened()

    def closed(self, watch: Watch) -> None:
        self._open.pop(watch, None)


class Watch:
    """One watch, from its initial events to its end."""

    def __init__(
        self,
        watches: Watches,
        view: View,
        storage_id: str,
        options: WatchOptions,
        plan: FaultPlan,
        timeout: float,
        convert: StateConverter | None = None,
    ) -> None:
        self._convert = convert
        self._watches = watches
        self._feeds = watches.feeds
        self._view = view
        self._printer = view.representation.printer
        self.storage_id = storage_id
        self._options = options
        self._plan = plan
        self._deadline = watches.clock.monotonic() + timeout
        self._wakeup = asyncio.Event()
        self._bookmark_is_due = False
        self._is_over = False
        self._is_finishing = False
        self._last_error: APIError | None = None  # sent when it finishes
        self._is_cut = False
        self._is_sending = False
        self._began_at = 0
        self._initial: Iterator[list[bytes]] = iter(())
        self._reader: Reader | None = None
        self._sent_events = self._sent_bytes = 0

    # --- Begin

    async def begin(self) -> None:
        """Prepare the initial events and the reader; raises ExpiredError or RequestTimeoutError."""
        if self._plan.find(Expire):
            raise _expired(self._options.after or 0, self._feeds.storage.revision)
        await self._wait_reached(self._options.minimum)
        # Publishes pending writes first, so that their events are neither sent before they are durable nor sent twice.
        with suppress(JournalError):  # those writes are undone, and their requests get the error
            self._feeds.storage.sync()
        if self._options.initial_events:
            await self._begin_with_initial_events()
        else:
            self._begin_after(self._options.after)

    async def _wait_reached(self, minimum: int) -> None:
        if minimum <= self._feeds.revision:
            return
        unsubscribe = self._feeds.subscribe(self._wakeup.set)
        try:
            async with time_limit(self._watches.clock, _MAX_WAIT):
                while self._feeds.revision < minimum:
                    self._wakeup.clear()
                    await self._wakeup.wait()
        except TimeoutError:
            raise RequestTimeoutError.too_large_resource_version(minimum, self._feeds.revision) from None
        finally:
            unsubscribe()

    async def _begin_with_initial_events(self) -> None:
        storage, selection = self._feeds.storage, self._options.selection
        self._read_after(storage.revision)
        found = [*storage.scan(self.storage_id, namespace=selection.namespace or None)]
        if self._convert:
            found = await self._convert(found)
        self._initial = self._initial_lines([stored for stored in found if selection.matches(stored)])

    def _begin_after(self, revision: int | None) -> None:
        storage = self._feeds.storage
        if revision is None or revision >= storage.revision:
            self._read_after(storage.revision if revision is None else revision)
            return
        try:
            self._read_after(revision, storage.events(self.storage_id, after=revision))
        except RevisionCompactedError as error:
            raise _expired(revision, error.oldest) from None

    def _read_after(self, revision: int, past: Sequence[Event] = ()) -> None:
        self._began_at = revision
        self._reader = self._feeds.reader(
            self.storage_id,
            self._view,
            self._on_event,
            after=revision,
            past=past,
            converts=self._convert is not None,
        )

    def _initial_lines(self, found: list[Stored]) -> Iterator[list[bytes]]:
        lines, size = [], 0
        for stored in found:
            lines.append(self._view.first_line(stored))
            size += len(lines[-1])
            if size >= _BURST:
                yield lines
                lines, size = [], 0
        if self._options.marks_end_of_initial_events and not self._plan.find(DropBookmarks):
            lines.append(self._bookmark(self._began_at, initial_events_end=True))
        if lines:
            yield lines

    # --- Send

    async def run(self, connection: Connection) -> None:
        """Send events until the end of the watch."""
        self._connection = connection
        # Faults may be added by any thread.
        self._plan.on_change = partial(asyncio.get_running_loop().call_soon_threadsafe, self._wakeup.set)
        self._watches.opened(self)
        timer = asyncio.create_task(self._run_timer(), name="watch timer")
        try:
            while lines := await self._next_lines():
                await self._send(lines)
                await asyncio.sleep(0)  # a client that reads fast must not starve the others
        finally:
            timer.cancel()
            self._watches.closed(self)

    def close(self) -> None:
        """Release the reader; needed once `begin` was called."""
        if self._reader:
            self._reader.close()

    def end(self) -> None:
        """Send nothing more."""
        self._is_over = True
        self._wakeup.set()

    def finish(self, *, error: APIError | None = None, cut: bool = False) -> None:
        """End after the pending events, with an ERROR event, or by cutting the stream."""
        if self._is_finishing:
            return
        self._is_finishing, self._last_error, self._is_cut = True, error, cut
        if self._reader:
            self._reader.end()
        self._wakeup.set()

    def send_bookmark(self) -> None:
        """Send a bookmark after the events so far, if the client requested bookmarks."""
        if self._options.bookmarks:
            self._bookmark_is_due = True
            self._wakeup.set()

    @property
    def namespace(self) -> str:
        """The namespace of the objects; empty for all."""
        return self._options.selection.namespace

    @property
    def backlog(self) -> int:
        """The number of events that were not sent yet."""
        return self._reader.backlog[0] if self._reader else 0

    def stop(self) -> None:
        """End, even if the client does not read."""
        self.end()
        if self._is_sending:
            self._connection.abort()

    async def _next_lines(self) -> list[bytes]:
        """Wait for the next lines to send; empty at the end."""
        while not self._is_over:
            self._wakeup.clear()
            if self._convert and (failed := await self._convert_events(self._convert)):
                return failed
            if lines := self._pending_lines():
                return self._with_columns(lines)
            if self._has_unconverted():
                continue  # none of those converted so far is selected
            if self._is_finishing and not self._plan.find(HoldEvents):
                return self._last_lines()
            await self._wakeup.wait()
        return []

    def _has_unconverted(self) -> bool:
        return self._convert is not None and self._reader is not None and bool(self._reader.unconverted(1))

    async def _convert_events(self, convert: StateConverter) -> list[bytes]:
        """Convert the next events; returns the ERROR event with which the watch ends if that fails."""
        assert self._reader is not None
        links = self._reader.unconverted(_CONVERTED_AT_ONCE)
        events = [link.event for link in links if link.event]
        states = [state for event in events for state in (event.stored, event.previous) if state]
        try:
            found = iter(await convert(states) if states else ())
        except APIError as error:
            self.end()
            return [error_line(error, self._view.representation)]
        for link, event in zip(links, events, strict=True):
            stored, previous = next(found), next(found) if event.previous else None
            changed = Event(event.type, event.resource, stored, previous, event.time)
            link.converted = {**link.converted, self._view.resource.gvr: changed}
        return []

    def _last_lines(self) -> list[bytes]:
        """The ERROR event of a watch that finishes; then nothing."""
        self.end()
        if self._is_cut:
            self._connection.close()
        error = self._last_error
        return [error_line(error, self._view.representation)] if error else []

    def _pending_lines(self) -> list[bytes]:
        if self._plan.find(HoldEvents):
            return []
        if self._is_due_to_be_cut():
            self.end()
            self._connection.close()
            return []
        if self._plan.find(Expire):
            self.end()
            return [error_line(_expired(self._began_at, self._feeds.revision), self._view.representation)]
        assert self._reader is not None
        return next(self._initial, []) or self._reader.take(_BURST) or self._due_bookmark()

    def _with_columns(self, lines: list[bytes]) -> list[bytes]:
        """Add the columns of a Table to the first event of the watch."""
        printer, self._printer = self._printer, None
        return [printer.with_columns(lines[0]), *lines[1:]] if printer else lines

    async def _send(self, lines: list[bytes]) -> None:
        cut = self._plan.find(CutStream)
        if cut and cut.after_events is not None:
            lines = lines[: cut.after_events - self._sent_events]
        data = b"".join(lines)
        if cut and cut.after_bytes is not None:
            data = data[: cut.after_bytes - self._sent_bytes]
        self._is_sending = True
        await self._connection.send(data)
        self._is_sending = False
        self._sent_events += len(lines)
        self._sent_bytes += len(data)
        self._plan.request.events = self._sent_events

    def _is_due_to_be_cut(self) -> bool:
        cut = self._plan.find(CutStream)
        if cut is None:
            return False
        limits = [(cut.after_events, self._sent_events), (cut.after_bytes, self._sent_bytes)]
        given = [(limit, sent) for limit, sent in limits if limit is not None]
        return not given or any(sent >= limit for limit, sent in given)

    # --- Events and timers

    def _on_event(self) -> None:
        if not self._is_sending:
            self._wakeup.set()
            return
        assert self._reader is not None
        events, size = self._reader.backlog
        if events > self._watches.settings.max_backlog or size > self._watches.settings.max_backlog_bytes:
            self._connection.abort()

    async def _run_timer(self) -> None:
        clock = self._watches.clock
        while self._options.bookmarks and (due := self._next_bookmark(clock.monotonic())):
            await clock.sleep(due - clock.monotonic())
            self._bookmark_is_due = True
            self._wakeup.set()
        await clock.sleep(self._deadline - clock.monotonic())
        self.end()
        await clock.sleep(_GRACE)
        self.stop()

    def _next_bookmark(self, now: float) -> float | None:
        due = min(now + self._watches.settings.bookmark_interval, self._deadline - _LAST_BOOKMARK)
        return due if due > now else None

    def _due_bookmark(self) -> list[bytes]:
        if not self._bookmark_is_due or self._has_unconverted():
            return []
        self._bookmark_is_due = False
        revision = self._feeds.revision
        # A watch that finishes does not send all events up to this revision.
        if revision <= self._began_at or self._is_finishing or self._plan.find(DropBookmarks):
            return []
        return [self._bookmark(revision)]

    def _bookmark(self, revision: int, *, initial_events_end: bool = False) -> bytes:
        value = encode_bookmark(self._view.resource, revision, initial_events_end=initial_events_end)
        return encode_event("BOOKMARK", value, self._view.representation)


def _expired(requested: int, oldest: int) -> ExpiredError:
    return ExpiredError(f"too old resource version: {requested} ({oldest})")
