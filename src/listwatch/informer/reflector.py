"""Reads a source and tells a store what it sees, until cancelled. `reflector_state.py` decides what it does next.

A source notices a dead peer itself and raises; the reflector then resumes the watch. `client/rest/watch_stream.py` has
the rules for the watches of a client.
"""

from __future__ import annotations

import asyncio
import logging
import random as _random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

from listwatch.backoff import REFLECTOR_BACKOFF, REFLECTOR_RESET, Backoff, ResettingBackoff
from listwatch.clock import Clock, SystemClock
from listwatch.cooperative import TimeSlice
from listwatch.errors import ListWatchError, WatchClosedError
from listwatch.informer.cancellation import is_being_cancelled, waited_in_vain
from listwatch.informer.list_watch import ListerWatcher, ListWatch, batches_of, check_source
from listwatch.informer.reflector_state import (
    List,
    ReflectorState,
    ReflectorStore,
    Request,
    Stream,
    Verdict,
    Wait,
    Watch,
)
from listwatch.informer.validation import check_number
from listwatch.objects.object import Object

__all__ = ["Problem", "Reflector", "ReflectorStatistics", "log_problem", "reporter"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger("listwatch.informer")

MIN_WATCH = 300.0
"""Watches are asked for this long, and up to twice as long, so that many do not end at once."""

_DENIED_BACKOFF = Backoff(initial=5.0, factor=2.0, cap=120.0, jitter=0.5)
_QUIET = 10.0
"""How long the initial events may pause before their end mark is given up."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something went wrong while reading a source; it will be tried again, or was passed over."""

    source: str
    error: Exception
    attempt: int
    """How many requests in a row have failed, 0 for something that was passed over."""
    delay: float
    """Seconds until the next request."""


@dataclass(frozen=True, slots=True)
class ReflectorStatistics:
    """What a reflector has done so far, and how it is."""

    resource_version: str
    is_watching: bool
    lists: int
    watches: int
    events: int
    failures_in_a_row: int
    last_error: Exception | None


class Reflector(Generic[T]):
    """Keeps a store told of all that a source holds: what it held at first, then each change, in order.

    `on_problem` sees every error, in a stream or before it; without it they are logged. None ends the reflector.
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
        check_number(min_watch, "min_watch is a number of seconds")
        check_number(internal_error_window, "internal_error_window is a number of seconds")
        if page_size is not None:
            check_number(page_size, "page_size is a number of objects, or None")
        self.name = name or kind.__name__
        self._source = source.of_kind(kind) if isinstance(source, ListWatch) else source
        self._clock = clock or SystemClock()
        self._random = random or _random.Random()
        self._min_watch = max(min_watch, MIN_WATCH)
        self._on_problem = reporter(on_problem)
        self._backoff = ResettingBackoff(backoff, reset=REFLECTOR_RESET, random=self._random)
        self._denied = ResettingBackoff(_DENIED_BACKOFF, reset=2 * _DENIED_BACKOFF.cap, random=self._random)
        self._state = ReflectorState(
            store,
            kind,
            page_size=page_size,
            streaming=streaming and getattr(source, "supports_streaming", True),
            internal_error_window=internal_error_window,
            skipped=self._skipped,
        )
        self._lists = self._watches = self._events = self._failures = 0
        self._last_error: Exception | None = None

    @property
    def last_sync_resource_version(self) -> str:
        """The version up to which the store has been told everything; empty before the first list."""
        return self._state.version

    def statistics(self) -> ReflectorStatistics:
        return ReflectorStatistics(
            resource_version=self._state.version,
            is_watching=self._state.is_watching,
            lists=self._lists,
            watches=self._watches,
            events=self._events,
            failures_in_a_row=self._failures,
            last_error=self._last_error,
        )

    async def run(self) -> None:
        """Reflect until cancelled."""
        while True:
            request = self._state.next_request()
            try:
                verdict = await self._do(request)
            except Exception as error:  # noqa: BLE001  # a source may be anybody's: whatever it raises, it is tried again
                verdict = self._state.failed(request, error, now=self._clock.monotonic())
            except asyncio.CancelledError as error:
                in_vain = waited_in_vain("the source", error)
                verdict = self._state.failed(request, in_vain, now=self._clock.monotonic())
            if is_being_cancelled():
                raise asyncio.CancelledError  # the source has hidden it
            await self._follow(verdict)

    def __repr__(self) -> str:
        doing = "watching" if self._state.is_watching else "not in step"
        return f"<Reflector {self.name} {doing} @{self._state.version}>"

    # --- doing ---------------------------------------------------------------------------------------------------

    async def _do(self, request: Request) -> Verdict:
        match request:
            case List(resource_version, limit, continue_token):
                self._lists += 1
                page = await self._source.list(
                    resource_version=resource_version, limit=limit, continue_token=continue_token
                )
                for _ in self._state.listing(request, page):
                    await asyncio.sleep(0)
                self._worked()
                return Verdict()
            case Stream(resource_version):
                options: dict[str, Any] = {"send_initial_events": True, "resource_version_match": "NotOlderThan"}
                return await self._read(resource_version, **options)
            case Watch(resource_version):
                return await self._read(resource_version)

    async def _read(self, resource_version: str, **options: Any) -> Verdict:
        self._watches += 1
        seconds = int(self._min_watch * (1 + self._random.random()))
        started, seen = self._clock.monotonic(), self._events
        watch = self._source.watch(
            resource_version=resource_version, allow_watch_bookmarks=True, timeout_seconds=seconds, **options
        )
        time_slice = TimeSlice()
        async with _EndMarkGuard(self._clock, self._state).guarding() as guard, watch as stream:
            async for batch in batches_of(stream):
                events = batch if isinstance(batch, list | tuple) else tuple(batch)
                self._events += len(events)
                self._state.saw(events)
                guard.saw_something()
                self._worked()
                await time_slice.checkpoint()
        if guard.error is not None:
            return self._state.mark_is_missing(guard.error)
        return self._state.ended(elapsed=self._clock.monotonic() - started, events=self._events - seen)

    def _worked(self) -> None:
        self._failures = 0
        self._last_error = None

    async def _follow(self, verdict: Verdict) -> None:
        delay = self._delay(verdict.wait)
        if verdict.problem is not None:
            self._failures += 1
            self._last_error = verdict.problem
            self._on_problem(Problem(self.name, verdict.problem, self._failures, delay))
        if delay:
            await self._clock.sleep(delay)

    def _delay(self, wait: Wait) -> float:
        match wait:
            case Wait.NOT:
                return 0.0
            case Wait.BACKOFF:
                return self._backoff.next_delay(self._clock.monotonic())
            case Wait.DENIED:
                return self._denied.next_delay(self._clock.monotonic())

    def _skipped(self, error: ListWatchError) -> None:
        self._on_problem(Problem(self.name, error, 0, 0.0))


class _EndMarkGuard:
    """Ends a stream of initial events that pauses for too long without the bookmark that marks their end.

    Such a server is alive: it does not support the end mark. A dead peer is noticed by the watch itself.
    """

    def __init__(self, clock: Clock, state: ReflectorState[Any]) -> None:
        self._clock = clock
        self._state = state
        self._last_event = clock.monotonic()
        self.error: WatchClosedError | None = None

    def saw_something(self) -> None:
        self._last_event = self._clock.monotonic()

    @asynccontextmanager
    async def guarding(self) -> AsyncIterator[_EndMarkGuard]:
        """Guard the block while initial events are read; if the guard gives up, the block ends and `error` is set."""
        if not self._state.reads_initial_events:
            yield self
            return
        try:
            async with asyncio.timeout(None) as scope:
                waiting = asyncio.create_task(self._wait(scope), name="end mark of initial events")
                try:
                    yield self
                finally:
                    waiting.cancel()
        except TimeoutError:
            if self.error is None:
                raise

    async def _wait(self, scope: asyncio.Timeout) -> None:
        # A clock may wake a sleeper a rounding error early.
        while (left := self._last_event + _QUIET - self._clock.monotonic()) > 1e-6:
            await self._clock.sleep(left)
            if not self._state.reads_initial_events:
                return
        self.error = WatchClosedError(
            f"the server sent no end mark of the initial events within {_QUIET:.0f} s: it will be listed instead"
        )
        scope.reschedule(asyncio.get_running_loop().time())


def reporter(on_problem: Callable[[Problem], None] | None) -> Callable[[Problem], None]:
    """What takes problems: the function given, which harms nobody if it fails itself, or the log."""
    if on_problem is None:
        return log_problem

    def report(problem: Problem) -> None:
        try:
            on_problem(problem)
        except Exception:  # noqa: BLE001  # it is the user's function, and the source is still to be read
            _log.exception("%s: the function that takes problems failed on: %s", problem.source, problem.error)

    return report


def log_problem(problem: Problem) -> None:
    """Loud when it begins, quiet while it lasts."""
    level = logging.WARNING if problem.attempt <= 1 else logging.DEBUG
    again = f"; next try in {problem.delay:.1f} s" if problem.delay else ""
    _log.log(level, "%s: %s%s", problem.source, problem.error, again)
