"""Hands events from the storage to those who watch, each at their own pace. `watching` sends them.

    storage ──▶ feed of pods   ○──○──○──○        an event is a link, made once
                                  ▲     ▲
                              reader  reader     each holds the link that it has read last

A link is gone when the slowest reader has passed it. What it looks like on the wire is written once for all readers
who see it alike, and kept with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from weakref import WeakValueDictionary

from listwatch.meta import Resource
from listwatch.server.codec.representations import Representation, encode_event, with_resource_version
from listwatch.server.protocol.field_selectors import Selection
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, EventType, Stored

__all__ = ["Feed", "Feeds", "Reader", "View"]

Send = Callable[[Stored, Resource], bytes]
"""Gives a stored object in the version that is asked for."""


class Link:
    """An event in a feed: what it is on the wire, to each view, and how much has gone through the feed with it."""

    __slots__ = ("count", "event", "lines", "next", "size")

    def __init__(self, event: Event | None, count: int = 0, size: int = 0) -> None:
        self.event = event
        self.lines: dict[object, bytes] = {}
        self.next: Link | None = None
        self.count = count
        self.size = size


class View:
    """What everybody sees alike who watches one version of a resource, by one selection, in one representation."""

    __slots__ = ("__weakref__", "_send", "representation", "resource", "selection")

    def __init__(self, resource: Resource, selection: Selection, representation: Representation, send: Send) -> None:
        self.resource = resource
        self.selection = selection
        self.representation = representation
        self._send = send

    def line(self, link: Link) -> bytes:
        """The event as a line to send; nothing if it does not concern them."""
        lines = link.lines
        line = lines.get(self)
        if line is None:
            assert link.event is not None
            change = self.selection.change(link.event)
            line = lines[self] = self._shared_line(link, link.event, change) if change else b""
        return line

    def first_line(self, stored: Stored) -> bytes:
        """An object that is there when a watch begins."""
        return encode_event("ADDED", self._send(stored, self.resource), self.representation)

    def _shared_line(self, link: Link, event: Event, change: EventType) -> bytes:
        # Other selections come to the same line.
        same = (self.resource.gvr, self.representation, change)
        line = link.lines.get(same)
        if line is None:
            line = link.lines[same] = encode_event(change, self._object(event, change), self.representation)
        return line

    def _object(self, event: Event, change: EventType) -> bytes:
        if change == "DELETED" and event.previous:
            # As it was seen last: gone or out of the selection, what became of it does not concern who watches.
            return with_resource_version(self._send(event.previous, self.resource), event.revision)
        return self._send(event.stored, self.resource)


class Reader:
    """Reads what follows a revision, each event once and in order; `on_event` is called when there is more."""

    def __init__(
        self, feed: Feed, view: View, on_event: Callable[[], None], *, after: int, past: Iterable[Event]
    ) -> None:
        self._feed = feed
        self._view = view
        self._after = after
        self._link = _chain(past, feed.last)
        feed.readers[self] = on_event

    @property
    def backlog(self) -> tuple[int, int]:
        """How many events have come that were not read, and how many bytes."""
        last = self._feed.last
        return last.count - self._link.count, last.size - self._link.size

    def take(self, size: int) -> list[bytes]:
        """The next lines to send, up to about so many bytes; none if there is nothing new."""
        lines: list[bytes] = []
        link = self._link
        while size > 0 and link.next:
            link = link.next
            if link.event is None or link.event.revision <= self._after:
                continue
            self._after = link.event.revision
            if line := self._view.line(link):
                lines.append(line)
                size -= len(line)
        self._link = link
        return lines

    def close(self) -> None:
        self._feed.readers.pop(self, None)


def _chain(past: Iterable[Event], last: Link) -> Link:
    """What was before, in front of the feed; where they overlap, the reader knows what it has read."""
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
    """The feeds of all resources that are watched, and the revision up to which their readers can know everything."""

    def __init__(self, storage: Storage, send: Send) -> None:
        self.storage = storage
        self.revision = storage.revision
        self._send = send
        self._feeds: dict[str, Feed] = {}
        self._views: WeakValueDictionary[object, View] = WeakValueDictionary()
        self._listeners: dict[object, Callable[[], None]] = {}
        self._unsubscribe = storage.subscribe(self._publish)

    def close(self) -> None:
        self._unsubscribe()

    def view(self, resource: Resource, selection: Selection, representation: Representation) -> View:
        """The same for all who see the same."""
        key = (resource.gvr, selection, representation)
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = View(resource, selection, representation, self._send)
        return view

    def reader(
        self, storage_id: str, view: View, on_event: Callable[[], None], *, after: int, past: Iterable[Event] = ()
    ) -> Reader:
        """Read on after a revision; `past` is what happened between it and now."""
        feed = self._feeds.get(storage_id) or self._feeds.setdefault(storage_id, Feed())
        return Reader(feed, view, on_event, after=after, past=past)

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back whenever the revision has grown; returns what ends that."""
        token = object()
        self._listeners[token] = callback

        def stop() -> None:
            self._listeners.pop(token, None)

        return stop

    def _publish(self, event: Event) -> None:
        self.revision = event.revision
        feed = self._feeds.get(event.resource)
        if feed and feed.readers:
            feed.append(event)
        for callback in tuple(self._listeners.values()):
            callback()
