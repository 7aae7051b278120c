"""The shards as one controller sees them: which keys are its own, and which of them are being reconciled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from listwatch.client.rest.write_guard import guarding_writes
from listwatch.controller.sharding.cache_part import CachePart
from listwatch.controller.watching.sources import Role, Sources
from listwatch.controller.watching.watches import AnyShardKey
from listwatch.errors import ForbiddenError, ListWatchError, NotFoundError, UsageError
from listwatch.informer.reflector.lister_watcher import ReadObject
from listwatch.informer.shared_informer import AnyInformer
from listwatch.informer.validation import resource_of
from listwatch.keyed import Cached
from listwatch.meta import GroupResource, ObjectKey
from listwatch.objects.object import Object
from listwatch.sharding.protocol.shard_space import ShardSpace
from listwatch.sharding.validity import SessionValidity
from listwatch.workqueue.queue_state import WorkQueueStatistics

__all__ = ["ControllerShards"]

_MAX_DELETED = 10_000


class _Work(Protocol):
    """The shards of the replica: a `ShardedWork`."""

    @property
    def space(self) -> ShardSpace: ...
    @property
    def validity(self) -> SessionValidity: ...
    def part_of(self, role: Role, shard_key: AnyShardKey | None = None, /) -> CachePart | None: ...
    def token_of(self, shard: int, /) -> int | None: ...
    def reconcile_ended(self, shard: int, /) -> None: ...
    def record_write(self, shard: int, resource: str, version: str, /) -> None: ...


class ControllerShards:
    """Which keys of one controller this replica reconciles, and with which tokens.

    If objects are assigned by uid, the key of a deleted object stays with its shard until it was reconciled, unless an
    object of the same name exists: that one has another uid, and may belong to another replica.
    """

    def __init__(self, work: _Work, sources: Sources) -> None:
        self._work = work
        self._sources = sources
        self.part_of = work.part_of
        self.running: dict[ObjectKey, tuple[int, int]] = {}
        self._deleted: dict[ObjectKey, tuple[int, str]] = {}
        """The shards and the uids of objects that left the cache, until their keys were reconciled."""
        self._read_object: ReadObject[Any] | None = None
        self.cancel: Callable[[ObjectKey], None]
        self.enqueue: Callable[[list[ObjectKey], int, float], None]
        self.queue_statistics: Callable[[], WorkQueueStatistics]
        self.waiting: Callable[[], list[tuple[ObjectKey, float]]]
        """The keys that wait in the queue, and for how many seconds."""
        if work.space.by == "uid":
            sources.on_main_deleted(self._on_deleted)

    def shard_of(self, key: ObjectKey) -> int | None:
        """The shard of a key; None if objects are assigned by uid and that of this key is not known here."""
        space = self._work.space
        if space.by == "namespace":
            return space.shard_of(key.namespace)
        found: Cached | None = self._sources.main.indexer._find(key)
        if found is not None:
            return space.shard_of_object(found)
        return self._deleted[key][0] if key in self._deleted else None

    def accepts(self, key: ObjectKey) -> bool:
        """Whether this replica reconciles the key now."""
        shard = self.shard_of(key)
        return shard is not None and self._work.token_of(shard) is not None

    async def is_settled(self, key: ObjectKey) -> bool:
        """Whether it is known which object the key names: if the cache has none, the server must not have another one.

        The object itself may exist, if it does not match a selector any more.
        """
        if key not in self._deleted:
            return True
        main = self._sources.main
        if main.indexer._find(key) is not None:
            self._deleted.pop(key, None)  # it was created again, and is in a shard of this replica
            return True
        # The source of its namespace may have been removed; any other one can read the object, too.
        self._read_object = next((each.read_object for each in main._pipelines), self._read_object)
        try:
            if self._read_object is not None:
                found = await self._read_object(key.namespace, key.name)
                if key in self._deleted and found.uid == self._deleted[key][1]:
                    return True
            self._deleted.pop(key, None)
        except NotFoundError:
            return True
        except ForbiddenError:
            self._deleted.pop(key, None)  # its owner cannot be known
        except ListWatchError:
            self.enqueue([key], 0, 1.0)
        return False

    @contextmanager
    def reconciling(self, key: ObjectKey) -> Iterator[bool]:
        """Guard the writes of one reconcile; gives False if the key belongs to another replica."""
        shard = self.shard_of(key)
        token = None if shard is None else self._work.token_of(shard)
        if shard is None or token is None:
            yield False
            return
        self.running[key] = shard, token
        check = self._work.validity.check
        try:
            with guarding_writes(lambda request: check(shard, token, request.describe())):
                yield True
        finally:
            del self.running[key]
            self._work.reconcile_ended(shard)

    def record_write(self, key: ObjectKey, resource: GroupResource, version: str) -> None:
        """The reconcile of a key wrote an object of a resource; from any thread."""
        running = self.running.get(key)
        shard = self.shard_of(key) if running is None else running[0]
        if shard is not None:
            self._work.record_write(shard, str(resource), version)

    def forget(self, shard: int) -> None:
        """The shard was lost."""
        self._deleted = {key: each for key, each in self._deleted.items() if each[0] != shard}

    def _on_deleted(self, item: Cached) -> None:
        shard = self._work.space.shard_of_object(item)
        if self._work.token_of(shard) is not None:
            key = item.key if isinstance(item, Object) else ObjectKey.parse(item.cache_key)
            self._deleted[key] = shard, getattr(item, "uid", "")
            while len(self._deleted) > _MAX_DELETED:
                del self._deleted[next(iter(self._deleted))]

    def keys(self, shards: frozenset[int]) -> list[ObjectKey]:
        """The keys of some shards, of all cached objects: what a restart would enqueue."""
        found: dict[ObjectKey, None] = {}
        for source in self._sources.all:
            for item in source.informer.indexer.list():
                found.update(dict.fromkeys(key for key in source._keys_of(item) if self.shard_of(key) in shards))
        return [*found]

    @property
    def informers(self) -> list[AnyInformer]:
        return [source.informer for source in self._sources.all if source.is_open]

    def check(self) -> None:
        """Refuse a cluster-scoped kind that is assigned by namespace: all its objects would be in one shard."""
        resource = resource_of(self._sources.main.kind)
        if self._work.space.by == "namespace" and resource is not None and not resource.namespaced:
            raise UsageError(
                f"{resource.kind} is cluster-scoped, so all its objects would be in one shard: pass shard_by='uid'"
            )
