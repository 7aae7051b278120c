"""Calls the reconcile function, each time in a new task. `workers.py` decides when, and what follows.

The tasks have one timer in common, because a timer of its own for each call would take as long as the rest of the call.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import CoroutineType
from typing import Final, TypeAlias

from listwatch.clock import Clock
from listwatch.controller.reconcile.context import ReconcileContext, ReconcileForm
from listwatch.controller.reconcile.own_writes import OwnWrites
from listwatch.errors import PermanentError, ReconcileTimeoutError
from listwatch.meta import ObjectKey
from listwatch.tasks.callers import waiting_thread
from listwatch.tasks.thread_calls import call_in_thread

__all__ = ["Calls", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one call: a delay, nothing, or an error."""

    requeue_after: float | None = None
    error: BaseException | None = None

    @property
    def will_retry(self) -> bool:
        return self.error is not None and not isinstance(self.error, PermanentError)

    @property
    def name(self) -> str:
        """The outcome in one word, for display."""
        if self.error is None:
            return "succeeded" if self.requeue_after is None else "requeued"
        if isinstance(self.error, ReconcileTimeoutError):
            return "timed out"
        return "failed" if self.will_retry else "gave up"


_SUCCEEDED: Final = Outcome()

# A clock may wake a sleeper slightly early. The minimum prevents a series of ever shorter sleeps.
_MIN_SLEEP: Final = 1e-6

_Ended: TypeAlias = "asyncio.Future[Outcome | None]"
_Running: TypeAlias = tuple[ObjectKey, _Ended, float]
"""The key of a call, the future that gets its outcome, and when it was started."""


class Calls:
    """The calls of one controller that have not returned."""

    def __init__(
        self,
        form: ReconcileForm,
        make_context: Callable[[ObjectKey], ReconcileContext],
        own_writes: OwnWrites,
        *,
        timeout: float | None,
        clock: Clock,
    ) -> None:
        self._form = form
        self._make_context = make_context
        self._own_writes = own_writes
        self._timeout = timeout
        self._clock = clock
        # In the order in which they were started. A watchdog reads them from its own thread.
        self._running: dict[asyncio.Task[object], _Running] = {}
        self._threads: dict[threading.Thread, ObjectKey] = {}
        self._timekeeper: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._running)

    @property
    def keys(self) -> list[ObjectKey]:
        """The keys of the calls."""
        return [key for key, _, _ in [*self._running.values()]]

    @property
    def has_unfinished(self) -> bool:
        """Whether a call has not returned; a thread and a coroutine that ignores cancellation outlive the workers."""
        return bool(self._running) or any(thread.is_alive() for thread in [*self._threads])

    @property
    def calling_key(self) -> ObjectKey | None:
        """The key of the call in which this is read: in its task, or in its thread; None outside of calls."""
        task, thread = asyncio.current_task(), waiting_thread()
        found = None if task is None else self.key_of(task)
        return self._threads.get(thread) if found is None and thread is not None else found

    def key_of(self, task: asyncio.Task[object]) -> ObjectKey | None:
        """The key of the call that runs in this task, if one does; from any thread."""
        found = self._running.get(task)
        return None if found is None else found[0]

    def start(self, key: ObjectKey, started: float) -> tuple[asyncio.Task[None], _Ended]:
        """Call the function in a new task. The future gets the outcome; None if it was cancelled, or at its timeout."""
        loop = asyncio.get_running_loop()
        ended: _Ended = loop.create_future()
        call = loop.create_task(self._call(key, ended), name=f"{self._form.name} of {key}")
        self._running[call] = (key, ended, started)
        call.add_done_callback(self._remove)
        if self._timekeeper is None and self._timeout is not None:
            timer = self._end_overdue(self._timeout, started + self._timeout)
            self._timekeeper = loop.create_task(timer, name=f"timeouts of {self._form.name}")
        return call, ended

    def cancel(self, key: ObjectKey) -> None:
        """Cancel the call of a key, if there is one. A thread cannot be cancelled: its call ends when it ends."""
        if not any(running == key and thread.is_alive() for thread, running in [*self._threads.items()]):
            for call, (running, _, _) in [*self._running.items()]:
                if running == key:
                    call.cancel()

    def notify_end(self, key: ObjectKey, notify: Callable[[], None]) -> bool:
        """Call `notify` when the call of this key has returned; False if there is no call."""
        for call, (running, _, _) in self._running.items():
            if running == key and not call.done():
                call.add_done_callback(lambda _: notify())
                return True
        return False

    async def stop_timer(self) -> None:
        """End no further call at its timeout."""
        timekeeper, self._timekeeper = self._timekeeper, None
        if timekeeper is not None:
            timekeeper.cancel()
            await asyncio.wait([timekeeper])

    async def _call(self, key: ObjectKey, ended: _Ended) -> None:
        form = self._form
        try:
            with self._own_writes.observed(key):
                arguments = (key, self._make_context(key)) if form.takes_context else (key,)
                result = form.function(*arguments) if form.is_async else await self._call_in_thread(key, arguments)
                if type(result) is CoroutineType or inspect.isawaitable(result):
                    result = await result
            outcome = _SUCCEEDED if result is None else Outcome(requeue_after=_delay(result, form.name))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # SystemExit would end the event loop if it left this task
            outcome = Outcome(error=error)
        # Set here and not in a callback, so that the worker continues one turn of the loop earlier.
        if not ended.done():
            ended.set_result(outcome)
        del ended, outcome  # the traceback of an error refers to this frame: this would be a cycle

    async def _call_in_thread(self, key: ObjectKey, arguments: tuple[object, ...]) -> object:
        return await call_in_thread(
            self._form.function,
            *arguments,
            name=f"reconcile {key}",
            on_start=lambda thread: self._threads.update({thread: key}),
            on_end=self._threads.pop,
        )

    def _remove(self, call: asyncio.Task[object]) -> None:
        _, ended, _ = self._running.pop(call)
        if not ended.done():
            ended.set_result(None)  # it was cancelled, possibly before it began

    async def _end_overdue(self, timeout: float, due: float) -> None:
        """Notify the workers of calls that have reached the timeout, first at `due`; ends when it finds no call."""
        try:
            while True:
                # A call may have blocked the loop since it was started, also before the first step of this task.
                await self._clock.sleep(max(due - self._clock.monotonic(), _MIN_SLEEP))
                now = self._clock.monotonic()
                for _, ended, started in self._running.values():
                    if started + timeout <= now and not ended.done():
                        ended.set_result(None)
                pending = (started for _, ended, started in self._running.values() if not ended.done())
                if (first := next(pending, None)) is None:
                    return
                due = first + timeout
        finally:
            if self._timekeeper is asyncio.current_task():  # not the one of a later run
                self._timekeeper = None


def _delay(result: object, name: str) -> float | None:
    match result:
        case None:
            return None
        case timedelta():
            return max(result.total_seconds(), 0.0)
        case int() | float() if not isinstance(result, bool) and math.isfinite(result):
            return max(float(result), 0.0)
    raise PermanentError(f"{name} returned {result!r}: expected None, or a number of seconds or a timedelta")
