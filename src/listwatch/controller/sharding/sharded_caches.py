"""Keeps the caches of a sharded manager filled with the objects of its shards, and fresh when a shard is gained."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator

from listwatch.clock import Clock
from listwatch.controller.sharding.cache_part import CachePart
from listwatch.controller.sharding.sharded_source import ReadPath, ShardedSource
from listwatch.controller.watching.sources import Role
from listwatch.errors import ListWatchError, WaitTimeoutError
from listwatch.informer.shared_informer import AnyInformer
from listwatch.informer.shared_processor import SourcePipeline
from listwatch.meta import is_newer
from listwatch.objects.object import Object
from listwatch.sharding.protocol.shard_space import ShardSpace

__all__ = ["ShardedCaches"]

_log = logging.getLogger("listwatch.sharding")

_IDLE_WATCH = 1.0
"""Seconds after which the watch of a resource counts as idle: only a bookmark would advance it."""
_RETRY_DELAY = 1.0


class ShardedCaches:
    """The informers of all controllers of a replica.

    Those of the reconciled and the owned objects contain the cached shards. Others, from which key functions may map to
    any object, contain everything.
    """

    def __init__(self, space: ShardSpace, informers: Callable[[], list[AnyInformer]], *, clock: Clock) -> None:
        self._informers = informers
        self._clock = clock
        self._main = CachePart(space)
        self._owned = self._main if space.by == "namespace" else CachePart(space, follows_owners=True)
        self.shards: frozenset[int] = frozenset()

    def part_of(self, role: Role) -> CachePart | None:
        """The part of the objects that is cached; None for all."""
        return {"main": self._main, "owned": self._owned, "watched": None}[role]

    def set_shards(self, shards: frozenset[int]) -> None:
        """Cache these shards. Objects of the others leave the caches, without a notification."""
        if shards != self.shards:
            self.shards = shards
            for part in {self._main, self._owned}:
                part.set_shards(shards)

    async def catch_up(self, shards: frozenset[int]) -> None:
        """Wait until the caches contain these shards, at least as new as now."""
        for informer in self._informers():
            await informer.wait_for_sync(handlers=())
            for pipeline in tuple(informer._pipelines):
                source = pipeline.reflector._source
                if isinstance(source, ShardedSource):
                    await _unless_removed(pipeline, self._load(source, shards))
                else:
                    await _unless_removed(pipeline, self._reach_present(informer, pipeline))

    async def _load(self, source: ShardedSource, shards: frozenset[int]) -> None:
        while True:
            try:
                await source.load(shards)
            except ListWatchError as error:
                _log.warning("%r: cannot list the shards that were gained, retrying: %s", source, error)
                await self._clock.sleep(_RETRY_DELAY)
            else:
                return

    # --- caches of everything ----------------------------------------------------------------------------------------

    async def _reach_present(self, informer: AnyInformer, pipeline: SourcePipeline[Object]) -> None:
        source = pipeline.reflector._source
        while True:
            try:
                # A consistent list, sent after the claims succeeded, is not older than the writes before them.
                page = await source.list(limit=1)
                await informer.wait_until(page.resource_version, _IDLE_WATCH, namespace=pipeline.scope)
            except WaitTimeoutError:
                if await self._has_everything(informer, pipeline):
                    return
            except ListWatchError:
                await self._clock.sleep(_RETRY_DELAY)
            else:
                return

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


async def _unless_removed(pipeline: SourcePipeline[Object], coroutine: Coroutine[object, object, None]) -> None:
    """Run to the end, or until the source of the pipeline is removed, as that of a namespace may be."""
    running, removed = asyncio.create_task(coroutine), asyncio.create_task(pipeline.removed.wait())
    try:
        await asyncio.wait([running, removed], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        for task in (running, removed):
            task.cancel()
        await asyncio.wait([running, removed])
