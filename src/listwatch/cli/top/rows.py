"""The rows of a live table in order: sorted and filtered incrementally, so that a frame is cheap with 100,000 objects.

Changed objects wait in a set. `refresh` takes as many of them as fit into its time, and moves only those whose value in
the sorted column has changed. Another order or filter is built in the same way, while the present one is still shown.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from listwatch.cli.top.columns import Column, Row, SortValue
from listwatch.clock import Clock
from listwatch.objects.object import Object

__all__ = ["Rows"]

_ONE_BY_ONE = 0.005
"""Up to this share of the rows is moved one by one, which is then faster than merging them by sorting."""
_FEW = 1000
"""So many waiting objects count as up to date: they changed since the last frame."""
_MANY = 5000
"""So many rows are moved within a frame of 100,000 rows."""
_SLICE = 64
"""How many objects are read between two checks of the time."""

Matches = Callable[[Object], bool]
_Entry = tuple[SortValue, str]


class _Order:
    """The keys that match a filter, by the values of one column."""

    def __init__(self, column: Column, matches: Matches | None, waiting: Iterable[str]) -> None:
        self.column = column
        self.matches = matches
        self.waiting = deque(waiting)
        self._is_waiting = set(self.waiting)
        self.entries: list[_Entry] = []
        self._values: dict[str, SortValue] = {}
        self._moved: dict[str, SortValue | None] = {}  # keys with the values of their entries

    def wait(self, key: str) -> None:
        """Read an object again in the next refresh."""
        if key not in self._is_waiting:
            self._is_waiting.add(key)
            self.waiting.append(key)

    def take(self, count: int) -> list[str]:
        """The next objects to read."""
        waiting = self.waiting
        taken = [waiting.popleft() for _ in range(min(count, len(waiting)))]
        self._is_waiting.difference_update(taken)
        return taken

    def move(self, key: str, value: SortValue | None) -> None:
        """Move a row to the place of a value at the next flush; None removes it."""
        old = self._values.get(key)
        if old == value:
            return
        self._moved.setdefault(key, old)
        if value is None:
            del self._values[key]
        else:
            self._values[key] = value

    @property
    def is_due(self) -> bool:
        """Whether enough rows have moved: moving them costs as much as reading all entries, and delays a frame."""
        entries = len(self.entries)
        return len(self._moved) > max(min(entries // 4, _MANY), entries // 20, _FEW)

    def flush(self) -> None:
        """Move the rows."""
        values = self._values
        removed = {key: old for key, old in self._moved.items() if old is not None and old != values.get(key)}
        added = [
            (value, key) for key, old in self._moved.items() if (value := values.get(key)) is not None and value != old
        ]
        self._moved = {}
        if len(added) + len(removed) <= _ONE_BY_ONE * len(self.entries):
            for key, old in removed.items():
                del self.entries[bisect_left(self.entries, (old, key))]
            for entry in added:
                insort(self.entries, entry)
        elif added or removed:
            if removed:
                self.entries = [entry for entry in self.entries if entry[1] not in removed]
            # Sorting merges a long sorted part and a short one in linear time.
            self.entries += sorted(added)
            self.entries.sort()

    def position(self, key: str) -> int | None:
        value = self._values.get(key)
        return None if value is None else bisect_left(self.entries, (value, key))


class Rows:
    """All objects of a store, in the order of a column; `get` returns an object by its key."""

    def __init__(self, columns: Sequence[Column], get: Callable[[str], Object | None], *, clock: Clock) -> None:
        self.columns = tuple(columns)
        self.is_reversed = False
        self.total_changes = 0
        self._get = get
        self._clock = clock
        self._order = _Order(self.columns[0], None, ())
        self._next: _Order | None = None
        self._changes: dict[str, int] = {}
        self._changed_at: dict[str, float] = {}
        self._known: dict[str, None] = {}

    # --- what is shown -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of rows that match the filter."""
        return len(self._order.entries)

    @property
    def sorted_by(self) -> Column:
        """The column of the order that is shown or being built."""
        return (self._next or self._order).column

    @property
    def progress(self) -> float:
        """How much of the order is complete, from 0 to 1."""
        order = self._next or self._order
        if self._next is None and len(order.waiting) < _FEW:
            return 1.0  # changes of the last moments
        return 1 - len(order.waiting) / max(len(self._known), len(order.waiting), 1)

    def window(self, start: int, count: int) -> list[str]:
        """The keys of the rows from `start` on."""
        entries = self._order.entries
        if not self.is_reversed:
            return [key for _, key in entries[start : start + count]]
        stop = len(entries) - start
        return [key for _, key in reversed(entries[max(stop - count, 0) : max(stop, 0)])]

    def position(self, key: str) -> int | None:
        """The number of the row of an object; None if it is not shown."""
        found = self._order.position(key)
        return len(self) - 1 - found if found is not None and self.is_reversed else found

    def row(self, key: str, now: datetime, before: Row | None = None) -> Row | None:
        """An object with its changes; None if it was deleted meanwhile. What `before` has read is not read again."""
        item = self._get(key)
        if item is None:
            return None
        memo = before.memo if before is not None and before.item is item else {}
        return Row(item, self._changes.get(key, 0), self._changed_at.get(key), now, self._clock.monotonic(), memo)

    # --- changes -----------------------------------------------------------------------------------------------------

    def add(self, key: str) -> None:
        """Add an object that existed before."""
        self._known[key] = None
        self._wait(key)

    def change(self, key: str) -> None:
        """Count a change of an object, or its creation."""
        self._known[key] = None
        self.total_changes += 1
        self._changes[key] = self._changes.get(key, 0) + 1
        self._changed_at[key] = self._clock.monotonic()
        self._wait(key)

    def remove(self, key: str) -> None:
        """Remove an object."""
        self.total_changes += 1
        for each in (self._known, self._changes, self._changed_at):
            each.pop(key, None)
        self._wait(key)

    def _wait(self, key: str) -> None:
        self._order.wait(key)
        if self._next is not None:
            self._next.wait(key)

    def sort(self, column: Column) -> None:
        """Sort by another column."""
        self._next = _Order(column, (self._next or self._order).matches, self._known)

    def filter(self, matches: Matches | None) -> None:
        """Show only the objects that match."""
        self._next = _Order(self.sorted_by, matches, self._known)

    def refresh(self, seconds: float) -> None:
        """Bring the order up to date, for about as many seconds at most."""
        deadline = self._clock.monotonic() + seconds
        order = self._next or self._order
        now = self._clock.now()
        while order.waiting:
            for key in order.take(_SLICE):
                order.move(key, self._value(order, key, now))
            if self._clock.monotonic() >= deadline:
                break
        if order is self._order or order.is_due or not order.waiting:
            order.flush()
        if self._next is not None and not order.waiting:
            self._order, self._next = order, None

    @property
    def is_current(self) -> bool:
        """Whether no object waits."""
        return self._next is None and not self._order.waiting

    def _value(self, order: _Order, key: str, now: datetime) -> SortValue | None:
        row = self.row(key, now)
        if row is None or (order.matches is not None and not order.matches(row.item)):
            return None
        return order.column.sort_value(row)
