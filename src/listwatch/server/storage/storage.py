"""Holds what the server knows: objects as bytes, under one revision that only grows, and the latest events.

    write ──▶ journal ──▶ table and log ──▶ subscribers

All of it lives in memory; `storage_sqlite` has the journal that keeps it beyond the process. What the bytes mean is not
known here: selectors, API versions and HTTP are the server's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol, Self

from listwatch.meta import ObjectKey
from listwatch.server.storage.table import Snapshot, Span, Table, compacted, newer_than
from listwatch.server.storage.values import (
    Event,
    EventType,
    JournalError,
    KeyExistsError,
    KeyMissingError,
    Page,
    RevisionCompactedError,
    RevisionConflictError,
    RevisionTooLargeError,
    StorageError,
    Stored,
)

__all__ = [
    "MAX_AGE",
    "MAX_EVENTS",
    "Event",
    "EventType",
    "Journal",
    "JournalError",
    "KeyExistsError",
    "KeyMissingError",
    "Page",
    "RevisionCompactedError",
    "RevisionConflictError",
    "RevisionTooLargeError",
    "Storage",
    "StorageError",
    "Stored",
]

MAX_EVENTS = 50_000
"""How many events are remembered, of all resources together."""

MAX_AGE = 300.0
"""For how many seconds an event is remembered."""

# As etcd's, so that a list of an empty storage has a version to watch from.
_FIRST_REVISION = 1


class Journal(Protocol):
    """Keeps events beyond the life of the process; an event is safe once `sync` has returned."""

    def append(self, event: Event) -> None: ...

    def forget(self, events: Sequence[Event], *, compacted: int) -> None:
        """The storage remembers these, its oldest, no longer; `compacted` is now the oldest revision it can show."""

    def sync(self) -> None: ...

    def close(self) -> None: ...


class NoJournal:
    """Keeps nothing: what is in memory is all there is."""

    def append(self, event: Event) -> None: ...

    def forget(self, events: Sequence[Event], *, compacted: int) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class Storage:
    """Every write gets a revision above all before it, and has happened in full or not at all.

    A resource is any name, as "apps/deployments". The bytes of a write carry its revision, so they are given as a
    function of it, which must not write itself. `now` tells the time in seconds; without it nothing grows old.

    With `group_commit`, writes become safe and known to subscribers on `sync`, many at once. Whoever chooses that lets
    nothing that was read or written leave the process before the next `sync`: it may yet be lost.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = lambda: 0.0,
        max_events: int = MAX_EVENTS,
        max_age: float = MAX_AGE,
        journal: Journal | None = None,
        group_commit: bool = False,
    ) -> None:
        self._now = now
        self._max_events = max_events
        self._max_age = max_age
        self._journal = journal or NoJournal()
        self._group_commit = group_commit
        self._revision = _FIRST_REVISION
        self._compacted = _FIRST_REVISION
        self._tables: dict[str, Table] = {}
        self._log: deque[Event] = deque()
        self._subscribers: dict[object, Callable[[Event], None]] = {}
        self._unpublished: deque[Event] = deque()
        self._is_publishing = False

    def __repr__(self) -> str:
        objects = sum(len(table.objects) for table in self._tables.values())
        return f"<Storage at {self._revision}: {objects} objects, {len(self._log)} events after {self._compacted}>"

    @property
    def revision(self) -> int:
        """The latest revision: whatever is still to be written has a greater one."""
        return self._revision

    @property
    def compacted_revision(self) -> int:
        """The oldest revision that can be listed or watched from."""
        return self._compacted

    # --- Write

    def create(self, resource: str, key: ObjectKey, encode: Callable[[int], bytes]) -> Stored:
        if self.get(resource, key):
            raise KeyExistsError(f"cannot create {resource} {key}: it exists")
        return self._write("ADDED", resource, key, encode, None)

    def update(
        self, resource: str, key: ObjectKey, encode: Callable[[int], bytes], *, expected: int | None = None
    ) -> Stored:
        """Replace an object; with `expected`, only if it is at that revision."""
        return self._write("MODIFIED", resource, key, encode, self._existing(resource, key, expected, "update"))

    def delete(
        self, resource: str, key: ObjectKey, encode: Callable[[int], bytes], *, expected: int | None = None
    ) -> Stored:
        """Remove an object, with the given bytes as its last state; with `expected`, only if it is at that revision."""
        return self._write("DELETED", resource, key, encode, self._existing(resource, key, expected, "delete"))

    def sync(self) -> None:
        """Make all writes so far safe, and tell the subscribers; does nothing when that has been done."""
        self._journal.sync()
        if self._unpublished:
            self._publish()

    def compact(self, revision: int) -> None:
        """Forget what happened up to this revision, which is then the oldest that can be read."""
        self._check_has_come(revision)
        self._forget_while(lambda event: event.revision <= revision, oldest=revision)
        self.sync()

    # --- Read

    def get(self, resource: str, key: ObjectKey) -> Stored | None:
        table = self._tables.get(resource)
        return table.objects.get(str(key)) if table else None

    def list(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        limit: int = 0,
        start_after: ObjectKey | None = None,
    ) -> Page:
        """Up to `limit` objects, or all; the page's `revision` and `next`, given again, bring the following one."""
        snapshot = self._snapshot(resource, revision)
        items = tuple(islice(snapshot.scan(Span.of(namespace=namespace, start_after=start_after)), limit or None))
        last = items[-1].key if limit and items else None
        remaining = snapshot.count(Span.of(namespace=namespace, start_after=last)) if last else 0
        return Page(items, snapshot.revision, remaining, last if remaining else None)

    def scan(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        start_after: ObjectKey | None = None,
    ) -> Iterator[Stored]:
        """All objects at the revision, in the order of etcd's keys.

        Its reader may pause while others write, until more is written than is remembered: then it raises
        `RevisionCompactedError`.
        """
        return self._snapshot(resource, revision).scan(Span.of(namespace=namespace, start_after=start_after))

    def count(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        start_after: ObjectKey | None = None,
    ) -> int:
        """How many objects `scan` gives."""
        return self._snapshot(resource, revision).count(Span.of(namespace=namespace, start_after=start_after))

    def events(self, resource: str | None = None, *, after: int) -> Sequence[Event]:
        """What happened after the revision, to one resource or to all, the oldest first."""
        self._check_is_remembered(after)
        return newer_than(after, self._log) if resource is None else self._table(resource).events(after)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call back with each event from now on, in order, once it is safe; returns what ends that.

        The callback must not raise. It may write: others hear of that after the event at hand.
        """
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    # --- Begin and end

    def restore(self, events: Iterable[Event], *, revision: int, compacted: int) -> None:
        """Fill an empty storage with what a journal kept, the oldest first; up to `compacted` only the state counts."""
        for kept in events:
            table = self._table(kept.resource)
            event = Event(kept.type, kept.resource, kept.stored, table.objects.get(str(kept.key)), kept.time)
            if event.revision > compacted:
                self._apply(event)
            else:
                table.set_state(event)
        self._revision, self._compacted = revision, compacted
        self._forget_old(self._now())

    def fork(self) -> Storage:
        """An independent copy, history included, in memory only and without subscribers."""
        twin = Storage(now=self._now, max_events=self._max_events, max_age=self._max_age)
        twin._revision, twin._compacted = self._revision, self._compacted
        twin._tables = {resource: table.copy() for resource, table in self._tables.items()}
        twin._log = self._log.copy()
        return twin

    def close(self) -> None:
        """Make all writes safe and let go of the journal; subscribers hear no more."""
        self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- Inside

    def _table(self, resource: str) -> Table:
        return self._tables.get(resource) or self._tables.setdefault(resource, Table())

    def _snapshot(self, resource: str, revision: int | None) -> Snapshot:
        if revision is None:
            revision = self._revision
        else:
            self._check_is_remembered(revision)
        return Snapshot(self._table(resource), revision)

    def _check_is_remembered(self, revision: int) -> None:
        self._check_has_come(revision)
        self._forget_old(self._now())
        if revision < self._compacted:
            raise compacted(revision, oldest=self._compacted)

    def _check_has_come(self, revision: int) -> None:
        if revision > self._revision:
            message = f"revision {revision} is still to come, the current one is {self._revision}"
            raise RevisionTooLargeError(message, asked=revision, current=self._revision)

    def _existing(self, resource: str, key: ObjectKey, expected: int | None, verb: str) -> Stored:
        stored = self.get(resource, key)
        if stored is None:
            raise KeyMissingError(f"cannot {verb} {resource} {key}: there is none")
        if expected is not None and expected != stored.revision:
            message = f"cannot {verb} {resource} {key}: it is at revision {stored.revision}, not at {expected}"
            raise RevisionConflictError(message)
        return stored

    def _write(
        self, type_: EventType, resource: str, key: ObjectKey, encode: Callable[[int], bytes], previous: Stored | None
    ) -> Stored:
        revision = self._revision + 1
        stored = Stored(key, encode(revision), revision)
        event = Event(type_, resource, stored, previous, self._now())
        self._journal.append(event)
        if not self._group_commit:
            self._journal.sync()
        self._apply(event)
        self._unpublished.append(event)
        if not self._group_commit:
            self._publish()
        self._forget_old(event.time)
        return stored

    def _apply(self, event: Event) -> None:
        self._revision = event.revision
        self._table(event.resource).apply(event)
        self._log.append(event)

    def _forget_old(self, now: float) -> None:
        horizon = now - self._max_age
        self._forget_while(lambda event: event.time < horizon or len(self._log) > self._max_events)

    def _forget_while(self, is_due: Callable[[Event], bool], *, oldest: int = 0) -> None:
        forgotten = []
        while self._log and is_due(self._log[0]):
            event = self._log.popleft()
            self._tables[event.resource].forget_oldest()
            forgotten.append(event)
            oldest = max(oldest, event.revision)
        if oldest > self._compacted:
            self._compacted = oldest
            self._journal.forget(forgotten, compacted=oldest)

    def _publish(self) -> None:
        if self._is_publishing:
            # A subscriber has written. The loop that called it tells of that when all know of the event at hand.
            return
        self._is_publishing = True
        try:
            while self._unpublished:
                event = self._unpublished.popleft()
                for callback in tuple(self._subscribers.values()):
                    callback(event)
        finally:
            self._is_publishing = False
