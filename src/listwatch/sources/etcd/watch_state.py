"""Turns the messages of a watch into events: a state machine without I/O.

* The events of a revision are delivered together: etcd divides large messages, also inside a revision.
* A message without events is a progress notification: every event up to its revision was sent on this stream. The
  revision of any other message says nothing about what was sent.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent, WatchEvent
from listwatch.errors import DecodeError
from listwatch.keyed import Cached, Tombstone
from listwatch.sources.etcd.entries import EntryMapping
from listwatch.sources.etcd.messages import WatchedEvent, WatchResponse

__all__ = ["WatchMachine"]

T = TypeVar("T", bound=Cached)


class WatchMachine(Generic[T]):
    """The state of one watch that begins at revision `start`."""

    def __init__(self, mapping: EntryMapping[T], start: int) -> None:
        self._mapping = mapping
        self._start = start
        self.revision = start - 1
        """Every event up to this revision was delivered."""
        self._fragments: list[WatchedEvent] = []

    def restart(self) -> None:
        """Continue with the messages of another watch, which began at or before the revision after the last one."""
        self._start = self.revision + 1
        self._fragments = []

    def receive(self, response: WatchResponse) -> list[WatchEvent[T]]:
        """Return the events that this message completes."""
        received = response.events
        if self._fragments:
            received, self._fragments = self._fragments + received, []
        if response.fragment:
            # The next fragment may continue the last revision; the ones before it are complete.
            complete = _start_of_last_revision(received)
            self._fragments = received[complete:]
            return self._events(received[:complete])
        if received:
            return self._events(received)
        progress = int(response.header.revision)
        # An old etcd sends progress below the start of a watch that begins in the future.
        if response.created or progress < self.revision:
            return []
        self.revision = progress
        return [BookmarkEvent.at(response.header.revision)]

    def _events(self, received: list[WatchedEvent]) -> list[WatchEvent[T]]:
        events: list[WatchEvent[T]] = []
        mapping, start, revision, delivered = self._mapping, self._start, self.revision, ""
        for each in received:
            entry = each.kv
            version = entry.mod_revision
            number = int(version)
            if number < start:
                continue  # an old etcd may send events again after it has received a snapshot
            if number > revision:
                revision = number
            cache_key = mapping.cache_key(entry.key)
            if cache_key is None:
                if error := mapping.outside(entry.key):
                    events.append(DeletedEvent(Tombstone("", version, error)))  # type: ignore[arg-type]  # only reported
                continue
            delivered = version
            if each.type == "DELETE":
                events.append(DeletedEvent(mapping.deleted(cache_key, version, each.prev_kv)))
                continue
            try:
                item = mapping.object_of(cache_key, entry, version)
            except DecodeError as error:
                events.append(DeletedEvent(mapping.undecodable(cache_key, version, error)))
            else:
                events.append(AddedEvent(item) if entry.create_revision == version else ModifiedEvent(item))
        if revision > self.revision and delivered != str(revision):
            events.append(BookmarkEvent.at(str(revision)))  # the last events were skipped
        self.revision = revision
        return events


def _start_of_last_revision(events: list[WatchedEvent]) -> int:
    """The index of the first event of the last revision; events are in the order of revisions."""
    start = len(events)
    while start and events[start - 1].kv.mod_revision == events[-1].kv.mod_revision:
        start -= 1
    return start
