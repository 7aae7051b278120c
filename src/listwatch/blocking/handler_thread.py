"""Calls one handler in a thread of its own, so that it may wait for whatever it wants and holds up nobody else.

The loop hands over what is there and waits for that: a hop for each batch, not for each change. `informers.py` puts
this in the place of the informer's own listener.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from listwatch.informer.handlers import Change
from listwatch.informer.listener import Listener
from listwatch.objects.object import Object

__all__ = ["HandlerThread", "ThreadListener"]

T = TypeVar("T", bound=Object)

# Small enough that a bound on the backlog of a slow handler still means something.
_BATCH = 100


class HandlerThread(threading.Thread):
    """Does one piece of work after another until `end`."""

    def __init__(self, name: str) -> None:
        super().__init__(name=f"listwatch handler {name}", daemon=True)
        self._work: SimpleQueue[tuple[Callable[[], int], Future[int]] | None] = SimpleQueue()

    def run(self) -> None:
        while (work := self._work.get()) is not None:
            function, done = work
            try:
                done.set_result(function())
            except BaseException as error:  # noqa: BLE001  # it is raised where the work was given
                done.set_exception(error)

    def submit(self, function: Callable[[], int]) -> Future[int]:
        done: Future[int] = Future()
        self._work.put((function, done))
        return done

    def end(self) -> None:
        self._work.put(None)


class ThreadListener(Listener[T]):
    """Hands changes to one handler in order, as its base does, but in a thread that is there as long as it runs.

    When it is stopped, it waits for the call under way: a thread cannot be cancelled.
    """

    async def run(self) -> None:
        """Handle changes until closed or cancelled."""
        thread = HandlerThread(self.name)
        thread.start()
        try:
            while not self._is_closing:
                await self._awake.wait()
                self._awake.clear()
                while self._pending and not self._is_closing:
                    await self._handle_some(thread)
        finally:
            thread.end()

    async def _handle_some(self, thread: HandlerThread) -> None:
        batch = self.take(_BATCH)
        loop = asyncio.get_running_loop()
        handling = asyncio.wrap_future(thread.submit(lambda: self._call_with_each(batch, loop)))
        try:
            handled = await asyncio.shield(handling)
        except asyncio.CancelledError:
            self.close()
            await asyncio.wait([handling])
            raise
        for change in batch[:handled]:
            self.was_handled(change)

    def _call_with_each(self, batch: list[Change[T]], loop: asyncio.AbstractEventLoop) -> int:
        """Call the handler, in its thread, until it is told enough; how often that was."""
        for count, change in enumerate(batch):
            if self._is_closing:
                return count
            try:
                awaitable = self._handler(change)
                if awaitable is not None:
                    asyncio.run_coroutine_threadsafe(_awaited(awaitable), loop).result()
            except Exception as error:  # noqa: BLE001  # it is the user's function, and others' changes are to come
                self._report(change, error)
            except BaseException as error:  # noqa: BLE001  # as above: none of them can end anything in this thread
                self._report(change, _in_vain(error))
        return len(batch)


def _in_vain(error: BaseException) -> Exception:
    """What to report of a handler that wanted to end more than itself: from here it cannot."""
    report = RuntimeError(f"the handler raised {error!r}, which ends nothing here; tell the main thread instead")
    report.__cause__ = error
    return report


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
