"""The state machine of a work queue: decides which item is next. `queue.py` waits and wakes.

add ──────────────▶ waiting ──take──▶ processing ──done──▶ removed
add_after ─▶ delayed ──▲                  │ add, meanwhile
                       └──────done──── re-added
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from listwatch.errors import UsageError
from listwatch.histogram import GROUP, Histogram, HistogramSummary

__all__ = [
    "DURATION_BOUNDS",
    "LOW_PRIORITY",
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
    queue_duration: HistogramSummary
    work_duration: HistogramSummary
    is_shut_down: bool


Entry: TypeAlias = tuple[int, ItemT, int, float]
"""A waiting item: its order among all waiting items, the item, its priority, and since when it waits.

If its priority was raised, it is in the lines of several priorities, in entries of the same order, and is taken once. A
tuple, because creating another object would take a fifth of the time of `add`.
"""


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
        self._readded: dict[ItemT, tuple[int, float]] = {}  # the priority, and since when it waits
        self._processing: dict[ItemT, float] = {}
        self._lines: dict[int, deque[Entry[ItemT]]] = {}  # by priority; none is empty unless no item waits
        self._only_line: deque[Entry[ItemT]] | None = None  # if there is one line: the usual case
        self._delayed: dict[ItemT, _Delayed[ItemT]] = {}
        self._ready_times: list[tuple[float, int, ItemT]] = []
        self._enqueued = self._delays = 0
        self._retries = self._rejected = 0
        self._queue_durations = Histogram(DURATION_BOUNDS)
        self._work_durations = Histogram(DURATION_BOUNDS)
        self.is_shut_down = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether no item waits and none is in process; some may be delayed."""
        return not self._waiting and not self._processing

    # --- adding ------------------------------------------------------------------------------------------------------

    def add(self, item: ItemT, priority: int, now: float) -> None:
        """Add an item; an item that waits already is not added twice."""
        if self.is_shut_down:
            self._rejected += 1
            return
        if priority.__class__ is not int:
            _check_priority(item, priority)
        if self._ready_times:
            self.catch_up(now)
        try:
            if item in self._waiting or item in self._processing:
                self._add_again(item, priority, now)
            else:
                self._enqueue(item, priority, now)
        except TypeError:
            check_hashable(item)
            raise

    def add_after(self, item: ItemT, delay: float, *, priority: int, now: float) -> None:
        """Add an item after `delay` seconds; if it is delayed already, the earlier time counts."""
        check_delay(item, delay)
        _check_priority(item, priority)
        self.catch_up(now)
        if delay <= 0 or self.is_shut_down:
            self.add(item, priority, now)
        else:
            try:
                self._delay(item, now + delay, priority)
            except TypeError:
                check_hashable(item)
                raise
        self._retries += not self.is_shut_down

    def _add_again(self, item: ItemT, priority: int, now: float) -> None:
        """Add an item that waits, or is in process; the higher priority counts."""
        entry = self._waiting.get(item)
        if entry is not None:
            if priority > entry[2]:
                # It also stays in the line of the lower priority: raising the priority must not delay it.
                self._waiting[item] = raised = entry[0], item, priority, entry[3]
                self._line_up(raised)
            return
        readded = self._readded.get(item)
        if readded is None:
            self._readded[item] = priority, now
        elif priority > readded[0]:
            self._readded[item] = priority, readded[1]

    def _enqueue(self, item: ItemT, priority: int, since: float) -> None:
        self._enqueued = order = self._enqueued + 1
        self._waiting[item] = entry = order, item, priority, since
        line = self._lines.get(priority)
        if line is None:
            self._line_up(entry)
        else:
            line.append(entry)

    def _line_up(self, entry: Entry[ItemT]) -> None:
        lines, priority = self._lines, entry[2]
        line = lines.get(priority)
        if line is None:
            if self._only_line is not None and not self._only_line:
                lines.clear()
            line = lines[priority] = deque()
            self._only_line = line if len(lines) == 1 else None
        line.append(entry)

    # --- taking ------------------------------------------------------------------------------------------------------

    def take(self, now: float) -> Entry[ItemT] | None:
        """The next item, which is in process from now on; None if none waits."""
        if self._ready_times:
            self.catch_up(now)
        waiting, line = self._waiting, self._only_line
        if not waiting:
            return None
        if line is None:
            entry = self._first()
        else:  # the usual case, without a call
            entry = line.popleft()
            while waiting.get(entry[1]) is not entry:
                entry = line.popleft()
        item = entry[1]
        del waiting[item]
        if not waiting and (line is None or line):
            self._lines.clear()  # only duplicates of items that were taken are left
            self._only_line = None
        self._processing[item] = now
        recent = self._queue_durations.recent
        recent.append(now - entry[3])
        if len(recent) == GROUP:
            self._queue_durations.fold()
        return entry

    def done(self, item: ItemT, now: float) -> None:
        """End the processing of an item; if it was re-added meanwhile, it waits again."""
        if self._ready_times:
            self.catch_up(now)
        started = self._processing.pop(item, None)
        if started is None:
            return
        recent = self._work_durations.recent
        recent.append(now - started)
        if len(recent) == GROUP:
            self._work_durations.fold()
        if self._readded and (readded := self._readded.pop(item, None)) is not None:
            self._enqueue(item, *readded)

    def shut_down(self, *, now: float) -> None:
        """Reject further items and drop delayed ones; waiting items can still be taken."""
        self.catch_up(now)
        self.is_shut_down = True
        self._delayed.clear()
        self._ready_times.clear()

    def _first(self) -> Entry[ItemT]:
        """The next item of several lines."""
        lines, waiting = self._lines, self._waiting
        takes_oldest = self._queue_durations.count % _OLDEST_EVERY == _OLDEST_EVERY - 1
        while True:
            priority = min(lines, key=lambda each: lines[each][0][0]) if takes_oldest else max(lines)
            line = lines[priority]
            entry = line.popleft()
            if not line:
                del lines[priority]
                if len(lines) == 1:
                    (self._only_line,) = lines.values()
            current = waiting.get(entry[1])
            if current is not None and current[0] == entry[0]:
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
        self._delays += 1
        self._delayed[item] = _Delayed(item, ready_at, self._delays, priority)
        heapq.heappush(self._ready_times, (ready_at, self._delays, item))
        if len(self._ready_times) > 2 * len(self._delayed) + _SUPERSEDED_KEPT:
            self._ready_times = list(filter(self._is_current, self._ready_times))
            heapq.heapify(self._ready_times)

    def _add_ready(self, now: float) -> None:
        while (ready_at := self.next_ready()) is not None and ready_at <= now:
            item = heapq.heappop(self._ready_times)[2]
            priority = self._delayed.pop(item).priority
            if item in self._waiting or item in self._processing:
                self._add_again(item, priority, ready_at)
            else:
                self._enqueue(item, priority, ready_at)

    def _is_current(self, entry: tuple[float, int, ItemT]) -> bool:
        delayed = self._delayed.get(entry[2])
        return delayed is not None and delayed.order == entry[1]

    # --- statistics --------------------------------------------------------------------------------------------------

    # Any thread may call these, so they change nothing and iterate over copies, each made in one step.

    def depth(self, now: float) -> int:
        """How many items wait, delayed ones that are ready included."""
        is_one_ready = any(ready_at <= now for ready_at, _, _ in self._ready_times[:1])
        return self.statistics(name="", now=now).depth if is_one_ready else len(self._waiting)

    def waiting(self, now: float) -> list[tuple[ItemT, float]]:
        """The waiting items, and for how many seconds each has been waiting."""
        return [(item, now - since) for item, (_, _, _, since) in self._waiting.items()]

    def delay_of(self, item: ItemT, now: float) -> float | None:
        """Seconds until a delayed item is added; None if it is not delayed."""
        delayed = self._delayed.get(item)
        return None if delayed is None else max(delayed.ready_at - now, 0.0)

    def statistics(self, *, name: str, now: float) -> WorkQueueStatistics:
        """The contents and counters at this moment."""
        waited = self._queue_durations.summary()
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
            adds=self._enqueued + len(self._readded) + len(added),
            retries=self._retries,
            taken=waited.count,
            rejected=self._rejected,
            longest_running=max(running, default=0.0),
            unfinished=math.fsum(running),
            queue_duration=waited,
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
