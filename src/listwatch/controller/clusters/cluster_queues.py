"""The work queues of one controller, one for each cluster: a cluster that is slow does not delay the keys of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from listwatch.clock import Clock
from listwatch.meta import ObjectKey
from listwatch.workqueue.queue import WorkQueue
from listwatch.workqueue.queue_state import WorkQueueStatistics
from listwatch.workqueue.rate_limiters import ItemLimiter

if TYPE_CHECKING:
    from listwatch.tracing.spans import Cause

__all__ = ["ClusterQueues"]


class ClusterQueues(WorkQueue[ObjectKey]):
    """A queue that adds each key to the queue of its cluster, from which the workers of that cluster take it.

    Keys of other clusters are passed to `on_unknown`. Those that are added before `begin` wait until then.
    """

    def __init__(
        self,
        *,
        name: str,
        limiter: ItemLimiter[ObjectKey] | None,
        clock: Clock,
        on_unknown: Callable[[ObjectKey], None],
    ) -> None:
        super().__init__(name=name, clock=clock)
        self._queue_limiter = limiter
        self._on_unknown = on_unknown
        self._queues: dict[str, WorkQueue[ObjectKey]] = {}
        self._early: list[tuple[ObjectKey, float, int]] | None = []
        self._past = super().statistics()
        """The counters of the queues that were closed."""

    def open(self, cluster: str) -> WorkQueue[ObjectKey]:
        """Create the queue of a cluster."""
        queue: WorkQueue[ObjectKey] = WorkQueue(name=self.name, limiter=self._queue_limiter, clock=self._clock)
        self._queues[cluster] = queue
        if self.is_shut_down:
            queue.shut_down()
        return queue

    def begin(self) -> None:
        """All clusters at the start are open: add the keys that were added before."""
        early, self._early = self._early, None
        for key, delay, priority in early or ():
            self.add_after(key, delay, priority=priority)

    def close(self, cluster: str) -> None:
        """Remove the queue of a cluster, with all of its keys."""
        if (queue := self._queues.pop(cluster, None)) is not None:
            queue._discard(lambda _: True)  # first: a queue that is shut down has no delayed keys
            queue.shut_down()
            self._past += replace(queue.statistics(), processing=0, longest_running=0.0, unfinished=0.0)

    # --- keys --------------------------------------------------------------------------------------------------------

    def add(self, item: ObjectKey, *, priority: int = 0) -> None:
        self.add_after(item, 0.0, priority=priority)

    def add_after(self, item: ObjectKey, delay: float, *, priority: int = 0) -> None:
        queue = self._queues.get(item.cluster)
        if queue is None and self._early is not None:
            self._early.append((item, delay, priority))
        elif queue is None:
            self._on_unknown(item)
        elif delay > 0:
            queue.add_after(item, delay, priority=priority)
        else:
            queue.add(item, priority=priority)

    def add_rate_limited(self, item: ObjectKey, *, priority: int = 0) -> float:
        if (queue := self._queues.get(item.cluster)) is not None:
            return queue.add_rate_limited(item, priority=priority)
        self.forget(item)
        return 0.0

    def forget(self, item: ObjectKey) -> None:
        if (queue := self._queues.get(item.cluster)) is not None:
            queue.forget(item)
        elif self._queue_limiter is not None:  # its cluster was removed during the reconcile
            self._queue_limiter.forget(item)

    def requeues(self, item: ObjectKey) -> int:
        queue = self._queues.get(item.cluster)
        return 0 if queue is None else queue.requeues(item)

    def shut_down(self) -> None:
        super().shut_down()
        for queue in self._queues.values():
            queue.shut_down()

    # --- state -------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(map(len, [*self._queues.values()]))

    def statistics(self) -> WorkQueueStatistics:
        """The sum of all clusters, also of those that were removed."""
        total = replace(self._past, is_shut_down=self.is_shut_down)
        for queue in [*self._queues.values()]:
            total += queue.statistics()
        return total

    def _waiting_items(self) -> list[tuple[ObjectKey, float]]:
        return [found for queue in [*self._queues.values()] for found in queue._waiting_items()]

    def _delay_of(self, item: ObjectKey) -> float | None:
        queue = self._queues.get(item.cluster)
        return None if queue is None else queue._delay_of(item)

    def _causes_of(self, item: ObjectKey) -> list[Cause]:
        queue = self._queues.get(item.cluster)
        return [] if queue is None else queue._causes_of(item)
