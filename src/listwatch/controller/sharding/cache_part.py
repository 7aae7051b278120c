"""The part of the objects that the caches of this replica contain."""

from __future__ import annotations

import weakref

from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.objects.object import Object
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["CachePart"]


class CachePart:
    """The shards that some caches contain, and the sources of those caches.

    With `follows_owners`, an object is in the shard of its controlling owner. A server cannot select by that.
    """

    def __init__(self, space: ShardSpace, *, follows_owners: bool = False) -> None:
        self.space = space
        self.follows_owners = follows_owners
        self.is_selectable = space.is_selectable and not follows_owners
        self.shards: frozenset[int] = frozenset()
        self._sources: weakref.WeakSet[ShardedSource] = weakref.WeakSet()

    def wrap(self, source: AnySource) -> ShardedSource:
        """The objects of a source that are in the part, also when the part changes."""
        wrapped = ShardedSource(source, self)
        self._sources.add(wrapped)
        return wrapped

    def shard_of(self, item: Object) -> int | None:
        return self.space.shard_of_owned(item) if self.follows_owners else self.space.shard_of_object(item)

    def selects(self, item: Object) -> bool:
        """Whether the caches contain the object, or will."""
        return self.shard_of(item) in self.shards

    def set_shards(self, shards: frozenset[int]) -> None:
        """Contain these shards; `load` has to be called for those that are new."""
        self.shards = shards
        for source in [*self._sources]:
            source.set_shards(shards)
