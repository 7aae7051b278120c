"""A source of an informer that contains only some shards, which can change while the informer runs.

    selector   the server selects the objects of the shards (`shardSelector`), and has confirmed that in a list
    filter     the server sends everything, and the objects of other shards are dropped before they are stored

A shard that is added is listed by itself, while the watch continues:

    1. From version w, up to which the watch was read, the watch contains the shard too.
    2. A consistent list of the shard is requested. It is not older than w.
    3. Its objects that are not newer than w, and that the watch has not reported since, go into the store. The others
       come with the watch, which reports every change after w.

So the version of the store never exceeds what was received of all its shards, and no object is lost or repeated.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, cast
from urllib.parse import quote

from listwatch.api.list_pages import ListPage, Page
from listwatch.api.watch_events import DeletedEvent, ReceivedEvent
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.indexer import Indexer
from listwatch.controller.sharding.sharded_watch import ShardedWatch
from listwatch.errors import ResourceVersionError
from listwatch.informer.reflector.lister_watcher import (
    AnySource,
    ReadObject,
    WatchSource,
    of_kind,
    reader_of,
)
from listwatch.meta import Resource, is_newer
from listwatch.objects.object import Object
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["Listed", "ReadPath", "ShardedSource"]

K = TypeVar("K")

ReadPath = Literal["unknown", "selector", "filter"]
"""How the objects of the shards are selected: by the server, or here."""

Event = ReceivedEvent[Object]
Events = list[Event]

_log = logging.getLogger("listwatch.sharding")

_PAGE_SIZE = 500
_SLICE = 500
_MAX_SELECTOR = 7000
"""Bytes of an encoded selector; many proxies reject a request line of more than 8 kB."""


class _Part(Protocol):
    """Which shards the source contains: a `CachePart`."""

    @property
    def space(self) -> ShardSpace: ...
    @property
    def shards(self) -> frozenset[int]: ...
    @property
    def is_selectable(self) -> bool: ...
    @property
    def follows_owners(self) -> bool: ...
    def shard_of(self, item: Object, /) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Listed:
    """A consistent list of some shards: the versions of the objects by key, and its own version."""

    versions: Mapping[str, str]
    version: str


@dataclass(slots=True, eq=False)
class _Load:
    """A list of some shards that is being added to the store."""

    shards: frozenset[int]
    start: str
    """The version up to which the watch was read before it contained the shards."""
    seen: set[str] = field(default_factory=set)
    """The objects that the watch has reported since then."""
    is_outdated: bool = False
    """Whether the source was listed again meanwhile."""


class ShardedSource:
    """The objects of `part.shards` in another source; `set_shards` adds and removes shards.

    It belongs to one reflector. Objects of removed shards are evicted from its store.
    """

    supports_streaming = False  # a stream of initial events does not confirm the selector
    page_size = _PAGE_SIZE

    def __init__(self, source: AnySource, part: _Part) -> None:
        self._source = source
        self._kind: type[Object] = Object
        self._part = part
        self._can_select = part.is_selectable and hasattr(source, "selecting")
        self._fifo: DeltaFIFO[Object] | None = None
        self._indexer: Indexer[Object] | None = None
        self.shards = part.shards
        self.path: ReadPath = "unknown"
        self.dropped = 0
        """Events of other shards that were received."""
        self.generation = 0
        """Rises when a watch that the server filters has to be opened again."""
        self.position = ""
        """The version up to which the watch was read."""
        self._shard_by_key: dict[str, int] = {}
        self._listing: frozenset[int] | None = None
        self._listed: dict[str, int] = {}
        self._loads: list[_Load] = []
        self._is_current = asyncio.Event()  # set while a list is complete and no other one is being read
        self._woken: asyncio.Future[None] | None = None
        self._applied: asyncio.Future[None] | None = None

    def __repr__(self) -> str:
        return f"<ShardedSource of {self._source!r}, {len(self.shards)} of {self._part.space.count} shards>"

    # --- what an informer may use of a source ------------------------------------------------------------------------

    @property
    def resource(self) -> Resource | None:
        """The resource of the source, once it is known."""
        found: Resource | None = getattr(self._source, "resource", None)
        return found

    def _attach(self, fifo: DeltaFIFO[Object], indexer: Indexer[Object]) -> None:
        """Use the queue and the store of the informer that reads this source."""
        self._fifo, self._indexer = fifo, indexer
        fifo.on_processed = self._notify_applied

    def of_kind(self, kind: type[Object]) -> ShardedSource:
        self._kind, self._source = kind, of_kind(self._source, kind)
        return self

    def _without_fields(self, paths: Collection[str]) -> ShardedSource:
        without: Callable[[Collection[str]], AnySource] | None = getattr(self._source, "_without_fields", None)
        if without is not None:
            self._source = without(paths)
        return self

    async def _read_object(self, namespace: str, name: str) -> Object:
        read: ReadObject[Object] | None = reader_of(self._source, self._kind)
        assert read is not None
        return await read(namespace, name)

    # --- shards ------------------------------------------------------------------------------------------------------

    def set_shards(self, shards: frozenset[int]) -> None:
        """Contain these shards. `load` lists those that are new; the objects of the others leave the store."""
        gained, lost = shards - self.shards, self.shards - shards
        self.shards = shards
        if gained and self.path != "filter":
            self.generation += 1
        if gained:
            self._wake()
        if lost:
            self._evict(lost)

    def _evict(self, shards: frozenset[int]) -> None:
        keys = [key for key, shard in self._shard_by_key.items() if shard in shards]
        for key in keys:
            del self._shard_by_key[key]
        if keys and self._fifo is not None:
            self._fifo.evict(keys)

    def counts(self) -> Counter[int]:
        """The number of objects of each shard."""
        return Counter(self._shard_by_key.values())

    async def load(self, shards: frozenset[int]) -> Listed:
        """Wait until the store has all objects of these shards, as a consistent list that is requested now."""
        while True:
            await self._is_current.wait()
            load = _Load(shards & self.shards, self.position)
            self._loads.append(load)
            try:
                items, version = await self._list_all(load)
                if await self._store(load, items):
                    break
            finally:
                self._loads.remove(load)
        listed = Listed({item.cache_key: item.resource_version for item in items}, version)
        await self._wait_stored(load.shards, listed)
        return listed

    async def _list_all(self, load: _Load) -> tuple[list[Object], str]:
        items: list[Object] = []
        token = version = ""
        while not load.is_outdated:
            page = await self._page(load.shards, _PAGE_SIZE, token)
            items += page.items
            version, token = version or page.resource_version, page.continue_token
            if not token:
                break
        return items, version

    async def _store(self, load: _Load, items: list[Object]) -> bool:
        """Queue the listed objects for the store; False if the source was listed again meanwhile."""
        assert self._fifo is not None
        for start in range(0, len(items), _SLICE):
            await asyncio.sleep(0)
            if load.is_outdated:
                return False
            for item in items[start : start + _SLICE]:
                key, shard = item.cache_key, self._part.shard_of(item)
                if shard not in self.shards or key in load.seen or _is_after(item.resource_version, load.start):
                    continue
                self._shard_by_key[key] = shard
                self._fifo.load(item)
        return not load.is_outdated

    async def _wait_stored(self, shards: frozenset[int], listed: Listed) -> None:
        """Wait until the store has the listed objects of these shards, or newer ones, and no older others."""
        assert self._indexer is not None
        assert self._fifo is not None
        mark = self._fifo.mark()
        while not self._fifo.has_processed(mark):  # it may contain an eviction of the same objects
            await self._wait_applied()
        find, versions = self._indexer._stored, listed.versions
        lacking = set(versions)
        extra = {key for key, shard in self._shard_by_key.items() if shard in shards and key not in versions}
        while True:
            lacking = {
                key for key in lacking if (item := find(key)) is None or _is_after(versions[key], item.resource_version)
            }
            # An object that is neither stored nor expected was deleted after the list, or its shard was lost.
            lacking = {key for key in lacking if key in self._shard_by_key or self._is_expected(key, shards, listed)}
            # An object that the list does not have was created after it, or its deletion was not received yet.
            extra = {
                key
                for key in extra
                if key in self._shard_by_key
                and ((item := find(key)) is None or not _is_after(item.resource_version, listed.version))
            }
            if not lacking and not extra:
                return
            await self._wait_applied()

    def _is_expected(self, key: str, shards: frozenset[int], listed: Listed) -> bool:
        """Whether the watch has not reached an object of a list: it then reports it, or its deletion."""
        return shards <= self.shards and _is_after(listed.versions[key], self.position)

    # --- listing -----------------------------------------------------------------------------------------------------

    async def list(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        limit: int | None = None,
        continue_token: str = "",
    ) -> ListPage[Object]:
        """Return a page of a consistent list, whatever version is requested: shards are claimed by what it contains."""
        if not continue_token or self._listing is None:
            self._is_current.clear()
            for load in self._loads:
                load.is_outdated = True
            self._listing, self._listed, self.path = self.shards, {}, "unknown"
        page = await self._page(self._listing, limit or _PAGE_SIZE, continue_token)
        for item in page.items:
            self._listed[item.cache_key] = cast("int", self._part.shard_of(item))
        if not page.continue_token:
            self._shard_by_key, self._listed = self._listed, {}
            self.position = page.resource_version
        return page

    async def _page(self, shards: frozenset[int], limit: int, token: str) -> ListPage[Object]:
        if not shards:
            page = await self._source.list(limit=1)  # its version, and whether this is permitted
            return Page([], page.resource_version)
        if self.path != "filter" and self._can_select:
            selector = str(self._part.space.selector(shards))
            page = await self._selecting(selector).list(limit=limit, continue_token=token)
            info = getattr(getattr(page, "metadata", None), "shard_info", None)
            self._set_path("selector" if info is not None and info.selector == selector else "filter")
        else:
            page = await self._source.list(limit=limit, continue_token=token)
            self._set_path("filter")
        shard_of = self._part.shard_of
        page.items = [item for item in page.items if shard_of(item) in shards]  # type: ignore[misc]  # an ObjectList
        return page

    def _selecting(self, selector: str) -> AnySource:
        selecting: Callable[..., AnySource] = self._source.selecting  # type: ignore[attr-defined]  # a resource client
        return selecting(shard_selector=selector)

    def _set_path(self, path: ReadPath) -> None:
        if self.path == "selector" and path == "filter":
            _log.warning("%r: the server does not confirm the shard selector any more; all objects are received", self)
        self.path = path

    # --- watching ----------------------------------------------------------------------------------------------------

    def watch(
        self,
        *,
        resource_version: str = "",
        resource_version_match: str = "",
        send_initial_events: bool | None = None,
        allow_watch_bookmarks: bool = True,
        timeout_seconds: int | None = None,
    ) -> WatchSource[Object]:
        """Watch the shards, also those that are added later."""
        if self._listing is not None:
            # The list is in the queue of the store. Shards that were removed while it was read are in it.
            stale, self._listing = self._listing - self.shards, None
            if stale:
                self._evict(stale)
            self._is_current.set()
        if not self.position or _is_after(resource_version, self.position):
            self.position = resource_version
        return ShardedWatch(self, timeout_seconds)

    def open_watch(self, timeout_seconds: int | None) -> WatchSource[Object]:
        """Watch the present shards from the position."""
        source = self._source
        if self.path == "selector":
            selector = str(self._part.space.selector(self.shards))
            if len(quote(selector)) > _MAX_SELECTOR:
                _log.warning("%r: its selector has %d bytes, which proxies may reject", self, len(quote(selector)))
            source = self._selecting(selector)
        return source.watch(resource_version=self.position, allow_watch_bookmarks=True, timeout_seconds=timeout_seconds)

    def select(self, events: Iterable[Event]) -> Events:
        """The events of the shards; the caller passes them on without a pause."""
        kept: Events = []
        shard_of, shards, loads = self._part.shard_of, self.shards, self._loads
        for event in events:
            if event.type in ("ERROR", "UNDECODABLE"):
                kept.append(event)
                continue
            item: Object = event.object  # type: ignore[union-attr]  # the others have none
            if event.type == "BOOKMARK":
                kept.append(event)
            elif (shard := shard_of(item)) in shards:
                self._keep(event.type, item.cache_key, shard, loads)
                kept.append(event)
            elif self._part.follows_owners and self._shard_by_key.pop(item.cache_key, None) is not None:
                kept.append(DeletedEvent(item))  # it has another owner now
            else:
                self.dropped += 1
            if _is_after(item.resource_version, self.position):
                self.position = item.resource_version
        return kept

    def _keep(self, kind: str, key: str, shard: int, loads: Iterable[_Load]) -> None:
        if kind == "DELETED":
            self._shard_by_key.pop(key, None)
        else:
            self._shard_by_key[key] = shard
        for load in loads:
            if shard in load.shards:
                load.seen.add(key)

    # --- waiting -----------------------------------------------------------------------------------------------------

    def woken(self) -> asyncio.Future[None]:
        """Done when shards were added."""
        if self._woken is None or self._woken.done():
            self._woken = asyncio.get_running_loop().create_future()
        return self._woken

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    async def _wait_applied(self) -> None:
        """Wait until a batch was applied to the store."""
        if self._applied is None or self._applied.done():
            self._applied = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._applied])

    def _notify_applied(self) -> None:
        if self._applied is not None and not self._applied.done():
            self._applied.set_result(None)


def _is_after(version: str, other: str) -> bool:
    """Whether a version is later than another one. Numbers of the same length are in the order of their texts."""
    if len(version) == len(other):
        return version > other
    try:
        return is_newer(version, other) if other else bool(version)
    except ResourceVersionError:
        return False
