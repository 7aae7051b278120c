"""Takes keys from a queue and has them reconciled, several at a time, and decides what becomes of each.

`controller` fills the queue; `reconciler` makes one call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from listwatch.clock import Clock, time_limit
from listwatch.controller.own_writes import OwnWrites
from listwatch.controller.reconciler import Outcome, Reconcile, Reconciler
from listwatch.controller.reports import ControllerStatistics, Counts, Reporter
from listwatch.controller.sources import Source
from listwatch.errors import QueueShutDownError, ReconcileTimeoutError, UsageError
from listwatch.meta import ObjectKey
from listwatch.workqueue.queue import WorkQueue

__all__ = ["Workers"]

_WITHOUT_LIMITER = 5.0  # seconds until a key is tried again for which the limiter could not say when


class Workers:
    """So many keys at once, and none of them twice; what fails is put back, for later and later."""

    def __init__(
        self,
        reconcile: Reconcile,
        queue: WorkQueue[ObjectKey],
        sources: Sequence[Source],
        *,
        concurrency: int,
        timeout: float | None,
        cache_patience: float,
        counts: Counts,
        report: Reporter,
        clock: Clock,
    ) -> None:
        given: object = concurrency
        if not isinstance(given, int) or given < 1:
            raise UsageError(f"a controller needs a number of workers, and concurrency={concurrency!r} is none")
        name = getattr(reconcile, "__qualname__", type(reconcile).__name__)
        self._queue = queue
        self._concurrency = concurrency
        self._counts = counts
        self._report = report
        self._clock = clock
        self._reconciler = Reconciler(reconcile, name=name, timeout=timeout, clock=clock, on_overdue=self._overdue)
        self._own_writes = OwnWrites(sources, patience=cache_patience, clock=clock, on_stale=self._stale)
        self.stopping = asyncio.Event()
        """Set when no other key is to be taken."""
        self._finished = asyncio.Event()
        self._finished.set()

    @property
    def is_working(self) -> bool:
        return not self._finished.is_set()

    @property
    def under_way(self) -> list[ObjectKey]:
        """The keys that are being reconciled."""
        return list(self._reconciler.running.values())

    @property
    def has_left_some(self) -> bool:
        """Whether a reconcile that was cancelled runs on: a thread, or a coroutine that does not mind."""
        return bool(self._reconciler.unfinished)

    async def run(self) -> None:
        """Work until cancelled, or until it is not to take any more and all that is under way has ended."""
        self._finished.clear()
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(self._concurrency):
                    group.create_task(self._worker(), name=f"worker {number} of {self._queue.name}")
        finally:
            self._finished.set()

    def stop_taking(self) -> None:
        """Begin with no other key."""
        self.stopping.set()
        self._queue.shut_down()

    async def wait_finished(self, timeout: float | None = None) -> bool:
        """Wait until nothing is under way; False if that took too long."""
        try:
            async with time_limit(self._clock, timeout):
                await self._finished.wait()
        except TimeoutError:
            return False
        return True

    def was_held_up(self, task: asyncio.Task[Any] | None, place: str) -> None:
        """Report that the event loop is held up, if one of ours does that; called in another thread."""
        key = None if task is None else self._reconciler.running.get(task)
        if key is not None:
            self._counts.held_up += 1
            advice = UsageError("await what waits, or make the function a plain one: then it runs in a thread")
            self._report(self._doing(key, f"holds up the event loop at {place}"), advice, key)

    def statistics(self) -> ControllerStatistics:
        counts = self._counts
        return ControllerStatistics(
            name=self._queue.name,
            concurrency=self._concurrency,
            running=len(self._reconciler.running),
            queue=self._queue.statistics(),
            succeeded=counts.succeeded,
            requeued=counts.requeued,
            failed=counts.failed,
            gave_up=counts.gave_up,
            timed_out=counts.timed_out,
            interrupted=counts.interrupted,
            stale=counts.stale,
            keys_with_writes=len(self._own_writes),
            held_up=counts.held_up,
            trigger_failures=counts.trigger_failures,
            durations=counts.durations.summary(),
            last_failure=self._report.last,
        )

    # --- one key after another ---------------------------------------------------------------------------------------

    async def _worker(self) -> None:
        with suppress(QueueShutDownError):
            while True:
                async with self._queue.take() as key:
                    # What still waits at the end is taken and left: whoever comes next sees it in the objects.
                    if not self.stopping.is_set():
                        await self._process(key)

    async def _process(self, key: ObjectKey) -> None:
        await self._own_writes.wait(key)
        if self.stopping.is_set():
            return  # that came while it waited
        began = self._clock.monotonic()
        try:
            with self._own_writes.observed(key):
                outcome = await self._reconciler(key)
        except asyncio.CancelledError:
            self._counts.interrupted += 1
            raise
        self._counts.ended(outcome, self._clock.monotonic() - began)
        self._settle(key, outcome)

    def _settle(self, key: ObjectKey, outcome: Outcome) -> None:
        will_retry = outcome.error is not None and not outcome.is_permanent
        try:
            # Both ask the limiter, which may be one of the user's own.
            if will_retry:
                self._queue.add_rate_limited(key)
            else:
                self._queue.forget(key)
        except Exception as error:  # noqa: BLE001  # the key must not be lost for that, nor the worker
            self._report(f"the limiter failed for {key}", error, key, will_retry=will_retry)
            if will_retry:
                self._queue.add_after(key, _WITHOUT_LIMITER)
        if outcome.again_after is not None:
            self._queue.add_after(key, outcome.again_after)
        # What took too long was reported when its time was over.
        if outcome.error is not None and not isinstance(outcome.error, ReconcileTimeoutError):
            self._report(self._doing(key, "failed"), outcome.error, key, will_retry=will_retry)

    # --- what went wrong ---------------------------------------------------------------------------------------------

    def _doing(self, key: ObjectKey, what: str) -> str:
        return f"{self._reconciler.name} of {key} {what}"

    def _overdue(self, key: ObjectKey, error: Exception) -> None:
        self._report(self._doing(key, "takes too long"), error, key, will_retry=True)

    def _stale(self, key: ObjectKey, error: Exception) -> None:
        self._counts.stale += 1
        self._report(f"the cache does not show what was written for {key}", error, key)
