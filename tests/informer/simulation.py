"""A simulated server and network with random faults, reproducible by a seed.

Responses are bytes, which the list and watch code of the client decodes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, ClassVar

import msgspec
from soak.odd_objects import odd_object

from listwatch.api.statuses import status_from_error
from listwatch.client.rest.streams import ByteStream, WatchStream
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
from listwatch.meta import ObjectKey
from listwatch.models.core_v1 import ConfigMap
from listwatch.objects.object_list import ObjectList
from listwatch.server.storage.storage import Storage
from listwatch.server.storage.values import RevisionCompactedError
from listwatch.sources.list_watch import ListWatch

RESOURCE = "/configmaps"
PAGE = 3
"""The largest page of this server; a request without a limit returns all objects."""
NAMES = [f"c{number}" for number in range(8)]


@dataclass
class Faults:
    """The probability of each fault per request or step."""

    refused: float = 0.0
    throttled: float = 0.0
    long_retry_after: float = 0.0
    broken: float = 0.0
    expired: float = 0.0
    cut: float = 0.0
    cut_frame: float = 0.0
    stale: float = 0.0
    lost_bookmark: float = 0.0
    late_bookmark: float = 0.0
    no_version: float = 0.0
    duplicate: float = 0.0
    odd_items: float = 0.0
    unrequested_pages: float = 0.0
    repeated_token: float = 0.0
    expired_page: float = 0.0
    ignored_initial_events: float = 0.0
    lag: float = 0.0
    late_response: float = 0.0

    @classmethod
    def random(cls, rng: Random, names: Collection[str] | None = None) -> Faults:
        """Draw the probabilities of all faults, or of some, which are then more probable."""
        if names is None:
            return cls(**{name: rng.choice([0.0, 0.0, 0.05, 0.3]) for name in cls.__dataclass_fields__})
        return cls(**{name: rng.choice([0.0, 0.05, 0.3, 0.6]) for name in names})

    @classmethod
    def some_names(cls, rng: Random) -> list[str]:
        """Draw the faults of one run: with few of them, an informer gets further than with all."""
        share = rng.choice([0.1, 0.2, 0.4])
        return [name for name in cls.__dataclass_fields__ if rng.random() < share]


@dataclass
class SimulatedServer:
    """A source over a real storage, with late, cut, stale, malformed and failing responses."""

    rng: Random
    clock: Clock
    streams: bool = True
    sends_end_bookmarks: bool = True
    namespaces: tuple[str, ...] = ("default",)
    faults: Faults = field(default_factory=Faults)
    history: list[str] = field(default_factory=list)
    storage: Storage = field(default_factory=Storage)
    open_watches: int = 0
    requests: int = 0

    def __post_init__(self) -> None:
        self._changed: list[asyncio.Event] = []
        self.storage.subscribe(lambda _: [each.set() for each in self._changed])
        self._serial = 0
        self.past_states = {str(self.storage.revision): self.state()}
        """The version of each object by key, by the version of the server."""

    def happens(self, probability: float) -> bool:
        return probability > 0 and self.rng.random() < probability

    def odd_object(self, revision: int) -> bytes:
        namespace = self.rng.choice(self.namespaces)
        return odd_object(self.rng, names=NAMES, namespace=namespace, revision=revision)

    # --- writes ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Create, change or delete an object, or compact the storage."""
        self._write()
        self.past_states[str(self.storage.revision)] = self.state()

    def _write(self) -> None:
        key = ObjectKey(self.rng.choice(self.namespaces), self.rng.choice(NAMES))
        present = self.storage.get(RESOURCE, key)
        if self.rng.random() < 0.05:
            self.storage.compact(self.storage.revision)
            self.history.append(f"compact {self.storage.revision}")
        elif present is None:
            self._serial += 1
            self.storage.create(RESOURCE, key, _encoder(key, self._serial))
            self.history.append(f"create {key} @{self.storage.revision}")
        elif self.rng.random() < 0.4:
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
        source: ListWatch[ConfigMap] = ListWatch(
            list=partial(self.list, namespace=namespace), watch=partial(self.watch, namespace=namespace)
        )
        source._cache_identity = lambda: {"server": "simulated", "namespace": namespace}
        return source

    def _cache_identity(self) -> dict[str, str]:
        return {"server": "simulated"}

    # --- lists -----------------------------------------------------------------------------------------------------

    async def list(
        self,
        resource_version: str = "",
        limit: int | None = None,
        continue_token: str = "",
        namespace: str | None = None,
        **_: Any,
    ) -> ObjectList[ConfigMap]:
        self.requests += 1
        self.history.append(f"LIST {resource_version!r} limit={limit} continue={continue_token!r}")
        await self._apply_faults()
        revision, start = self._revision_for(resource_version), None
        if continue_token:
            if self.happens(self.faults.expired_page):
                raise ExpiredError("the continue token is too old")
            version, after_namespace, name = continue_token.split("/")
            revision, start = int(version), ObjectKey(after_namespace, name)
        in_pages = limit or self.happens(self.faults.unrequested_pages)
        try:
            page = self.storage.list(
                RESOURCE,
                namespace=namespace,
                revision=revision,
                limit=min(limit or PAGE, PAGE) if in_pages else 0,
                start_after=start,
            )
        except RevisionCompactedError:
            raise ExpiredError("too old") from None
        more = f"{page.revision}/{page.next}" if page.next else ""
        if more and self.happens(self.faults.repeated_token):
            more = continue_token or more
        version = "" if self.happens(self.faults.no_version) else str(page.revision)
        if self.happens(self.faults.late_response):
            await self.clock.sleep(self.rng.random() * 3)
        return self._encode_page([each.value for each in page.items], version, more)

    def _encode_page(self, values: list[bytes], version: str, more: str) -> ObjectList[ConfigMap]:
        items = list(values)
        while self.happens(self.faults.odd_items):
            items.insert(self.rng.randint(0, len(items)), self.odd_object(self.storage.revision))
        metadata = msgspec.json.encode({"resourceVersion": version, "continue": more})
        head = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":%s,"items":[' % metadata
        return ObjectList.from_json(head + self.rng.choice([b",", b",\n"]).join(items) + b"]}", ConfigMap)

    def _revision_for(self, requested: str) -> int | None:
        """Return any revision for "0", one that is not older than a version, or None for the latest."""
        if requested == "":
            return None
        least = max(int(requested), self.storage.compacted_revision)
        if least > self.storage.revision:
            raise RequestTimeoutError.too_large_resource_version(str(least), self.storage.revision)
        if self.happens(self.faults.stale):
            return self.rng.randint(least, self.storage.revision)
        return None

    # --- watches ----------------------------------------------------------------------------------------------------

    def watch(self, namespace: str | None = None, **options: Any) -> WatchStream[ConfigMap]:
        async def send() -> SimulatedWatch:
            return await SimulatedWatch.open(self, namespace, options)

        return WatchStream(ByteStream(send), ConfigMap, idle_timeout=1000.0)

    async def _apply_faults(self) -> None:
        if self.happens(self.faults.lag):
            await self.clock.sleep(self.rng.random() * 3)
        await asyncio.sleep(0)
        for likelihood, error in (
            (self.faults.refused, ConnectRefusedError("refused")),
            (self.faults.throttled, TooManyRequestsError("slow down")),
            (self.faults.long_retry_after, TooManyRequestsError("come back tomorrow", retry_after=86400)),
            (self.faults.broken, InternalServerError("oops")),
            (self.faults.expired, ExpiredError("expired")),
        ):
            if self.happens(likelihood / 2):
                self.history.append(f"  fails: {error}")
                raise error


class SimulatedWatch:
    """The body of one watch: initial events if requested, then changes, until it is cut or times out."""

    status = 200
    headers: ClassVar[Mapping[str, str]] = {}
    warnings: tuple[str, ...] = ()

    def __init__(self, server: SimulatedServer, namespace: str | None, timeout: float) -> None:
        self._server = server
        self._namespace = namespace
        self._ends = server.clock.monotonic() + timeout
        self._pending: deque[bytes | Exception] = deque()
        self._late: bytes | None = None
        self._changed = asyncio.Event()
        self._after = 0
        self._is_first = True
        self._is_over = self._is_cut = False
        self.is_closed = False

    @classmethod
    async def open(cls, server: SimulatedServer, namespace: str | None, options: dict[str, Any]) -> SimulatedWatch:
        version, initial = options["resource_version"], bool(options.get("send_initial_events"))
        server.requests += 1
        server.history.append(f"{'STREAM' if initial else 'WATCH'} {version!r}")
        await server._apply_faults()
        if initial and not server.streams:
            raise InvalidError("sendInitialEvents is forbidden")
        if initial and server.happens(server.faults.ignored_initial_events):
            server.history.append("  ignores sendInitialEvents")
            initial = False
        watch = cls(server, namespace, options["timeout_seconds"])
        server.open_watches += 1
        server._changed.append(watch._changed)
        watch._start(version, initial=initial)
        return watch

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self._server.open_watches -= 1
            self._server._changed.remove(self._changed)
            self._changed.set()

    def set_idle_timeout(self, seconds: float) -> None:
        pass  # the simulated server ends every watch in time

    async def read(self) -> bytes:
        while not self._pending:
            if self._is_over or self.is_closed:
                return b""
            if not self._is_first:
                await self._wait()
            self._is_first = False
            self._send_changes()
        piece = self._pending.popleft()
        if isinstance(piece, Exception):
            raise piece
        return piece

    # --- events ------------------------------------------------------------------------------------------------------

    def _start(self, version: str, *, initial: bool) -> None:
        server = self._server
        if not initial and version not in ("", "0"):
            self._after = int(version)
            return
        # A stale server starts with an older state and sends the changes since.
        revision = server._revision_for(version)
        self._after = server.storage.revision if revision is None else revision
        for stored in list(server.storage.scan(RESOURCE, namespace=self._namespace, revision=revision)):
            if server.happens(server.faults.cut / 4):
                self._end(ConnectionLostError("cut"))
                return
            self._send(_frame("ADDED", stored.value))
        if initial and server.sends_end_bookmarks:
            self._send(self._bookmark(ends_initial_events=True))

    def _send_changes(self) -> None:
        server = self._server
        if server.clock.monotonic() >= self._ends:
            self._end(None)
        for frame in self._next_frames():
            if self._is_over:
                return
            if server.happens(server.faults.cut):
                server.history.append("  cut")
                self._end(ConnectionLostError("cut"))
                return
            self._send(frame)
        if server.happens(server.faults.cut / 4):
            self._end(None)

    def _send(self, frame: bytes) -> None:
        """Send a frame, sometimes in two pieces, twice, after an odd one, or only a part of it before a clean end."""
        server, faults = self._server, self._server.faults
        if self._is_over:
            return
        if server.happens(faults.odd_items / 2):
            kind = server.rng.choice(["ADDED", "MODIFIED", "DELETED"])
            # With an old version: a newer one would claim that all changes up to it were sent.
            self._pending.append(_frame(kind, server.odd_object(revision=1)))
        if server.happens(faults.cut_frame / 4):
            server.history.append("  cuts a frame")
            self._pending.append(frame[: server.rng.randrange(1, len(frame))])
            self._end(None)
        elif server.happens(faults.cut_frame):
            middle = server.rng.randrange(len(frame))
            self._pending.extend(filter(None, (frame[:middle], frame[middle:])))
        else:
            self._pending.append(frame)
        is_change = b'"BOOKMARK"' not in frame[:20] and b'"ERROR"' not in frame[:20]
        if is_change and not self._is_over and server.happens(faults.duplicate):
            self._pending.append(frame)

    def _end(self, error: Exception | None) -> None:
        if error is not None:
            self._pending.append(error)
        self._is_over = True

    def _next_frames(self) -> Iterator[bytes]:
        server, faults = self._server, self._server.faults
        for likelihood, error in (
            (faults.expired, ExpiredError("expired")),
            (faults.throttled, TooManyRequestsError("slow down")),
            (faults.long_retry_after, TooManyRequestsError("come back tomorrow", retry_after=86400)),
            (faults.broken, InternalServerError("oops")),
        ):
            if server.happens(likelihood / 4):
                yield _error_frame(error)
                return
        try:
            events = server.storage.events(RESOURCE, after=self._after)
        except RevisionCompactedError:
            yield _error_frame(ExpiredError("too old resource version"))
            return
        for event in events:
            self._after = event.revision
            if self._namespace in (None, event.key.namespace):
                yield _frame(event.type, event.value)
        yield from self._bookmarks()

    def _bookmarks(self) -> Iterator[bytes]:
        """Send a bookmark, or one that was delayed."""
        server = self._server
        late, self._late = self._late, None
        if late is not None:
            yield late
        if not self._after or server.happens(server.faults.lost_bookmark):
            return
        if server.happens(server.faults.late_bookmark):
            self._late = self._bookmark()
        else:
            yield self._bookmark()

    def _bookmark(self, *, ends_initial_events: bool = False) -> bytes:
        version = "" if self._server.happens(self._server.faults.no_version) else str(self._after)
        annotations = {"k8s.io/initial-events-end": "true"} if ends_initial_events else {}
        metadata = msgspec.json.encode({"resourceVersion": version, "annotations": annotations})
        return _frame("BOOKMARK", b'{"kind":"ConfigMap","apiVersion":"v1","metadata":%s}' % metadata)

    async def _wait(self) -> None:
        server = self._server
        self._changed.clear()
        if server.happens(server.faults.lag):
            await server.clock.sleep(server.rng.random() * 5)
        left = max(min(60.0, self._ends - server.clock.monotonic()), 0.01)
        sleeping = asyncio.ensure_future(server.clock.sleep(left))
        waking = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait([sleeping, waking], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            waking.cancel()
            await asyncio.gather(sleeping, waking, return_exceptions=True)


# --- Bytes ------------------------------------------------------------------------------------------------------------

_MANAGED_FIELDS = b',"managedFields":[{"manager":"simulation","fieldsV1":{"f:data":{"f:serial":{}}}}]'
_PADDING = b'"padding":"%s",' % (b"x" * 1500)


def _frame(event_type: str, value: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (event_type.encode(), value)


def _error_frame(error: APIError) -> bytes:
    return _frame("ERROR", msgspec.json.encode(status_from_error(error)))


def _encoder(key: ObjectKey, serial: int) -> Any:
    def encode(revision: int) -> bytes:
        is_large = serial % 2 == 0
        text = (
            b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"%s","namespace":"%s","resourceVersion":"%d"%s},'
            b'"data":{%s"serial":"%d"}}'
        )
        return text % (
            key.name.encode(),
            key.namespace.encode(),
            revision,
            _MANAGED_FIELDS if is_large else b"",
            _PADDING if is_large else b"",
            serial,
        )

    return encode


def _with_version(value: bytes, revision: int) -> bytes:
    item = ConfigMap.from_wire(value)
    item.metadata.resource_version = str(revision)
    return item.to_json()
