"""Distributes the events of the storage to watches, each at its own speed. `watching` sends them.

    storage ──▶ feed of pods   ○──○──○──○        an event is one link
                                  ▲     ▲
                              reader  reader     each refers to the link that it has read last

A link is garbage when the slowest reader has passed it. An event is encoded once for all readers with the same view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from listwatch.meta import GroupVersionResource, Resource
from listwatch.server.codec.representations import Representation, encode_event, with_resource_version
from listwatch.server.protocol.field_selectors import Selection
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, EventType, Stored

__all__ = ["Feed", "Feeds", "Reader", "View"]

Encode = Callable[[Stored, Resource], bytes]
"""Encodes a stored object in the version of a resource."""


_NONE_CONVERTED: dict[GroupVersionResource, Event] = {}
"""Shared by all links of resources that no webhook converts; it stays empty."""


class Link:
    """An event in a feed: its lines on the wire by view, and the number and size of all events up to it."""

    __slots__ = ("converted", "count", "event", "lines", "next", "size")

    def __init__(self, event: Event | None, count: int = 0, size: int = 0) -> None:
        self.event = event
        self.lines: dict[object, bytes] = {}
        self.converted: dict[GroupVersionResource, Event] = _NONE_CONVERTED
        """The event in the versions of watches whose objects a webhook converts."""
        self.next: Link | None = None
        self.count = count
        self.size = size


class View:
    """What a watch sends of each event; shared by watches with the same version, selection and representation."""

    __slots__ = ("__weakref__", "_encode", "representation", "resource", "selection")

    def __init__(
        self, resource: Resource, selection: Selection, representation: Representation, encode: Encode
    ) -> None:
        self.resource = resource
        self.selection = selection
        self.representation = representation
        self._encode = encode

    def line(self, link: Link) -> bytes:
        """Return the event as a line to send; empty if it is not part of the selection."""
        lines = link.lines
        line = lines.get(self)
        if line is None:
            event = link.converted.get(self.resource.gvr) or link.event
            assert event is not None
            change = self.selection.change(event)
            line = lines[self] = self._shared_line(link, event, change) if change else b""
        return line

    def first_line(self, stored: Stored) -> bytes:
        """Return the event of an object that exists when a watch begins."""
        return encode_event("ADDED", self._encode(stored, self.resource), self.representation, stored)

    def _shared_line(self, link: Link, event: Event, change: EventType) -> bytes:
        # Views with other selections have the same line.
        same = (self.resource.gvr, self.representation, change)
        line = link.lines.get(same)
        if line is None:
            value = self._object(event, change)
            line = link.lines[same] = encode_event(change, value, self.representation, event.stored)
        return line

    def _object(self, event: Event, change: EventType) -> bytes:
        if change == "DELETED" and event.previous:
            # With the last state that was selected: later states are not part of the selection.
            return with_resource_version(self._encode(event.previous, self.resource), event.revision)
        return self._encode(event.stored, self.resource)


class Reader:
    """Reads the events after a revision, each once and in order; `on_event` is called for each new event."""

    def __init__(
        self,
        feed: Feed,
        view: View,
        on_event: Callable[[], None],
        *,
        after: int,
        past: Iterable[Event],
        converts: bool = False,
    ) -> None:
        self._converts = converts
        self._feed = feed
        self._view = view
        self._after = after
        self._joined: Link | None = feed.last
        self._link = _chain(past, feed.last)
        self._end: Link | None = None  # nothing after it is read
        feed.readers[self] = on_event

    @property
    def backlog(self) -> tuple[int, int]:
        """The number of unread events, and of their bytes."""
        last = self._feed.last
        return last.count - self._link.count, last.size - self._link.size

    def take(self, size: int) -> list[bytes]:
        """Return the next lines to send, up to about `size` bytes; empty if there are none."""
        lines: list[bytes] = []
        link = self._link
        while size > 0 and link.next and link is not self._end:
            if self._waits_for(link.next):
                break
            link = link.next
            if link is self._joined:
                self._joined = None  # it would keep all links after it
                continue
            if link.event is None or link.event.revision <= self._after:
                continue
            if line := self._view.line(link):
                lines.append(line)
                size -= len(line)
        self._link = link
        return lines

    def _waits_for(self, link: Link) -> bool:
        """Whether the next event has to be converted by a webhook first."""
        if not self._converts or link is self._joined or link.event is None or link.event.revision <= self._after:
            return False
        return self._view.resource.gvr not in link.converted

    def unconverted(self, count: int) -> list[Link]:
        """Return the next links whose events have to be converted before `take` returns them."""
        links: list[Link] = []
        link = self._link
        while link.next and link is not self._end and len(links) < count:
            link = link.next
            if self._waits_for(link):
                links.append(link)
        return links

    def end(self) -> None:
        """Read only the events so far."""
        self._end = self._feed.last
        self.close()

    def close(self) -> None:
        self._feed.readers.pop(self, None)


def _chain(past: Iterable[Event], last: Link) -> Link:
    """Link past events in front of the feed; the reader skips the last event of the feed, which is one of them."""
    head = link = Link(None, last.count, last.size)
    for event in past:
        link.next = Link(event, last.count, last.size)
        link = link.next
    link.next = last
    return head


class Feed:
    """The events of one stored resource, in order."""

    def __init__(self) -> None:
        self.last = Link(None)
        self.readers: dict[Reader, Callable[[], None]] = {}

    def append(self, event: Event) -> None:
        last = self.last
        self.last = last.next = Link(event, last.count + 1, last.size + len(event.value))
        for on_event in tuple(self.readers.values()):
            on_event()


class Feeds:
    """The feeds of all watched resources, and the revision up to which they are complete."""

    def __init__(self, storage: Storage, encode: Encode) -> None:
        self.storage = storage
        self.revision = storage.revision
        self._encode = encode
        self._feeds: dict[str, Feed] = {}
        self._views: WeakValueDictionary[object, View] = WeakValueDictionary()
        self._subscribers: dict[object, Callable[[], None]] = {}
        self._unsubscribe = storage.subscribe(self._publish)

    def close(self) -> None:
        self._unsubscribe()

    def view(self, resource: Resource, selection: Selection, representation: Representation) -> View:
        """Return the view; the same one for equal arguments."""
        key = (resource.gvr, selection, representation)
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = View(resource, selection, representation, self._encode)
        return view

    def reader(
        self,
        storage_id: str,
        view: View,
        on_event: Callable[[], None],
        *,
        after: int,
        past: Iterable[Event] = (),
        converts: bool = False,
    ) -> Reader:
        """Return a reader of the events after a revision; `past` are those between it and now.

        With `converts`, events are read once `Link.converted` has them in the version of the view.
        """
        feed = self._feeds.get(storage_id) or self._feeds.setdefault(storage_id, Feed())
        return Reader(feed, view, on_event, after=after, past=past, converts=converts)

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each new revision; returns unsubscribe."""
        token = object()
        self._subscribers[token] = callback

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    def advance(self) -> None:
        """Record that the storage has reached another revision without an event."""
        self.revision = self.storage.revision
        for callback in tuple(self._subscribers.values()):
            callback()

    def _publish(self, event: Event) -> None:
        self.revision = event.revision
        feed = self._feeds.get(event.resource)
        if feed and feed.readers:
            feed.append(event)
        for callback in tuple(self._subscribers.values()):
            callback()
