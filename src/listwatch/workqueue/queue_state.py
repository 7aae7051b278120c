"""The state machine of a work queue: decides which item is next. `queue.py` waits and wakes.

add ──────────────▶ waiting ──take──▶ processing ──done──▶ removed
add_after ─▶ delayed ──▲                  │ add, meanwhile
                       └──────done──── re-added
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Generic, TypeVar

import msgspec

from listwatch.errors import UsageError

__all__ = [
    "DURATION_BOUNDS",
    "LOW_PRIORITY",
    "DurationSummary",
    "Durations",
    "Entry",
    "QueueState",
    "WorkQueueStatistics",
    "check_delay",
    "check_hashable",
]

ItemT = TypeVar("ItemT")

LOW_PRIORITY: Final = -100
"""The priority of items that can wait: objects of an initial list, and resyncs."""

DURATION_BOUNDS: Final = tuple(10.0**exponent for exponent in range(-8, 2))
"""The upper bounds of histogram buckets in seconds: 10 ns, 100 ns, … 10 s."""

_OLDEST_EVERY: Final = 8
"""One of this many items taken is the oldest one, regardless of its priority."""

# The heap is rebuilt when it has this many more superseded entries than current ones.
_SUPERSEDED_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class DurationSummary:
    """A histogram of durations: their number, sum and maximum, and cumulative counts per bucket."""

    count: int
    total: float
    longest: float
    buckets: tuple[int, ...]
    """How many were not longer than each of DURATION_BOUNDS."""

    @property
    def mean(self) -> float:
        """The average duration; 0 if there is none."""
        return self.total / self.count if self.count else 0.0


class Durations:
    """Collects durations into a histogram."""

    __slots__ = ("_counts", "_longest", "_total")

    def __init__(self) -> None:
        self._counts = [0] * (len(DURATION_BOUNDS) + 1)
        self._total = 0.0
        self._longest = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(DURATION_BOUNDS, seconds)] += 1
        self._total += seconds
        if seconds > self._longest:
            self._longest = seconds

    def summary(self) -> DurationSummary:
        *buckets, count = accumulate(self._counts)
        return DurationSummary(count, self._total, self._longest, tuple(buckets))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkQueueStatistics:
    """The contents and counters of a work queue at one moment; durations are in seconds."""

    name: str
    depth: int
    """Items that wait."""
    processing: int
    """Items that were taken and are not done."""
    readded: int
    """Items in process that were added again meanwhile."""
    delayed: int
    adds: int
    retries: int
    """Items added with a delay."""
    taken: int
    rejected: int
    """Items that were added after the shutdown."""
    longest_running: float
    unfinished: float
    """The sum of the processing times so far of all items in process."""
    queue_duration: DurationSummary
    work_duration: DurationSummary
    is_shut_down: bool


class Entry(msgspec.Struct, Generic[ItemT]):
    """A waiting item. If its priority was raised, it is in the lines of several priorities, and is taken once.

    A Struct, because creating another object would take a third of the time of `add`.
    """

    item: ItemT
    priority: int
    since: float
    order: int = 0
    """Among all waiting items."""
    is_taken: bool = False


@dataclass(slots=True)
class _Delayed(Generic[ItemT]):
    item: ItemT
    ready_at: float
    order: int
    priority: int


class QueueState(Generic[ItemT]):
    """An item is waiting, in process, or in process and re-added; it never waits twice.

    Items of higher priority are taken first, those of equal priority in the order in which they were added. Every
    eighth item taken is the oldest one, so that no item waits forever. Independently of that an item may be delayed: it
    is added when its delay is over.
    """

    def __init__(self) -> None:
        self._waiting: dict[ItemT, Entry[ItemT]] = {}
        self._readded: dict[ItemT, Entry[ItemT]] = {}
        self._processing: dict[ItemT, float] = {}
        self._lines: dict[int, deque[Entry[ItemT]]] = {}
        self._delayed: dict[ItemT, _Delayed[ItemT]] = {}
        self._ready_times: list[tuple[float, int, ItemT]] = []
        self._orders = 0
        self._adds = self._retries = self._taken = self._rejected = 0
        self._queue_durations = Durations()
        self._work_durations = Durations()
        self.is_shut_down = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether no item waits and none is in process; some may be delayed."""
        return not self._waiting and not self._processing

    # --- adding ------------------------------------------------------------------------------------------------------

    def add(self, item: ItemT, *, priority: int, now: float) -> None:
        """Add an item; an item that waits already is not added twice."""
        if self.is_shut_down:
            self._rejected += 1
            return
        if priority.__class__ is not int:
            _check_priority(item, priority)
        if self._ready_times:
            self.catch_up(now)
        try:
            self._add(item, priority, now)
        except TypeError:
            check_hashable(item)
            raise

    def add_after(self, item: ItemT, delay: float, *, priority: int, now: float) -> None:
        """Add an item after `delay` seconds; if it is delayed already, the earlier time counts."""
        check_delay(item, delay)
        _check_priority(item, priority)
        self.catch_up(now)
        if delay <= 0 or self.is_shut_down:
            self.add(item, priority=priority, now=now)
        else:
            try:
                self._delay(item, now + delay, priority)
            except TypeError:
                check_hashable(item)
                raise
        self._retries += not self.is_shut_down

    def _add(self, item: ItemT, priority: int, now: float) -> None:
        if item in self._processing:
            entry = self._readded.get(item)
            if entry is None:
                self._adds += 1
                self._readded[item] = Entry(item, priority, now)
            elif priority > entry.priority:
                entry.priority = priority
            return
        entry = self._waiting.get(item)
        if entry is None:
            self._adds += 1
            self._enqueue(Entry(item, priority, now))
        elif priority > entry.priority:
            # It also stays in the line of the lower priority: raising the priority must not delay it.
            entry.priority = priority
            self._line_up(entry)

    def _enqueue(self, entry: Entry[ItemT]) -> None:
        entry.order = self._orders = self._orders + 1
        self._waiting[entry.item] = entry
        line = self._lines.get(entry.priority)
        if line is None:
            self._lines[entry.priority] = deque((entry,))
        else:
            line.append(entry)

    def _line_up(self, entry: Entry[ItemT]) -> None:
        line = self._lines.get(entry.priority)
        if line is None:
            line = self._lines[entry.priority] = deque()
        line.append(entry)

    # --- taking ------------------------------------------------------------------------------------------------------

    def take(self, now: float) -> Entry[ItemT] | None:
        """The next item, which is in process from now on; None if none waits."""
        if self._ready_times:
            self.catch_up(now)
        waiting, lines = self._waiting, self._lines
        if not waiting:
            return None
        if len(lines) == 1:  # the usual case, without a call
            (line,) = lines.values()
            while (entry := line.popleft()).is_taken:
                pass
        else:
            entry = self._first()
        entry.is_taken = True
        self._taken += 1
        item = entry.item
        del waiting[item]
        if not waiting:
            lines.clear()  # only duplicates of items that were taken are left
        self._processing[item] = now
        self._queue_durations.add(now - entry.since)
        return entry

    def done(self, item: ItemT, *, now: float) -> None:
        """End the processing of an item; if it was re-added meanwhile, it waits again."""
        if self._ready_times:
            self.catch_up(now)
        started = self._processing.pop(item, None)
        if started is None:
            return
        self._work_durations.add(now - started)
        entry = self._readded.pop(item, None) if self._readded else None
        if entry is not None:
            self._enqueue(entry)

    def shut_down(self, *, now: float) -> None:
        """Reject further items and drop delayed ones; waiting items can still be taken."""
        self.catch_up(now)
        self.is_shut_down = True
        self._delayed.clear()
        self._ready_times.clear()

    def _first(self) -> Entry[ItemT]:
        lines = self._lines
        takes_oldest = len(lines) > 1 and self._taken % _OLDEST_EVERY == _OLDEST_EVERY - 1
        while True:
            priority = min(lines, key=lambda each: lines[each][0].order) if takes_oldest else max(lines)
            line = lines[priority]
            entry = line.popleft()
            if not line:
                del lines[priority]
            if not entry.is_taken:
                return entry

    # --- delays ------------------------------------------------------------------------------------------------------

    def catch_up(self, now: float) -> None:
        """Add the delayed items that are ready, each as of the time when it became ready."""
        if self._ready_times and self._ready_times[0][0] <= now:
            self._add_ready(now)

    def next_ready(self) -> float | None:
        """When the first delayed item becomes ready; None if there is none."""
        times = self._ready_times
        while times and not self._is_current(times[0]):
            heapq.heappop(times)
        return times[0][0] if times else None

    def _delay(self, item: ItemT, ready_at: float, priority: int) -> None:
        delayed = self._delayed.get(item)
        if delayed is not None:
            delayed.priority = max(delayed.priority, priority)
            if delayed.ready_at <= ready_at:
                return
            priority = delayed.priority
        self._orders += 1
        self._delayed[item] = _Delayed(item, ready_at, self._orders, priority)
        heapq.heappush(self._ready_times, (ready_at, self._orders, item))
        if len(self._ready_times) > 2 * len(self._delayed) + _SUPERSEDED_KEPT:
            self._ready_times = list(filter(self._is_current, self._ready_times))
            heapq.heapify(self._ready_times)

    def _add_ready(self, now: float) -> None:
        while (ready_at := self.next_ready()) is not None and ready_at <= now:
            item = heapq.heappop(self._ready_times)[2]
            self._add(item, self._delayed.pop(item).priority, ready_at)

    def _is_current(self, entry: tuple[float, int, ItemT]) -> bool:
        delayed = self._delayed.get(entry[2])
        return delayed is not None and delayed.order == entry[1]

    # --- statistics --------------------------------------------------------------------------------------------------

    # Any thread may call these, so they change nothing and iterate over copies, each made in one step.

    def depth(self, now: float) -> int:
        """How many items wait, delayed ones that are ready included."""
        is_one_ready = any(ready_at <= now for ready_at, _, _ in self._ready_times[:1])
        return self.statistics(name="", now=now).depth if is_one_ready else len(self._waiting)

    def delay_of(self, item: ItemT, now: float) -> float | None:
        """Seconds until a delayed item is added; None if it is not delayed."""
        delayed = self._delayed.get(item)
        return None if delayed is None else max(delayed.ready_at - now, 0.0)

    def statistics(self, *, name: str, now: float) -> WorkQueueStatistics:
        """The contents and counters at this moment."""
        running = [now - started for started in [*self._processing.values()]]
        delayed = [*self._delayed.values()]
        ready = [each.item for each in delayed if each.ready_at <= now]
        added = [item for item in ready if item not in self._waiting and item not in self._readded]
        readded = sum(item in self._processing for item in added)
        return WorkQueueStatistics(
            name=name,
            depth=len(self._waiting) + len(added) - readded,
            processing=len(running),
            readded=len(self._readded) + readded,
            delayed=len(delayed) - len(ready),
            adds=self._adds + len(added),
            retries=self._retries,
            taken=self._taken,
            rejected=self._rejected,
            longest_running=max(running, default=0.0),
            unfinished=math.fsum(running),
            queue_duration=self._queue_durations.summary(),
            work_duration=self._work_durations.summary(),
            is_shut_down=self.is_shut_down,
        )


def check_delay(item: object, delay: object) -> None:
    """Reject a delay that is not a finite number."""
    if not isinstance(delay, int | float) or not math.isfinite(delay):
        raise UsageError(f"cannot add {item!r} to a work queue after {delay!r} seconds: pass a finite number")


def _check_priority(item: object, priority: int) -> None:
    """Reject a priority that cannot be compared with others."""
    if not isinstance(priority, int):
        raise UsageError(f"cannot add {item!r} to a work queue with priority={priority!r}: pass an int")


def check_hashable(item: object) -> None:
    """Reject an item that cannot be deduplicated."""
    try:
        hash(item)
    except TypeError:
        raise UsageError(
            f"cannot add {item!r} to a work queue: a {type(item).__name__} is not hashable; "
            "add a key, as 'default/web-0' or an ObjectKey, and read the object from a cache"
        ) from None
