"""Measures the shards of a replica now and then: cached objects, their bytes, and the keys that wait in the queues."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from listwatch.cache.compact.entry import Entry
from listwatch.cache.replacement import sliced
from listwatch.clock import Clock
from listwatch.controller.sharding.controller_shards import ControllerShards
from listwatch.controller.sharding.sharded_caches import ShardedCaches
from listwatch.objects.object import Object
from listwatch.sharding.protocol.replica_load import ReplicaLoad, ShardLoad

__all__ = ["ShardLoads"]

_INTERVAL = 5
"""Retry periods between two measurements."""
_DELAY_PER_OBJECT = 0.0001
"""Seconds that are added to the interval for each object: about fifty times what it takes to measure one."""


class ShardLoads:
    """The last measured load of a replica. Measuring is interrupted after each slice, so it does not block the loop."""

    def __init__(
        self, caches: ShardedCaches, controllers: Sequence[ControllerShards], *, clock: Clock, retry_period: float
    ) -> None:
        self._caches = caches
        self._controllers = controllers
        self._clock = clock
        self._retry_period = retry_period
        self.last = ReplicaLoad()

    async def run(self, report: Callable[[ReplicaLoad], None], owned: Callable[[], frozenset[int]]) -> None:
        """Measure and report the owned shards, for ever: every few retry periods, and soon after shards moved."""
        while True:
            self.last = await self.measure(owned)
            report(self.last)
            delay = _INTERVAL * self._retry_period + self.last.total.objects * _DELAY_PER_OBJECT
            due = self._clock.monotonic() + delay
            await self._clock.sleep(self._retry_period)
            while self._clock.monotonic() < due and owned() == self.last.shards.keys():
                await self._clock.sleep(self._retry_period)

    async def measure(self, owned: Callable[[], frozenset[int]]) -> ReplicaLoad:
        """The load of the shards that are owned in the end."""
        objects, sizes, waiting = Counter[int](), Counter[int](), Counter[int]()
        for source in self._caches.sources():
            for part in sliced(source.stored()):
                await asyncio.sleep(0)
                for shard, item in part:
                    objects[shard] += 1
                    sizes[shard] += _size_of(item)
        oldest = 0.0
        for controller in self._controllers:
            for keys in sliced(controller.waiting()):
                await asyncio.sleep(0)
                for key, seconds in keys:
                    if (of := controller.shard_of(key)) is not None:
                        waiting[of] += 1
                        oldest = max(oldest, seconds)
        loads = {shard: ShardLoad(objects[shard], sizes[shard], waiting[shard]) for shard in owned()}
        return ReplicaLoad(loads, oldest, self._clock.now())


def _size_of(item: object) -> int:
    """The bytes of a stored object, as they were received; of a compressed one, those from its metadata on."""
    if isinstance(item, Entry):
        return item.size
    received = item._received if isinstance(item, Object) else None
    return len(received) if isinstance(received, bytes) else 0
