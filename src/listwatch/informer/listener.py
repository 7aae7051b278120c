"""Calls one handler at its own pace, from a backlog of its own."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from sys import getrefcount
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, get_args

from listwatch.api.predicates import check_predicate
from listwatch.cache.keys import key_of
from listwatch.clock import SystemClock
from listwatch.errors import UsageError
from listwatch.informer.decoded_parts import PartReleaser
from listwatch.informer.handlers import (
    Change,
    HandlerFunctions,
    ObjectAdded,
    ObjectDeleted,
    ObjectEvicted,
    ObjectUpdated,
    filtered,
)
from listwatch.informer.validation import check_number
from listwatch.keyed import Cached, describe
from listwatch.logs.folded_log import FoldedLog, cause_of_call
from listwatch.tasks.callers import Caller, SelfWaitError, is_caller
from listwatch.tasks.cancellation import cancelled_wait
from listwatch.tasks.cooperative import TimeSlice
from listwatch.tracing.switch import switch

if TYPE_CHECKING:
    from listwatch.tracing.spans import Tracing

__all__ = [
    "Backlog",
    "HandlerRegistration",
    "Listener",
    "ListenerStatistics",
    "Overflow",
    "Reader",
    "check_may_wait_for_sync",
    "handling",
]

T = TypeVar("T", bound=Cached)

Overflow = Literal["coalesce", "report"]
"""What happens when a backlog exceeds its limit: the changes of each object are coalesced, or a warning is logged."""

_log = logging.getLogger("listwatch.informer")

_SLICE = 100
"""How many changes are filtered without a pause."""

_ITERATIONS_TO_CLOSE = 5
_LOGGED_ONE_BY_ONE = 10
"""How many failures of one cause are logged one by one."""


@dataclass(frozen=True, slots=True)
class ListenerStatistics:
    """The state of one handler: how many changes it has to handle, and has handled."""

    name: str
    pending: int
    handled: int
    failed: int
    coalesced: int
    has_synced: bool


class Listener(Generic[T]):
    """Calls one handler for each change, in order. An exception of the handler is reported; the next change follows."""

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
            check_predicate(accepts, "filter: pass a function of an object that returns whether to handle it")
        self._handler = handler
        self._accepts = accepts
        self._on_failure = on_failure or _FailureLog()
        self._pending: Backlog[T] = Backlog(handler.name, max_pending=max_pending, overflow=overflow)
        self._in_hand = 0  # taken from the backlog, but not handled yet
        self._awake = asyncio.Event()
        self._initial_in_work = 0
        self._has_synced = False
        self._handled = self._failed = 0
        self._is_closing = False
        self._caller: Caller | None = None  # calls the handler
        self.caught_up = asyncio.Event()
        """Set once the store has synced and the handler has handled all initial objects."""
        self.resync_period = resync
        self.next_resync = 0.0
        self.releaser: PartReleaser | None = None
        """Releases the parts that the handler has decoded, if they can be decoded again."""
        self.is_due = False
        """True from the time of a resync until the resync starts."""

    @property
    def name(self) -> str:
        return self._handler.name

    @property
    def is_calling(self) -> bool:
        """True in a call of the handler: in its task, or in its thread of the blocking API."""
        return is_caller(self._caller)

    @property
    def blocks_thread(self) -> bool:
        """True in a call of the handler by a thread, which cannot be cancelled."""
        return isinstance(self._caller, threading.Thread) and is_caller(self._caller)

    @property
    def backlog(self) -> int:
        """The number of changes to handle in the event loop, without pending initial additions."""
        return len(self._pending) - self._pending.initial + self._in_hand

    def statistics(self) -> ListenerStatistics:
        return ListenerStatistics(
            name=self.name,
            pending=len(self._pending) + self._in_hand,
            handled=self._handled,
            failed=self._failed,
            coalesced=self._pending.coalesced,
            has_synced=self.caught_up.is_set(),
        )

    # --- called by the informer ----------------------------------------------------------------------------------

    def replay(self, stored: Collection[T], open_all: Callable[[list[T]], list[T]] | None = None) -> None:
        """Deliver objects that existed before this handler was added, as initial additions, before all changes.

        They are in the form in which they are stored; `open_all` returns the objects of some of them.
        """
        self._pending.replay(stored, open_all)
        self._awake.set()

    def notify(self, changes: Sequence[Change[T]]) -> None:
        """Append changes to the backlog."""
        if self._is_closing:
            return
        seen = changes if self._accepts is None else [each for each in map(self._filtered, changes) if each is not None]
        if seen:
            self._pending.extend(seen)
            self._awake.set()

    def mark_synced(self) -> None:
        """Declare that all initial additions are in the backlog; once they are handled, the handler has caught up."""
        self._has_synced = True
        self._check_caught_up()

    def close(self) -> None:
        """End after the current call; discards the backlog."""
        self._is_closing = True
        self._in_hand = 0
        self._pending.clear()
        self._awake.set()
        self.caught_up.set()

    def _filtered(self, change: Change[T]) -> Change[T] | None:
        assert self._accepts is not None
        try:
            return filtered(change, self._accepts)
        except Exception as error:  # noqa: BLE001  # user code may raise anything
            self._report(change, error)
            return None

    # --- handling ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Handle changes until closed or cancelled."""
        self._caller = asyncio.current_task()
        time_slice, limit = TimeSlice(), 1 if self._pending.is_bounded else _SLICE
        handler, on_update = self._handler, self._handler.on_update
        while some := await self.wait_some(limit):
            # No coroutine per change: it would take longer than most handlers do.
            self._in_hand = len(some)
            if switch.tracing is not None:
                await self._handle_traced(some, time_slice, switch.tracing)
                continue
            releaser, is_needed, decodings = self.releaser, False, 0
            if releaser is not None:
                is_needed, decodings = releaser.is_always_needed, releaser.accesses.decodings
            some.reverse()
            while some:
                if self._is_closing:
                    return
                change = some.pop()  # not iterated over: the list would refer to changes that were handled
                self._in_hand -= 1
                references = getrefcount(change.object) if releaser is not None else 0
                try:
                    # Most changes are updates; calling the function directly saves a call.
                    if on_update is not None and type(change) is ObjectUpdated:
                        result = on_update(change.old, change.object)
                        if result is not None and inspect.isawaitable(result):
                            await result
                    elif (awaitable := handler(change)) is not None:
                        await awaitable
                except Exception as error:  # noqa: BLE001  # user code; other changes follow
                    self._report(change, error)
                except asyncio.CancelledError as error:
                    self._report(change, cancelled_wait("the handler", error))
                self.was_handled(change)
                if releaser is not None and (
                    is_needed or releaser.accesses.decodings != decodings or getrefcount(change.object) > references
                ):
                    releaser.release(change, references)
                    decodings = releaser.accesses.decodings
                del change  # the next one may be handled much later
                if time_slice.now() > time_slice.end:
                    await time_slice.checkpoint()

    async def _handle_traced(self, some: list[Change[T]], time_slice: TimeSlice, tracing: Tracing) -> None:
        """Handle changes, each in the context of the write that caused it."""
        releaser = self.releaser
        some.reverse()
        while some:
            if self._is_closing:
                return
            change = some.pop()
            self._in_hand -= 1
            references = getrefcount(change.object) if releaser is not None else 0
            try:
                with handling(tracing, change):
                    if (awaitable := self._handler(change)) is not None:
                        await awaitable
            except Exception as error:  # noqa: BLE001  # user code; other changes follow
                self._report(change, error)
            except asyncio.CancelledError as error:
                self._report(change, cancelled_wait("the handler", error))
            self.was_handled(change)
            if releaser is not None:
                releaser.release(change, references)
            del change
            if time_slice.now() > time_slice.end:
                await time_slice.checkpoint()

    async def changes(self) -> AsyncGenerator[Change[T], None]:
        """Yield one change after another until closed; call `was_handled` for each before taking the next."""
        self._caller = asyncio.current_task()
        time_slice = TimeSlice()
        while some := await self.wait_some(1):
            yield some[0]
            await time_slice.checkpoint()

    async def wait_some(self, limit: int) -> list[Change[T]]:
        """Wait for changes and take up to `limit` of them; returns none when this listener is closed."""
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
        """Take up to `limit` changes to handle now; may return none although there are some."""
        # Changes are filtered when they are appended, replayed objects only here: they may be very many at once.
        is_unfiltered = self._accepts is not None and self._pending.is_replaying
        taken = self._pending.take(min(limit, _SLICE))
        if is_unfiltered:
            taken = [change for change in taken if self._filtered(change) is not None]
        if not self.caught_up.is_set():
            self._initial_in_work += _count_initial(taken)
            self._check_caught_up()
        return taken

    def was_handled(self, change: Change[T]) -> None:
        self._handled += 1
        if self._initial_in_work and type(change) is ObjectAdded and change.is_initial:
            self._initial_in_work -= 1
            self._check_caught_up()

    def _check_caught_up(self) -> None:
        if self._has_synced and not self._initial_in_work and not self._pending.initial:
            self.caught_up.set()

    def _report(self, change: Change[T], error: Exception) -> None:
        self._failed += 1
        try:
            self._on_failure(self.name, change, error)
        except Exception:  # noqa: BLE001  # user code; other changes follow
            _log.exception("on_failure of %s raised an exception", self.name, extra={"handler": self.name})


def handling(tracing: Tracing, change: Change[T]) -> AbstractContextManager[None]:
    """Handle a change in the context of the write that caused it; no write causes a resync."""
    item = change.object
    is_new = change.old.resource_version != item.resource_version if type(change) is ObjectUpdated else True
    uid = getattr(item, "uid", "") if is_new else ""  # objects of other sources need not have one
    return tracing.handling(uid, item.resource_version, is_deletion=type(change) is ObjectDeleted)


class Reader(Listener[T]):
    """A listener without a handler: the caller takes changes from it."""

    def __init__(
        self,
        *,
        accepts: Callable[[T], bool] | None = None,
        resync: float = 0.0,
        max_pending: int | None = None,
        overflow: Overflow = "coalesce",
    ) -> None:
        super().__init__(
            HandlerFunctions(on_add=lambda _: None, name="changes()"),
            accepts=accepts,
            resync=resync,
            max_pending=max_pending,
            overflow=overflow,
        )

    async def run(self) -> None:
        """Do nothing: the caller takes the changes."""

    @property
    def blocks_thread(self) -> bool:
        """False: no task of the informer waits for the caller."""
        return False

    def set_caller(self, caller: Caller) -> None:
        """Set the task or thread that takes the changes."""
        self._caller = caller


async def check_may_wait_for_sync(listeners: Sequence[Listener[T]]) -> None:
    """Raise UsageError if the caller is one of the handlers and has not handled all initial objects."""
    if not any(each.is_calling for each in listeners):
        return
    # `changes()` that a loop has left is closed by the event loop, a few iterations later.
    for _ in range(_ITERATIONS_TO_CLOSE):
        await asyncio.sleep(0)
    for each in listeners:
        if each.is_calling and not each.caught_up.is_set():
            raise SelfWaitError(
                f"{each.name} called wait_for_sync(), which waits until {each.name} has handled all initial objects: "
                "return from it first, or wait in another task or thread"
            )


class _WaitForSync(Protocol[T]):
    def __call__(
        self, timeout: float | None = None, *, handlers: Sequence[HandlerRegistration[T]] | None = None
    ) -> Awaitable[None]: ...


class HandlerRegistration(Generic[T]):
    """One handler of one informer, with its own backlog and sync state."""

    def __init__(
        self,
        listener: Listener[T],
        *,
        remove: Callable[[Listener[T]], None],
        wait_ended: Callable[[Listener[T]], Awaitable[None]],
        wait_for_sync: _WaitForSync[T],
    ) -> None:
        self._listener = listener
        self._remove = remove
        self._wait_ended = wait_ended
        self._wait_for_sync = wait_for_sync

    def __repr__(self) -> str:
        return f"<HandlerRegistration of {self._listener.name}, {'synced' if self.has_synced else 'not synced'}>"

    @property
    def has_synced(self) -> bool:
        """True once the handler has handled all objects that existed when it was added."""
        return self._listener.caught_up.is_set()

    async def wait_for_sync(self, timeout: float | None = None) -> None:
        """Wait until `has_synced`; raises SyncTimeoutError, and UsageError in the handler itself."""
        await self._wait_for_sync(timeout, handlers=[self])

    def remove(self) -> None:
        """Remove the handler; a current call continues to its end. Removing it twice does nothing."""
        self._remove(self._listener)

    async def wait_removed(self) -> None:
        """Remove the handler and wait for a current call; raises UsageError in the handler itself."""
        if self._listener.is_calling:
            name = self._listener.name
            raise SelfWaitError(
                f"{name} called wait_removed() of its own registration, which waits until {name} returns: "
                "call remove(), or wait in another task or thread"
            )
        self.remove()
        await self._wait_ended(self._listener)

    def statistics(self) -> ListenerStatistics:
        """The counters and the current state of the handler."""
        return self._listener.statistics()


class Backlog(Generic[T]):
    """The changes that one handler has to handle: first the replayed objects, then the changes since.

    It is unbounded by design: a slow handler delays the store by some milliseconds per read at most, and no other
    handler. With `max_pending`, the changes beyond that number are coalesced into one per object, or only reported.
    """

    def __init__(self, name: str, *, max_pending: int | None = None, overflow: Overflow = "coalesce") -> None:
        if overflow not in get_args(Overflow):
            raise UsageError(
                f"overflow={overflow!r} is not supported; pass {' or '.join(map(repr, get_args(Overflow)))}"
            )
        if max_pending is not None:
            check_number(max_pending, "max_pending must be a number of changes, or None")
        self._name = name
        self._max_pending = max_pending
        self._overflow = overflow
        # Stored as objects, not as changes: there may be a hundred thousand of them at once.
        self._replayed: deque[T] = deque()
        self._open_all: Callable[[list[T]], list[T]] = list
        self._changes: deque[Change[T]] = deque()
        self._coalesced_to = 0
        self._has_warned = False
        self.initial = 0
        """The number of pending initial additions."""
        self.coalesced = 0
        """The number of changes that were merged into others."""

    def replay(self, stored: Collection[T], open_all: Callable[[list[T]], list[T]] | None = None) -> None:
        """Add objects that existed before the handler was added; `open_all` returns the objects of stored ones."""
        self._open_all = open_all or list
        self._replayed.extend(stored)
        self.initial += len(stored)

    def extend(self, changes: Collection[Change[T]]) -> None:
        """Append changes."""
        self._changes.extend(changes)
        self.initial += _count_initial(changes)
        if self._max_pending is not None and len(self._changes) > max(self._max_pending, 2 * self._coalesced_to):
            self._reduce()

    @property
    def is_replaying(self) -> bool:
        """True while the next change is of a replayed object."""
        return bool(self._replayed)

    def take(self, limit: int) -> list[Change[T]]:
        """Remove and return up to `limit` changes, in order: either of replayed objects, or of later changes."""
        if replayed := self._replayed:
            stored = [replayed.popleft() for _ in range(min(limit, len(replayed)))]
            taken: list[Change[T]] = [ObjectAdded(item, is_initial=True) for item in self._open_all(stored)]
            self.initial -= len(taken)
            return taken
        changes = self._changes
        taken = [changes.popleft() for _ in range(min(limit, len(changes)))]
        if self.initial:
            self.initial -= _count_initial(taken)
        if not changes:
            self._coalesced_to = 0
        return taken

    @property
    def is_bounded(self) -> bool:
        """True if pending changes may be coalesced, so that the consumer should take no more than it needs."""
        return self._max_pending is not None

    def clear(self) -> None:
        self._replayed.clear()
        self._changes.clear()
        self.initial = 0

    def __len__(self) -> int:
        return len(self._replayed) + len(self._changes)

    def _reduce(self) -> None:
        if self._overflow == "report":
            if not self._has_warned:
                self._has_warned = True
                _log.warning(
                    "Handler %s is slow: %d changes are pending",
                    self._name,
                    len(self._changes),
                    extra={"handler": self._name, "pending": len(self._changes)},
                )
            return
        before = len(self._changes)
        self._changes = deque(_coalesced_by_object(self._changes))
        # There may be more objects than the bound. Coalescing again before the number has doubled would take longer
        # each time without an effect.
        self._coalesced_to = len(self._changes)
        self.coalesced += before - len(self._changes)
        self.initial = len(self._replayed) + _count_initial(self._changes)


def _count_initial(changes: Iterable[Change[T]]) -> int:
    return len([each for each in changes if type(each) is ObjectAdded and each.is_initial])


def _coalesced_by_object(changes: Iterable[Change[T]]) -> list[Change[T]]:
    """Return at most one change per object, which has the effect of all of them."""
    last: dict[str, Change[T] | None] = {}
    for change in changes:
        key = key_of(change.object)
        before = last.pop(key, None)
        last[key] = change if before is None else _coalesced(before, change)
    return [change for change in last.values() if change is not None]


def _coalesced(before: Change[T], after: Change[T]) -> Change[T] | None:
    match before, after:
        case ObjectAdded(), ObjectDeleted() | ObjectEvicted():
            return None
        case ObjectAdded(is_initial=is_initial), _:
            return ObjectAdded(after.object, is_initial)
        case ObjectUpdated(old=old), ObjectUpdated(item):
            return ObjectUpdated(item, old)
        case ObjectDeleted(old) | ObjectEvicted(old), ObjectAdded(item):
            return ObjectUpdated(item, old)
        case _:
            return after


class _FailureLog:
    """Logs the exceptions of one handler."""

    def __init__(self) -> None:
        self._log: FoldedLog | None = None  # created with the first failure

    def __call__(self, name: str, change: Change[T], error: Exception) -> None:
        self._log = self._log or FoldedLog(_log, SystemClock(), burst=_LOGGED_ONE_BY_ONE)
        self._log.log(
            logging.ERROR,
            cause_of_call(error),
            "Handler %s failed on %s %s",
            name,
            change.type,
            describe(change.object),
            fields={"handler": name, "key": change.object.cache_key, "event": change.type},
            exc_info=error,
        )
