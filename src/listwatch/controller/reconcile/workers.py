"""Runs the workers of a controller: takes keys from the queue, reconciles each, and requeues it if necessary.

    enqueue ─▶ WorkQueue ─▶ worker: wait for own writes ─▶ reconcile(key) ─▶ forget, requeue, or retry with backoff

An async function runs in the event loop, a plain function in a new thread. A call that ignores its timeout or its
cancellation cannot be ended: its key stays in process, so that it is never reconciled concurrently, and the other
workers continue.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from listwatch.clock import Clock, time_limit
from listwatch.controller.clusters.cluster_queues import ClusterQueues
from listwatch.controller.clusters.controller_clusters import ControllerClusters
from listwatch.controller.reconcile.calls import Calls, Outcome
from listwatch.controller.reconcile.context import ReconcileContext, ReconcileForm
from listwatch.controller.reconcile.own_writes import OwnWrites
from listwatch.controller.reports import RECONCILE_BOUNDS, ControllerStatistics, FailureReporter, cluster_field
from listwatch.controller.sharding.controller_shards import ControllerShards
from listwatch.controller.watching.sources import Source
from listwatch.errors import (
    QueueShutDownError,
    ReconcileTimeoutError,
    ShardLostError,
    UsageError,
)
from listwatch.events.recorder import EventRecorderStatistics
from listwatch.histogram import Histogram
from listwatch.inspector.reconcile_history import ReconcileHistory
from listwatch.meta import GroupResource, ObjectKey
from listwatch.tracing.switch import switch
from listwatch.wording import counted
from listwatch.workqueue.queue import WorkQueue

__all__ = ["Workers"]

_log = logging.getLogger("listwatch.controller")

_FALLBACK_RETRY_DELAY = 5.0
"""The delay of a retry if the limiter fails."""

_CANCELLATION_TIMEOUT = 5.0
"""How long a cancelled call may delay the end of its worker."""


class _Counts:
    """The counters behind ControllerStatistics."""

    def __init__(self) -> None:
        self.succeeded = self.requeued = self.failed = self.gave_up = self.timed_out = 0
        self.interrupted = self.stale = self.loop_stalls = self.trigger_failures = 0
        self.durations = Histogram(RECONCILE_BOUNDS)

    def add(self, outcome: Outcome, seconds: float) -> None:
        self.durations.add(seconds)
        if outcome.error is None:
            self.succeeded += 1
            self.requeued += outcome.requeue_after is not None
        elif outcome.will_retry:
            self.failed += 1
            self.timed_out += isinstance(outcome.error, ReconcileTimeoutError)
        else:
            self.gave_up += 1


class Workers:
    """The queue and the workers of one controller. Each call has an outcome, unless it is cancelled."""

    def __init__(
        self,
        form: ReconcileForm,
        queue: WorkQueue[ObjectKey],
        make_context: Callable[[ObjectKey, int], ReconcileContext],
        *,
        sources: Callable[[str], Iterable[Source]],
        concurrency: int,
        timeout: float | None,
        own_writes_timeout: float,
        report: FailureReporter,
        clock: Clock,
    ) -> None:
        _check_options(concurrency, timeout)
        self._form = form
        self._queue = queue
        self._make_context = make_context
        self._concurrency = concurrency
        self._timeout = timeout
        self._report = report
        self._clock = clock
        self._own_writes = OwnWrites(
            sources, timeout=own_writes_timeout, clock=clock, on_stale=self._stale, on_write=self._record_write
        )
        self._counts = _Counts()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self.stopping = asyncio.Event()
        """Set when no further key is taken."""
        self._finished = asyncio.Event()
        self._finished.set()
        self._calls = Calls(form, self._context_of, self._own_writes, timeout=timeout, clock=clock)
        self.shards: ControllerShards | None = None
        """Which keys belong to this replica, if the manager is sharded."""
        self.clusters: ControllerClusters | None = None
        """The clusters of the keys, if the manager has several."""
        self._group: asyncio.TaskGroup | None = None
        self._revoked: dict[ObjectKey, Exception] = {}
        self.history: ReconcileHistory | None = None
        """Records the reconciles, if it is set before the workers run."""

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    @property
    def has_loop(self) -> bool:
        return self._loop is not None

    def use_running_loop(self) -> None:
        """From now on, keys that are enqueued in another thread are added through this loop."""
        self._loop, self._loop_thread = asyncio.get_running_loop(), threading.get_ident()

    @property
    def is_running(self) -> bool:
        return not self._finished.is_set()

    @property
    def keys_in_progress(self) -> list[ObjectKey]:
        """The keys that are being reconciled."""
        return self._calls.keys

    @property
    def has_unfinished_calls(self) -> bool:
        """Whether a call has not returned; a thread and a coroutine that ignores cancellation outlive the workers."""
        return self._calls.has_unfinished

    @property
    def are_calling(self) -> bool:
        """True in a call of the reconcile function: in its task, or in its thread."""
        return self.calling_key is not None

    @property
    def calling_key(self) -> ObjectKey | None:
        """The key of the call of the reconcile function in which this is read; None outside of such calls."""
        return self._calls.calling_key

    async def run(self) -> None:
        """Run until cancelled, or until `stop_taking` was called and all calls have ended."""
        self._finished.clear()
        name, fields = self._queue.name, {"controller": self._queue.name}
        _log.info("Controller %s reconciles with %s", name, counted(self._concurrency, "worker"), extra=fields)
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                if self.clusters is None:
                    self.work_on(self._queue)
                else:
                    for queue in self.clusters.ready_queues():
                        self.work_on(queue)
                    await self.stopping.wait()  # clusters are added and removed meanwhile
        finally:
            self._group = None
            self._finished.set()  # before the await, which may be cancelled once more
            self._report.flush()
            done, failed = self._counts.succeeded, self._counts.failed + self._counts.gave_up
            message = "Controller %s has stopped: %s succeeded, %d failed"
            _log.info(message, name, counted(done, "reconcile"), failed, extra=fields)
            await self._calls.stop_timer()

    def work_on(self, queue: WorkQueue[ObjectKey]) -> None:
        """Start workers that take keys from this queue, if the workers run."""
        if self._group is not None and not self.stopping.is_set():
            for number in range(self._concurrency):
                self._group.create_task(self._worker(queue), name=f"worker {number} of {self._queue.name}")

    def use_clusters(self, clusters: ControllerClusters, queues: ClusterQueues) -> None:
        """Take the keys of several clusters, each with its own queue and its own workers."""
        self.clusters, self._queue = clusters, queues

    def stop_taking(self) -> None:
        """Take no further key."""
        if self.is_running and not self.stopping.is_set():
            name, running = self._queue.name, len(self._calls)
            message = "Controller %s is stopping: %s in progress"
            _log.info(message, name, counted(running, "reconcile"), extra={"controller": name})
        self.stopping.set()
        self._queue.shut_down()

    async def wait_finished(self, timeout: float | None = None) -> bool:
        """Wait until all workers have ended; False after `timeout` seconds."""
        try:
            async with time_limit(self._clock, timeout):
                await self._finished.wait()
        except TimeoutError:
            return False
        return True

    def statistics(self, events: EventRecorderStatistics | None) -> ControllerStatistics:
        counts = self._counts
        return ControllerStatistics(
            name=self._queue.name,
            concurrency=self._concurrency,
            running=len(self._calls),
            queue=self._queue.statistics(),
            succeeded=counts.succeeded,
            requeued=counts.requeued,
            failed=counts.failed,
            gave_up=counts.gave_up,
            timed_out=counts.timed_out,
            interrupted=counts.interrupted,
            stale=counts.stale,
            keys_with_writes=len(self._own_writes),
            loop_stalls=counts.loop_stalls,
            trigger_failures=counts.trigger_failures,
            durations=counts.durations.summary(),
            last_failure=self._report.last,
            events=events,
        )

    # --- one key, from the queue to its outcome ----------------------------------------------------------------------

    def enqueue(self, keys: Iterable[ObjectKey], priority: int, after: float = 0.0) -> None:
        """Add keys to the queue; from any thread."""
        if self._loop is None or threading.get_ident() == self._loop_thread:
            self._add(keys, priority, after)
        else:
            with suppress(RuntimeError):  # the loop is closed: the workers have ended
                self._loop.call_soon_threadsafe(self._add, keys, priority, after)

    def _add(self, keys: Iterable[ObjectKey], priority: int, after: float) -> None:
        for key in keys:
            if self.shards is not None and not self.shards.accepts(key):
                continue  # its owner enqueues it too; a gained shard enqueues all of its keys
            if after > 0:
                self._queue.add_after(key, after, priority=priority)
            else:
                self._queue.add(key, priority=priority)

    async def _worker(self, queue: WorkQueue[ObjectKey]) -> None:
        process = self._process if self.history is None else self._process_recorded
        with suppress(QueueShutDownError):
            while True:
                key = await queue.get()
                try:
                    # Keys that remain at the end are dropped: the next process finds them in its first list.
                    if not self.stopping.is_set():
                        await process(key)
                finally:
                    queue.done(key)

    async def _process(self, key: ObjectKey) -> Outcome | None:
        if self._own_writes.has_pending(key):
            await self._own_writes.wait(key)
            if self.stopping.is_set():
                return None
        process = self._process_own if switch.tracing is None else self._process_traced
        if self.clusters is not None:
            # A cluster of the same name may have been removed, with a call that ignores its cancellation.
            if self._calls.notify_end(key, partial(self._add, (key,), 0, 0.0)):
                return None
            with self.clusters.reconciling(key) as is_known:
                return await process(key) if is_known else None
        if self.shards is None:
            return await process(key)
        if not await self.shards.is_settled(key):
            return None
        with self.shards.reconciling(key) as is_own:
            return await process(key) if is_own else None

    async def _process_traced(self, key: ObjectKey) -> Outcome:
        """Process a key in a span, with links to what has enqueued it."""
        if (tracing := switch.tracing) is None:
            return await self._process_own(key)
        attributes: dict[str, str | int] = {
            "listwatch.controller.name": self._queue.name,
            "listwatch.object.name": key.name,
            "listwatch.reconcile.attempt": self._attempt(key),
        }
        if key.namespace:
            attributes["k8s.namespace.name"] = key.namespace
        if key.cluster:
            attributes["k8s.cluster.name"] = key.cluster
        with tracing.work(f"reconcile {self._queue.name}", attributes, self._queue._causes_of(key)) as span:
            try:
                outcome = await self._process_own(key)
            except asyncio.CancelledError:
                span.set_attribute("listwatch.reconcile.result", "interrupted")
                raise
            span.set_attribute("listwatch.reconcile.result", outcome.name)
            if outcome.error is not None:
                tracing.fail(span, outcome.error)
        return outcome

    async def _process_own(self, key: ObjectKey) -> Outcome:
        started = self._clock.monotonic()
        try:
            outcome = await self._reconcile(key, started)
        except asyncio.CancelledError:
            self._counts.interrupted += 1
            raise
        seconds = self._clock.monotonic() - started
        self._counts.add(outcome, seconds)
        if _log.isEnabledFor(logging.DEBUG):
            self._log_reconcile(key, outcome, seconds)
        self._requeue_or_forget(key, outcome)
        return outcome

    async def _process_recorded(self, key: ObjectKey) -> Outcome | None:
        """Process a key, and record its reconcile for an inspector."""
        assert self.history is not None
        started = self._clock.monotonic()
        await self._own_writes.wait(key)
        waited = self._clock.monotonic() - started
        record = self.history.start(key, attempt=self._attempt(key), waited=waited)
        outcome = None
        try:
            outcome = await self._process(key)
        finally:
            if outcome is None:
                self.history.finish(record, "interrupted")
            else:
                self.history.finish(record, outcome.name, outcome.error, delay=self._queue._delay_of(key))
        return outcome

    async def _reconcile(self, key: ObjectKey, started: float) -> Outcome:
        """Call the function. If this is cancelled, so is the call; a thread cannot be cancelled and keeps running."""
        self._revoked.pop(key, None)
        call, ended = self._calls.start(key, started)
        try:
            return await ended or await self._without_outcome(key, call)
        except asyncio.CancelledError:
            call.cancel()
            await asyncio.wait([call], timeout=_CANCELLATION_TIMEOUT)
            raise

    async def _without_outcome(self, key: ObjectKey, call: asyncio.Task[None]) -> Outcome:
        """The outcome of a call that was cancelled, or has not ended in time: then this waits for its end."""
        if call.cancelled():
            if key not in self._revoked:
                return Outcome(error=RuntimeError(f"{self._form.name} of {key} cancelled itself"))
            self._counts.interrupted += 1
            return Outcome(error=self._revoked[key])
        error = ReconcileTimeoutError(f"{self._form.name} of {key} did not end within {self._timeout} s")
        # Reported now, because the call may never end.
        self._report(self._describe(key, "timed out"), error, key, attempt=self._attempt(key), will_retry=True)
        self._calls.cancel(key)
        await asyncio.wait([call])
        return Outcome(error=error)

    def _requeue_or_forget(self, key: ObjectKey, outcome: Outcome) -> None:
        if isinstance(outcome.error, ShardLostError) or (outcome.error and self._revoked.get(key) is outcome.error):
            self._queue.forget(key)  # another replica reconciles it, or none, as its cluster was removed
            return
        attempt = self._attempt(key) if outcome.error is not None else 0
        delay: float | None = None
        try:
            # Both call the limiter, which may be user code.
            if outcome.will_retry:
                delay = self._queue.add_rate_limited(key)
            else:
                self._queue.forget(key)
        except Exception as error:  # noqa: BLE001  # neither the key nor the worker must be lost
            self._report(f"the limiter failed for {key}", error, key, will_retry=outcome.will_retry)
            if outcome.will_retry:
                delay = _FALLBACK_RETRY_DELAY
                self._queue.add_after(key, delay)
        if outcome.requeue_after is not None:
            self._queue.add_after(key, outcome.requeue_after)
        # A timeout was reported when it happened.
        if outcome.error is not None and not isinstance(outcome.error, ReconcileTimeoutError):
            description = self._describe(key, "failed")
            self._report(description, outcome.error, key, attempt=attempt, will_retry=outcome.will_retry, delay=delay)

    def _log_reconcile(self, key: ObjectKey, outcome: Outcome, seconds: float) -> None:
        result = "failed" if outcome.error is not None else "succeeded"
        again = "" if outcome.requeue_after is None else f", again in {outcome.requeue_after:.3g} s"
        _log.debug(
            "%s of %s %s in %.3f s%s",
            self._form.name,
            key,
            result,
            seconds,
            again,
            extra={
                "controller": self._queue.name,
                "key": str(key),
                "seconds": seconds,
                "delay": outcome.requeue_after,
                **cluster_field(key),
            },
        )

    def forget_writes(self, matches: Callable[[ObjectKey], bool]) -> None:
        """Drop the remembered writes of the keys that match."""
        self._own_writes.forget(matches)

    def _attempt(self, key: ObjectKey) -> int:
        try:
            return self._queue.requeues(key) + 1
        except Exception:  # noqa: BLE001  # a limiter of the user; its failure is reported where it matters
            return 1

    def _context_of(self, key: ObjectKey) -> ReconcileContext:
        return self._make_context(key, self._attempt(key))

    def token_of(self, key: ObjectKey) -> int | None:
        """The fencing token of a reconcile in progress; None if the manager is not sharded."""
        return None if self.shards is None else self.shards.running[key][1]

    def _record_write(self, key: ObjectKey, resource: GroupResource, version: str) -> None:
        if self.shards is not None:
            self.shards.record_write(key, resource, version)

    def revoke(self, key: ObjectKey, error: Exception | None = None) -> None:
        """Cancel the reconcile of a key whose shard is lost, or whose cluster was removed; a thread continues."""
        self._revoked[key] = error or ShardLostError(f"{self._form.name} of {key} was cancelled: its shard moved")
        self._calls.cancel(key)

    # --- failures ----------------------------------------------------------------------------------------------------

    def _describe(self, key: ObjectKey, what: str) -> str:
        return f"{self._form.name} of {key} {what}"

    def report_stall(self, task: asyncio.Task[object] | None, location: str) -> None:
        """Report that a task blocks the event loop, if it is one of these calls; called in another thread."""
        key = None if task is None else self._calls.key_of(task)
        if key is not None:
            self._counts.loop_stalls += 1
            advice = UsageError("await the blocking operation, or use a plain function, which runs in a thread")
            self._report(self._describe(key, f"blocks the event loop at {location}"), advice, key)

    def report_failure(self, error: BaseException, description: str) -> None:
        """Report a failure that concerns no key."""
        self._report(description, error)

    def report_trigger_failure(self, error: BaseException, description: str) -> None:
        """Count and report a failure of a predicate, a key function or a timer."""
        self._counts.trigger_failures += 1
        self._report(description, error)

    def _stale(self, key: ObjectKey, error: Exception) -> None:
        self._counts.stale += 1
        self._report(f"the cache does not contain the last writes for {key}", error, key)


def _check_options(concurrency: object, timeout: object) -> None:
    if not isinstance(concurrency, int) or concurrency < 1:
        raise UsageError(f"concurrency={concurrency!r}: expected a positive number of workers")
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise UsageError(f"timeout={timeout!r}: expected a positive number of seconds, or None")
