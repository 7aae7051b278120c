"""Calls one handler at its own pace. The informer fills its backlog and never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from listwatch.api.predicates import check_predicate
from listwatch.cooperative import TimeSlice
from listwatch.informer.backlog import Backlog, Overflow
from listwatch.informer.cancellation import waited_in_vain
from listwatch.informer.handlers import Added, Change, HandlerFunctions, filtered
from listwatch.objects.object import Object

__all__ = ["Listener", "ListenerStatistics", "Overflow", "Reader"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger("listwatch.informer")

_SLICE = 100
"""How many changes a filter looks at in one go."""


@dataclass(frozen=True, slots=True)
class ListenerStatistics:
    """How one handler keeps up."""

    name: str
    pending: int
    handled: int
    failed: int
    coalesced: int
    has_synced: bool


class Listener(Generic[T]):
    """Hands changes to one handler, one after another, in order; what it raises is reported and passed over."""

    def __init__(
        self,
        handler: HandlerFunctions[T],
        *,
        accepts: Callable[[T], bool] | None = None,
        resync: float = 0.0,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
        on_failure: Callable[[str, Change[T], Exception], None] | None = None,
    ) -> None:
        if accepts is not None:
            check_predicate(accepts, "filter: give a function of an object that tells whether to tell of it")
        self._handler = handler
        self._accepts = accepts
        self._on_failure = on_failure or _log_failure
        self._pending: Backlog[T] = Backlog(handler.name, max_pending=max_pending, overflow=overflow)
        self._in_hand = 0  # taken from there, but not yet its turn
        self._awake = asyncio.Event()
        self._initial_in_work = 0
        self._is_fed = False
        self._handled = self._failed = 0
        self._is_closing = False
        self.caught_up = asyncio.Event()
        """Set once the cache has synced and every initial add has been handled."""
        self.resync_period = resync
        self.next_resync = 0.0
        self.is_due = False
        """True from the time for a resync on until it begins."""

    @property
    def name(self) -> str:
        return self._handler.name

    def statistics(self) -> ListenerStatistics:
        return ListenerStatistics(
            name=self.name,
            pending=len(self._pending) + self._in_hand,
            handled=self._handled,
            failed=self._failed,
            coalesced=self._pending.coalesced,
            has_synced=self.caught_up.is_set(),
        )

    # --- being told ----------------------------------------------------------------------------------------------

    def begin_with(self, present: Collection[T]) -> None:
        """These were there before this handler came: it is told of them first, as initial adds."""
        self._pending.begin_with(present)
        self._awake.set()

    def tell(self, changes: Sequence[Change[T]]) -> None:
        """Put changes at the end of the backlog."""
        if self._is_closing:
            return
        seen = changes if self._accepts is None else [each for each in map(self._seen, changes) if each is not None]
        self._pending.extend(seen)
        if seen:
            self._awake.set()

    def is_fed(self) -> None:
        """All initial adds have been told; once they are handled, this handler has caught up."""
        self._is_fed = True
        self._check_caught_up()

    def close(self) -> None:
        """End after the call under way; what is still in the backlog is not told any more."""
        self._is_closing = True
        self._in_hand = 0
        self._pending.clear()
        self._awake.set()
        self.caught_up.set()

    def _seen(self, change: Change[T]) -> Change[T] | None:
        assert self._accepts is not None
        try:
            return filtered(change, self._accepts)
        except Exception as error:  # noqa: BLE001  # it is the user's function
            self._report(change, error)
            return None

    # --- handling ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Handle changes until closed or cancelled."""
        time_slice, limit = TimeSlice(), 1 if self._pending.is_bounded else _SLICE
        handler = self._handler
        while some := await self.wait_some(limit):
            # Without a coroutine for each, which would take longer than most handlers do.
            self._in_hand = len(some)
            for change in some:
                if self._is_closing:
                    return
                self._in_hand -= 1
                try:
                    if (awaitable := handler(change)) is not None:
                        await awaitable
                except Exception as error:  # noqa: BLE001  # it is the user's function, and others' are still to come
                    self._report(change, error)
                except asyncio.CancelledError as error:
                    self._report(change, waited_in_vain("the handler", error))
                self.was_handled(change)
                if time_slice.now() > time_slice.end:
                    await time_slice.checkpoint()

    async def changes(self) -> AsyncGenerator[Change[T], None]:
        """One change after another until closed; for each, `was_handled` is to be said before the next is taken."""
        time_slice = TimeSlice()
        while some := await self.wait_some(1):
            yield some[0]
            await time_slice.checkpoint()

    async def wait_some(self, limit: int) -> list[Change[T]]:
        """Wait for changes, and take up to so many of them; none are left when this listener is closed."""
        while not self._is_closing:
            if taken := self.take(limit):
                return taken
            if self._pending:
                await asyncio.sleep(0)
            else:
                self._awake.clear()
                await self._awake.wait()
        return []

    def take(self, limit: int) -> list[Change[T]]:
        """Up to so many changes, to be handled now; there may be none although some are waiting."""
        # What happens is looked at when it is told; what was there, only now: it may be very much at once.
        is_unseen = self._accepts is not None and self._pending.is_at_what_was_there
        taken = self._pending.take(min(limit, _SLICE))
        if is_unseen:
            taken = [change for change in taken if self._seen(change) is not None]
        if not self.caught_up.is_set():
            self._initial_in_work += sum(map(_is_initial, taken))
            self._check_caught_up()
        return taken

    def was_handled(self, change: Change[T]) -> None:
        self._handled += 1
        if self._initial_in_work and _is_initial(change):
            self._initial_in_work -= 1
            self._check_caught_up()

    def _check_caught_up(self) -> None:
        if self._is_fed and not self._initial_in_work and not self._pending.initial:
            self.caught_up.set()

    def _report(self, change: Change[T], error: Exception) -> None:
        self._failed += 1
        try:
            self._on_failure(self.name, change, error)
        except Exception:  # noqa: BLE001  # it is the user's function, and others' changes are still to come
            _log.exception("the on_failure of %s failed itself", self.name)


class Reader(Listener[T]):
    """A listener that calls nobody: whoever asked for it takes changes from it when he likes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(HandlerFunctions(on_add=lambda _: None, name="changes()"), **options)

    async def run(self) -> None:
        """Nothing: it is read, not run."""


def _is_initial(change: Change[Any]) -> bool:
    return type(change) is Added and change.is_initial


def _log_failure(name: str, change: Change[T], error: Exception) -> None:
    _log.error("%s failed on %s %s", name, change.type, change.object.describe(), exc_info=error)
