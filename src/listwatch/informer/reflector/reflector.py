"""Lists and watches a source, and writes every change to a store, until cancelled.

`machine.py` decides which request is next. A source detects a dead peer itself and raises; the reflector then
resumes the watch. `client/rest/streams.py` has the rules for the watches of a client.

Every failed attempt is reported when it fails, also those that a client retries: `retry_observer.py` passes them on.
`request_budget.py` limits requests that make no progress.
"""

from __future__ import annotations

import asyncio
import logging
import random as _random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Generic, Literal, TypedDict, TypeVar, cast

from listwatch.api.watch_events import BatchedEvent, UnchangedEvents
from listwatch.backoff import MAX_RETRY_AFTER, REFLECTOR_BACKOFF, REFLECTOR_RESET, Backoff, ResettingBackoff
from listwatch.cache.replacement import sliced
from listwatch.clock import Clock, SystemClock
from listwatch.errors import APIError, DecodeError, ListWatchError, ProtocolError, WatchClosedError
from listwatch.informer.reflector.initial_events import InitialEventsDeadline
from listwatch.informer.reflector.lister_watcher import (
    KnownObjects,
    ListerWatcher,
    RecognizingSource,
    WatchSource,
    batches_of,
    is_client,
    of_kind,
)
from listwatch.informer.reflector.machine import ReflectorMachine
from listwatch.informer.reflector.problems import Problem, guarded_reporter
from listwatch.informer.reflector.request_budget import RequestBudget
from listwatch.informer.reflector.state import (
    BackingOff,
    Delay,
    Listing,
    ListRequest,
    ReflectorStore,
    Request,
    Streaming,
    StreamRequest,
    Watching,
    WatchRequest,
)
from listwatch.informer.validation import check_number, check_source
from listwatch.keyed import Cached
from listwatch.meta import Resource
from listwatch.tasks.cancellation import cancelled_wait, is_being_cancelled
from listwatch.tasks.cooperative import TimeSlice, give_way
from listwatch.tasks.retry_observer import observing_retries
from listwatch.tracing.switch import switch
from listwatch.wording import counted

if TYPE_CHECKING:
    from listwatch.tracing.spans import Span, Tracing

__all__ = ["Reflector", "ReflectorOptions", "ReflectorStatistics"]

T = TypeVar("T", bound=Cached)

_log = logging.getLogger("listwatch.informer")

MIN_WATCH = 300.0
"""Seconds. A watch is requested for this time and up to twice as long, so that many watches do not end at once."""

_DENIED_BACKOFF = Backoff(initial=5.0, factor=2.0, cap=120.0, jitter=0.5)
_STABLE = 1.0
"""Seconds for which a watch must be open to end a series of failures."""
_MAX_BACKLOG = 1_000
"""The number of pending calls of handlers above which the watch gives way to them."""
_EVENTS_PER_CHECK = 200
"""The number of events, less than those of a large network read, after which the backlog is checked again."""

_CONFIRMATION = 0.1
"""Seconds without an event after which a resumed watch has sent all changes that were missed."""
_MAX_CONFIRMATION = 1.0

ReflectorPhase = Literal["listing", "streaming", "connecting", "watching", "backing off"]


@dataclass(frozen=True, slots=True)
class ReflectorStatistics:
    """The state of a reflector, and the numbers of its requests and events."""

    resource_version: str
    is_watching: bool
    """True while the store is synced and a watch is open: the server has responded to it, and it has not ended."""
    lists: int
    watches: int
    events: int
    failures_in_a_row: int
    last_error: Exception | None
    last_contact: datetime | None
    """When the server last sent a response, also an error, or an event; None before the first one."""
    skipped: int
    """Objects that were not stored, because they cannot be decoded, or have no name or another kind."""
    state: ReflectorPhase
    """What it does now: "connecting" is a watch to which the server has not responded yet."""
    syncs: int
    """How often everything was read; all but the first of them are relists."""
    synced_by: Literal["", "list", "stream"]
    """How everything was read the last time; empty before the first time, and if a watch was resumed instead."""


class ReflectorOptions(TypedDict, total=False):
    """The options of a `Reflector` that an informer passes on."""

    page_size: int | None
    streaming: bool
    min_watch: float
    backoff: Backoff
    internal_error_window: float
    clock: Clock | None
    random: Random | None


class Reflector(Generic[T]):
    """Writes everything that a source contains to a store, then each change, in order.

    `on_problem` receives every failed attempt of a request, when it fails, and every object that is skipped; without
    it they are logged. None ends the reflector.
    """

    def __init__(
        self,
        source: ListerWatcher[T],
        kind: type[T],
        store: ReflectorStore[T],
        *,
        name: str = "",
        page_size: int | None = None,
        streaming: bool = True,
        min_watch: float = MIN_WATCH,
        backoff: Backoff = REFLECTOR_BACKOFF,
        internal_error_window: float = 0.0,
        on_problem: Callable[[Problem], None] | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
        cached: Callable[[], Mapping[str, T]] | None = None,
        backlog: Callable[[], int] = lambda: 0,
    ) -> None:
        """`cached` returns the objects of the store by key: a relist keeps the instances of unchanged ones.

        `backlog` returns the number of pending calls of handlers: the watch gives way to handlers that are far behind.
        """
        check_source(source, kind)
        check_number(min_watch, "min_watch must be a number of seconds")
        check_number(internal_error_window, "internal_error_window must be a number of seconds")
        if page_size is None:
            page_size = getattr(source, "page_size", None)  # a source may prefer a size; 0 is the complete list
        else:
            check_number(page_size, "page_size must be a number of objects, or None")
        self.name = name or kind.__name__
        self._source = of_kind(source, kind)
        # A source may have a cheaper watch for readers that have the state of every object.
        cheaper = None if cached is None else getattr(self._source, "watch_for_cache", None)
        self._watch: Callable[..., WatchSource[T]] = cheaper or self._source.watch
        self.reads_received_objects = is_client(self._source)
        """Whether the objects are as a server has sent them."""
        self._cached = cached if hasattr(self._source, "_recognizing") else None
        self._backlog = backlog
        self._clock = clock or SystemClock()
        self._random = random or _random.Random()
        self._min_watch = max(min_watch, MIN_WATCH)
        self._report = guarded_reporter(on_problem, self._clock)
        self._backoff = ResettingBackoff(backoff, reset=REFLECTOR_RESET, random=self._random)
        self._retry_backoff = ResettingBackoff(backoff, reset=REFLECTOR_RESET, random=self._random)
        self._denied_backoff = ResettingBackoff(_DENIED_BACKOFF, reset=2 * _DENIED_BACKOFF.cap, random=self._random)
        self._machine = ReflectorMachine(
            store,
            kind,
            page_size=page_size,
            streaming=streaming and getattr(source, "supports_streaming", True),
            internal_error_window=internal_error_window,
            on_skipped=self._report_skipped,
            on_problem=self._report_violation,
        )
        self._budget = RequestBudget()
        self._outcome = "none yet"
        """What the last request led to, for messages."""
        self._lists = self._watches = self._events = self._failures = self._skipped = 0
        self._last_error: Exception | None = None
        self._opened_at: float | None = None
        """When the open watch was opened; None while no watch is open."""
        self._last_contact: float | None = None
        self._sending: asyncio.Timeout | None = None  # while a request is being sent, or a watch is read
        self._relist_reason: ListWatchError | None = None
        self._round = _Round(self._clock.monotonic())
        self._resumed: _Resumed | None = None  # until the source has confirmed the version

    def __repr__(self) -> str:
        state = "watching" if self._is_watching else "synced" if self._machine.is_watching else "not synced"
        return f"<Reflector {self.name} {state} @{self._machine.version}>"

    @property
    def last_sync_resource_version(self) -> str:
        """The version of the last list or event that was received; empty before the first list."""
        return self._machine.version

    def statistics(self) -> ReflectorStatistics:
        """Counters and current state."""
        now = self._clock.monotonic()
        self._end_failures_if_stable(now)
        contact = self._last_contact
        return ReflectorStatistics(
            resource_version=self._machine.version,
            is_watching=self._is_watching,
            lists=self._lists,
            watches=self._watches,
            events=self._events,
            failures_in_a_row=self._failures,
            last_error=self._last_error,
            last_contact=None if contact is None else self._clock.now() - timedelta(seconds=now - contact),
            skipped=self._skipped,
            state=self._phase(),
            syncs=self._machine.syncs,
            synced_by=self._machine.synced_by,
        )

    def _phase(self) -> ReflectorPhase:
        match self._machine.state:
            case Listing():
                return "listing"
            case Streaming():
                return "streaming"
            case Watching():
                return "connecting" if self._opened_at is None else "watching"
            case BackingOff():
                return "backing off"

    @property
    def _listed_by(self) -> str:
        """How the last complete list was read: by "list" or by "stream"; empty before the first one."""
        return self._round.by

    @property
    def _is_watching(self) -> bool:
        return self._opened_at is not None and self._machine.is_watching

    def relist(self, reason: ListWatchError) -> None:
        """Read everything again; a current watch ends. `reason` is reported."""
        self._relist_reason = reason
        if self._sending is not None and self._machine.is_watching:
            self._sending.reschedule(asyncio.get_running_loop().time())

    def resume(
        self,
        version: str,
        *,
        is_same_source: Callable[[], Awaitable[bool]],
        on_confirmed: Callable[[str], None],
    ) -> None:
        """Begin with a watch from a version of the store, instead of a list.

        `on_confirmed` is called when the source has the version and all changes since then were received, as far as
        that can be seen. If it is not the same source, or does not have the version any more, it is listed.
        """
        self._machine.resume(version)
        self._resumed = _Resumed(is_same_source, on_confirmed)

    async def run(self) -> None:
        """Read the source until cancelled."""
        self._round = _Round(self._clock.monotonic(), by="cache" if self._resumed else "")
        try:
            with observing_retries(self._delay_retry):
                while True:
                    await self._wait_for_budget()
                    await self._step()
        finally:
            self._report.flush(at_end=True)
            if self._round.span is not None:
                self._round.span.end()

    async def _step(self) -> None:
        """Send one request and read its response, then wait if it failed."""
        try:
            await self._send_next()
        except Exception as error:  # noqa: BLE001  # a source may raise anything; the request is retried
            self._fail(error)
        except asyncio.CancelledError as error:
            self._fail(cancelled_wait("the source", error))
        if self._round.by and not self._machine.is_watching:
            self._round = _Round(self._clock.monotonic(), reason=self._outcome)
        if self._report.has_folded:
            self._report.flush()
        if is_being_cancelled():
            raise asyncio.CancelledError  # the source has swallowed it
        if isinstance(self._machine.state, BackingOff):
            await self._back_off(self._machine.state)

    # --- requests ------------------------------------------------------------------------------------------------

    async def _send_next(self) -> None:
        request = self._machine.next_request()
        if _log.isEnabledFor(logging.DEBUG):
            self._log_request(request)
        try:
            async with asyncio.timeout(
                0 if self._relist_reason and self._machine.is_watching else None
            ) as self._sending:
                if switch.tracing is not None and isinstance(request, ListRequest):
                    with switch.tracing.within(self._list_span(switch.tracing)):
                        await self._send(request)
                else:
                    await self._send(request)
        except TimeoutError:
            if self._relist_reason is None:
                raise
            reason, self._relist_reason = self._relist_reason, None
            raise reason from None
        finally:
            self._sending = None
        self._relist_reason = None

    async def _send(self, request: Request) -> None:
        match request:
            case ListRequest(resource_version, limit, continue_token):
                self._lists += 1
                page = await (await self._relist_source()).list(
                    resource_version=resource_version, limit=limit, continue_token=continue_token
                )
                self._record_contact()
                for _ in self._machine.receive_page(request, page):
                    await asyncio.sleep(0)
                objects = len(page.items) + len(getattr(page, "_unchanged", ()))
                self._outcome = f"a page of {counted(objects, 'object')}"
                if self._machine.is_watching:
                    self._complete_round("list")
                if self._machine.has_progressed:
                    self._budget.refund()  # a series of failures ends with a stable watch: a list alone becomes stale
            case StreamRequest(resource_version):
                # No variable refers to the source: it has the objects that are cached now, and a watch may last long.
                await self._read(
                    (await self._relist_source()).watch(
                        resource_version=resource_version,
                        resource_version_match="NotOlderThan",
                        send_initial_events=True,
                        allow_watch_bookmarks=True,
                        timeout_seconds=self._timeout_seconds(),
                    )
                )
            case WatchRequest(resource_version):
                if self._resumed is not None and not await self._resumed.is_same_source():
                    self._outcome = "the stored objects are those of another server"
                    self._resumed = None
                    self._machine.restart()
                    return
                await self._read(
                    self._watch(
                        resource_version=resource_version,
                        allow_watch_bookmarks=True,
                        timeout_seconds=self._timeout_seconds(),
                    )
                )

    async def _relist_source(self) -> ListerWatcher[T]:
        """The source, which returns cached instances of unchanged objects. They are collected once for all pages."""
        if self._cached is None:
            return self._source
        source = cast("RecognizingSource[T]", self._source)
        if self._round.known is None:
            known = source._new_known_objects()
            time_slice = TimeSlice()
            for entries in sliced(self._cached().items()):
                known.extend(entries)
                await time_slice.checkpoint()
            self._round.known = known
        return source._recognizing(self._round.known) if len(self._round.known) else self._source

    def _timeout_seconds(self) -> int:
        return int(self._min_watch * (1 + self._random.random()))

    async def _read(self, watch: WatchSource[T]) -> None:
        self._watches += 1
        if switch.tracing is not None:
            watch = self._traced_watch(switch.tracing, watch)
        events_before = checked_at = self._events
        time_slice = TimeSlice()
        started = self._clock.monotonic()  # before the request: a slow response is not a short watch
        async with watch as stream, self._limit_initial_events() as limit, self._confirm_resumed():
            self._opened_at = self._record_contact()
            try:
                async for batch in batches_of(stream):
                    events = batch if isinstance(batch, list | tuple) else tuple(batch)
                    self._events += len(events)
                    objects = self._machine.initial_objects if limit else 0
                    self._machine.receive(events)
                    self._last_contact = now = self._clock.monotonic()
                    if limit:
                        self._events += _repeated(events)
                        has_new_objects = self._machine.initial_objects > objects
                        limit.deadline.receive(events, has_new_objects=has_new_objects, now=now)
                        if not self._machine.reads_initial_events:
                            limit = None
                            self._complete_round("stream")
                    if self._failures:
                        self._end_failures_if_stable(now)
                    if self._report.has_folded:
                        self._report.flush()
                    del batch, events  # the next ones may arrive much later
                    # Not while initial events are read, which are handled after the last one, nor before a resumed
                    # version is confirmed: all changes that were missed are to be read until then.
                    is_complete = limit is None and self._resumed is None
                    if is_complete and self._events >= checked_at + _EVENTS_PER_CHECK:
                        checked_at = self._events
                        if self._backlog() > _MAX_BACKLOG:
                            await give_way(self._backlog, limit=_MAX_BACKLOG)
                            time_slice = TimeSlice()
                    if time_slice.now() > time_slice.end:
                        await time_slice.checkpoint()
            finally:
                self._end_failures_if_stable(self._clock.monotonic())
                self._opened_at = None
        if limit and limit.error is not None and self._machine.reads_initial_events:
            self._machine.miss_initial_events_end(limit.error)
        else:
            elapsed, events_read = self._clock.monotonic() - started, self._events - events_before
            self._outcome = f"a watch that ended after {elapsed:.1f} s with {counted(events_read, 'event')}"
            self._machine.end(elapsed=elapsed, events=events_read)

    def _list_span(self, tracing: Tracing) -> Span:
        """The span of the current list, with all of its requests and attempts."""
        if self._round.span is None:
            attributes = {"listwatch.resource": self.name}
            if self._round.reason:
                attributes["listwatch.list.reason"] = self._round.reason
            self._round.span = tracing.start(f"list {self.name}", attributes)
        return self._round.span

    def _traced_watch(self, tracing: Tracing, watch: WatchSource[T]) -> WatchSource[T]:
        """A watch that is opened in a span: that of the list, if it begins with one, or a new one."""
        if self._machine.reads_initial_events:
            return tracing.opening(watch, self._list_span(tracing), ends=False)
        attributes = {"listwatch.resource": self.name, "listwatch.resource_version": self._machine.version}
        return tracing.opening(watch, tracing.start(f"watch {self.name}", attributes), ends=True)

    @asynccontextmanager
    async def _limit_initial_events(self) -> AsyncIterator[_InitialEventsLimit | None]:
        """End the block if the bookmark that ends the initial events is overdue; `error` is then set.

        Such a server is alive, but does not support streaming.
        """
        if not self._machine.reads_initial_events:
            yield None
            return
        limit = _InitialEventsLimit(InitialEventsDeadline(self._machine.version, self._clock.monotonic()))
        try:
            async with asyncio.timeout(None) as scope:
                waiting = asyncio.create_task(self._wait_for_deadline(limit, scope), name="end of initial events")
                try:
                    yield limit
                finally:
                    waiting.cancel()
        except TimeoutError:
            if limit.error is None:
                raise

    @asynccontextmanager
    async def _confirm_resumed(self) -> AsyncIterator[None]:
        """Confirm a resumed version during the block, unless the server rejects it."""
        if self._resumed is None or not self._machine.is_watching:
            yield
            return
        confirming = asyncio.create_task(self._confirm(self._resumed), name="confirmation of a resumed watch")
        try:
            yield
        finally:
            confirming.cancel()

    async def _confirm(self, resumed: _Resumed) -> None:
        # A server rejects a version with an error status, or with the first event of the stream. Otherwise it sends
        # all changes since then without a pause.
        latest, events = self._clock.monotonic() + _MAX_CONFIRMATION, -1
        while self._events != events and self._clock.monotonic() < latest:
            events = self._events
            await self._clock.sleep(_CONFIRMATION)
        self._resumed = None
        resumed.on_confirmed(self._machine.version)

    async def _wait_for_deadline(self, limit: _InitialEventsLimit, scope: asyncio.Timeout) -> None:
        # A clock may wake a sleeper a rounding error early.
        while (left := limit.deadline.time - self._clock.monotonic()) > 1e-6:
            await self._clock.sleep(left)
            if not self._machine.reads_initial_events:
                return
        limit.error = WatchClosedError(
            f"the server did not end the initial events with a bookmark within {limit.deadline.limit}; "
            "it does not support streaming lists and will be listed instead"
        )
        scope.reschedule(asyncio.get_running_loop().time())

    def _complete_round(self, by: str) -> None:
        """Log that a list is complete. That an informer has synced is logged by the informer."""
        current, self._resumed = self._round, None
        current.by, current.known = by, None
        seconds, objects = self._clock.monotonic() - current.started_at, self._machine.listed
        if current.span is not None:
            current.span.set_attributes({"listwatch.list.by": by, "listwatch.list.objects": objects})
            current.span.end()
            current.span = None
        level = logging.INFO if current.reason else logging.DEBUG
        _log.log(
            level,
            "%s: %s %s in %.3f s by %s%s",
            self.name,
            "relisted" if current.reason else "listed",
            counted(objects, "object"),
            seconds,
            by,
            f", because: {current.reason}" if current.reason else "",
            extra={"resource": self.name, "objects": objects, "seconds": seconds, "by": by, "reason": current.reason},
        )

    def _log_request(self, request: Request) -> None:
        match request:
            case ListRequest(version, limit, token):
                page = "all objects" if not limit else f"the next {limit} objects" if token else f"{limit} objects"
                text = f"list {page} at version {version or 'latest'}"
            case StreamRequest(version):
                text = f"watch with initial events from version {version or 'latest'}"
            case WatchRequest(version):
                text = f"watch from version {version or 'latest'}"
        fields = {"resource": self.name, "resource_version": request.resource_version}
        _log.debug("%s: %s", self.name, text, extra=fields)

    def _record_contact(self) -> float:
        """Record that the server has responded; return the time."""
        resource = getattr(self._source, "resource", None)  # a dynamic client finds it with its first request
        self._machine.expect(resource if isinstance(resource, Resource) else None)
        self._last_contact = now = self._clock.monotonic()
        return now

    # --- failures ------------------------------------------------------------------------------------------------

    def _fail(self, error: Exception) -> None:
        now = self._clock.monotonic()
        if isinstance(error, APIError):
            self._last_contact = now
        if self._round.known is not None and (
            isinstance(error, DecodeError) or not isinstance(error, ListWatchError | OSError)
        ):
            # The next attempt decodes all objects, in case that one of them was recognized wrongly.
            self._round.known = cast("RecognizingSource[T]", self._source)._new_known_objects()
        self._outcome = str(error)
        if self._round.span is not None:
            self._round.span.record_exception(error)
        self._machine.fail(error, now=now)

    def _reset_failures(self) -> None:
        if self._failures:
            self._report.recovered(self.name, self._failures)
            self._failures = 0
            self._last_error = None
            self._retry_backoff.restart()

    def _end_failures_if_stable(self, now: float) -> None:
        if self._opened_at is not None and now - self._opened_at >= _STABLE:
            self._reset_failures()

    def _report_failure(self, error: Exception, delay: float) -> None:
        self._failures += 1
        self._last_error = error
        self._report(Problem(self.name, error, self._failures, delay))

    async def _back_off(self, state: BackingOff[T]) -> None:
        delay = self._next_delay(state.delay)
        if delay and isinstance(state.problem, APIError):
            delay = max(delay, min(state.problem.retry_after or 0.0, MAX_RETRY_AFTER))
        if state.problem is not None:
            self._report_failure(state.problem, delay)
        if delay:
            await self._clock.sleep(delay)

    def _delay_retry(self, error: Exception, delay: float) -> float:
        """Report an attempt that the client will repeat; return the delay before the next one."""
        now = self._clock.monotonic()
        if isinstance(error, APIError):
            self._last_contact = now  # it has chosen the delay itself
        else:
            delay = max(delay, self._retry_backoff.next_delay(now))
        if not self._budget.take(now):
            delay = max(delay, self._backoff.next_delay(now))
            self._budget.grant(now + delay)
        self._report_failure(error, delay)
        return delay

    async def _wait_for_budget(self) -> None:
        now = self._clock.monotonic()
        if self._budget.take(now):
            return
        delay = self._backoff.next_delay(now)
        seconds = self._budget.seconds_since_full(now)
        error = ProtocolError(
            f"{self._budget.spent} requests in {seconds:.0f} s made no progress; the last one led to: {self._outcome}"
        )
        self._report_failure(error, delay)
        await self._clock.sleep(delay)
        self._budget.grant(self._clock.monotonic())

    def _next_delay(self, delay: Delay) -> float:
        match delay:
            case Delay.NONE:
                return 0.0
            case Delay.BACKOFF:
                return self._backoff.next_delay(self._clock.monotonic())
            case Delay.DENIED:
                return self._denied_backoff.next_delay(self._clock.monotonic())

    def _report_skipped(self, error: ListWatchError) -> None:
        self._skipped += 1
        self._report(Problem(self.name, error, 0, 0.0))

    def _report_violation(self, error: ListWatchError) -> None:
        self._report(Problem(self.name, error, 0, 0.0))


@dataclass(slots=True)
class _Round:
    """One complete list, by pages or by a stream, with all attempts that it takes."""

    started_at: float
    reason: str = ""
    """Why the source is listed again; empty for the first list."""
    by: str = ""
    """How it was read; empty before it is complete."""
    known: KnownObjects | None = None
    """The cached objects that it may contain unchanged."""
    span: Span | None = None
    """Its span, until it is complete, if it is traced."""


def _repeated(batch: Iterable[BatchedEvent[T]]) -> int:
    """How many more events a batch has than elements."""
    return sum(len(each.objects) - 1 for each in batch if isinstance(each, UnchangedEvents))


@dataclass(frozen=True, slots=True)
class _Resumed:
    """A version from which the watch is resumed, and which the source has not confirmed."""

    is_same_source: Callable[[], Awaitable[bool]]
    on_confirmed: Callable[[str], None]


@dataclass(slots=True)
class _InitialEventsLimit:
    deadline: InitialEventsDeadline
    error: WatchClosedError | None = None
