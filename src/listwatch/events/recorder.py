"""Records Kubernetes events about objects. `correlation.py` limits and combines similar events.

    async with lw.EventRecorder(client.core_v1.events(), component="web-controller") as recorder:
        recorder.event(pod, "Warning", "BackOff", "restarting the container failed")

Given `client.events_v1.events()`, it writes events of events.k8s.io, with series instead of counts.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Final, Self, get_args
from uuid import UUID

from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import UsageError
from listwatch.events.correlation import Correlator
from listwatch.events.correlation_series import Series, SeriesCorrelator
from listwatch.events.event_bodies import core_body, core_patch, series_body, series_patch
from listwatch.events.occurrence import EventType, Occurrence, Source, reference_to
from listwatch.events.writer import EventSink, EventWrite, EventWriter
from listwatch.tasks.callers import SelfWaitError
from listwatch.wording import counted

__all__ = ["EventRecorder", "EventRecorderStatistics"]

_log = logging.getLogger("listwatch.events")

_EVENTS_GROUP: Final = "events.k8s.io"
_MAX_NAME_LENGTH: Final = 253
_MAX_REASON_LENGTH: Final = 128
_DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRecorderStatistics:
    """The outcomes of the recorded events."""

    component: str
    recorded: int
    pending: int
    created: int
    patched: int
    """Written as an update of an earlier event."""
    counted: int
    """Added to a series that is written later."""
    filtered: int
    """Not written, because there were too many about the object."""
    dropped: int
    """Not written, because the queue was full or the recorder closed."""
    failed: int
    retries: int


class EventRecorder:
    """Records events from any thread without waiting, and writes them in the background while it is open.

    At most `queue_size` events are queued; further ones are dropped, and so are those not written `flush_timeout`
    seconds after closing. Failures to write are logged and counted in `statistics()`, never raised.
    """

    def __init__(
        self,
        events: EventSink,
        *,
        component: str,
        instance: str = "",
        queue_size: int = 1000,
        flush_timeout: float = 5.0,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        self._source = Source(_checked_component(component), instance or socket.gethostname())
        self._clock = clock or SystemClock()
        self._random = random or Random()
        self._writer = EventWriter(events, clock=self._clock, random=self._random)
        self._uses_series = _group_of(events) == _EVENTS_GROUP
        self._correlator, self._series = Correlator(), SeriesCorrelator()
        self._queue_size = queue_size
        self._flush_timeout = flush_timeout
        self._pending: deque[Occurrence] = deque()
        self._due_writes: deque[EventWrite] = deque()
        self._recorded = self._counted = self._filtered = self._dropped = 0
        self._lock = threading.Lock()
        self._last_stamp = 0
        self._is_closed = False
        self._is_full = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._awake, self._idle = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # --- recording ---------------------------------------------------------------------------------------------------

    def event(
        self,
        obj: object,
        type: EventType,
        reason: str,
        message: str,
        *,
        action: str = "",
        related: object = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record an event about an object, an ObjectReference or a manifest.

        The reason is one CamelCase word, as `FailedMount`; the message is a human-readable sentence. The action is what
        was done; events.k8s.io requires one, and the default there is the reason.
        """
        _check(obj, type, reason, message, action)
        regarding, at = reference_to(obj), self._clock.now()
        occurrence = Occurrence(
            name=self._new_name(regarding.name, at),
            regarding=regarding,
            type=type,
            reason=reason,
            message=message.encode(errors="replace").decode(),  # lone surrogates cannot be encoded
            at=at,
            action=action or (reason if self._uses_series else ""),
            related=None if related is None else reference_to(related),
            annotations=dict(annotations) if annotations else None,
        )
        with self._lock:
            self._recorded += 1
            self._put(occurrence)

    def statistics(self) -> EventRecorderStatistics:
        """The outcomes of the recorded events."""
        return EventRecorderStatistics(
            component=self._source.component,
            recorded=self._recorded,
            pending=len(self._pending),
            created=self._writer.created,
            patched=self._writer.patched,
            counted=self._counted,
            filtered=self._filtered,
            dropped=self._dropped,
            failed=self._writer.failed,
            retries=self._writer.retries,
        )

    def _new_name(self, of: str, at: datetime) -> str:
        # Random nanoseconds make names unique if events happen at the same time, in this replica or another.
        stamp = round(at.timestamp() * 1e6) * 1000 + self._random.randrange(1000)
        with self._lock:
            stamp = self._last_stamp = max(stamp, self._last_stamp + 1)
        name = f"{of}.{stamp:x}"
        if len(name) <= _MAX_NAME_LENGTH and _DNS_SUBDOMAIN.fullmatch(name):
            return name
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _put(self, occurrence: Occurrence) -> None:
        if self._is_closed or len(self._pending) >= self._queue_size:
            self._drop(occurrence)
            return
        if len(self._pending) <= self._queue_size // 2:
            self._is_full = False
        self._pending.append(occurrence)
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(self._awake.set)

    def _drop(self, occurrence: Occurrence) -> None:
        self._dropped += 1
        if not self._is_full:
            self._is_full = True  # logged once, until the queue is at most half full
            cause = "the recorder is closed" if self._is_closed else f"{self._queue_size} events are queued"
            _log.warning(
                "Dropping events, first %s about %s: %s",
                occurrence.reason,
                occurrence.regarding.name,
                cause,
                extra={"component": self._source.component},
            )

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        if self._task is not None or self._is_closed:
            raise UsageError(f"{self!r} was opened before: create a new one")
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name=f"events of {self._source.component}")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def flush(self, *, timeout: float | None = None) -> None:
        """Wait until all recorded events are written; raises TimeoutError."""
        if self._task is None:
            raise UsageError(f"{self!r} is not open: use it in `async with`")
        if self._task.done():
            return
        self._check_not_writing()
        self._idle.clear()
        self._awake.set()
        async with time_limit(self._clock, timeout):
            await self._idle.wait()

    async def aclose(self) -> None:
        """Reject further events, and write the queued ones and the counts of series within `flush_timeout`."""
        self._check_not_writing()
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if self._task is None or was_closed:
            return
        try:
            with suppress(TimeoutError):
                await self.flush(timeout=self._flush_timeout)
        finally:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._count_unwritten()
            self._idle.set()  # ends a concurrent flush

    def _check_not_writing(self) -> None:
        if self._task is not None and self._task is asyncio.current_task():
            raise SelfWaitError(f"{self!r} was called by its own write, and would wait for it: call it in another task")

    def _count_unwritten(self) -> None:
        # Queued events, and series whose count grew.
        left = len(self._pending) + len(self._due_writes) + len(self._due())
        if left:
            _log.warning(
                "Dropped, because they were not written in time: %s",
                counted(left, "event"),
                extra={"component": self._source.component, "count": left},
            )
        self._dropped += left
        self._pending.clear()
        self._due_writes.clear()

    # --- writing -----------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._awake.clear()
            while self._pending:
                for event in self._correlate(self._pending[0]):
                    await self._writer.write(event)
                self._pending.popleft()
            self._due_writes.extend(self._due())
            while self._due_writes:
                await self._writer.write(self._due_writes[0])
                self._due_writes.popleft()
            # A flush or close that was requested during this pass waits for another one.
            if not self._pending and not self._awake.is_set():
                self._idle.set()
            await self._wait_for_work()

    async def _wait_for_work(self) -> None:
        due = self._series.next_due()
        delay = None if due == math.inf else max(due - self._clock.monotonic(), 1e-6)
        with suppress(TimeoutError):
            async with time_limit(self._clock, delay):
                await self._awake.wait()

    def _correlate(self, occurrence: Occurrence) -> Iterator[EventWrite]:
        now = self._clock.monotonic()
        if self._uses_series:
            series = self._series.observe(occurrence, now=now)
            if series is None:
                self._counted += 1
            else:
                yield self._write_of(series)
            return
        counted = self._correlator.correlate(occurrence, now=now)
        if counted is None:
            self._filtered += 1
        else:
            patch = core_patch(counted) if counted.is_repeated else None
            yield EventWrite(counted.occurrence, counted.name, core_body(counted, self._source), patch)

    def _due(self) -> list[EventWrite]:
        now = self._clock.monotonic()
        return [*map(self._write_of, self._series.unwritten(now=now) if self._is_closed else self._series.due(now=now))]

    def _write_of(self, series: Series) -> EventWrite:
        patch = series_patch(series) if series.is_repeated else None
        return EventWrite(series.occurrence, series.occurrence.name, series_body(series, self._source), patch)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open" if self._task else "not opened"
        return f"<EventRecorder of {self._source.component!r}: {len(self._pending)} pending, {state}>"


def _group_of(events: EventSink) -> str:
    kind = getattr(events, "kind", None)
    gvk = getattr(kind, "gvk", None)
    if gvk is None or gvk.kind != "Event":
        raise UsageError(f"EventRecorder({events!r}): expected client.core_v1.events() or client.events_v1.events()")
    return str(gvk.group)


def _checked_component(component: str) -> str:
    if not component:
        raise UsageError("EventRecorder() needs component=, the name of the program that records the events")
    return component


def _check(obj: object, type: str, reason: str, message: str, action: str) -> None:
    for what, text in (("type", type), ("reason", reason), ("message", message), ("action", action)):
        if not isinstance(text, str):
            raise UsageError(f"cannot record an event about {obj!r}: {what}={text!r} is not a str")
    kinds = get_args(EventType)
    if type not in kinds:
        raise UsageError(f"cannot record an event about {obj!r}: type={type!r} is not one of {', '.join(kinds)}")
    if not reason:
        raise UsageError(
            f"cannot record an event about {obj!r}: it needs a reason, a CamelCase word such as 'FailedMount'"
        )
    for what, text in (("reason", reason), ("action", action)):
        if len(text.encode(errors="replace")) > _MAX_REASON_LENGTH:
            raise UsageError(
                f"cannot record an event about {obj!r}: its {what} is longer than {_MAX_REASON_LENGTH} bytes; "
                "put details into the message"
            )
