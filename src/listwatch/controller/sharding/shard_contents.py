"""Selects the events of the shards of a source from those of all objects.

Pure: `sharded_source.py` lists and watches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from listwatch.api.watch_events import BookmarkEvent, DeletedEvent, ReceivedEvent
from listwatch.cache.delta_fifo import DeltaFIFO
from listwatch.errors import ResourceVersionError
from listwatch.keyed import Tombstone
from listwatch.meta import is_newer
from listwatch.objects.object import Object
from listwatch.sharding.options import ReadPathOption
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["Event", "Events", "Listed", "Load", "Part", "ShardContents", "is_after"]

Event = ReceivedEvent[Object]
Events = list[Event]


class Part(Protocol):
    """The shards that a source contains: a `CachePart`."""

    @property
    def space(self) -> ShardSpace: ...
    @property
    def shards(self) -> frozenset[int]: ...
    @property
    def is_selectable(self) -> bool: ...
    @property
    def read_path(self) -> ReadPathOption: ...
    @property
    def can_move(self) -> bool:
        """Whether an object can be in another shard after a change."""

    def shard_of(self, item: Object, /) -> int | None: ...


@dataclass(slots=True, eq=False)
class Load:
    """A list of some shards that is being added to the store."""

    shards: frozenset[int]
    """Without those that were lost meanwhile, also if they are added again: their events were dropped."""
    start: str
    """The version up to which the watch was read before it contained the shards."""
    seen: set[str] = field(default_factory=set)
    """The objects that the watch has reported since then."""
    is_outdated: bool = False
    """Whether the source was listed again meanwhile."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A consistent list of some shards: the versions and the shards of the objects by key, and its own version."""

    versions: Mapping[str, str]
    version: str
    shards: Mapping[str, int | None]


class ShardContents:
    """The shards of a source, the objects that it has of them, and the version up to which its watch was read."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self.shards = part.shards
        self.position = ""
        """The version up to which the watch was read."""
        self.dropped = 0
        """Events of other shards that were received."""
        self.shard_by_key: dict[str, int] = {}
        self.ahead: dict[str, tuple[str, str]] = {}
        """The uid and the version of objects that were read and are newer than their metadata at the position."""
        self.loads: list[Load] = []
        self.watermarks: dict[int, Listed] = {}
        """By shard, the list up to whose version the store has it, until the watch was read up to there."""

    def finish_list(self, load: Load, listed: Listed) -> None:
        """The list of a load is complete: an earlier state of an object that it does not have must not be stored."""
        if not load.is_outdated and is_after(listed.version, self.position):
            self.watermarks.update(dict.fromkeys(load.shards, listed))

    def remove_shards(self, shards: frozenset[int]) -> list[str]:
        """Forget the objects of some shards; returns their keys."""
        for load in self.loads:
            load.shards -= shards
        for shard in shards:
            self.watermarks.pop(shard, None)
        keys = [key for key, shard in self.shard_by_key.items() if shard in shards]
        for key in keys:
            del self.shard_by_key[key]
            self.ahead.pop(key, None)
        return keys

    def advance(self, version: str) -> None:
        """The watch was read up to a version."""
        if is_after(version, self.position):
            self.position = version
            if self.watermarks:
                self.watermarks = {
                    shard: listed for shard, listed in self.watermarks.items() if is_after(listed.version, version)
                }

    def _is_gone(self, shard: int, item: Object) -> bool:
        """Whether a later list did not contain an object in this state: it was deleted in the meantime."""
        listed, key = self.watermarks.get(shard), item.cache_key
        return (
            listed is not None
            and key not in listed.versions
            and key not in self.shard_by_key
            and not is_after(item.resource_version, listed.version)
        )

    # --- whole objects -----------------------------------------------------------------------------------------------

    def select(self, events: Iterable[Event]) -> Events:
        """The events of the shards; the caller passes them on without a pause."""
        kept: Events = []
        shard_of, shards = self._part.shard_of, self.shards
        for event in events:
            if event.type in ("ERROR", "UNDECODABLE"):
                kept.append(event)
                continue
            item: Object = event.object  # type: ignore[union-attr]  # the others have none
            if event.type == "BOOKMARK":
                kept.append(event)
            elif (shard := shard_of(item)) in shards:
                if not (self.watermarks and self._is_gone(shard, item)):
                    self._keep(event.type, item.cache_key, shard)
                    kept.append(event)
            elif self._part.can_move and self.shard_by_key.pop(item.cache_key, None) is not None:
                kept.append(DeletedEvent(item))  # it is in another shard now
            else:
                self.dropped += 1
            self.advance(item.resource_version)
        return kept

    def _keep(self, event_type: str, key: str, shard: int) -> None:
        if event_type == "DELETED":
            self.shard_by_key.pop(key, None)
            self.ahead.pop(key, None)
        else:
            self.shard_by_key[key] = shard
        for load in self.loads:
            if shard in load.shards:
                load.seen.add(key)

    # --- metadata ----------------------------------------------------------------------------------------------------

    def changed(self, events: Sequence[Event], read: Mapping[str, Object | None]) -> dict[str, Object]:
        """The metadata of the objects to read: those of the shards that exist after the events, in states not read."""
        wanted: dict[str, Object] = {}
        deleted: set[str] = set()
        for event in events:
            if event.type in ("ERROR", "UNDECODABLE", "BOOKMARK"):
                continue
            item: Object = event.object  # type: ignore[union-attr]  # the others have none
            key = item.cache_key
            wanted.pop(key, None)
            if event.type == "DELETED":
                deleted.add(key)  # from the store too, even if that has the next object of this name already
            elif key not in read and self._part.shard_of(item) in self.shards:
                uid, version = self.ahead.get(key, ("", "")) if key not in deleted else ("", "")
                if uid != item.uid or is_after(item.resource_version, version):
                    wanted[key] = item
        return wanted

    def store_read(self, events: Sequence[Event], read: dict[str, Object | None], fifo: DeltaFIFO[Object]) -> Events:
        """Queue what was read and what was deleted, in order; returns the position as a bookmark.

        An object that was read may be newer than its event, and does not raise the version of the store.
        """
        kept: Events = []
        stored: set[str] = set()
        for event in events:
            if event.type in ("ERROR", "UNDECODABLE"):
                kept.append(event)
                continue
            item: Object = event.object  # type: ignore[union-attr]  # the others have none
            if event.type != "BOOKMARK":
                key, shard = item.cache_key, self._part.shard_of(item)
                if shard in self.shards:
                    self._keep(event.type, key, shard)
                    if event.type == "DELETED":
                        fifo.delete(_tombstone(item))
                    else:
                        self._store_object(item, read, stored, fifo)
                elif self._part.can_move and self.shard_by_key.pop(key, None) is not None:
                    fifo.delete(_tombstone(item))  # it is in another shard now
                else:
                    self.dropped += 1
            self.advance(item.resource_version)
        return [BookmarkEvent.at(self.position), *kept]

    def _store_object(
        self, metadata: Object, read: dict[str, Object | None], stored: set[str], fifo: DeltaFIFO[Object]
    ) -> None:
        key, shard_of = metadata.cache_key, self._part.shard_of
        item = read.get(key)
        # Another object of the same name may have been read, or one that has moved: the watch reports that too.
        if item is not None and item.uid == metadata.uid and shard_of(item) == shard_of(metadata):
            read[key] = None
            stored.add(key)
            fifo.load(item)
            if is_after(item.resource_version, metadata.resource_version):
                self.ahead[key] = item.uid, item.resource_version
        elif key in read and key not in stored:
            # It does not exist any more: its state before this event must not stay until the deletion is received.
            self.shard_by_key.pop(key, None)
            self.ahead.pop(key, None)
            fifo.delete(_tombstone(metadata))
        elif key in self.ahead and not is_after(self.ahead[key][1], metadata.resource_version):
            del self.ahead[key]


def _tombstone(item: Object) -> Object:
    """The object of a DELETED event of which only the metadata is known: handlers get the cached state."""
    return cast("Object", Tombstone(item.cache_key, item.resource_version))


def is_after(version: str, other: str) -> bool:
    """Whether a version is later than another one. Numbers of the same length are in the order of their texts."""
    if len(version) == len(other):
        return version > other
    try:
        return is_newer(version, other) if other else bool(version)
    except ResourceVersionError:
        return False
