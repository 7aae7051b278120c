"""The state machine of a work queue: decides which item is next. `queue.py` waits and wakes.

add ──────────────▶ waiting ──take──▶ processing ──done──▶ removed
add_after ─▶ delayed ──▲                  │ add, meanwhile
                       └──────done──── re-added
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from listwatch.errors import UsageError
from listwatch.histogram import GROUP, Histogram, HistogramSummary

__all__ = [
    "DURATION_BOUNDS",
    "LOW_PRIORITY",
    "NOTHING",
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

    def __add__(self, other: WorkQueueStatistics) -> WorkQueueStatistics:
        """The contents and counters of both queues together, under the name of this one."""
        return WorkQueueStatistics(
            name=self.name,
            depth=self.depth + other.depth,
            processing=self.processing + other.processing,
            readded=self.readded + other.readded,
            delayed=self.delayed + other.delayed,
            adds=self.adds + other.adds,
            retries=self.retries + other.retries,
            taken=self.taken + other.taken,
            rejected=self.rejected + other.rejected,
            longest_running=max(self.longest_running, other.longest_running),
            unfinished=self.unfinished + other.unfinished,
            queue_duration=self.queue_duration + other.queue_duration,
            work_duration=self.work_duration + other.work_duration,
            is_shut_down=self.is_shut_down,
        )


class Nothing(Enum):
    """What `take` returns if no item waits; an item may be None."""

    NOTHING = 0


NOTHING: Final = Nothing.NOTHING

Entry: TypeAlias = tuple[int, ItemT, int, float]
"""A waiting item: its order among those in lines, the item, its priority, and since when it waits."""

_ALSO_IN_QUEUE: Final = 0
"""The order of an item whose priority was raised: it is also in the queue of the usual items."""


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
        # Usually all items have one priority. Then they wait in a queue, and nothing is created for an item. Items of
        # another priority, and those that are added after them, are in lines. So those in lines are always newer.
        self.waiting: dict[ItemT, float | Entry[ItemT]] = {}
        """Since when each item waits, or the entry of an item in a line."""
        self.queue: deque[ItemT] = deque()
        self.queue_priority = 0
        self.is_usual_until = math.inf
        """Before this time the queue contains all waiting items, none is ready to be added, and new ones are accepted.

        It is -infinity while there are lines, and after the shutdown.
        """
        self._has_raised = False  # whether some items of the queue are in lines, too, or were taken from there
        self._lines: dict[int, deque[Entry[ItemT]]] = {}  # by priority; none is empty
        self._orders = _ALSO_IN_QUEUE
        self.readded: dict[ItemT, tuple[int, float]] = {}
        """The priority of each item in process that was added again, and since when it waits."""
        self.processing: dict[ItemT, float] = {}
        """When each item in process was taken."""
        self._delayed: dict[ItemT, _Delayed[ItemT]] = {}
        self._ready_times: list[tuple[float, int, ItemT]] = []
        self._delays = self._retries = self._rejected = self._discarded = 0
        self.queue_durations = Histogram(DURATION_BOUNDS)
        self.work_durations = Histogram(DURATION_BOUNDS)
        self.is_shut_down = False

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def is_idle(self) -> bool:
        """Whether no item waits and none is in process; some may be delayed."""
        return not self.waiting and not self.processing

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
            if item in self.waiting or item in self.processing:
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
        found = self.waiting.get(item)
        if found is not None:
            if priority > (found[2] if isinstance(found, tuple) else self.queue_priority):
                self._raise_priority(item, found, priority)
            return
        readded = self.readded.get(item)
        if readded is None:
            self.readded[item] = priority, now
        elif priority > readded[0]:
            self.readded[item] = priority, readded[1]

    def _raise_priority(self, item: ItemT, found: float | Entry[ItemT], priority: int) -> None:
        # It also keeps its position: raising the priority must not delay it.
        if isinstance(found, tuple):
            self._line_up((found[0], item, priority, found[3]))
        else:
            self._has_raised = True  # until the queue is empty
            self._line_up((_ALSO_IN_QUEUE, item, priority, found))

    def _enqueue(self, item: ItemT, priority: int, since: float) -> None:
        if not self._lines and not self._has_raised:
            if not self.queue:
                self.queue_priority = priority
            if priority == self.queue_priority:
                self.waiting[item] = since
                self.queue.append(item)
                return
        self._orders += 1
        self._line_up((self._orders, item, priority, since))

    def _line_up(self, entry: Entry[ItemT]) -> None:
        self.is_usual_until = -math.inf
        self.waiting[entry[1]] = entry
        line = self._lines.get(entry[2])
        if line is None:
            line = self._lines[entry[2]] = deque()
        line.append(entry)

    # --- taking ------------------------------------------------------------------------------------------------------

    def take(self, now: float) -> ItemT | Literal[Nothing.NOTHING]:
        """The next item, which is in process from now on; NOTHING if none waits."""
        if self._ready_times:
            self.catch_up(now)
        waiting = self.waiting
        if not waiting:
            return NOTHING
        if self._lines or self._has_raised:
            item = self._first()
            found = waiting.pop(item)
            since = found[3] if isinstance(found, tuple) else found
            if not waiting:  # only duplicates of items that were taken are left
                self._lines.clear()
                self.queue.clear()
                self._has_raised = False
            self._set_usual()
        else:
            item = self.queue.popleft()
            since = waiting.pop(item)  # type: ignore[assignment]  # there are no entries
        self.processing[item] = now
        recent = self.queue_durations.recent
        recent.append(now - since)
        if len(recent) >= GROUP:
            self.fold()
        return item

    def done(self, item: ItemT, now: float) -> None:
        """End the processing of an item; if it was re-added meanwhile, it waits again."""
        if self._ready_times:
            self.catch_up(now)
        started = self.processing.pop(item, None)
        if started is None:
            return
        self.work_durations.recent.append(now - started)
        if self.readded and (readded := self.readded.pop(item, None)) is not None:
            self._enqueue(item, *readded)

    def shut_down(self, *, now: float) -> None:
        """Reject further items and drop delayed ones; waiting items can still be taken."""
        self.catch_up(now)
        self.is_shut_down = True
        self._delayed.clear()
        self._ready_times.clear()
        self._set_usual()

    def fold(self) -> None:
        """Add the recent durations to the histograms: those of `done`, too, which follows a `take`."""
        self.queue_durations.fold()
        self.work_durations.fold()

    def _set_usual(self) -> None:
        if self.is_shut_down or self._lines or self._has_raised:
            self.is_usual_until = -math.inf
        else:
            self.is_usual_until = self._ready_times[0][0] if self._ready_times else math.inf

    def discard(self, matches: Callable[[ItemT], bool], now: float) -> list[ItemT]:
        """Remove the items that match: those that wait, are delayed, or wait for the end of their processing."""
        self.catch_up(now)
        removed = {item: None for item in [*self.waiting, *self.readded, *self._delayed] if matches(item)}
        self._discarded += sum((item in self.waiting) + (item in self.readded) for item in removed)
        for contents in (self.waiting, self.readded, self._delayed):
            for item in removed:
                contents.pop(item, None)
        self.queue = deque(item for item in self.queue if item not in removed)
        self._has_raised = self._has_raised and bool(self.queue)
        lines = {each: deque(one for one in line if one[1] not in removed) for each, line in self._lines.items()}
        self._lines = {priority: line for priority, line in lines.items() if line}
        self._set_usual()
        return [*removed]

    def _first(self) -> ItemT:
        """Take the next item out of the queue or a line."""
        lines, waiting, queue = self._lines, self.waiting, self.queue
        takes_oldest = self.queue_durations.count % _OLDEST_EVERY == _OLDEST_EVERY - 1
        while True:
            priority = max(lines, default=self.queue_priority)
            if queue and (takes_oldest or self.queue_priority >= priority):
                item = queue.popleft()
                if not queue:
                    self._has_raised = False
                found = waiting.get(item)
                if found is not None and (not isinstance(found, tuple) or found[0] == _ALSO_IN_QUEUE):
                    return item
                continue
            if takes_oldest:
                priority = min(lines, key=lambda each: lines[each][0][0])
            line = lines[priority]
            entry = line.popleft()
            if not line:
                del lines[priority]
            found = waiting.get(entry[1])
            if isinstance(found, tuple) and found[0] == entry[0]:
                return entry[1]

    # --- delays ------------------------------------------------------------------------------------------------------

    def catch_up(self, now: float) -> None:
        """Add the delayed items that are ready, each as of the time when it became ready."""
        if self._ready_times and self._ready_times[0][0] <= now:
            self._add_ready(now)

    def next_ready(self) -> float | None:
        """When the first delayed item becomes ready; None if there is none."""
        times = self._ready_times
        if times and not self._is_current(times[0]):
            while times and not self._is_current(times[0]):
                heapq.heappop(times)
            self._set_usual()
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
        self._set_usual()

    def _add_ready(self, now: float) -> None:
        while (ready_at := self.next_ready()) is not None and ready_at <= now:
            item = heapq.heappop(self._ready_times)[2]
            priority = self._delayed.pop(item).priority
            if item in self.waiting or item in self.processing:
                self._add_again(item, priority, ready_at)
            else:
                self._enqueue(item, priority, ready_at)
        self._set_usual()

    def _is_current(self, entry: tuple[float, int, ItemT]) -> bool:
        delayed = self._delayed.get(entry[2])
        return delayed is not None and delayed.order == entry[1]

    # --- statistics --------------------------------------------------------------------------------------------------

    # Any thread may call these, so they change nothing and iterate over copies, each made in one step.

    def depth(self, now: float) -> int:
        """How many items wait, delayed ones that are ready included."""
        is_one_ready = any(ready_at <= now for ready_at, _, _ in self._ready_times[:1])
        return self.statistics(name="", now=now).depth if is_one_ready else len(self.waiting)

    def waiting_times(self, now: float) -> list[tuple[ItemT, float]]:
        """The waiting items, and for how many seconds each has been waiting."""
        waiting = [*self.waiting.items()]
        return [(item, now - (found[3] if isinstance(found, tuple) else found)) for item, found in waiting]

    def delay_of(self, item: ItemT, now: float) -> float | None:
        """Seconds until a delayed item is added; None if it is not delayed."""
        delayed = self._delayed.get(item)
        return None if delayed is None else max(delayed.ready_at - now, 0.0)

    def statistics(self, *, name: str, now: float) -> WorkQueueStatistics:
        """The contents and counters at this moment."""
        waited = self.queue_durations.summary()
        running = [now - started for started in [*self.processing.values()]]
        delayed = [*self._delayed.values()]
        ready = [each.item for each in delayed if each.ready_at <= now]
        added = [item for item in ready if item not in self.waiting and item not in self.readded]
        readded = sum(item in self.processing for item in added)
        return WorkQueueStatistics(
            name=name,
            depth=len(self.waiting) + len(added) - readded,
            processing=len(running),
            readded=len(self.readded) + readded,
            delayed=len(delayed) - len(ready),
            adds=waited.count + len(self.waiting) + len(self.readded) + len(added) + self._discarded,
            retries=self._retries,
            taken=waited.count,
            rejected=self._rejected,
            longest_running=max(running, default=0.0),
            unfinished=math.fsum(running),
            queue_duration=waited,
            work_duration=self.work_durations.summary(),
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
