"""Objects as bytes under one revision that only grows, with a log of the latest events.

    write ──▶ journal ──▶ table and log ──▶ subscribers

Everything is in memory; `sqlite_journal` persists it. The storage does not interpret the bytes: selectors, API versions
and HTTP are the concern of other packages.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import NamedTuple, Self

from listwatch.meta import ObjectKey
from listwatch.server.storage.values import (
    Event,
    EventType,
    Journal,
    JournalError,
    KeyExistsError,
    KeyMissingError,
    Page,
    RevisionCompactedError,
    RevisionConflictError,
    RevisionTooLargeError,
    Stored,
)

__all__ = ["MAX_AGE", "MAX_EVENTS", "Storage"]

MAX_EVENTS = 50_000
"""The number of events that are kept, of all resources together."""

MAX_AGE = 300.0
"""The seconds for which an event is kept."""

# As in etcd, so that a list of an empty storage has a version to watch from.
_FIRST_REVISION = 1

# A snapshot reads objects in batches, so that writes may happen between two of them.
_BATCH = 500
# From about this share of unsorted paths on, sorting all of them is faster than inserting each.
_FEW = 1 / 32


class Storage:
    """The objects of an API server and their history, by revision.

    Every write gets a revision greater than all before it, and happens completely or not at all.

    A resource is any name, such as "apps/deployments". The bytes of an object contain its revision, so a write takes a
    function of the revision, which must not write itself. `now` returns the time in seconds; without it, events do not
    expire by age.

    With `group_commit`, writes become durable and are published on `sync`, many at once. The caller must not
    send results of reads and writes before the next `sync`, because they may still be lost. If they are,
    because the disk is full for instance, the storage returns to the state of the last `sync`, and counts a rollback.
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
        self._journal = journal
        self._group_commit = group_commit
        self._revision = _FIRST_REVISION
        self._compacted = _FIRST_REVISION
        self._tables: dict[str, _Table] = {}
        self._log: deque[Event] = deque()
        self._subscribers: dict[object, Callable[[Event], None]] = {}
        self._resource_subscribers: dict[str, dict[object, Callable[[Event], None]]] = {}
        self._unpublished: deque[Event] = deque()
        self._is_publishing = False
        self._rollbacks = 0

    def __repr__(self) -> str:
        objects = sum(len(table.objects) for table in self._tables.values())
        return f"<Storage at {self._revision}: {objects} objects, {len(self._log)} events after {self._compacted}>"

    @property
    def revision(self) -> int:
        """The revision of the latest write."""
        return self._revision

    @property
    def compacted_revision(self) -> int:
        """The oldest revision that can be listed or watched from."""
        return self._compacted

    @property
    def rollbacks(self) -> int:
        """How often writes were lost because they could not be made durable."""
        return self._rollbacks

    def is_writable(self) -> bool:
        """Whether writes can be made durable now."""
        return self._journal is None or self._journal.is_writable()

    # --- Write

    def create(self, resource: str, key: ObjectKey, encode: Callable[[int], bytes]) -> Stored:
        """Raises KeyExistsError."""
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

    def append(self, changes: Sequence[tuple[EventType, str, Stored]]) -> None:
        """Write changes of resources at given revisions, greater than the current one and in ascending order.

        They become visible together, so several may have the same revision. For storages without a journal.
        """
        for type_, resource, stored in changes:
            event = Event(type_, resource, stored, self.get(resource, stored.key), self._now())
            self._apply(event)
            self._unpublished.append(event)
        self._publish()
        self._drop_expired(self._now())

    def advance(self, revision: int) -> None:
        """Raise the current revision to this one, without changing objects; a greater one is kept."""
        self._revision = max(self._revision, revision)

    def sync(self) -> None:
        """Make all writes so far durable and publish them; does nothing if that has been done.

        Raises JournalError after the writes that could not be made durable are undone.
        """
        try:
            if self._journal:
                self._journal.sync()
        except JournalError as error:
            self._undo(error.lost)
            raise
        finally:
            if self._unpublished:
                self._publish()

    def compact(self, revision: int) -> None:
        """Drop the events up to this revision, which is then the oldest that can be read."""
        self._check_reached(revision)
        self._drop_while(lambda event: event.revision <= revision, oldest=revision)
        self.sync()

    # --- Read

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that have objects, or had some."""
        return tuple(sorted(self._tables))

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
        """Return up to `limit` objects, or all; pass the page's `revision` and `next` to get the next page."""
        snapshot = self._snapshot(resource, revision)
        items = tuple(islice(snapshot.scan(_Span.of(namespace=namespace, start_after=start_after)), limit or None))
        last = items[-1].key if limit and items else None
        remaining = snapshot.count(_Span.of(namespace=namespace, start_after=last)) if last else 0
        return Page(items, snapshot.revision, remaining, last if remaining else None)

    def scan(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        start_after: ObjectKey | None = None,
    ) -> Iterator[Stored]:
        """Yield all objects at the revision, in the order of etcd's keys.

        Writes may happen while it is suspended. If they drop events that it still needs, it raises
        `RevisionCompactedError`.
        """
        return self._snapshot(resource, revision).scan(_Span.of(namespace=namespace, start_after=start_after))

    def count(
        self,
        resource: str,
        *,
        namespace: str | None = None,
        revision: int | None = None,
        start_after: ObjectKey | None = None,
    ) -> int:
        """Return the number of objects that `scan` yields."""
        return self._snapshot(resource, revision).count(_Span.of(namespace=namespace, start_after=start_after))

    def counts(self) -> dict[str, int]:
        """Return the number of objects of each resource that has some."""
        return {resource: len(table.objects) for resource, table in self._tables.items() if table.objects}

    def events(self, resource: str | None = None, *, after: int) -> Sequence[Event]:
        """Return the events of one resource or of all after the revision, the oldest first."""
        self._check_readable(after)
        return _newer_than(after, self._log) if resource is None else self._table(resource).events(after)

    def subscribe(self, callback: Callable[[Event], None], *, resource: str | None = None) -> Callable[[], None]:
        """Call back with each event of one resource or of all, in order, once it is durable; returns unsubscribe.

        The callback must not raise. It may write; the events of its writes are published after the current one.
        """
        token = object()
        subscribers = self._subscribers
        if resource is not None:
            subscribers = self._resource_subscribers.setdefault(resource, {})
        subscribers[token] = callback

        def unsubscribe() -> None:
            subscribers.pop(token, None)

        return unsubscribe

    # --- Open and close

    def restore(self, events: Iterable[Event], *, revision: int, compacted: int) -> None:
        """Fill an empty storage from a journal, the oldest event first; events up to `compacted` are not kept."""
        for kept in events:
            table = self._table(kept.resource)
            event = Event(kept.type, kept.resource, kept.stored, table.objects.get(str(kept.key)), kept.time)
            if event.revision > compacted:
                self._apply(event)
            else:
                table.set_state(event)
        self._revision, self._compacted = revision, compacted
        self._drop_expired(self._now())

    def fork(self) -> Storage:
        """Return an independent copy with the same history, in memory and without subscribers."""
        copy = Storage(now=self._now, max_events=self._max_events, max_age=self._max_age)
        copy._revision, copy._compacted = self._revision, self._compacted
        copy._tables = {resource: table.copy() for resource, table in self._tables.items()}
        copy._log = self._log.copy()
        return copy

    def close(self) -> None:
        """Make all writes durable and close the journal; nothing more is published."""
        if self._journal:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- Internal

    def _table(self, resource: str) -> _Table:
        return self._tables.get(resource) or self._tables.setdefault(resource, _Table())

    def _snapshot(self, resource: str, revision: int | None) -> _Snapshot:
        if revision is None:
            revision = self._revision
        else:
            self._check_readable(revision)
        return _Snapshot(self._table(resource), revision)

    def _check_readable(self, revision: int) -> None:
        self._check_reached(revision)
        self._drop_expired(self._now())
        if revision < self._compacted:
            raise _compacted_error(revision, oldest=self._compacted)

    def _check_reached(self, revision: int) -> None:
        if revision > self._revision:
            message = f"revision {revision} is greater than the current one, {self._revision}"
            raise RevisionTooLargeError(message, requested=revision, current=self._revision)

    def _existing(self, resource: str, key: ObjectKey, expected: int | None, verb: str) -> Stored:
        stored = self.get(resource, key)
        if stored is None:
            raise KeyMissingError(f"cannot {verb} {resource} {key}: it does not exist")
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
        if self._journal:
            try:
                self._journal.append(event)
                if not self._group_commit:
                    self._journal.sync()
            except JournalError as error:
                self._undo(error.lost)
                raise
        self._apply(event)
        self._unpublished.append(event)
        if not self._group_commit:
            self._publish()
        self._drop_expired(event.time)
        return stored

    def _apply(self, event: Event) -> None:
        self._revision = event.stored.revision
        self._table(event.resource).apply(event)
        self._log.append(event)

    def _undo(self, lost: Sequence[Event]) -> None:
        """Return to the state before these events, which are the latest and have not been published."""
        self._rollbacks += bool(lost)
        for event in reversed(lost):
            if not self._unpublished or self._unpublished[-1] is not event:
                continue  # it was not applied yet
            self._unpublished.pop()
            self._table(event.resource).undo(event)
            if self._log and self._log[-1] is event:
                self._log.pop()
            self._revision = max(event.revision - 1, self._compacted)

    def _drop_expired(self, now: float) -> None:
        log = self._log
        if log and (log[0].time < (horizon := now - self._max_age) or len(log) > self._max_events):
            self._drop_while(lambda event: event.time < horizon or len(log) > self._max_events)

    def _drop_while(self, is_due: Callable[[Event], bool], *, oldest: int = 0) -> None:
        dropped = []
        while self._log and is_due(self._log[0]):
            event = self._log.popleft()
            self._tables[event.resource].drop_oldest()
            dropped.append(event)
            oldest = max(oldest, event.revision)
        if oldest > self._compacted:
            self._compacted = oldest
            if self._journal:
                self._journal.forget(dropped, compacted=oldest)

    def _publish(self) -> None:
        if self._is_publishing:
            # A subscriber has written; the outer loop publishes that after the current event.
            return
        self._is_publishing = True
        try:
            while self._unpublished:
                event = self._unpublished.popleft()
                for callback in tuple(self._subscribers.values()):
                    callback(event)
                if subscribers := self._resource_subscribers.get(event.resource):
                    for callback in tuple(subscribers.values()):
                        callback(event)
        finally:
            self._is_publishing = False


# --- One resource -----------------------------------------------------------------------------------------------------


class _Span(NamedTuple):
    """The paths between two others, both exclusive."""

    after: str
    before: str

    @classmethod
    def of(cls, *, namespace: str | None, start_after: ObjectKey | None) -> Self:
        # "0" is the character after "/": these two enclose all paths that begin with the namespace and a slash.
        first, end = (f"{namespace}/", f"{namespace}0") if namespace else ("", "\U0010ffff")
        return cls(max(first, str(start_after)) if start_after else first, end)

    def bounds(self, paths: list[str]) -> tuple[int, int]:
        first = bisect_right(paths, self.after)
        return first, max(first, bisect_left(paths, self.before))


class _Table:
    """The objects of one resource by path, "namespace/name" or "name", and those of its events that are kept.

    Paths sort like etcd's keys: by code point, which is by byte in UTF-8, slash included. So "a-b/x" is before "a/x".
    """

    def __init__(self) -> None:
        self.objects: dict[str, Stored] = {}
        self._log: deque[Event] = deque()
        self._dropped = 0
        self._order: list[str] = []
        self._unsorted: set[str] = set()

    def copy(self) -> _Table:
        copy = _Table()
        copy.objects, copy._log, copy._dropped = self.objects.copy(), self._log.copy(), self._dropped
        copy._order, copy._unsorted = self._order.copy(), self._unsorted.copy()
        return copy

    def set_state(self, event: Event) -> None:
        """Store the state of an event without keeping the event."""
        path = str(event.stored.key)
        was_there = path in self.objects
        if event.type == "DELETED":
            del self.objects[path]
        else:
            self.objects[path] = event.stored
        # Not by the type of the event: the first event that a journal has of an object may be an update.
        if was_there != (path in self.objects):
            self._unsorted.add(path)

    def apply(self, event: Event) -> None:
        self.set_state(event)
        self._log.append(event)

    def undo(self, event: Event) -> None:
        """Restore the state before the latest event."""
        path = str(event.stored.key)
        was_there = path in self.objects
        if event.previous:
            self.objects[path] = event.previous
        else:
            self.objects.pop(path, None)
        if was_there != (path in self.objects):
            self._unsorted.add(path)
        if self._log and self._log[-1] is event:
            self._log.pop()

    def drop_oldest(self) -> None:
        self._dropped = self._log.popleft().revision

    def events(self, after: int) -> list[Event]:
        if after < self._dropped:
            raise _compacted_error(after, oldest=self._dropped)
        return _newer_than(after, self._log)

    def paths(self) -> list[str]:
        """Return all paths in order; they are sorted here and not on each write."""
        if len(self._unsorted) > len(self.objects) * _FEW:
            self._order = sorted(self.objects)
        else:
            for path in self._unsorted:
                self._place(path)
        self._unsorted.clear()
        return self._order

    def _place(self, path: str) -> None:
        at = bisect_left(self._order, path)
        is_listed = self._order[at : at + 1] == [path]
        if path in self.objects and not is_listed:
            self._order.insert(at, path)
        elif is_listed and path not in self.objects:
            del self._order[at]


class _Snapshot:
    """One resource at one revision, unaffected by later writes."""

    def __init__(self, table: _Table, revision: int) -> None:
        self.revision = revision
        self._table = table
        self._seen = revision
        # For the paths written since: their state at the revision, and those of them that existed then.
        self._then: dict[str, Stored | None] = {}
        self._existed: list[str] = []

    def scan(self, span: _Span) -> Iterator[Stored]:
        while paths := self._next_paths(span):
            yield from [stored for path in paths if (stored := self._state_of(path))]
            span = span._replace(after=paths[-1])

    def count(self, span: _Span) -> int:
        self._catch_up()
        first, end = span.bounds(self._table.paths())
        changed = ((path, then) for path, then in self._then.items() if span.after < path < span.before)
        return end - first + sum((then is not None) - (path in self._table.objects) for path, then in changed)

    def _next_paths(self, span: _Span) -> list[str]:
        """Return the first paths of the span, at least a batch if there are as many; some may have no object."""
        self._catch_up()
        paths = self._table.paths()
        first, end = span.bounds(paths)
        batch = paths[first : min(end, first + _BATCH)]
        if len(batch) < end - first:
            span = span._replace(before=batch[-1])
        first, end = span.bounds(self._existed)
        return sorted({*batch, *self._existed[first:end]}) if first < end else batch

    def _state_of(self, path: str) -> Stored | None:
        return self._then[path] if path in self._then else self._table.objects[path]

    def _catch_up(self) -> None:
        newer = self._table.events(self._seen)
        if not newer:
            return
        for event in newer:
            self._then.setdefault(str(event.key), event.previous)
        self._existed = sorted(path for path, then in self._then.items() if then)
        self._seen = newer[-1].revision


def _newer_than(revision: int, log: deque[Event]) -> list[Event]:
    # Backwards from the newest, because most readers resume near the end of a long log.
    newer = [*takewhile(lambda event: event.stored.revision > revision, reversed(log))]
    newer.reverse()
    return newer


def _compacted_error(requested: int, *, oldest: int) -> RevisionCompactedError:
    message = f"revision {requested} is too old, the oldest that can be read is {oldest}"
    return RevisionCompactedError(message, requested=requested, oldest=oldest)
