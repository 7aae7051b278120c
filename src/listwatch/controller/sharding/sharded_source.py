"""A source of an informer that contains only some shards, which can change while the informer runs.

    namespace  the source has one namespace, and all of it is in one shard: it is read only while that is cached
    selector   the server selects the objects of the shards (`shardSelector`), and has confirmed that in a list
    metadata   the server sends the metadata of everything; the changed objects of the shards are read one by one
    filter     the server sends everything, and the objects of other shards are dropped before they are stored

A shard that is added is listed by itself, while the watch continues:

    1. From version w, up to which the watch was read, the watch contains the shard too.
    2. A consistent list of the shard is requested. It is not older than w.
    3. Its objects that are not newer than w, and that the watch has not reported since, go into the store. The others
       come with the watch, which reports every change after w. An event of an object that the list does not have any
       more is dropped.

So the version of the store never exceeds what was received of all its shards, and no object is lost or repeated. An
object that is read because of its metadata may be newer than the position: it does not raise the version of the store,
and the metadata of its later states is skipped.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeVar, cast
from urllib.parse import quote

from listwatch.api.list_pages import ListPage, Page
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.cache.indexer import Indexer
from listwatch.controller.sharding.metadata_reader import MetadataReader, metadata_share
from listwatch.controller.sharding.shard_contents import Event, Events, Listed, Load, Part, ShardContents, is_after
from listwatch.controller.sharding.sharded_watch import ShardedWatch
from listwatch.errors import ForbiddenError
from listwatch.informer.reflector.lister_watcher import (
    AnySource,
    ReadObject,
    WatchSource,
    of_kind,
    reader_of,
)
from listwatch.meta import Resource
from listwatch.objects.object import Object

__all__ = ["ReadPath", "ShardedSource"]

K = TypeVar("K")

ReadPath = Literal["unknown", "namespace", "selector", "metadata", "filter"]
"""How the objects of the shards are selected: by namespace, by the server, by metadata, or when they were received."""

_log = logging.getLogger("listwatch.sharding")

_PAGE_SIZE = 500
_SLICE = 500
_MAX_SELECTOR = 7000
"""Bytes of an encoded selector; many proxies reject a request line of more than 8 kB."""
_MAX_METADATA_SHARE = 0.25
"""The largest share of metadata in an object at which the metadata is watched instead of the object."""
_READS_PER_LISTED = 10
"""Reading an object costs about as much as listing this number of objects."""


class ShardedSource:
    """The objects of `part.shards` in another source; `set_shards` adds and removes shards.

    It belongs to one reflector. Objects of removed shards are evicted from its store.
    """

    supports_streaming = False  # a stream of initial events does not confirm the selector
    page_size = _PAGE_SIZE

    def __init__(self, source: AnySource, part: Part, *, only_shard: int | None = None) -> None:
        """`only_shard` is the shard of all objects of the source, if they are in one."""
        self._source = source
        self._only = None if only_shard is None else frozenset({only_shard})
        self._kind: type[Object] = Object
        self._part = part
        self._can_select = (
            part.is_selectable
            and only_shard is None
            and hasattr(source, "selecting")
            and part.read_path in ("auto", "selector")
        )
        self._may_read_metadata = part.read_path in ("auto", "metadata") and only_shard is None
        self._fifo: DeltaFIFO[Object] | None = None
        self._indexer: Indexer[Object] | None = None
        self._contents = ShardContents(part)
        self._contents.shards = self.reachable(part.shards)
        self.path: ReadPath = "unknown"
        self.generation = 0
        """Rises when a watch that the server filters has to be opened again."""
        self._complete: dict[int, str] = {}
        """The shards that the store has, and the version of the list up to which it has them, or the position."""
        self._listing: frozenset[int] | None = None
        self._listed: dict[str, int] = {}
        self._is_current = asyncio.Event()  # set while a list is complete and no other one is being read
        self._was_selected = False
        self._made_reader: MetadataReader | None = None
        self._watched: frozenset[int] = frozenset()
        self._woken: asyncio.Future[None] | None = None
        self._applied: asyncio.Future[None] | None = None

    def __repr__(self) -> str:
        return f"<ShardedSource of {self._source!r}, {len(self._contents.shards)} of {self._part.space.count} shards>"

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

    @property
    def shards(self) -> frozenset[int]:
        return self._contents.shards

    @property
    def dropped(self) -> int:
        """The number of events of other shards that were received."""
        return self._contents.dropped

    # --- shards ------------------------------------------------------------------------------------------------------

    def reachable(self, shards: frozenset[int]) -> frozenset[int]:
        """Those of some shards of which the source can have objects."""
        return shards if self._only is None else shards & self._only

    def set_shards(self, shards: frozenset[int]) -> None:
        """Contain these shards. `load` lists those that are new; the objects of the others leave the store."""
        shards = self.reachable(shards)
        gained, lost = shards - self._contents.shards, self._contents.shards - shards
        self._contents.shards = shards
        if gained and self.path not in ("filter", "metadata"):
            self.generation += 1
        if gained:
            self._wake()
        if lost:
            self._evict(lost)
            self._notify_applied()  # a load does not wait for them any more

    def narrow(self) -> None:
        """Watch only the current shards, if the server selects and the open watch contains others."""
        is_selective = self.path == "namespace" or (self.path == "selector" and self._contents.shards)
        if is_selective and not self._watched <= self._contents.shards:
            self._watched = self._contents.shards
            self.generation += 1
            self._wake()

    @property
    def complete_shards(self) -> frozenset[int]:
        """The shards whose objects are all in the store, as they were at some time after the shard was added."""
        return frozenset(self._complete)

    async def wait_reached(self, shards: frozenset[int], version: str) -> None:
        """Wait until the store contains all changes of these complete shards up to a version."""
        assert self._fifo is not None
        while not (self._is_current.is_set() and all(self._has_read(shard, version) for shard in shards)):
            await self._wait_applied()
        mark = self._fifo.mark()
        while not self._fifo.has_processed(mark):
            await self._wait_applied()

    def _has_read(self, shard: int, version: str) -> bool:
        listed = self._complete.get(shard)
        return listed is not None and not (is_after(version, self._contents.position) and is_after(version, listed))

    def _evict(self, shards: frozenset[int]) -> None:
        keys = self._contents.remove_shards(shards)
        for shard in shards:
            self._complete.pop(shard, None)
        if keys and self._fifo is not None:
            self._fifo.evict(keys)

    def counts(self) -> Counter[int]:
        """The number of objects of each shard."""
        return Counter(self._contents.shard_by_key.values())

    def stored(self) -> Iterator[tuple[int, Object | None]]:
        """The shard of each object at this time, and what the store has of it when it is yielded."""
        for key, shard in [*self._contents.shard_by_key.items()]:
            yield shard, None if self._indexer is None else self._indexer._stored(key)

    async def load(self, shards: frozenset[int]) -> Listed:
        """Wait until the store has all objects of these shards, as a consistent list that is requested now."""
        while True:
            await self._is_current.wait()
            load = Load(shards & self._contents.shards, self._contents.position)
            self._contents.loads.append(load)
            try:
                items, listed = await self._list_all(load)
                self._contents.finish_list(load, listed)
                if await self._store(load, items):
                    await self._wait_stored(load, listed)
                    self._complete.update(dict.fromkeys(load.shards, listed.version))
                    return listed
            finally:
                self._contents.loads.remove(load)

    async def _list_all(self, load: Load) -> tuple[list[Object], Listed]:
        """List the shards; returns the objects to store, and the versions of all of them."""
        reader = self._reader
        if self.path == "metadata" and reader is not None and load.shards:
            return await self._list_changed(load, reader)
        items: list[Object] = []
        token = version = ""
        while not load.is_outdated:
            page = await self._page(load.shards, _PAGE_SIZE, token)
            items += page.items
            version, token = version or page.resource_version, page.continue_token
            if not token:
                break
        versions = {item.cache_key: item.resource_version for item in items}
        return items, Listed(versions, version, {item.cache_key: self._part.shard_of(item) for item in items})

    async def _list_changed(self, load: Load, reader: MetadataReader) -> tuple[list[Object], Listed]:
        """List the metadata of everything, and read those objects of the shards that the store does not have."""
        assert self._indexer is not None
        find, shard_of, known = self._indexer._stored, self._part.shard_of, self._contents.shard_by_key
        found, total, version = await reader.list(lambda item: shard_of(item) in load.shards)
        versions: dict[str, str] = {}
        wanted: dict[str, Object] = {}
        for key, item in found.items():
            # An object that is stored but not known is about to be evicted.
            stored = find(key) if key in known else None
            if stored is not None and stored.resource_version == item.resource_version:
                versions[key] = item.resource_version
            else:
                wanted[key] = item
        if len(wanted) * _READS_PER_LISTED <= total + _PAGE_SIZE:
            items = [*(await reader.read(wanted)).values()]
        else:
            items = [*await reader.read_all(wanted)]
        items = [item for item in items if shard_of(item) in load.shards]
        # Those that were deleted since the list was made are missing: the watch reports that.
        versions.update({item.cache_key: item.resource_version for item in items})
        return items, Listed(versions, version, {key: shard_of(found[key]) for key in versions})

    async def _store(self, load: Load, items: list[Object]) -> bool:
        """Queue the listed objects for the store; False if the source was listed again meanwhile."""
        assert self._fifo is not None
        for start in range(0, len(items), _SLICE):
            await asyncio.sleep(0)
            if load.is_outdated:
                return False
            for item in items[start : start + _SLICE]:
                key, shard = item.cache_key, self._part.shard_of(item)
                is_new = key not in load.seen and not is_after(item.resource_version, load.start)
                if is_new and shard is not None and shard in load.shards:
                    self._contents.shard_by_key[key] = shard
                    self._fifo.load(item)
        return not load.is_outdated

    async def _wait_stored(self, load: Load, listed: Listed) -> None:
        """Wait until the store has the listed objects of the shards, or newer ones, and no older others."""
        assert self._indexer is not None
        assert self._fifo is not None
        mark = self._fifo.mark()
        while not self._fifo.has_processed(mark):  # it may contain an eviction of the same objects
            await self._wait_applied()
        find, versions = self._indexer._stored, listed.versions
        lacking = set(versions)
        known = self._contents.shard_by_key
        extra = {key for key, shard in known.items() if shard in load.shards and key not in versions}
        while True:
            known = self._contents.shard_by_key
            lacking = {
                key for key in lacking if (item := find(key)) is None or is_after(versions[key], item.resource_version)
            }
            # An object that is neither stored nor expected was deleted after the list, or its shard was lost.
            lacking = {key for key in lacking if key in known or self._is_expected(key, load, listed)}
            # An object that the list does not have was created after it, or its deletion was not received yet.
            extra = {
                key
                for key in extra
                if known.get(key) in load.shards
                and ((item := find(key)) is None or not is_after(item.resource_version, listed.version))
            }
            if not lacking and not extra:
                return
            await self._wait_applied()

    def _is_expected(self, key: str, load: Load, listed: Listed) -> bool:
        """Whether the watch has not reached an object of a list: it then reports it, or its deletion."""
        return listed.shards[key] in load.shards and is_after(listed.versions[key], self._contents.position)

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
            for load in self._contents.loads:
                load.is_outdated = True
            self._listing, self._listed, self.path = self._contents.shards, {}, "unknown"
            self._complete, self._contents.ahead, self._contents.watermarks = {}, {}, {}
        page = await self._page(self._listing, limit or _PAGE_SIZE, continue_token)
        if self.path == "metadata" and self._part.space.by == "namespace" and page.continue_token:
            page = await self._list_namespaces(self._listing)
        for item in page.items:
            self._listed[item.cache_key] = cast("int", self._part.shard_of(item))
        if not page.continue_token:
            self._contents.position = page.resource_version
        return page

    async def _list_namespaces(self, shards: frozenset[int]) -> ListPage[Object]:
        """List the metadata of everything, and then only the namespaces of the shards."""
        reader = self._reader
        assert reader is not None
        found, _, version = await reader.list(lambda item: self._part.shard_of(item) in shards)
        items = [item for item in await reader.read_all(found) if self._part.shard_of(item) in shards]
        self._contents.ahead = {
            item.cache_key: (item.uid, item.resource_version)
            for item in items
            if is_after(item.resource_version, version)
        }
        return Page(items, version)

    async def _page(self, shards: frozenset[int], limit: int, token: str) -> ListPage[Object]:
        if not shards:
            page = await self._source.list(limit=1)  # its version, and whether this is permitted
            return Page([], page.resource_version)
        if self._can_select and self.path in ("unknown", "selector"):
            selector = str(self._part.space.selector(shards))
            page = await self._selecting(selector).list(limit=limit, continue_token=token)
            info = getattr(getattr(page, "metadata", None), "shard_info", None)
            is_confirmed = info is not None and info.selector == selector
            self._set_path("selector" if is_confirmed else self._other_path(page.items))
        else:
            page = await self._source.list(limit=limit, continue_token=token)
            if self.path == "unknown":
                self._set_path(self._other_path(page.items))
        shard_of = self._part.shard_of
        page.items = [item for item in page.items if shard_of(item) in shards]  # type: ignore[misc]  # an ObjectList
        return page

    def _selecting(self, selector: str) -> AnySource:
        selecting: Callable[..., AnySource] = self._source.selecting  # type: ignore[attr-defined]  # a resource client
        return selecting(shard_selector=selector)

    def _other_path(self, items: Sequence[Object]) -> ReadPath:
        """How to read if the server does not select; decided by the sizes of some objects."""
        if self._only is not None:
            return "namespace"
        if not self._may_read_metadata or self._reader is None:
            return "filter"
        is_small = bool(items) and metadata_share(items) <= _MAX_METADATA_SHARE
        return "metadata" if self._part.read_path == "metadata" or is_small else "filter"

    @property
    def _reader(self) -> MetadataReader | None:
        """Reads metadata and single objects; None if the source has no metadata."""
        if self._made_reader is None or self._made_reader.source is not self._source:
            self._made_reader = MetadataReader.of(self._source, self._part.space.by)
        return self._made_reader

    def _set_path(self, path: ReadPath) -> None:
        if path == self.path:
            return
        if self._was_selected and path != "selector":
            _log.warning("%r: the server does not confirm the shard selector any more; path: %s", self, path)
        self._was_selected = path == "selector"
        self.path = path
        self.generation += 1  # an open watch was requested for another path, or before the path was known
        self._wake()

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
            listed, self._listing = self._listing, None
            stale = [key for key, shard in self._listed.items() if shard not in self.shards]
            self._contents.shard_by_key = {key: shard for key, shard in self._listed.items() if shard in self.shards}
            self._listed = {}
            if stale and self._fifo is not None:
                self._fifo.evict(stale)
            self._complete = dict.fromkeys(listed & self._contents.shards, self._contents.position)
            self._is_current.set()
            self._notify_applied()
        if not self._contents.position or is_after(resource_version, self._contents.position):
            self._contents.position = resource_version
        return ShardedWatch(self, timeout_seconds)

    def open_watch(self, timeout_seconds: int | None) -> WatchSource[Object]:
        """Watch the present shards from the position."""
        source, self._watched = self._source, self._contents.shards
        if self.path == "metadata" and self._reader is not None:
            source = self._reader.metadata
        elif self.path == "selector":
            selector = str(self._part.space.selector(self._contents.shards))
            if len(quote(selector)) > _MAX_SELECTOR:
                _log.warning("%r: its selector has %d bytes, which proxies may reject", self, len(quote(selector)))
            source = self._selecting(selector)
        return source.watch(
            resource_version=self._contents.position, allow_watch_bookmarks=True, timeout_seconds=timeout_seconds
        )

    async def receive(self, events: Iterable[Event]) -> Events:
        """The events of the shards; in the path `metadata`, their objects are read and stored."""
        reader = self._reader if self.path == "metadata" else None
        if reader is None:
            kept = self._contents.select(events)
            self._notify_applied()
            return kept
        received, read = [*events], dict[str, Object | None]()
        try:
            # Again after each read: shards may have been added meanwhile, whose lists rely on this watch.
            while wanted := self._contents.changed(received, read):
                found = await reader.read(wanted)
                read.update({key: found.get(key) for key in wanted})
        except ForbiddenError as error:
            _log.warning("%r: reading an object is forbidden, so all objects are watched: %s", self, error)
            self._may_read_metadata = False
            self._set_path("filter")
            return []
        assert self._fifo is not None
        kept = self._contents.store_read(received, read, self._fifo)
        self._notify_applied()
        return kept

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
        """Wait until a batch was received, or was applied to the store."""
        if self._applied is None or self._applied.done():
            self._applied = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._applied])

    def _notify_applied(self) -> None:
        if self._applied is not None and not self._applied.done():
            self._applied.set_result(None)
