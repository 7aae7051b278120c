"""The hand-written part of the blocking WorkQueue: any number of threads add and take items.

It needs no event loop. The asynchronous queue decides, under a lock, and threads wait on a condition variable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Generic, TypeVar

from listwatch.blocking.runtime.background import check_may_block
from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.errors import WaitTimeoutError
from listwatch.tracing.switch import switch
from listwatch.workqueue.queue import WorkQueue, drained_by_worker
from listwatch.workqueue.queue_state import NOTHING, WorkQueueStatistics

__all__ = ["LockedQueue", "QueueLocking"]

ItemT = TypeVar("ItemT")
R = TypeVar("R")


class LockedQueue(WorkQueue[ItemT]):
    """A work queue that takes its lock when it is read, because metrics read it without the blocking object."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.changed = threading.Condition()

    def statistics(self) -> WorkQueueStatistics:
        with self.changed:
            return super().statistics()

    def __len__(self) -> int:
        with self.changed:
            return super().__len__()


class QueueLocking(BlockingObject, Generic[ItemT]):
    """Calls the queue under its lock and wakes the waiting threads after each call."""

    _async: LockedQueue[ItemT]

    def _open(self, original: object, *_: object) -> None:
        assert isinstance(original, LockedQueue)
        self._async = original
        self._changed = original.changed
        self._is_released = False
        self._holders: list[int] = []

    def _call(self, name: str, function: Callable[[], R]) -> R:
        with self._changed:
            result = function()
            self._changed.notify_all()
        return result

    @contextmanager
    def _do_take(self) -> Iterator[ItemT]:
        item, thread = self._do_get(), threading.get_ident()
        self._holders.append(thread)
        span = nullcontext() if switch.tracing is None else self._async._processing_span(item, switch.tracing)
        try:
            with span:
                yield item
        finally:
            self._holders.remove(thread)
            self._call("done", lambda: self._async.done(item))

    def _do_get(self) -> ItemT:
        check_may_block("WorkQueue.get")
        with self._changed:
            while True:
                item = self._async._state.take(self._now())
                if item is not NOTHING:
                    if self._async._causes is not None:
                        self._async._causes.take(item)
                    return item
                if self._async.is_shut_down:
                    raise self._async._empty()
                ready_at = self._async._state.next_ready()
                self._changed.wait(None if ready_at is None else ready_at - self._now())

    def _do_shut_down(self) -> None:
        with self._changed:
            self._async.shut_down()
            self._is_released = True
            self._changed.notify_all()

    def _do_drain(self, *, timeout: float | None) -> None:
        check_may_block("WorkQueue.drain")
        if threading.get_ident() in self._holders:
            raise drained_by_worker(self._async.name)
        with self._changed:
            self._async.shut_down()
            self._is_released = False
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._is_released or self._async._state.is_idle, timeout):
                raise WaitTimeoutError(f"{self._async!r} was not drained within {timeout} s")

    def _now(self) -> float:
        return self._async._clock.monotonic()
