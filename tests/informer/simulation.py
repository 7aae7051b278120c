"""A simulated server and network with random faults, reproducible by a seed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from listwatch.api.statuses import status_from_error
from listwatch.api.watch_events import AddedEvent, BookmarkEvent, DeletedEvent, ErrorEvent, ModifiedEvent
from listwatch.clock import Clock
from listwatch.errors import (
    APIError,
    ConnectionLostError,
    ConnectRefusedError,
    ExpiredError,
    InternalServerError,
    InvalidError,
    RequestTimeoutError,
    TooManyRequestsError,
)
from listwatch.informer.list_watch import ListWatch
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.metadata import ListMeta
from listwatch.objects.object_list import ObjectList
from listwatch.objects.unstructured import Unstructured
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import Event, RevisionCompactedError

RESOURCE = "/configmaps"
PAGE = 3
"""The largest page of this server; a request without a limit returns all objects."""
NAMES = [f"c{number}" for number in range(8)]


@dataclass
class Weather:
    """The probability of each fault per request or step."""

    refused: float = 0.0
    throttled: float = 0.0
    broken: float = 0.0
    expired: float = 0.0
    cut: float = 0.0
    stale: float = 0.0
    lost_bookmark: float = 0.0
    late_bookmark: float = 0.0
    duplicate: float = 0.0
    lag: float = 0.0

    @classmethod
    def random(cls, dice: Random) -> Weather:
        return cls(**{name: dice.choice([0.0, 0.05, 0.3]) for name in cls.__dataclass_fields__})


@dataclass
class SimulatedServer:
    """A source over a real storage, with late, cut, stale and failing responses."""

    dice: Random
    clock: Clock
    streams: bool = True
    sends_end_bookmarks: bool = True
    namespaces: tuple[str, ...] = ("default",)
    weather: Weather = field(default_factory=Weather)
    history: list[str] = field(default_factory=list)
    storage: Storage = field(default_factory=Storage)
    open_watches: int = 0

    def __post_init__(self) -> None:
        self._changed: list[asyncio.Event] = []
        self.storage.subscribe(lambda _: [each.set() for each in self._changed])
        self._serial = 0

    # --- writes ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Create, change or delete an object, or compact the storage."""
        key = ObjectKey(self.dice.choice(self.namespaces), self.dice.choice(NAMES))
        present = self.storage.get(RESOURCE, key)
        if self.dice.random() < 0.05:
            self.storage.compact(self.storage.revision)
            self.history.append(f"compact {self.storage.revision}")
        elif present is None:
            self._serial += 1
            self.storage.create(RESOURCE, key, _encoder(key, self._serial))
            self.history.append(f"create {key} @{self.storage.revision}")
        elif self.dice.random() < 0.4:
            self.storage.delete(RESOURCE, key, lambda revision: _with_version(present.value, revision))
            self.history.append(f"delete {key} @{self.storage.revision}")
        else:
            self._serial += 1
            self.storage.update(RESOURCE, key, _encoder(key, self._serial))
            self.history.append(f"update {key} @{self.storage.revision}")

    def state(self, accepts: Callable[[ConfigMap], bool] = lambda _: True) -> dict[str, str]:
        """Return the version of each object by key."""
        stored = self.storage.scan(RESOURCE)
        return {str(each.key): str(each.revision) for each in stored if accepts(ConfigMap.from_wire(each.value))}

    def within(self, namespace: str) -> ListWatch[ConfigMap]:
        """Return a source of the objects of one namespace."""
        return ListWatch(list=partial(self.list, namespace=namespace), watch=partial(self.watch, namespace=namespace))

    # --- lists -----------------------------------------------------------------------------------------------------

    async def list(
        self,
        resource_version: str = "",
        limit: int | None = None,
        continue_token: str = "",
        namespace: str | None = None,
        **_: Any,
    ) -> ObjectList[ConfigMap]:
        self.history.append(f"LIST {resource_version!r} limit={limit} continue={continue_token!r}")
        await self._apply_faults()
        revision, start = self._revision_for(resource_version), None
        if continue_token:
            version, after_namespace, name = continue_token.split("/")
            revision, start = int(version), ObjectKey(after_namespace, name)
        try:
            page = self.storage.list(
                RESOURCE,
                namespace=namespace,
                revision=revision,
                limit=min(limit, PAGE) if limit else 0,
                start_after=start,
            )
        except RevisionCompactedError:
            raise ExpiredError("too old") from None
        more = f"{page.revision}/{page.next}" if page.next else ""
        items = [ConfigMap.from_wire(each.value) for each in page.items]
        return ObjectList(items, metadata=ListMeta(resource_version=str(page.revision), continue_=more))

    def _revision_for(self, requested: str) -> int | None:
        """Return any revision for "0", one that is not older than a version, or None for the latest."""
        if requested == "":
            return None
        least = max(int(requested), self.storage.compacted_revision)
        if least > self.storage.revision:
            raise RequestTimeoutError.too_large_resource_version(str(least), self.storage.revision)
        if self.dice.random() < self.weather.stale:
            return self.dice.randint(least, self.storage.revision)
        return None

    # --- watches ----------------------------------------------------------------------------------------------------

    def watch(self, namespace: str | None = None, **options: Any) -> SimulatedWatch:
        return SimulatedWatch(self, namespace, options)

    async def _apply_faults(self) -> None:
        if self.dice.random() < self.weather.lag:
            await self.clock.sleep(self.dice.random() * 3)
        await asyncio.sleep(0)
        for likelihood, error in (
            (self.weather.refused, ConnectRefusedError("refused")),
            (self.weather.throttled, TooManyRequestsError("slow down")),
            (self.weather.broken, InternalServerError("oops")),
            (self.weather.expired, ExpiredError("expired")),
        ):
            if self.dice.random() < likelihood / 2:
                self.history.append(f"  fails: {error}")
                raise error


class SimulatedWatch:
    """One watch: initial events if requested, then changes, until it is cut or times out."""

    def __init__(self, server: SimulatedServer, namespace: str | None, options: dict[str, Any]) -> None:
        self._server = server
        self._place = namespace
        self._late: BookmarkEvent[ConfigMap] | None = None
        self._options = options
        self._changed = asyncio.Event()
        self._after = 0

    async def __aenter__(self) -> AsyncIterator[Any]:
        server, version = self._server, self._options["resource_version"]
        initial = bool(self._options.get("send_initial_events"))
        server.history.append(f"{'STREAM' if initial else 'WATCH'} {version!r}")
        await server._apply_faults()
        if initial and not server.streams:
            raise InvalidError("sendInitialEvents is forbidden")
        server.open_watches += 1
        server._changed.append(self._changed)
        return self._events(version, initial=initial)

    async def __aexit__(self, *_: object) -> None:
        self._server.open_watches -= 1
        self._server._changed.remove(self._changed)

    async def _events(self, version: str, *, initial: bool) -> AsyncIterator[Any]:
        server, weather, dice = self._server, self._server.weather, self._server.dice
        ends = server.clock.monotonic() + self._options["timeout_seconds"]
        self._after = int(version or 0)
        if initial:
            # A stale server starts with an older state and sends the changes since.
            revision = server._revision_for(version)
            self._after = server.storage.revision if revision is None else revision
            for stored in list(server.storage.scan(RESOURCE, namespace=self._place, revision=revision)):
                if dice.random() < weather.cut / 4:
                    raise ConnectionLostError("cut")
                yield AddedEvent(ConfigMap.from_wire(stored.value))
            if server.sends_end_bookmarks:
                yield _bookmark(self._after, ends_initial_events=True)
        while server.clock.monotonic() < ends:
            for event in self._next_events():
                if dice.random() < weather.cut:
                    server.history.append("  cut")
                    raise ConnectionLostError("cut")
                yield event
                if dice.random() < weather.duplicate and not isinstance(event, BookmarkEvent | ErrorEvent):
                    yield event
            if dice.random() < weather.cut / 4:
                return
            await self._wait(ends)

    def _next_events(self) -> Iterator[Any]:
        server, dice = self._server, self._server.dice
        for likelihood, error in (
            (server.weather.expired, ExpiredError("expired")),
            (server.weather.throttled, TooManyRequestsError("slow down")),
            (server.weather.broken, InternalServerError("oops")),
        ):
            if dice.random() < likelihood / 4:
                yield _failed(error)
        try:
            events = server.storage.events(RESOURCE, after=self._after)
        except RevisionCompactedError:
            yield _failed(ExpiredError("too old resource version"))
            return
        for event in events:
            self._after = event.revision
            if self._place in (None, event.key.namespace):
                yield _as_watch_event(event)
        yield from self._bookmarks()

    def _bookmarks(self) -> Iterator[Any]:
        """Send a bookmark, or one that was delayed."""
        weather, dice = self._server.weather, self._server.dice
        late, self._late = self._late, None
        if late is not None:
            yield late
        if not self._after or dice.random() < weather.lost_bookmark:
            return
        mark = _bookmark(self._after)
        if dice.random() < weather.late_bookmark:
            self._late = mark
        else:
            yield mark

    async def _wait(self, ends: float) -> None:
        server = self._server
        self._changed.clear()
        if server.dice.random() < server.weather.lag:
            await server.clock.sleep(server.dice.random() * 5)
        sleeping = asyncio.ensure_future(server.clock.sleep(max(min(60.0, ends - server.clock.monotonic()), 0.01)))
        waking = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait([sleeping, waking], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()
            await asyncio.gather(sleeping, waking, return_exceptions=True)


def _as_watch_event(event: Event) -> Any:
    kind = {"ADDED": AddedEvent, "MODIFIED": ModifiedEvent, "DELETED": DeletedEvent}[event.type]
    return kind(ConfigMap.from_wire(event.value))


def _failed(error: APIError) -> ErrorEvent:
    return ErrorEvent(Unstructured.from_dict(status_from_error(error)))


def _bookmark(revision: int, *, ends_initial_events: bool = False) -> BookmarkEvent[ConfigMap]:
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if ends_initial_events:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return BookmarkEvent(ConfigMap.from_dict({"metadata": metadata}))


def _encoder(key: ObjectKey, serial: int) -> Any:
    def encode(revision: int) -> bytes:
        text = '{"metadata":{"name":"%s","namespace":"%s","resourceVersion":"%d"},"data":{"serial":"%d"}}'
        return (text % (key.name, key.namespace, revision, serial)).encode()

    return encode


def _with_version(value: bytes, revision: int) -> bytes:
    item = ConfigMap.from_wire(value)
    item.metadata.resource_version = str(revision)
    return item.to_json()
