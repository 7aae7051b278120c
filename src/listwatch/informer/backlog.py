"""What one handler is still to be told, in order. `listener.py` takes it from here, at its handler's pace."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection, Iterable
from typing import Generic, Literal, TypeVar, get_args

from listwatch.cache.keys import key_of
from listwatch.errors import UsageError
from listwatch.informer.handlers import Added, Change, Deleted, Updated
from listwatch.informer.validation import check_number
from listwatch.objects.object import Object

__all__ = ["Backlog", "Overflow"]

T = TypeVar("T", bound=Object)

Overflow = Literal["coalesce", "report"]

_log = logging.getLogger("listwatch.informer")


class Backlog(Generic[T]):
    """First what was there when its handler came, then what happened since, for as long as it takes.

    It is unbounded on purpose: a slow handler must not hold up the cache or other handlers. With `max_pending`, what
    happened beyond that is folded into one change for each object, or only reported.
    """

    def __init__(self, name: str, *, max_pending: int | None = None, overflow: Overflow = "coalesce") -> None:
        if overflow not in get_args(Overflow):
            raise UsageError(f"a backlog that is full can {' or '.join(get_args(Overflow))}, not {overflow!r}")
        if max_pending is not None:
            check_number(max_pending, "max_pending is a number of changes, or None")
        self._name = name
        self._max_pending = max_pending
        self._overflow = overflow
        # Kept as objects, not as changes: there may be a hundred thousand of them, which are all there at once.
        self._present: deque[T] = deque()
        self._changes: deque[Change[T]] = deque()
        self._folded_to = 0
        self._has_warned = False
        self.initial = 0
        """How many of those that wait are of objects which were there before."""
        self.coalesced = 0
        """How many changes were folded into others."""

    def begin_with(self, present: Collection[T]) -> None:
        """These were there before."""
        self._present.extend(present)
        self.initial += len(present)

    def extend(self, changes: Collection[Change[T]]) -> None:
        """This happened."""
        self._changes.extend(changes)
        self.initial += _initial(changes)
        if self._max_pending is not None and len(self._changes) > max(self._max_pending, 2 * self._folded_to):
            self._relieve()

    @property
    def is_at_what_was_there(self) -> bool:
        """True while the next one is of an object that was there before."""
        return bool(self._present)

    def take(self, limit: int) -> list[Change[T]]:
        """Up to so many of those that wait, in order: either of what was there before, or of what happened."""
        if present := self._present:
            taken: list[Change[T]] = [
                Added(present.popleft(), is_initial=True) for _ in range(min(limit, len(present)))
            ]
            self.initial -= len(taken)
            return taken
        changes = self._changes
        taken = [changes.popleft() for _ in range(min(limit, len(changes)))]
        if self.initial:
            self.initial -= _initial(taken)
        if not changes:
            self._folded_to = 0
        return taken

    def popleft(self) -> Change[T]:
        [change] = self.take(1)
        return change

    @property
    def is_bounded(self) -> bool:
        """True if what waits may be folded, so that nobody should take more than he needs."""
        return self._max_pending is not None

    def clear(self) -> None:
        self._present.clear()
        self._changes.clear()
        self.initial = 0

    def __len__(self) -> int:
        return len(self._present) + len(self._changes)

    def _relieve(self) -> None:
        if self._overflow == "report":
            if not self._has_warned:
                self._has_warned = True
                _log.warning("%s is slow: %d changes are waiting for it", self._name, len(self._changes))
            return
        before = len(self._changes)
        self._changes = deque(_folded_by_object(self._changes))
        # There may be more objects than the bound allows for: to fold them again before there are twice as many
        # changes would take longer each time, and bring nothing.
        self._folded_to = len(self._changes)
        self.coalesced += before - len(self._changes)
        self.initial = len(self._present) + _initial(self._changes)


def _initial(changes: Iterable[Change[T]]) -> int:
    return len([each for each in changes if type(each) is Added and each.is_initial])


def _folded_by_object(changes: Iterable[Change[T]]) -> list[Change[T]]:
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
