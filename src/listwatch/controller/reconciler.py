"""Calls a program's reconcile function for one key, and says what came of it, whatever it does.

    async def reconcile(key: ObjectKey) -> float | None: ...     runs in the event loop
    def reconcile(key: ObjectKey) -> float | None: ...           runs in a thread of its own, and may wait for anything

A function that does not end when its time is over cannot be made to: the key stays in work, so that it never runs twice
at once, and the others go on. `workers` decides what happens next.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from listwatch.clock import Clock, time_limit
from listwatch.errors import PermanentError, ReconcileTimeoutError, UsageError
from listwatch.informer.cancellation import is_being_cancelled
from listwatch.meta import ObjectKey

__all__ = ["Outcome", "Reconcile", "Reconciler"]

Reconcile = Callable[[ObjectKey], Any]
"""Takes a key and returns None, or after how many seconds to be called again; plain or async."""


# What is cancelled and does not end must not hold up the end of everything else.
_LAST_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one call: nothing more to do, something to do later, or an error."""

    again_after: float | None = None
    error: BaseException | None = None

    @property
    def is_permanent(self) -> bool:
        return isinstance(self.error, PermanentError)


class Reconciler:
    """One reconcile function; every call has an outcome, but one that is cancelled."""

    def __init__(
        self,
        function: Reconcile,
        *,
        name: str,
        timeout: float | None,
        clock: Clock,
        on_overdue: Callable[[ObjectKey, Exception], None],
    ) -> None:
        if not callable(function):
            raise UsageError(f"{function!r} cannot reconcile: expected a function of a key, plain or async")
        given: object = timeout
        if given is not None and not (isinstance(given, int | float) and given > 0):
            raise UsageError(f"a reconcile needs some seconds, or timeout=None; timeout={timeout!r} is none")
        self.name = name
        self._function = function
        self._timeout = timeout
        self._clock = clock
        self._on_overdue = on_overdue
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  # an object whose calls are coroutines
        )
        self.running: dict[asyncio.Task[Outcome], ObjectKey] = {}
        """The calls under way; a watchdog looks at them from its own thread."""
        self._threads: dict[threading.Thread, ObjectKey] = {}

    @property
    def unfinished(self) -> set[ObjectKey]:
        """The keys whose function has not returned, though it may have been cancelled and left to itself."""
        return {*self.running.values(), *self._in_threads()}

    def _in_threads(self) -> list[ObjectKey]:
        return [key for thread, key in [*self._threads.items()] if thread.is_alive()]

    async def __call__(self, key: ObjectKey) -> Outcome:
        """Call the function; if this is cancelled, so is the call. A thread cannot be, and is left to itself."""
        work = asyncio.create_task(self._called(key), name=f"{self.name} of {key}")
        self.running[work] = key
        work.add_done_callback(self.running.pop)
        try:
            return await self._limited(key, work)
        except asyncio.CancelledError:
            if work.done() and not is_being_cancelled():
                return Outcome(error=RuntimeError(f"{self.name} of {key} cancelled itself"))
            work.cancel()
            await asyncio.wait([work], timeout=_LAST_WAIT)
            raise

    async def _limited(self, key: ObjectKey, work: asyncio.Task[Outcome]) -> Outcome:
        try:
            async with time_limit(self._clock, self._timeout):
                return await asyncio.shield(work)
        except TimeoutError:
            overdue = ReconcileTimeoutError(f"{self.name} of {key} did not end within {self._timeout} s")
        # Said now, because it may never end.
        self._on_overdue(key, overdue)
        if key not in self._in_threads():
            work.cancel()
        await asyncio.wait([work])
        return Outcome(error=overdue)

    async def _called(self, key: ObjectKey) -> Outcome:
        try:
            answer = self._function(key) if self._is_async else await _in_thread(self._function, key, self._threads)
            if inspect.isawaitable(answer):
                answer = await answer
            return Outcome(again_after=_delay(answer, self.name))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # SystemExit would end the event loop if it left this task
            return Outcome(error=error)


def _delay(answer: Any, name: str) -> float | None:
    match answer:
        case None:
            return None
        case timedelta():
            return max(answer.total_seconds(), 0.0)
        case int() | float() if not isinstance(answer, bool) and math.isfinite(answer):
            return max(float(answer), 0.0)
    raise PermanentError(f"{name} returned {answer!r}: expected None, or the seconds after which to be called again")


async def _in_thread(function: Reconcile, key: ObjectKey, threads: dict[threading.Thread, ObjectKey]) -> Any:
    """What the function returns, called with this task's context in a daemon thread, for which no program waits.

    The thread is among the others as long as it runs, whatever becomes of who waits for it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = copy_context()

    def settle(answer: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((answer, error))

    def run() -> None:
        answer, error = None, None
        try:
            answer = context.run(function, key)
        except BaseException as raised:  # noqa: BLE001  # it is raised where the function was called
            error = raised
        threads.pop(thread)
        with suppress(RuntimeError):  # the loop is closed, and nobody wants to know any more
            loop.call_soon_threadsafe(settle, answer, error)

    thread = threading.Thread(target=run, name=f"reconcile {key}", daemon=True)
    threads[thread] = key
    thread.start()
    answer, error = await done
    if error is not None:
        raise error
    return answer
