"""Decides which item is worked on next. `queue.py` waits, wakes and tells the time.

add ──────────────▶ waiting ──take──▶ in work ──done──▶ forgotten
add_after ─▶ delayed ──▲                 │ add, meanwhile
                       └──────done── due again
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from listwatch.errors import UsageError
from listwatch.workqueue.durations import Durations, DurationSummary

__all__ = ["LOW_PRIORITY", "Due", "QueueState", "WorkQueueStatistics", "check_delay", "check_hashable"]

ItemT = TypeVar("ItemT")

LOW_PRIORITY: Final = -100
"""For what can wait: the objects of an initial list, and resyncs."""

_OLDEST_EVERY: Final = 8
"""Each time so many items were taken, one is the oldest of all, whatever its priority."""

# Superseded delays are left where they are until there are more of them than this and than others.
_SUPERSEDED_KEPT: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkQueueStatistics:
    """What a work queue has to do, and has done, at one moment; durations are in seconds."""

    name: str
    depth: int
    in_work: int
    due_again: int
    delayed: int
    adds: int
    retries: int
    taken: int
    refused: int
    longest_running: float
    unfinished: float
    queue_duration: DurationSummary
    work_duration: DurationSummary
    is_shut_down: bool


class Due(Generic[ItemT]):
    """An item that needs work since some time; it may stand in several lines and is taken from one."""

    __slots__ = ("is_taken", "item", "order", "priority", "since")

    def __init__(self, item: ItemT, priority: int, since: float) -> None:
        self.item = item
        self.priority = priority
        self.since = since
        self.order = 0  # among those that wait
        self.is_taken = False


@dataclass(slots=True)
class _Delayed(Generic[ItemT]):
    item: ItemT
    ready_at: float
    order: int
    priority: int


class QueueState(Generic[ItemT]):
    """An item is waiting, in work, or both in work and due again; never waiting twice.

    Higher priorities go first and first come, first served within one; every eighth item is the one that waited
    longest, so that none waits for ever. Beside all that, an item may be delayed: it is added when its time comes.
    """

    def __init__(self) -> None:
        self._waiting: dict[ItemT, Due[ItemT]] = {}
        self._due_again: dict[ItemT, Due[ItemT]] = {}
        self._in_work: dict[ItemT, float] = {}
        self._lines: dict[int, deque[Due[ItemT]]] = {}
        self._delayed: dict[ItemT, _Delayed[ItemT]] = {}
        self._ready_times: list[tuple[float, int, ItemT]] = []
        self._orders = 0
        self._adds = self._retries = self._taken = self._refused = 0
        self._queue_durations = Durations()
        self._work_durations = Durations()
        self.is_shut_down = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Nothing is waiting and nothing is in work; something may be delayed."""
        return not self._waiting and not self._in_work

    # --- in ----------------------------------------------------------------------------------------------------------

    def add(self, item: ItemT, *, priority: int, now: float) -> None:
        """Have it worked on, once, however often it is added before that begins."""
        if self.is_shut_down:
            self._refused += 1
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
        """Add it when `delay` seconds have passed; if that is arranged already, the earlier time holds."""
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
        if item in self._in_work:
            due = self._due_again.get(item)
            if due is None:
                self._due_again[item] = self._new_due(item, priority, now)
            elif priority > due.priority:
                due.priority = priority
            return
        due = self._waiting.get(item)
        if due is None:
            self._enqueue(self._new_due(item, priority, now))
        elif priority > due.priority:
            # It keeps its place in the slower line as well: being wanted more can only bring it forward.
            due.priority = priority
            self._line_up(due)

    def _new_due(self, item: ItemT, priority: int, now: float) -> Due[ItemT]:
        self._adds += 1
        return Due(item, priority, now)

    def _enqueue(self, due: Due[ItemT]) -> None:
        due.order = self._orders = self._orders + 1
        self._waiting[due.item] = due
        self._line_up(due)

    def _line_up(self, due: Due[ItemT]) -> None:
        line = self._lines.get(due.priority)
        if line is None:
            line = self._lines[due.priority] = deque()
        line.append(due)

    # --- out ---------------------------------------------------------------------------------------------------------

    def take(self, now: float) -> Due[ItemT] | None:
        """The next item, which is in work from now on; None if none is due."""
        if self._ready_times:
            self.catch_up(now)
        if not self._waiting:
            return None
        due = self._first()
        due.is_taken = True
        self._taken += 1
        del self._waiting[due.item]
        if not self._waiting:
            self._lines.clear()  # of second places that nobody needs any more
        self._in_work[due.item] = now
        self._queue_durations.add(now - due.since)
        return due

    def done(self, item: ItemT, *, now: float) -> None:
        """It is not in work any more; if it was added meanwhile, it waits again."""
        if self._ready_times:
            self.catch_up(now)
        started = self._in_work.pop(item, None)
        if started is None:
            return
        self._work_durations.add(now - started)
        due = self._due_again.pop(item, None) if self._due_again else None
        if due is not None:
            self._enqueue(due)

    def shut_down(self, *, now: float) -> None:
        """Accept nothing any more and drop what is delayed; what is waiting is still given out."""
        self.catch_up(now)
        self.is_shut_down = True
        self._delayed.clear()
        self._ready_times.clear()

    def _first(self) -> Due[ItemT]:
        lines = self._lines
        takes_oldest = len(lines) > 1 and self._taken % _OLDEST_EVERY == _OLDEST_EVERY - 1
        while True:
            priority = min(lines, key=lambda each: lines[each][0].order) if takes_oldest else max(lines)
            line = lines[priority]
            due = line.popleft()
            if not line:
                del lines[priority]
            if not due.is_taken:
                return due

    # --- later -------------------------------------------------------------------------------------------------------

    def catch_up(self, now: float) -> None:
        """Add the delayed items whose time has come, each as if that had been done then."""
        if self._ready_times and self._ready_times[0][0] <= now:
            self._add_what_is_ready(now)

    def next_ready(self) -> float | None:
        """When the first of the delayed items is to be added; None if there are none."""
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

    def _add_what_is_ready(self, now: float) -> None:
        while (ready_at := self.next_ready()) is not None and ready_at <= now:
            item = heapq.heappop(self._ready_times)[2]
            self._add(item, self._delayed.pop(item).priority, ready_at)

    def _is_current(self, entry: tuple[float, int, ItemT]) -> bool:
        delayed = self._delayed.get(entry[2])
        return delayed is not None and delayed.order == entry[1]

    # --- numbers -----------------------------------------------------------------------------------------------------

    # Any thread may read, so reading must not change anything, and looks at copies, each made in one step.

    def depth(self, now: float) -> int:
        """How many wait by now, those with them whose time has come."""
        is_one_ready = any(ready_at <= now for ready_at, _, _ in self._ready_times[:1])
        return self.statistics(name="", now=now).depth if is_one_ready else len(self._waiting)

    def statistics(self, *, name: str, now: float) -> WorkQueueStatistics:
        """How it is at this moment."""
        running = [now - started for started in [*self._in_work.values()]]
        delayed = [*self._delayed.values()]
        ready = [each.item for each in delayed if each.ready_at <= now]
        added = [item for item in ready if item not in self._waiting and item not in self._due_again]
        due_again = sum(item in self._in_work for item in added)
        return WorkQueueStatistics(
            name=name,
            depth=len(self._waiting) + len(added) - due_again,
            in_work=len(running),
            due_again=len(self._due_again) + due_again,
            delayed=len(delayed) - len(ready),
            adds=self._adds + len(added),
            retries=self._retries,
            taken=self._taken,
            refused=self._refused,
            longest_running=max(running, default=0.0),
            unfinished=math.fsum(running),
            queue_duration=self._queue_durations.summary(),
            work_duration=self._work_durations.summary(),
            is_shut_down=self.is_shut_down,
        )


def check_delay(item: object, delay: object) -> None:
    """Refuse what never comes, and what is no time."""
    if not isinstance(delay, int | float) or not math.isfinite(delay):
        raise UsageError(f"{item!r} cannot be added to a work queue after {delay!r} seconds: give a finite number")


def _check_priority(item: object, priority: int) -> None:
    """Refuse what cannot be compared with the priorities of others, before it stands among them."""
    if not isinstance(priority, int):
        raise UsageError(f"{item!r} cannot be put into a work queue with priority={priority!r}: give a whole number")


def check_hashable(item: object) -> None:
    """Refuse what cannot be told apart from others by its value."""
    try:
        hash(item)
    except TypeError:
        what = f"{item!r} cannot be put into a work queue: a {type(item).__name__} cannot be hashed; "
        raise UsageError(
            what + "use a key, as 'default/web-0' or an ObjectKey, and look the object up in a cache"
        ) from None
