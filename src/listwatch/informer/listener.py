"""Calls one handler at its own pace. The informer fills its backlog and never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from listwatch.cache.indexer import key_of
from listwatch.informer.handlers import Added, Change, Deleted, HandlerFunctions, Updated, filtered
from listwatch.objects.object import Object

__all__ = ["Listener", "ListenerStatistics", "Overflow"]

T = TypeVar("T", bound=Object)

Overflow = Literal["coalesce", "report"]

_log = logging.getLogger("listwatch.informer")

_TURN = 0.005
"""Seconds of calls in a row, after which others get a turn."""


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
    """Hands changes to one handler, one after another, in order; what the handler raises is reported and passed over.

    The backlog is unbounded on purpose: a slow handler must not hold up the cache or other handlers. With
    `max_pending`, changes beyond that are folded into those that wait for the same object, or only reported.
    """

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
        self._handler = handler
        self._accepts = accepts
        self._max_pending = max_pending
        self._overflow = overflow
        self._on_failure = on_failure or _log_failure
        self._pending: deque[Change[T]] = deque()
        self._awake = asyncio.Event()
        self._initial_left = 0
        self._is_fed = False
        self._handled = self._failed = self._coalesced = 0
        self._warned = False
        self._is_closing = False
        self.caught_up = asyncio.Event()
        """Set once the cache has synced and every initial add has been handled."""
        self.resync_period = resync
        self.next_resync = 0.0
        self.is_syncing = False

    @property
    def name(self) -> str:
        return self._handler.name

    def statistics(self) -> ListenerStatistics:
        return ListenerStatistics(
            name=self.name,
            pending=len(self._pending),
            handled=self._handled,
            failed=self._failed,
            coalesced=self._coalesced,
            has_synced=self.caught_up.is_set(),
        )

    # --- being told ----------------------------------------------------------------------------------------------

    def tell(self, changes: Iterable[Change[T]]) -> None:
        """Put changes at the end of the backlog."""
        if self._accepts is not None:
            changes = self._seen(changes)
        for change in changes:
            if isinstance(change, Added) and change.is_initial:
                self._initial_left += 1
            self._pending.append(change)
        if self._max_pending is not None and len(self._pending) > self._max_pending:
            self._relieve()
        if self._pending:
            self._awake.set()

    def is_fed(self) -> None:
        """All initial adds have been told; once they are handled, this handler has caught up."""
        self._is_fed = True
        self._check_caught_up()

    def close(self) -> None:
        """End after the call under way; what is still in the backlog is not told any more."""
        self._is_closing = True
        self._pending.clear()
        self._awake.set()
        self.caught_up.set()

    def _seen(self, changes: Iterable[Change[T]]) -> Iterable[Change[T]]:
        for change in changes:
            try:
                seen = filtered(change, self._accepts)  # type: ignore[arg-type]  # only called where there is one
            except Exception as error:  # noqa: BLE001  # it is the user's function
                self._report(change, error)
            else:
                if seen is not None:
                    yield seen

    def _relieve(self) -> None:
        if self._overflow == "report":
            if not self._warned:
                self._warned = True
                _log.warning("%s is slow: %d changes are waiting for it", self.name, len(self._pending))
            return
        before, self._pending = self._pending, deque(_coalesced(self._pending))
        self._coalesced += len(before) - len(self._pending)
        # Not counted anew: the handler may be at an initial add just now, which is not in the backlog any more.
        self._initial_left -= _initial(before) - _initial(self._pending)

    def _check_caught_up(self) -> None:
        if self._is_fed and self._initial_left == 0:
            self.caught_up.set()

    # --- handling ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Handle changes until closed or cancelled."""
        loop_time = asyncio.get_running_loop().time
        while not self._is_closing:
            await self._awake.wait()
            self._awake.clear()
            turn_ends = loop_time() + _TURN
            while self._pending and not self._is_closing:
                await self._handle(self._pending.popleft())
                if loop_time() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = loop_time() + _TURN

    async def _handle(self, change: Change[T]) -> None:
        try:
            awaitable = self._handler(change)
            if awaitable is not None:
                await awaitable
        except Exception as error:  # noqa: BLE001  # it is the user's function, and others' changes are still to come
            self._report(change, error)
        self._was_handled(change)

    def _report(self, change: Change[T], error: Exception) -> None:
        self._failed += 1
        self._on_failure(self.name, change, error)

    def _was_handled(self, change: Change[T]) -> None:
        self._handled += 1
        if isinstance(change, Added) and change.is_initial:
            self._initial_left -= 1
            self._check_caught_up()


def _initial(changes: Iterable[Change[T]]) -> int:
    return sum(isinstance(each, Added) and each.is_initial for each in changes)


def _coalesced(changes: Iterable[Change[T]]) -> list[Change[T]]:
    """At most one change for each object: what the first and the last of them amount to."""
    last: dict[str, Change[T] | None] = {}
    for change in changes:
        key = key_of(change.object)
        before = last.pop(key, None)
        last[key] = change if before is None else _folded(before, change)
    return [change for change in last.values() if change is not None]


def _folded(before: Change[T], after: Change[T]) -> Change[T] | None:
    match before, after:
        case Added(), Deleted():
            return None
        case Added(is_initial=is_initial), _:
            return Added(after.object, is_initial)
        case Updated(old=old), Updated(item):
            return Updated(item, old)
        case Deleted(old), Added(item):
            return Updated(item, old)
        case _:
            return after


def _log_failure(name: str, change: Change[T], error: Exception) -> None:
    _log.error("%s failed on %s %s", name, change.type, change.object.describe(), exc_info=error)
