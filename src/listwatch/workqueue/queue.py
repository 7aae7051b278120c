"""The work queue of a program with an event loop. What comes next is decided in `queue_state.py`.

queue = lw.WorkQueue(name="pods")
queue.add("default/web-0")
async with queue.take() as key:        # no other worker holds this key meanwhile; done on leaving
    await reconcile(key)
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Generic, TypeVar

from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import QueueShutDownError, UsageError, WaitTimeoutError
from listwatch.workqueue.queue_state import LOW_PRIORITY, QueueState, WorkQueueStatistics, check_hashable
from listwatch.workqueue.rate_limiters import ItemLimiter, default_limiter

__all__ = ["LOW_PRIORITY", "WorkQueue", "WorkQueueStatistics"]

ItemT = TypeVar("ItemT")

# A clock may count in steps, and wake a sleeper a step too early; then time must still move on.
_SHORTEST_SLEEP = 1e-6


class WorkQueue(Generic[ItemT]):
    """Keys that need work: none is lost, none is there twice, none is worked on twice at once.

    It has no task of its own: of those who wait for an item, one also waits for the next delayed one. Higher priorities
    go first, and every eighth item is the one that waited longest. What is not forgotten after success waits longer
    each time that it fails.
    """

    def __init__(
        self, *, name: str = "", limiter: ItemLimiter[ItemT] | None = None, clock: Clock | None = None
    ) -> None:
        self.name = name
        self._clock = clock or SystemClock()
        self._limiter: ItemLimiter[Any] = default_limiter() if limiter is None else _checked(limiter)
        self._state: QueueState[ItemT] = QueueState()
        self._takers: deque[asyncio.Future[None]] = deque()
        self._timekeeper: asyncio.Future[None] | None = None
        self._released = asyncio.Event()

    # --- in ----------------------------------------------------------------------------------------------------------

    def add(self, item: ItemT, *, priority: int = 0) -> None:
        """Have it worked on; an item that waits already is not added again, one that is in work is when it is done."""
        self._state.add(item, priority=priority, now=self._clock.monotonic())
        if self._takers:
            self._pass_on()

    def add_after(self, item: ItemT, delay: float, *, priority: int = 0) -> None:
        """Add it when `delay` seconds have passed; if that is arranged already, the earlier time holds."""
        self._state.add_after(item, delay, priority=priority, now=self._clock.monotonic())
        if self._timekeeper is not None:
            _wake(self._timekeeper)  # it may have to get up earlier
        elif self._takers:
            self._pass_on()

    def add_rate_limited(self, item: ItemT, *, priority: int = 0) -> None:
        """Add it again after it failed, when the limiter says so."""
        check_hashable(item)
        delay = self._limiter.next_delay(item, now=self._clock.monotonic())
        self.add_after(item, delay, priority=priority)

    def forget(self, item: ItemT) -> None:
        """Its failures do not count any more, because it succeeded or is given up; it stays in the queue if it is."""
        check_hashable(item)
        self._limiter.forget(item)

    def requeues(self, item: ItemT) -> int:
        """How often it failed since it was last forgotten."""
        check_hashable(item)
        return self._limiter.requeues(item)

    # --- out ---------------------------------------------------------------------------------------------------------

    def take(self) -> AbstractAsyncContextManager[ItemT]:
        """`async with queue.take() as item`: what `get` gives, with `done` on leaving, however that happens."""
        return _Taken(self)

    async def get(self) -> ItemT:
        """The next item, when there is one; it is in work until `done`. QueueShutDownError when there will be none."""
        while True:
            due = self._state.take(self._clock.monotonic())
            if due is not None:
                if self._takers:
                    self._pass_on()
                return due.item
            if self._state.is_shut_down:
                raise self._nothing_left()
            await self._wait_for_news()

    def done(self, item: ItemT) -> None:
        """It is not in work any more; if it was added meanwhile, it waits again."""
        self._state.done(item, now=self._clock.monotonic())
        if self._takers:
            self._pass_on()
        if self._state.is_shut_down and self._state.is_idle:
            self._released.set()

    # --- the end -----------------------------------------------------------------------------------------------------

    def shut_down(self) -> None:
        """Accept nothing any more, drop what is delayed and release who drains; what waits can still be taken."""
        self._close()
        self._released.set()

    async def drain(self, *, timeout: float | None = None) -> None:
        """Shut down and wait until everything that waits was taken and everything in work is done.

        A `shut_down` meanwhile ends the waiting. Somebody has to take what waits, else it is WaitTimeoutError.
        """
        self._close()
        if self._state.is_idle:
            return
        self._released.clear()
        try:
            async with time_limit(self._clock, timeout):
                await self._released.wait()
        except TimeoutError:
            raise WaitTimeoutError(f"{self!r} was not empty after {timeout} seconds") from None

    def _nothing_left(self) -> QueueShutDownError:
        return QueueShutDownError(f"the work queue {self.name!r} was shut down, and nothing is left in it")

    def _close(self) -> None:
        self._state.shut_down(now=self._clock.monotonic())
        for taker in self._takers:
            _wake(taker)

    # --- numbers -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._state.depth(self._clock.monotonic())

    @property
    def is_shut_down(self) -> bool:
        return self._state.is_shut_down

    def statistics(self) -> WorkQueueStatistics:
        """What there is to do, and what was done, at this moment."""
        return self._state.statistics(name=self.name, now=self._clock.monotonic())

    def __repr__(self) -> str:
        now = self.statistics()
        shut_down = ", shut down" if now.is_shut_down else ""
        return (
            f"<WorkQueue {self.name!r}: {now.depth} waiting, {now.in_work} in work, {now.delayed} delayed{shut_down}>"
        )

    # --- waiting -----------------------------------------------------------------------------------------------------

    async def _wait_for_news(self) -> None:
        taker = asyncio.get_running_loop().create_future()
        self._takers.append(taker)
        try:
            ready_at = self._state.next_ready()
            if self._timekeeper is None and ready_at is not None:
                self._timekeeper = taker
                await self._wait_until(ready_at, taker)
            else:
                await taker
        except BaseException:
            self._leave(taker)
            # It may have been woken for an item, or have kept the time: somebody else has to now.
            self._pass_on()
            raise
        self._leave(taker)

    async def _wait_until(self, ready_at: float, taker: asyncio.Future[None]) -> None:
        delay = max(ready_at - self._clock.monotonic(), _SHORTEST_SLEEP)
        with suppress(TimeoutError):
            async with time_limit(self._clock, delay):
                await taker

    def _leave(self, taker: asyncio.Future[None]) -> None:
        if self._timekeeper is taker:
            self._timekeeper = None
        with suppress(ValueError):
            self._takers.remove(taker)

    def _pass_on(self) -> None:
        """Wake another taker if there is something to do for one: an item, or the time to keep."""
        if len(self._state) or (self._timekeeper is None and self._state.next_ready() is not None):
            self._wake_one()

    def _wake_one(self) -> None:
        while self._takers:
            if _wake(self._takers.popleft()):
                return


class _Taken(Generic[ItemT]):
    """An item in work, from entering until leaving."""

    __slots__ = ("_item", "_queue")

    def __init__(self, queue: WorkQueue[ItemT]) -> None:
        self._queue = queue

    async def __aenter__(self) -> ItemT:
        self._item = await self._queue.get()
        return self._item

    async def __aexit__(self, *_: object) -> None:
        self._queue.done(self._item)


def _checked(limiter: ItemLimiter[ItemT]) -> ItemLimiter[ItemT]:
    if not all(callable(getattr(limiter, each, None)) for each in ("next_delay", "forget", "requeues")):
        raise UsageError(
            f"{limiter!r} cannot say how long an item waits: give a limiter of listwatch.workqueue.rate_limiters, "
            "or an object with next_delay, forget and requeues"
        )
    return limiter


def _wake(taker: asyncio.Future[None]) -> bool:
    if taker.done():
        return False
    taker.set_result(None)
    return True
