"""The hand-written part of the blocking LeaderElector: the lease is renewed on the background loop.

    with elector.lead():
        while not elector.wait_lost(timeout=1.0):
            do_some_work()

A thread cannot be cancelled. The block has to check `wait_lost` or `is_leader` and to end soon after leadership is
lost: it has the time between `renew_deadline` and `lease_duration`. The lease is released after the block has ended.
`run` calls its callbacks in the calling thread, `on_new_leader` is called in a thread of a pool.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import Any, ClassVar

from listwatch.blocking.runtime.blocking_object import BlockingObject
from listwatch.errors import LeadershipLostError
from listwatch.leaderelection.elector import LeaderElector

__all__ = ["Election", "ThreadedElector"]

Lead = Callable[[], AbstractAsyncContextManager[None]]


class ThreadedElector(LeaderElector):
    """An elector that calls `on_new_leader` in a thread."""

    def __init__(self, *arguments: Any, on_new_leader: Callable[[str], object] | None = None, **options: Any) -> None:
        in_thread = _in_thread(on_new_leader) if callable(on_new_leader) else on_new_leader
        super().__init__(*arguments, on_new_leader=in_thread, **options)


class Election(BlockingObject):
    """Leads on the background loop while a block runs in the calling thread."""

    _clean_up: ClassVar[str] = ""  # a lease that is not released expires
    _async: LeaderElector

    @contextmanager
    def _do_lead(self) -> Iterator[None]:
        with self._lead_with(self._async.lead):
            yield

    def _do_run(self) -> None:
        while True:
            try:
                with self._lead_with(self._async._term):
                    self._act()
            except LeadershipLostError:
                pass  # it was logged; be a candidate again

    def _act(self) -> None:
        try:
            self._call_back(self._async._on_started_leading)
            self._run(self._async.wait_lost())
        finally:
            self._async._stopping = threading.current_thread()
            try:
                self._call_back(self._async._on_stopped_leading)
            finally:
                self._async._stopping = None

    def _call_back(self, callback: Callable[[], object] | None) -> None:
        result = callback() if callback else None
        if inspect.isawaitable(result):
            self._loop.run(_await(result), self._name_of("run"))

    @contextmanager
    def _lead_with(self, lead: Lead) -> Iterator[None]:
        name, leading = self._name_of("lead"), _Leading(self._async, lead)
        self._loop.run(leading.begin(), name)
        try:
            yield
        except BaseException:
            with suppress(LeadershipLostError):  # the exception of the block is more specific
                self._loop.run(leading.end(), name)
            raise
        self._loop.run(leading.end(), name)


class _Leading:
    """A task that leads while a block runs in another thread. After a loss it still waits for the block."""

    def __init__(self, elector: LeaderElector, lead: Lead) -> None:
        self._elector = elector
        self._lead = lead
        self._is_elected = asyncio.Event()
        self._has_ended = asyncio.Event()

    async def begin(self) -> None:
        """Return when elected."""
        self._task = asyncio.create_task(self._run(), name=f"leader for {self._elector.name}")
        elected = asyncio.create_task(self._is_elected.wait())
        try:
            await asyncio.wait([self._task, elected], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait([self._task])
            raise
        finally:
            elected.cancel()
        if self._task.done():
            self._task.result()

    async def end(self) -> None:
        """Stop leading, after the block has ended."""
        self._has_ended.set()
        await self._task

    async def _run(self) -> None:
        async with self._lead():
            self._is_elected.set()
            try:
                await self._has_ended.wait()
            except asyncio.CancelledError:
                if not self._elector.is_leader:  # otherwise the loop ends, and the block cannot be waited for
                    await self._has_ended.wait()
                raise


def _in_thread(on_new_leader: Callable[[str], object]) -> Callable[[str], Awaitable[object]]:
    async def call(leader: str) -> object:
        result = await asyncio.to_thread(on_new_leader, leader)
        return await result if inspect.isawaitable(result) else None

    return call


async def _await(awaitable: Awaitable[object]) -> object:
    return await awaitable
