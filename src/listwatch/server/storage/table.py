"""Keeps one resource: its objects in order, its latest events, and from both a view of any moment in between.

`storage` has one table for each resource.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple, Self

from listwatch.meta import ObjectKey
from listwatch.server.storage.values import Event, RevisionCompactedError, Stored

# A snapshot looks objects up by the batch, so that its reader may pause anywhere while others write.
_BATCH = 500
# From about this share of misplaced paths on, sorting all is faster than placing each.
_FEW = 1 / 32


class Span(NamedTuple):
    """The paths between two others, both exclusive."""

    after: str
    before: str

    @classmethod
    def of(cls, *, namespace: str | None, start_after: ObjectKey | None) -> Self:
        # "0" is the character after "/": these two enclose all that begins with the namespace and a slash.
        first, end = (f"{namespace}/", f"{namespace}0") if namespace else ("", "\U0010ffff")
        return cls(max(first, str(start_after)) if start_after else first, end)

    def bounds(self, paths: list[str]) -> tuple[int, int]:
        first = bisect_right(paths, self.after)
        return first, max(first, bisect_left(paths, self.before))


class Table:
    """The objects of one resource by path, "namespace/name" or "name", and its events that are still remembered.

    Paths sort as etcd's keys do: by code point, which is by byte in UTF-8, slash included. So "a-b/x" is before "a/x".
    """

    def __init__(self) -> None:
        self.objects: dict[str, Stored] = {}
        self._log: deque[Event] = deque()
        self._forgotten = 0
        self._order: list[str] = []
        self._misplaced: set[str] = set()

    def copy(self) -> Table:
        twin = Table()
        twin.objects, twin._log, twin._forgotten = self.objects.copy(), self._log.copy(), self._forgotten
        twin._order, twin._misplaced = self._order.copy(), self._misplaced.copy()
        return twin

    def set_state(self, event: Event) -> None:
        """Take over the state that the event led to, without remembering the event."""
        path = str(event.stored.key)
        was_there = path in self.objects
        if event.type == "DELETED":
            del self.objects[path]
        else:
            self.objects[path] = event.stored
        # Not by the type: the first that is known of an object may be a change of it.
        if was_there != (path in self.objects):
            self._misplaced.add(path)

    def apply(self, event: Event) -> None:
        self.set_state(event)
        self._log.append(event)

    def forget_oldest(self) -> None:
        self._forgotten = self._log.popleft().revision

    def events(self, after: int) -> list[Event]:
        if after < self._forgotten:
            raise compacted(after, oldest=self._forgotten)
        return newer_than(after, self._log)

    def paths(self) -> list[str]:
        """All paths in order, put right only now, so that to write many objects costs no sorting."""
        if len(self._misplaced) > len(self.objects) * _FEW:
            self._order = sorted(self.objects)
        else:
            for path in self._misplaced:
                self._place(path)
        self._misplaced.clear()
        return self._order

    def _place(self, path: str) -> None:
        at = bisect_left(self._order, path)
        is_listed = self._order[at : at + 1] == [path]
        if path in self.objects and not is_listed:
            self._order.insert(at, path)
        elif is_listed and path not in self.objects:
            del self._order[at]


class Snapshot:
    """One resource as it was at a revision, however much is written while it is read."""

    def __init__(self, table: Table, revision: int) -> None:
        self.revision = revision
        self._table = table
        self._seen = revision
        # Of the paths that were written since: what they held at the revision, and which of them held an object.
        self._then: dict[str, Stored | None] = {}
        self._held: list[str] = []

    def scan(self, span: Span) -> Iterator[Stored]:
        while paths := self._next_paths(span):
            yield from [stored for path in paths if (stored := self._state_of(path))]
            span = span._replace(after=paths[-1])

    def count(self, span: Span) -> int:
        self._catch_up()
        first, end = span.bounds(self._table.paths())
        changed = ((path, then) for path, then in self._then.items() if span.after < path < span.before)
        return end - first + sum((then is not None) - (path in self._table.objects) for path, then in changed)

    def _next_paths(self, span: Span) -> list[str]:
        """The first paths of the span, at least a batch if there are so many; not all of them need hold an object."""
        self._catch_up()
        paths = self._table.paths()
        first, end = span.bounds(paths)
        batch = paths[first : min(end, first + _BATCH)]
        if len(batch) < end - first:
            span = span._replace(before=batch[-1])
        first, end = span.bounds(self._held)
        return sorted({*batch, *self._held[first:end]}) if first < end else batch

    def _state_of(self, path: str) -> Stored | None:
        return self._then[path] if path in self._then else self._table.objects[path]

    def _catch_up(self) -> None:
        newer = self._table.events(self._seen)
        if not newer:
            return
        for event in newer:
            self._then.setdefault(str(event.key), event.previous)
        self._held = sorted(path for path, then in self._then.items() if then)
        self._seen = newer[-1].revision


def newer_than(revision: int, log: deque[Event]) -> list[Event]:
    # From the newest backwards: whoever resumes is mostly near the end of a long log.
    newer = [*takewhile(lambda event: event.stored.revision > revision, reversed(log))]
    newer.reverse()
    return newer


def compacted(asked: int, *, oldest: int) -> RevisionCompactedError:
    message = f"revision {asked} is too old, the oldest that can be read is {oldest}"
    return RevisionCompactedError(message, asked=asked, oldest=oldest)
