"""Threads in which handlers of informers run, so that a handler may block without delaying anything else.

The loop hands over a batch of changes and waits for it: one switch of threads for each batch, not for each change.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import nullcontext
from queue import SimpleQueue
from sys import getrefcount
from typing import TypeVar

from listwatch.informer.handlers import Change
from listwatch.informer.listener import Listener, handling
from listwatch.keyed import Cached
from listwatch.tasks.callers import begin_thread_wait, end_thread_wait
from listwatch.tracing.switch import switch

__all__ = ["HandlerThread", "ThreadListener", "call_handler"]

R = TypeVar("R")
T = TypeVar("T", bound=Cached)

# Small enough that a limit on the backlog of a slow handler remains meaningful.
_BATCH = 100


class HandlerThread(threading.Thread):
    """A daemon thread that executes functions one after another until `end`."""

    def __init__(self, name: str) -> None:
        super().__init__(name=f"listwatch handler {name}", daemon=True)
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def submit(self, function: Callable[[], R]) -> Future[R]:
        done: Future[R] = Future()

        def work() -> None:
            try:
                done.set_result(function())
            except BaseException as error:  # noqa: BLE001  # it is raised where the result is awaited
                done.set_exception(error)

        self._work.put(work)
        return done

    def end(self) -> None:
        self._work.put(None)


class ThreadListener(Listener[T]):
    """Calls one handler in order, as its base class does, but in a separate thread.

    When it is stopped, it waits for the current call: a thread cannot be cancelled.
    """

    @property
    def backlog(self) -> int:
        """0, because the thread does not need time of the event loop."""
        return 0

    async def run(self) -> None:
        """Handle changes until closed or cancelled."""
        thread = self._caller = HandlerThread(self.name)
        thread.start()
        try:
            while not self._is_closing:
                await self._awake.wait()
                self._awake.clear()
                while self._pending and not self._is_closing:
                    await self._handle_batch(thread)
        finally:
            thread.end()

    async def _handle_batch(self, thread: HandlerThread) -> None:
        batch = self.take(_BATCH)
        self._in_hand = len(batch)
        releaser = self.releaser
        references = [getrefcount(change.object) for change in batch] if releaser is not None else []
        loop = asyncio.get_running_loop()
        handling = asyncio.wrap_future(thread.submit(lambda: self._call_with_each(batch, loop)))
        try:
            handled = await asyncio.shield(handling)
        except asyncio.CancelledError:
            self.close()
            await asyncio.wait([handling])
            raise
        del batch[handled:], references[handled:]
        # In the order of the changes: the parts of an old state are released before those of the next one.
        batch.reverse()
        references.reverse()
        while batch:
            change = batch.pop()
            self.was_handled(change)
            if releaser is not None:
                releaser.release(change, references.pop())

    def _call_with_each(self, batch: list[Change[T]], loop: asyncio.AbstractEventLoop) -> int:
        """Call the handler, in its thread, until the listener closes; return the number of handled changes."""
        for count, change in enumerate(batch):
            if self._is_closing:
                return count
            self._in_hand = len(batch) - count - 1
            try:
                with nullcontext() if switch.tracing is None else handling(switch.tracing, change):
                    call_handler(self._handler, change, loop)
            except Exception as error:  # noqa: BLE001  # user code; later changes must still be handled
                self._report(change, error)
        return len(batch)


def call_handler(
    handler: Callable[[Change[T]], Awaitable[object] | None], change: Change[T], loop: asyncio.AbstractEventLoop
) -> None:
    """Call a handler in this thread; an awaitable that it returns runs in the loop."""
    try:
        awaitable = handler(change)
        if awaitable is not None:
            coroutine = _await(awaitable)
            begin_thread_wait(coroutine)
            try:
                asyncio.run_coroutine_threadsafe(coroutine, loop).result()
            finally:
                end_thread_wait(coroutine)
    except Exception:
        raise
    except BaseException as error:  # SystemExit, KeyboardInterrupt and CancelledError have no effect in this thread
        raise RuntimeError(
            f"the handler raised {error!r}, which does not end the program from a handler's thread; "
            "notify the main thread instead"
        ) from error


async def _await(awaitable: Awaitable[R]) -> R:
    return await awaitable
