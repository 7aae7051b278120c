"""Lists and watches a source, and writes every change to a store, until cancelled.

`reflector_state.py` decides which request is next. A source detects a dead peer itself and raises; the reflector then
resumes the watch. `client/rest/streams.py` has the rules for the watches of a client.
"""

from __future__ import annotations

import asyncio
import logging
import random as _random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Generic, TypedDict, TypeVar

from listwatch.backoff import REFLECTOR_BACKOFF, REFLECTOR_RESET, Backoff, ResettingBackoff
from listwatch.cancellation import cancelled_wait, is_being_cancelled
from listwatch.clock import Clock, SystemClock
from listwatch.cooperative import TIME_SLICE
from listwatch.errors import ListWatchError, WatchClosedError
from listwatch.informer.list_watch import ListerWatcher, ListWatch, WatchSource, batches_of
from listwatch.informer.reflector_state import (
    BackingOff,
    Delay,
    ListRequest,
    ReflectorMachine,
    ReflectorStore,
    Request,
    StreamRequest,
    WatchRequest,
)
from listwatch.informer.validation import check_number, check_source
from listwatch.objects.object import Object

__all__ = ["Problem", "Reflector", "ReflectorOptions", "ReflectorStatistics", "guarded_reporter", "log_problem"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger("listwatch.informer")

MIN_WATCH = 300.0
"""Seconds. A watch is requested for this time and up to twice as long, so that many watches do not end at once."""

_DENIED_BACKOFF = Backoff(initial=5.0, factor=2.0, cap=120.0, jitter=0.5)
_MAX_PAUSE = 10.0
"""How long the initial events of a stream may pause before the server is assumed not to support streaming."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error of an informer or reflector; the request is retried, or the object was skipped."""

    source: str
    error: Exception
    attempt: int
    """How many requests in a row have failed; 0 for an error that is not a failed request."""
    delay: float
    """Seconds until the next request."""


@dataclass(frozen=True, slots=True)
class ReflectorStatistics:
    """The state of a reflector, and the numbers of its requests and events."""

    resource_version: str
    is_watching: bool
    lists: int
    watches: int
    events: int
    failures_in_a_row: int
    last_error: Exception | None


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

    `on_problem` receives every error of a request or a stream; without it they are logged. None ends the reflector.
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
    ) -> None:
        check_source(source, kind)
        check_number(min_watch, "min_watch must be a number of seconds")
        check_number(internal_error_window, "internal_error_window must be a number of seconds")
        if page_size is not None:
            check_number(page_size, "page_size must be a number of objects, or None")
        self.name = name or kind.__name__
        self._source = source.of_kind(kind) if isinstance(source, ListWatch) else source
        self._clock = clock or SystemClock()
        self._random = random or _random.Random()
        self._min_watch = max(min_watch, MIN_WATCH)
        self._on_problem = guarded_reporter(on_problem)
        self._backoff = ResettingBackoff(backoff, reset=REFLECTOR_RESET, random=self._random)
        self._denied_backoff = ResettingBackoff(_DENIED_BACKOFF, reset=2 * _DENIED_BACKOFF.cap, random=self._random)
        self._machine = ReflectorMachine(
            store,
            kind,
            page_size=page_size,
            streaming=streaming and getattr(source, "supports_streaming", True),
            internal_error_window=internal_error_window,
            on_skipped=self._report_skipped,
        )
        self._lists = self._watches = self._events = self._failures = 0
        self._last_error: Exception | None = None

    def __repr__(self) -> str:
        state = "watching" if self._machine.is_watching else "not synced"
        return f"<Reflector {self.name} {state} @{self._machine.version}>"

    @property
    def last_sync_resource_version(self) -> str:
        """The version of the last list or event that was received; empty before the first list."""
        return self._machine.version

    def statistics(self) -> ReflectorStatistics:
        """Counters and current state."""
        return ReflectorStatistics(
            resource_version=self._machine.version,
            is_watching=self._machine.is_watching,
            lists=self._lists,
            watches=self._watches,
            events=self._events,
            failures_in_a_row=self._failures,
            last_error=self._last_error,
        )

    async def run(self) -> None:
        """Read the source until cancelled."""
        while True:
            try:
                await self._send(self._machine.next_request())
            except Exception as error:  # noqa: BLE001  # a source may raise anything; the request is retried
                self._machine.fail(error, now=self._clock.monotonic())
            except asyncio.CancelledError as error:
                self._machine.fail(cancelled_wait("the source", error), now=self._clock.monotonic())
            if is_being_cancelled():
                raise asyncio.CancelledError  # the source has swallowed it
            if isinstance(self._machine.state, BackingOff):
                await self._back_off(self._machine.state)

    # --- requests ------------------------------------------------------------------------------------------------

    async def _send(self, request: Request) -> None:
        match request:
            case ListRequest(resource_version, limit, continue_token):
                self._lists += 1
                page = await self._source.list(
                    resource_version=resource_version, limit=limit, continue_token=continue_token
                )
                for _ in self._machine.receive_page(request, page):
                    await asyncio.sleep(0)
                self._reset_failures()
            case StreamRequest(resource_version):
                await self._read(
                    self._source.watch(
                        resource_version=resource_version,
                        resource_version_match="NotOlderThan",
                        send_initial_events=True,
                        allow_watch_bookmarks=True,
                        timeout_seconds=self._timeout_seconds(),
                    )
                )
            case WatchRequest(resource_version):
                await self._read(
                    self._source.watch(
                        resource_version=resource_version,
                        allow_watch_bookmarks=True,
                        timeout_seconds=self._timeout_seconds(),
                    )
                )

    def _timeout_seconds(self) -> int:
        return int(self._min_watch * (1 + self._random.random()))

    async def _read(self, watch: WatchSource[T]) -> None:
        self._watches += 1
        started, events_before = self._clock.monotonic(), self._events
        loop_time = asyncio.get_running_loop().time
        yield_at = loop_time() + TIME_SLICE
        async with self._limit_pauses() as pauses, watch as stream:
            async for batch in batches_of(stream):
                events = batch if isinstance(batch, list | tuple) else tuple(batch)
                self._events += len(events)
                self._machine.receive(events)
                pauses.last_event = self._clock.monotonic()
                self._reset_failures()
                if loop_time() > yield_at:
                    await asyncio.sleep(0)
                    yield_at = loop_time() + TIME_SLICE
        if pauses.error is not None and self._machine.reads_initial_events:
            self._machine.miss_initial_events_end(pauses.error)
        else:
            elapsed = self._clock.monotonic() - started
            self._machine.end(elapsed=elapsed, events=self._events - events_before)

    @asynccontextmanager
    async def _limit_pauses(self) -> AsyncIterator[_PauseLimit]:
        """End the block if initial events pause for too long without the bookmark that ends them; `error` is then set.

        Such a server is alive, but does not support streaming.
        """
        limit = _PauseLimit(self._clock.monotonic())
        if not self._machine.reads_initial_events:
            yield limit
            return
        try:
            async with asyncio.timeout(None) as scope:
                waiting = asyncio.create_task(self._wait_for_pause(limit, scope), name="pause of initial events")
                try:
                    yield limit
                finally:
                    waiting.cancel()
        except TimeoutError:
            if limit.error is None:
                raise

    async def _wait_for_pause(self, limit: _PauseLimit, scope: asyncio.Timeout) -> None:
        # A clock may wake a sleeper a rounding error early.
        while (left := limit.last_event + _MAX_PAUSE - self._clock.monotonic()) > 1e-6:
            await self._clock.sleep(left)
            if not self._machine.reads_initial_events:
                return
        limit.error = WatchClosedError(
            f"the server did not end the initial events with a bookmark within {_MAX_PAUSE:.0f} s; "
            "it does not support streaming lists and will be listed instead"
        )
        scope.reschedule(asyncio.get_running_loop().time())

    # --- failures ------------------------------------------------------------------------------------------------

    def _reset_failures(self) -> None:
        self._failures = 0
        self._last_error = None

    async def _back_off(self, state: BackingOff[T]) -> None:
        delay = self._next_delay(state.delay)
        if state.problem is not None:
            self._failures += 1
            self._last_error = state.problem
            self._on_problem(Problem(self.name, state.problem, self._failures, delay))
        if delay:
            await self._clock.sleep(delay)

    def _next_delay(self, delay: Delay) -> float:
        match delay:
            case Delay.NONE:
                return 0.0
            case Delay.BACKOFF:
                return self._backoff.next_delay(self._clock.monotonic())
            case Delay.DENIED:
                return self._denied_backoff.next_delay(self._clock.monotonic())

    def _report_skipped(self, error: ListWatchError) -> None:
        self._on_problem(Problem(self.name, error, 0, 0.0))


@dataclass(slots=True)
class _PauseLimit:
    last_event: float
    error: WatchClosedError | None = None


def guarded_reporter(on_problem: Callable[[Problem], None] | None) -> Callable[[Problem], None]:
    """Return a function that calls `on_problem` and logs its exceptions; without `on_problem`, one that logs."""
    if on_problem is None:
        return log_problem

    def report(problem: Problem) -> None:
        try:
            on_problem(problem)
        except Exception:  # noqa: BLE001  # user code; the source must still be read
            _log.exception(
                "%s: on_problem failed on: %s", problem.source, problem.error, extra={"source": problem.source}
            )

    return report


def log_problem(problem: Problem) -> None:
    """Log a problem: the first of a series as a warning, the others for debugging."""
    level = logging.WARNING if problem.attempt <= 1 else logging.DEBUG
    retry = f"; next attempt in {problem.delay:.1f} s" if problem.delay else ""
    fields = {"source": problem.source, "attempt": problem.attempt, "delay": problem.delay}
    _log.log(level, "%s: %s%s", problem.source, problem.error, retry, extra=fields)
