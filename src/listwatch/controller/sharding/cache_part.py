"""The part of the objects that the caches of this replica contain."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable

from listwatch.clock import SystemClock
from listwatch.controller.sharding.sharded_source import ShardedSource
from listwatch.informer.reflector.lister_watcher import AnySource
from listwatch.logs.folded_log import FoldedLog, cause_of_call
from listwatch.objects.object import Object
from listwatch.sharding.options import ReadPathOption
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["CachePart", "ShardKeyFunction", "uid_of_owner"]

ShardKeyFunction = Callable[[Object], str | None]
"""Returns the uid or the namespace of the reconciled object that an object belongs to."""


def uid_of_owner(item: Object) -> str | None:
    """The uid of the controlling owner of an object."""
    return next((each.uid for each in item.metadata.owner_references if each.controller), None)


class CachePart:
    """The shards that some caches contain, and the sources of those caches.

    `shard_key` returns the uid or the namespace, depending on `shard_by`, of the reconciled object that an object
    belongs to; None if it belongs to none. A server cannot select by that.
    """

    def __init__(
        self, space: ShardSpace, *, shard_key: ShardKeyFunction | None = None, read_path: ReadPathOption = "auto"
    ) -> None:
        self.space = space
        self.read_path: ReadPathOption = read_path
        self.is_selectable = space.is_selectable and shard_key is None
        self.can_move = shard_key is not None
        self._is_by_namespace = space.by == "namespace" and shard_key is None
        self._shard_key: Callable[[Object], object] | None = shard_key
        self._log = FoldedLog(logging.getLogger("listwatch.sharding"), SystemClock())
        self.shards: frozenset[int] = frozenset()
        self._sources: weakref.WeakSet[ShardedSource] = weakref.WeakSet()

    def wrap(self, source: AnySource, *, namespace: str = "") -> ShardedSource:
        """The objects of a source that are in the part, also when the part changes.

        `namespace` is that of the source, if it has only one: with `shard_by="namespace"`, all of it is in one shard.
        """
        only = self.space.shard_of(namespace) if namespace and self._is_by_namespace else None
        wrapped = ShardedSource(source, self, only_shard=only)
        self._sources.add(wrapped)
        return wrapped

    def shard_of(self, item: Object) -> int | None:
        if self._shard_key is None:
            return self.space.shard_of_object(item)
        try:
            text = self._shard_key(item)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"shard_key returned {text!r}; expected a uid or a namespace, or None")
        except Exception as error:  # noqa: BLE001  # user code; the other objects must still be cached
            self._log.log(
                logging.ERROR,
                cause_of_call(error),
                "shard_key failed on %s, which no replica caches",
                item.cache_key,
                fields={"key": item.cache_key},
                exc_info=error,
            )
            return None
        return None if text is None else self.space.shard_of(text)

    def selects(self, item: Object) -> bool:
        """Whether the caches contain the object, or will."""
        return self.shard_of(item) in self.shards

    def set_shards(self, shards: frozenset[int]) -> None:
        """Contain these shards; `load` has to be called for those that are new."""
        self.shards = shards
        for source in [*self._sources]:
            source.set_shards(shards)

    def narrow(self) -> None:
        """Stop requesting events of shards that were removed a while ago."""
        for source in [*self._sources]:
            source.narrow()
