"""The work queue for programs without an event loop: any number of threads add, take and work.

    with queue.take() as key:        # no other thread holds this key meanwhile; done on leaving
        reconcile(key)

It needs no event loop either: the twin decides, under a lock, and threads wait for that to change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Generic, TypeVar

from listwatch.blocking.background import check_not_in_a_loop
from listwatch.blocking.face import Opened
from listwatch.errors import WaitTimeoutError
from listwatch.workqueue import queue as queues
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = ["WorkQueue"]

ItemT = TypeVar("ItemT")


def _locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """The twin's method, called by one thread at a time; who waits looks again after it."""

    @wraps(method)
    def call(self: WorkQueue[Any], *arguments: Any, **options: Any) -> Any:
        with self._changed:
            result = method(self._twin, *arguments, **options)
            self._changed.notify_all()
        return result

    return call


class LockedQueue(queues.WorkQueue[ItemT]):
    """A work queue that is read under its lock, also by those who do not see its face, as metrics."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.changed = threading.Condition()

    def statistics(self) -> WorkQueueStatistics:
        with self.changed:
            return super().statistics()

    def __len__(self) -> int:
        with self.changed:
            return super().__len__()


class WorkQueue(Opened, Generic[ItemT], twin=queues.WorkQueue):  # noqa: D101  # its documentation is its twin's
    def _open(self, **options: Any) -> None:
        self._twin = LockedQueue(**options)
        self._lease = None
        self._changed = self._twin.changed
        self._is_released = False

    add = _locked(queues.WorkQueue.add)
    add_after = _locked(queues.WorkQueue.add_after)
    add_rate_limited = _locked(queues.WorkQueue.add_rate_limited)
    forget = _locked(queues.WorkQueue.forget)
    requeues = _locked(queues.WorkQueue.requeues)
    done = _locked(queues.WorkQueue.done)

    def statistics(self) -> WorkQueueStatistics:
        statistics: WorkQueueStatistics = self._twin.statistics()
        return statistics

    @contextmanager
    def take(self) -> Iterator[ItemT]:
        item = self.get()
        try:
            yield item
        finally:
            self.done(item)

    def get(self) -> ItemT:
        check_not_in_a_loop("WorkQueue.get")
        with self._changed:
            while True:
                entry = self._twin._state.take(self._now())
                if entry is not None:
                    item: ItemT = entry.item
                    return item
                if self._twin.is_shut_down:
                    raise self._twin._empty()
                ready_at = self._twin._state.next_ready()
                self._changed.wait(None if ready_at is None else ready_at - self._now())

    def shut_down(self) -> None:
        with self._changed:
            self._twin.shut_down()
            self._is_released = True
            self._changed.notify_all()

    def drain(self, *, timeout: float | None = None) -> None:
        check_not_in_a_loop("WorkQueue.drain")
        with self._changed:
            self._twin.shut_down()
            self._is_released = False
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: self._is_released or self._twin._state.is_idle, timeout):
                raise WaitTimeoutError(f"{self._twin!r} was not drained within {timeout} s")

    def _now(self) -> float:
        now: float = self._twin._clock.monotonic()
        return now

    def __len__(self) -> int:
        return len(self._twin)
