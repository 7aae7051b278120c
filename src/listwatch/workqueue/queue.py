"""The work queue, for programs with an event loop. `queue_state.py` decides which item is next.

queue = lw.WorkQueue(name="pods")
queue.add("default/web-0")
async with queue.take() as key:        # no other worker takes this key meanwhile; done on leaving
    await reconcile(key)
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import QueueShutDownError, UsageError, WaitTimeoutError
from listwatch.histogram import GROUP
from listwatch.meta import ObjectKey
from listwatch.tasks.callers import SelfWaitError
from listwatch.tracing.causes import ItemCauses
from listwatch.tracing.switch import switch
from listwatch.workqueue.queue_state import (
    LOW_PRIORITY,
    NOTHING,
    Nothing,
    QueueState,
    WorkQueueStatistics,
    check_hashable,
)
from listwatch.workqueue.rate_limiters import ItemLimiter, default_limiter

if TYPE_CHECKING:
    from listwatch.tracing.spans import Cause, Tracing

__all__ = ["LOW_PRIORITY", "WorkQueue", "WorkQueueStatistics", "drained_by_worker"]

ItemT = TypeVar("ItemT")

# A clock may wake a sleeper slightly early. The minimum prevents a series of ever shorter sleeps.
_MIN_SLEEP = 1e-6


class WorkQueue(Generic[ItemT]):
    """A deduplicating queue with delays, rate limits and priorities: no item is in it twice or processed concurrently.

    Items of higher priority are taken first; every eighth item taken is the oldest one. `add_rate_limited` delays an
    item longer after each failure, until `forget`. The queue starts no task: one of the waiting workers also waits for
    the next delayed item.
    """

    def __init__(
        self, *, name: str = "", limiter: ItemLimiter[ItemT] | None = None, clock: Clock | None = None
    ) -> None:
        self.name = name
        self._clock = clock or SystemClock()
        self._now = self._clock.monotonic
        self._limiter: ItemLimiter[Any] = default_limiter() if limiter is None else _checked_limiter(limiter)
        self._state: QueueState[ItemT] = QueueState()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timekeeper: asyncio.Future[None] | None = None
        self._drained = asyncio.Event()
        self._holders: list[asyncio.Task[object] | None] = []  # the tasks that are inside `take()`
        self._causes: ItemCauses[ItemT, Cause] | None = None  # the spans in which each item was added, while tracing

    # --- adding ------------------------------------------------------------------------------------------------------

    def add(self, item: ItemT, *, priority: int = 0) -> None:
        """Add an item. A waiting item is not added twice; an item in process waits again when it is done."""
        state, now = self._state, self._now()
        try:
            # The usual case: what `QueueState.add` does, without its calls. The same int needs no check of its type.
            if priority is state.queue_priority and now < state.is_usual_until and item not in state.processing:
                if item not in state.waiting:
                    state.waiting[item] = now
                    state.queue.append(item)
            else:
                state.add(item, priority, now)
        except TypeError:
            check_hashable(item)
            raise
        if switch.tracing is not None:
            self._note_causes(item, switch.tracing)
        if self._waiters:
            self._wake_next()

    def add_after(self, item: ItemT, delay: float, *, priority: int = 0) -> None:
        """Add an item after `delay` seconds; if it is delayed already, the earlier time counts."""
        self._state.add_after(item, delay, priority=priority, now=self._now())
        if switch.tracing is not None:
            self._note_causes(item, switch.tracing)
        if self._timekeeper is not None:
            _wake(self._timekeeper)  # the new item may be ready earlier
        elif self._waiters:
            self._wake_next()

    def add_rate_limited(self, item: ItemT, *, priority: int = 0) -> float:
        """Add an item after a failure, with the delay in seconds that the limiter returns; returns that delay."""
        check_hashable(item)
        delay = self._limiter.next_delay(item, now=self._now())
        self.add_after(item, delay, priority=priority)
        return delay

    def forget(self, item: ItemT) -> None:
        """Reset the failures of an item, after success or a final failure; does not remove it from the queue."""
        check_hashable(item)
        self._limiter.forget(item)

    def requeues(self, item: ItemT) -> int:
        """How often the item failed since it was last forgotten."""
        check_hashable(item)
        return self._limiter.requeues(item)

    def _discard(self, matches: Callable[[ItemT], bool]) -> list[ItemT]:
        """Remove the items that match, waiting and delayed, and forget their failures; those in process continue."""
        removed = self._state.discard(matches, self._now())
        for item in removed:
            with suppress(Exception):  # user code; it must not keep the cluster of the items from being removed
                self._limiter.forget(item)
            if self._causes is not None:
                self._causes.discard(item)
        if self._state.is_shut_down and self._state.is_idle:
            self._drained.set()
        return removed

    # --- taking ------------------------------------------------------------------------------------------------------

    def take(self) -> AbstractAsyncContextManager[ItemT]:
        """`async with queue.take() as item`: `get` on entering, `done` on leaving."""
        return _Taken(self) if switch.tracing is None else _Traced(self)

    async def get(self) -> ItemT:
        """Wait for the next item, which is in process until `done`; raises QueueShutDownError after the last one."""
        state = self._state
        item: ItemT | Literal[Nothing.NOTHING]
        while True:
            now = self._now()
            if now < state.is_usual_until and state.queue:
                # The usual case: what `QueueState.take` does, without its call.
                item = state.queue.popleft()
                recent = state.queue_durations.recent
                recent.append(now - state.waiting.pop(item))  # type: ignore[operator]  # there are no entries
                state.processing[item] = now
                if len(recent) >= GROUP:
                    state.fold()
            else:
                item = state.take(now)
            if item is not NOTHING:
                if self._causes is not None:
                    self._causes.take(item)
                if self._waiters:
                    self._wake_next()
                return item
            if state.is_shut_down:
                raise self._empty()
            await self._wait()

    def done(self, item: ItemT) -> None:
        """End the processing of an item; if it was added meanwhile, it waits again."""
        state, now = self._state, self._now()
        if now < state.is_usual_until and not state.readded:
            # The usual case: what `QueueState.done` does, without its call. No further item waits.
            started = state.processing.pop(item, None)
            if started is not None:
                state.work_durations.recent.append(now - started)
        else:
            state.done(item, now)
            if self._waiters:
                self._wake_next()
            if state.is_shut_down and state.is_idle:
                self._drained.set()
        if self._causes is not None:
            self._causes.done(item)

    # --- shutdown ----------------------------------------------------------------------------------------------------

    def shut_down(self) -> None:
        """Reject further items, drop delayed ones and end a `drain`; waiting items can still be taken."""
        self._reject_further()
        self._drained.set()

    async def drain(self, *, timeout: float | None = None) -> None:
        """Shut down, and wait until all items were taken and are done; workers must still run.

        Ends early if `shut_down` is called; raises WaitTimeoutError, and UsageError inside `take()`, whose item it
        would wait for.
        """
        self._check_holds_no_item()
        self._reject_further()
        if self._state.is_idle:
            return
        self._drained.clear()
        try:
            async with time_limit(self._clock, timeout):
                await self._drained.wait()
        except TimeoutError:
            raise WaitTimeoutError(f"{self!r} was not drained within {timeout} s") from None

    def _check_holds_no_item(self) -> None:
        if asyncio.current_task() in self._holders:
            raise drained_by_worker(self.name)

    def _empty(self) -> QueueShutDownError:
        return QueueShutDownError(f"work queue {self.name!r} was shut down and is empty")

    def _reject_further(self) -> None:
        self._state.shut_down(now=self._now())
        for waiter in self._waiters:
            _wake(waiter)

    # --- state -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._state.depth(self._now())

    @property
    def is_shut_down(self) -> bool:
        """Whether further items are rejected."""
        return self._state.is_shut_down

    def statistics(self) -> WorkQueueStatistics:
        """The contents and counters at this moment."""
        return self._state.statistics(name=self.name, now=self._now())

    def _waiting_items(self) -> list[tuple[ItemT, float]]:
        """The waiting items, and for how many seconds each has been waiting."""
        return self._state.waiting_times(self._now())

    def _delay_of(self, item: ItemT) -> float | None:
        """Seconds until a delayed item is added; None if it is not delayed."""
        return self._state.delay_of(item, self._now())

    def __repr__(self) -> str:
        now = self.statistics()
        shut_down = ", shut down" if now.is_shut_down else ""
        counts = f"{now.depth} waiting, {now.processing} in process, {now.delayed} delayed"
        return f"<WorkQueue {self.name!r}: {counts}{shut_down}>"

    # --- tracing -----------------------------------------------------------------------------------------------------

    def _note_causes(self, item: ItemT, tracing: Tracing) -> None:
        """Remember the span in which an item was added: the span of its processing has a link to it."""
        causes = tracing.causes()
        if causes and not self._state.is_shut_down:
            if self._causes is None:
                self._causes = ItemCauses()
            self._causes.add(item, causes)

    def _causes_of(self, item: ItemT) -> list[Cause]:
        """The causes of an item that is being processed."""
        return [] if self._causes is None else self._causes.of(item)

    def _processing_span(self, item: ItemT, tracing: Tracing) -> AbstractContextManager[object]:
        attributes = {"listwatch.queue.name": self.name}
        if isinstance(item, ObjectKey | str):  # other items may contain anything
            attributes["listwatch.item"] = str(item)
        return tracing.work(f"process {self.name}".rstrip(), attributes, self._causes_of(item))

    # --- waiting -----------------------------------------------------------------------------------------------------

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            ready_at = self._state.next_ready()
            if self._timekeeper is None and ready_at is not None:
                self._timekeeper = waiter
                await self._wait_until(ready_at, waiter)
            else:
                await waiter
        except BaseException:
            self._remove(waiter)
            # It may have been woken for an item, or have been the timekeeper: another waiter takes over.
            self._wake_next()
            raise
        self._remove(waiter)

    async def _wait_until(self, ready_at: float, waiter: asyncio.Future[None]) -> None:
        delay = max(ready_at - self._now(), _MIN_SLEEP)
        with suppress(TimeoutError):
            async with time_limit(self._clock, delay):
                await waiter

    def _remove(self, waiter: asyncio.Future[None]) -> None:
        if self._timekeeper is waiter:
            self._timekeeper = None
        with suppress(ValueError):
            self._waiters.remove(waiter)

    def _wake_next(self) -> None:
        """Wake a waiter if it can take an item, or has to wait for the next delayed one."""
        if len(self._state) or (self._timekeeper is None and self._state.next_ready() is not None):
            self._wake_one()

    def _wake_one(self) -> None:
        while self._waiters:
            if _wake(self._waiters.popleft()):
                return


class _Taken(Generic[ItemT]):
    """Takes an item on entering, and calls `done` on leaving."""

    __slots__ = ("_holder", "_item", "_queue")

    def __init__(self, queue: WorkQueue[ItemT]) -> None:
        self._queue = queue

    async def __aenter__(self) -> ItemT:
        self._item = item = await self._queue.get()
        self._holder = asyncio.current_task()
        self._queue._holders.append(self._holder)
        return item

    async def __aexit__(self, *_: object) -> None:
        self._queue._holders.remove(self._holder)
        self._queue.done(self._item)


class _Traced(_Taken[ItemT]):
    """Processes the item in a span."""

    __slots__ = ("_span",)

    async def __aenter__(self) -> ItemT:
        item = await super().__aenter__()
        self._span = nullcontext() if switch.tracing is None else self._queue._processing_span(item, switch.tracing)
        self._span.__enter__()
        return item

    async def __aexit__(self, *exc: Any) -> None:
        try:
            self._span.__exit__(*exc)
        finally:
            await super().__aexit__(*exc)


def drained_by_worker(name: str) -> SelfWaitError:
    return SelfWaitError(
        f"drain() of the work queue {name!r} was called inside take() and would wait for the item taken: "
        "leave the block first, or drain in another task or thread"
    )


def _checked_limiter(limiter: ItemLimiter[ItemT]) -> ItemLimiter[ItemT]:
    if not all(callable(getattr(limiter, each, None)) for each in ("next_delay", "forget", "requeues")):
        raise UsageError(
            f"limiter={limiter!r} is not a limiter: pass one of listwatch.workqueue, "
            "or an object with next_delay, forget and requeues"
        )
    return limiter


def _wake(waiter: asyncio.Future[None]) -> bool:
    if waiter.done():
        return False
    waiter.set_result(None)
    return True
