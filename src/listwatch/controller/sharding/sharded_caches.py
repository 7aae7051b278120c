"""Keeps the caches of a sharded manager filled with the objects of its shards, and fresh when a shard is gained."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import TypeVar

from listwatch.clock import Clock, time_limit
from listwatch.controller.sharding.cache_part import CachePart, ShardKeyFunction, uid_of_owner
from listwatch.controller.sharding.released_versions import newest
from listwatch.controller.sharding.sharded_source import ReadPath, ShardedSource
from listwatch.controller.watching.sources import Role
from listwatch.controller.watching.watches import AnyShardKey
from listwatch.errors import ListWatchError, UsageError, WaitTimeoutError
from listwatch.informer.shared_informer import AnyInformer
from listwatch.informer.shared_processor import SourcePipeline
from listwatch.informer.validation import resource_of
from listwatch.meta import is_newer
from listwatch.objects.object import Object
from listwatch.sharding.options import ReadPathOption
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["ShardedCaches"]

R = TypeVar("R")

Versions = Mapping[str, str]
"""Versions by resource."""

_log = logging.getLogger("listwatch.sharding")

_IDLE_WATCH = 1.0
"""Seconds after which the watch of a resource counts as idle: only a bookmark would advance it."""
_RETRY_DELAY = 1.0


class ShardedCaches:
    """The informers of all controllers of a replica.

    Those of the reconciled and the owned objects, and those with a `shard_key`, contain the cached shards. Others, from
    which key functions may map to any object, contain everything.
    """

    def __init__(
        self,
        space: ShardSpace,
        informers: Callable[[], list[AnyInformer]],
        *,
        clock: Clock,
        read_path: ReadPathOption = "auto",
    ) -> None:
        self._informers = informers
        self._clock = clock
        self._space = space
        self._read_path: ReadPathOption = read_path
        self._parts: dict[ShardKeyFunction | None, CachePart] = {}
        self.shards: frozenset[int] = frozenset()

    def part_of(self, role: Role, shard_key: AnyShardKey | None = None) -> CachePart | None:
        """The part of the objects that is cached, by role, or by the `shard_key` of a watch; None for all."""
        is_by_namespace = self._space.by == "namespace"
        if shard_key is None:
            if role == "watched":
                return None
            shard_key = "namespace" if role == "main" or is_by_namespace else "owner"
        elif shard_key == "namespace" and not is_by_namespace:
            raise UsageError(
                "shard_key='namespace' needs shard_by='namespace': with shard_by='uid', objects of one namespace are "
                "in different shards; pass a function that returns the uid of the reconciled object"
            )
        if shard_key == "namespace" or (shard_key == "owner" and is_by_namespace):
            return self._part(None)  # an object and its owner have the same namespace
        return self._part(uid_of_owner if shard_key == "owner" else shard_key)

    def _part(self, shard_key: ShardKeyFunction | None) -> CachePart:
        if shard_key not in self._parts:
            # A function of the user may read more of an object than its metadata.
            read_path = self._read_path if shard_key in (None, uid_of_owner) else "filter"
            part = self._parts[shard_key] = CachePart(self._space, shard_key=shard_key, read_path=read_path)
            part.shards = self.shards
        return self._parts[shard_key]

    def set_shards(self, shards: frozenset[int]) -> None:
        """Cache these shards. Objects of the others leave the caches."""
        if shards != self.shards:
            self.shards = shards
            for part in self._parts.values():
                part.set_shards(shards)

    async def catch_up(self, shards: Mapping[int, Versions | None]) -> dict[int, dict[str, str]]:
        """Wait until the caches contain these shards, with all writes of their last owners.

        An owner that released a shard has left the versions that contain its writes, by resource. Without them, the
        caches have to be as new as now. Returns the versions that they contain, by shard and resource.
        """
        reached: dict[int, dict[str, str]] = {shard: {} for shard in shards}
        for informer in self._informers():
            await informer.wait_for_sync(handlers=())
            resource = _resource_of(informer)
            released = {shard: (versions or {}).get(resource, "") for shard, versions in shards.items()}
            for pipeline in tuple(informer._pipelines):
                source = pipeline.reflector._source
                if isinstance(source, ShardedSource):
                    found = await _unless_removed(pipeline, self._catch_up_part(source, released))
                else:
                    found = await _unless_removed(pipeline, self._catch_up_whole(informer, pipeline, released))
                for shard, version in (found or {}).items():
                    reached[shard][resource] = newest(reached[shard].get(resource, version), version)
        for versions in reached.values():
            versions.pop("", None)  # writes to an unknown resource cannot be recorded
        return reached

    async def _catch_up_part(self, source: ShardedSource, released: Mapping[int, str]) -> Mapping[int, str]:
        """Wait until a cache of some shards contains these, in released versions or at least as new as now."""
        released = {shard: released[shard] for shard in source.reachable(frozenset(released))}
        if not released:
            return {}
        present = {shard: each for shard, each in released.items() if each and shard in source.complete_shards}
        if present:
            try:
                async with time_limit(self._clock, _IDLE_WATCH):
                    for shard, version in present.items():
                        await source.wait_reached(frozenset({shard}), version)
            except TimeoutError:
                present = {}  # the version may be of an object that this cache does not contain
        if missing := frozenset(released) - frozenset(present):
            version = await self._load(source, missing)
            return {**present, **dict.fromkeys(missing, version)}
        return present

    async def _load(self, source: ShardedSource, shards: frozenset[int]) -> str:
        while True:
            try:
                return (await source.load(shards)).version
            except ListWatchError as error:
                _log.warning("%r: cannot list the shards that were gained, retrying: %s", source, error)
                await self._clock.sleep(_RETRY_DELAY)

    def narrow(self) -> None:
        """Stop requesting events of shards that left the caches a while ago."""
        for part in self._parts.values():
            part.narrow()

    # --- caches of everything ----------------------------------------------------------------------------------------

    async def _catch_up_whole(
        self, informer: AnyInformer, pipeline: SourcePipeline[Object], released: Mapping[int, str]
    ) -> Mapping[int, str]:
        """Wait until a cache of everything contains the released versions, or is at least as new as now."""
        if all(released.values()):
            try:
                for version in released.values():
                    await informer.wait_until(version, _IDLE_WATCH, namespace=pipeline.scope)
            except (WaitTimeoutError, ListWatchError):
                pass
            else:
                return released
        return dict.fromkeys(released, await self._reach_present(informer, pipeline))

    async def _reach_present(self, informer: AnyInformer, pipeline: SourcePipeline[Object]) -> str:
        source = pipeline.reflector._source
        while True:
            try:
                # A consistent list, sent after the claims succeeded, is not older than the writes before them.
                version = (await source.list(limit=1)).resource_version
                await informer.wait_until(version, _IDLE_WATCH, namespace=pipeline.scope)
            except WaitTimeoutError:
                if await self._has_everything(informer, pipeline):
                    return version
            except ListWatchError:
                await self._clock.sleep(_RETRY_DELAY)
            else:
                return version

    async def _has_everything(self, informer: AnyInformer, pipeline: SourcePipeline[Object]) -> bool:
        """Whether the cache contains a consistent list: an idle watch reports its version only once a minute."""
        scope = pipeline.scope
        try:
            listed = await pipeline.reflector._source.list(limit=0)
        except ListWatchError:
            return False
        versions = {item.cache_key: item.resource_version for item in listed.items}
        for key, version in versions.items():
            found = informer.indexer.get(key)
            if found is None or is_newer(version, found.resource_version):
                return False
        in_scope = (item for item in informer.indexer.list() if not scope or item.cache_key.startswith(f"{scope}/"))
        return all(
            item.cache_key in versions or is_newer(item.resource_version, listed.resource_version) for item in in_scope
        )

    # --- reports -----------------------------------------------------------------------------------------------------

    def _sources(self) -> Iterator[tuple[AnyInformer, ShardedSource]]:
        for informer in self._informers():
            for pipeline in informer._pipelines:
                source = pipeline.reflector._source
                if isinstance(source, ShardedSource):
                    yield informer, source

    def sources(self) -> list[ShardedSource]:
        """The sources of the caches that contain only some shards."""
        return [source for _, source in self._sources()]

    def counts(self) -> Counter[int]:
        """The number of cached objects of each shard."""
        total: Counter[int] = Counter()
        for _, source in self._sources():
            total.update(source.counts())
        return total

    def paths(self) -> dict[str, ReadPath]:
        """How each resource is read."""
        return {informer.name: source.path for informer, source in self._sources()}

    def dropped(self) -> int:
        """The number of events of other shards that were received."""
        return sum(source.dropped for _, source in self._sources())


def _resource_of(informer: AnyInformer) -> str:
    """The name of the resource of an informer, as of the paths of requests; empty if it is not known."""
    resource = resource_of(informer.kind)
    for pipeline in informer._pipelines:
        resource = getattr(pipeline.reflector._source, "resource", None) or resource
    return "" if resource is None else str(resource.group_resource)


async def _unless_removed(pipeline: SourcePipeline[Object], coroutine: Coroutine[object, object, R]) -> R | None:
    """Run to the end, or until the source of the pipeline is removed, as that of a namespace may be; None then."""
    running, removed = asyncio.create_task(coroutine), asyncio.create_task(pipeline.removed.wait())
    try:
        await asyncio.wait([running, removed], return_when=asyncio.FIRST_COMPLETED)
        return running.result() if running.done() else None
    finally:
        for task in (running, removed):
            task.cancel()
        await asyncio.wait([running, removed])
