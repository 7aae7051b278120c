"""Leader election for programs without an event loop: the lease is renewed on the background loop.

    with elector.lead():
        while not elector.wait_lost(timeout=1.0):       or ask elector.is_leader
            do_some_work()

A thread cannot be cancelled. So the block has to ask whether it still leads, and to end soon when it does not: it has
the time between `renew_deadline` and `lease_duration`. The lease is not released before it has ended. `run` makes its
calls in the thread that called it; `on_new_leader` has threads of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

from listwatch.blocking.face import Opened
from listwatch.errors import LeadershipLostError
from listwatch.leaderelection import elector as electors

__all__ = ["LeaderElector"]

_log = logging.getLogger("listwatch.leaderelection")


class LeaderElector(Opened, twin=electors.LeaderElector):  # noqa: D101  # its documentation is its twin's
    _closed_by: ClassVar[str] = "wait_lost"

    def _open(self, *arguments: Any, **options: Any) -> None:
        if callable(on_new_leader := options.get("on_new_leader")):
            options["on_new_leader"] = _in_a_thread(on_new_leader)
        super()._open(*arguments, **options)

    @contextmanager
    def lead(self) -> Iterator[None]:
        with self._led(lambda: self._twin.lead()):
            yield

    def run(self) -> None:
        while True:
            try:
                with self._led(lambda: self._twin._term()):
                    self._act()
            except LeadershipLostError as error:
                _log.warning("%s; it stands for election again", error)

    def _act(self) -> None:
        try:
            self._callback(self._twin._on_started_leading)
            self.wait_lost()
        finally:
            self._callback(self._twin._on_stopped_leading)

    def _callback(self, callback: Callable[[], object] | None) -> None:
        answer = callback() if callback else None
        if inspect.isawaitable(answer):
            self._wait(lambda: answer, doing="LeaderElector.run")

    @contextmanager
    def _led(self, lead: Callable[[], Any]) -> Iterator[None]:
        doing, stand_in = "LeaderElector.lead", _StandIn(self._twin, lead)
        self._wait(stand_in.begin, doing=doing)
        try:
            yield
        except BaseException:
            with suppress(LeadershipLostError):  # what the block raised says more
                self._wait(stand_in.end, doing=doing)
            raise
        self._wait(stand_in.end, doing=doing)


class _StandIn:
    """Leads on the loop in place of a block in some thread: as long as that, also when it is cancelled."""

    def __init__(self, elector: electors.LeaderElector, lead: Callable[[], Any]) -> None:
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
        """The block is over."""
        self._has_ended.set()
        await self._task

    async def _run(self) -> None:
        async with self._lead():
            self._is_elected.set()
            try:
                await self._has_ended.wait()
            except asyncio.CancelledError:
                if not self._elector.is_leader:  # else it is the loop that ends
                    await self._has_ended.wait()
                raise


def _in_a_thread(on_new_leader: Callable[[str], object]) -> Callable[[str], Awaitable[object]]:
    async def told(leader: str) -> object:
        answer = await asyncio.to_thread(on_new_leader, leader)
        return await answer if inspect.isawaitable(answer) else None

    return told
