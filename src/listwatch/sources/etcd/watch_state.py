"""Turns the messages of a watch into events: a state machine without I/O.

* The events of a revision are delivered together: etcd divides large messages, also inside a revision.
* A message without events is a progress notification: every event up to its revision was sent on this stream. The
  revision of any other message says nothing about what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, cast

import msgspec

from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ModifiedEvent, WatchEvent
from listwatch.errors import DecodeError, ProtocolError, ResponseTooLargeError
from listwatch.keyed import Cached, Tombstone
from listwatch.sources.etcd.entries import EntryMapping
from listwatch.sources.etcd.messages import WatchedEvent, WatchResponse

__all__ = ["WatchMachine", "parts_of"]

T = TypeVar("T", bound=Cached)


class WatchMachine(Generic[T]):
    """The state of one watch that begins at revision `start`.

    `max_held` limits the values of an incomplete revision, in bytes. `previous_values=False` if the reader has the
    state of every object, and etcd does not send it with deletions.
    """

    def __init__(
        self, mapping: EntryMapping[T], start: int, *, max_held: int = 2**30, previous_values: bool = True
    ) -> None:
        self._mapping = mapping
        self._start = start
        self.revision = start - 1
        """Every event up to this revision was delivered."""
        self._last_event = start - 1
        self._max_held = max_held
        self._previous_values = previous_values
        self._held: list[WatchedEvent] = []  # the events of one revision, which the next message may continue
        self._held_size = 0

    def restart(self) -> None:
        """Continue with the messages of another watch, which began at or before the revision after the last one."""
        self._last_event = self.revision
        self._held, self._held_size = [], 0

    def receive(self, response: WatchResponse) -> list[WatchEvent[T]]:
        """Return the events that this message completes; raises ProtocolError for those that etcd does not send."""
        received = response.events
        if response.fragment:
            return self._events(self._hold(received))
        if self._held:
            received, self._held, self._held_size = self._held + received, [], 0
        if received:
            return self._events(received)
        progress = int(response.header.revision)
        # An old etcd sends progress below the start of a watch that begins in the future.
        if response.created or progress < self.revision:
            return []
        self.revision = progress
        return [BookmarkEvent.at(response.header.revision)]

    def _hold(self, received: list[WatchedEvent]) -> list[WatchedEvent]:
        """Return the events of complete revisions. The next fragment may continue the last revision, which is held."""
        if not received:
            return []
        complete = _start_of_last_revision(received)
        held = self._held
        if complete == 0 and (not held or held[0].kv.mod_revision == received[0].kv.mod_revision):
            held += received  # in place: a revision may have any number of fragments
            finished = []
        else:
            finished, self._held, self._held_size = held + received[:complete], received[complete:], 0
        self._held_size += sum(len(each.kv.value) + 100 for each in received[complete:])
        if self._held_size > self._max_held:
            raise ResponseTooLargeError(
                f"revision {received[-1].kv.mod_revision} has more than {self._max_held:,} bytes"
            )
        return finished

    def _events(self, received: list[WatchedEvent]) -> list[WatchEvent[T]]:
        events: list[WatchEvent[T]] = []
        mapping, before, revision, delivered = self._mapping, self._last_event, self._last_event, ""
        for each in received:
            entry = each.kv
            version = entry.mod_revision
            try:
                number = int(version)
            except ValueError:
                raise ProtocolError(f"an event of the watch has the revision {version[:40]!r}") from None
            if number <= before or number < revision:
                continue  # an old etcd may send events again after it has received a snapshot
            revision = number
            cache_key = mapping.cache_key(entry.key)
            if cache_key is None:
                if error := mapping.outside(entry.key):
                    events.append(DeletedEvent(Tombstone("", version, error)))  # type: ignore[arg-type]  # only reported
                continue
            delivered = version
            if each.type == "DELETE":
                if self._previous_values:
                    last = mapping.deleted(cache_key, version, each.prev_kv)
                else:
                    last = cast("T", Tombstone(cache_key, version, final_state_known=True))
                events.append(DeletedEvent(last))
                continue
            try:
                item = mapping.object_of(cache_key, entry, version)
            except DecodeError as error:
                events.append(DeletedEvent(mapping.undecodable(cache_key, version, error)))
            else:
                events.append(AddedEvent(item) if entry.create_revision == version else ModifiedEvent(item))
        if revision > self.revision and delivered != str(revision):
            events.append(BookmarkEvent.at(str(revision)))  # the last events were skipped
        self._last_event = revision
        self.revision = max(self.revision, revision)
        return events


def parts_of(response: WatchResponse, size: int) -> Iterator[WatchResponse]:
    """Divide a large message, as etcd does with still larger ones."""
    events = response.events
    if len(events) <= size:
        yield response
        return
    for start in range(0, len(events), size):
        is_fragment = response.fragment or start + size < len(events)
        yield msgspec.structs.replace(response, events=events[start : start + size], fragment=is_fragment)


def _start_of_last_revision(events: list[WatchedEvent]) -> int:
    """The index of the first event of the last revision; events are in the order of revisions."""
    start = len(events)
    while start and events[start - 1].kv.mod_revision == events[-1].kv.mod_revision:
        start -= 1
    return start
