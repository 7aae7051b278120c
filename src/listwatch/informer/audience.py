"""Everybody whom one informer tells of changes, and when to tell whom again. `listener.py` is one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from listwatch.clock import Clock, time_limit
from listwatch.informer.handlers import Change, Updated
from listwatch.informer.listener import Listener
from listwatch.objects.object import Object

__all__ = ["Audience"]

T = TypeVar("T", bound=Object)


class Audience(Generic[T]):
    """The handlers of one informer; who comes while something is being told joins when it has been told.

    `present` gives all objects that there are, for who comes late. Whoever cannot be told is reported and passed over.
    """

    def __init__(self, present: Callable[[], Sequence[T]], clock: Clock, report: Callable[[Exception], object]) -> None:
        self._present = present
        self._clock = clock
        self._report = report
        self._listeners: list[Listener[T]] = []
        self._joining: list[tuple[Listener[T], Callable[[], object]]] = []
        self._is_telling = False
        self._is_fed = False
        self._has_changed = asyncio.Event()

    def __iter__(self) -> Iterator[Listener[T]]:
        return iter((*self._listeners, *(listener for listener, _ in self._joining)))

    # --- coming and going ----------------------------------------------------------------------------------------

    def join(self, listener: Listener[T], then: Callable[[], object]) -> None:
        """Let somebody hear of all that is there, and of every change from then on; `then` is called at that time."""
        if self._is_telling:
            self._joining.append((listener, then))
            return
        self._listeners.append(listener)
        listener.next_resync = self._clock.monotonic() + listener.resync_period
        listener.begin_with(self._present())
        if self._is_fed:
            listener.is_fed()
        self._has_changed.set()
        then()

    def leave(self, listener: Listener[T]) -> None:
        """Tell somebody nothing more."""
        self._joining = [each for each in self._joining if each[0] is not listener]
        if listener in self._listeners:
            self._listeners.remove(listener)
        listener.close()

    def close(self) -> None:
        """Tell nobody anything more."""
        for listener in self:
            listener.close()

    # --- telling -------------------------------------------------------------------------------------------------

    def begins(self) -> None:
        """Something is being told until `ends`, perhaps with pauses."""
        self._is_telling = True

    def ends(self) -> None:
        self._is_telling = False
        joining, self._joining = self._joining, []
        for listener, then in joining:
            self.join(listener, then)

    def tell(self, changes: Sequence[Change[T]]) -> None:
        """Tell everybody; what is not new, such as a relist of what was known, is told to nobody."""
        news = [
            each
            for each in changes
            if type(each) is not Updated
            or each.old.resource_version != each.object.resource_version
            or not each.object.resource_version  # which says nothing, and so not that it is the same
        ]
        self.tell_each(tuple(self._listeners), news)

    def tell_each(self, listeners: Iterable[Listener[T]], changes: Sequence[Change[T]]) -> None:
        """Tell these of all of it, as in a resync."""
        for listener in listeners:
            try:
                listener.tell(changes)
            except Exception as error:  # noqa: BLE001  # whatever it is, the others are still to be told
                report = RuntimeError(f"{listener.name} could not be told of {len(changes)} changes: {error!r}")
                report.__cause__ = error
                self._report(report)

    def is_fed(self) -> None:
        """All that was there at first has been told."""
        self._is_fed = True
        for listener in tuple(self._listeners):
            listener.is_fed()

    # --- telling again -------------------------------------------------------------------------------------------

    async def run_resyncs(self, begin: Callable[[], object]) -> None:
        """Call `begin` whenever it is time to tell somebody everything again, until cancelled."""
        while True:
            self._has_changed.clear()
            try:
                async with time_limit(self._clock, self._until_next_resync()):
                    await self._has_changed.wait()
            except TimeoutError:
                if self._mark_due():
                    begin()

    def take_due(self) -> list[Listener[T]]:
        """Those whose time for a resync has come; they are not due any more."""
        due = [each for each in self._listeners if each.is_due]
        for listener in due:
            listener.is_due = False
        return due

    def _until_next_resync(self) -> float | None:
        times = [each.next_resync for each in self._listeners if each.resync_period]
        # Not 0, with which there would be no turn for anybody else.
        return max(min(times) - self._clock.monotonic(), 1e-3) if times else None

    def _mark_due(self) -> bool:
        # A clock may wake a sleeper a rounding error early.
        now = self._clock.monotonic() + 1e-6
        due = [each for each in self._listeners if each.resync_period and each.next_resync <= now]
        for listener in due:
            listener.is_due = True
            listener.next_resync = now + listener.resync_period
        return bool(due)
