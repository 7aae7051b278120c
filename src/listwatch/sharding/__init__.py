"""Sharding: several active replicas share the objects of a controller."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "HashRange": "listwatch.api.shard_selector",
    "ShardDraining": "listwatch.sharding.protocol.shard_events",
    "ShardEvent": "listwatch.sharding.protocol.shard_events",
    "ShardGained": "listwatch.sharding.protocol.shard_events",
    "ShardLost": "listwatch.sharding.protocol.shard_events",
    "ShardReady": "listwatch.sharding.protocol.shard_events",
    "ShardSelector": "listwatch.api.shard_selector",
    "ShardSpace": "listwatch.sharding.protocol.shard_space",
    "ShardTiming": "listwatch.sharding.protocol.timing",
    "ShardingOptions": "listwatch.sharding.options",
    "fmix64": "listwatch.api.shard_selector",
    "fnv1a64": "listwatch.api.shard_selector",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.api.shard_selector import HashRange as HashRange
    from listwatch.api.shard_selector import ShardSelector as ShardSelector
    from listwatch.api.shard_selector import fmix64 as fmix64
    from listwatch.api.shard_selector import fnv1a64 as fnv1a64
    from listwatch.sharding.options import ShardingOptions as ShardingOptions
    from listwatch.sharding.protocol.shard_events import ShardDraining as ShardDraining
    from listwatch.sharding.protocol.shard_events import ShardEvent as ShardEvent
    from listwatch.sharding.protocol.shard_events import ShardGained as ShardGained
    from listwatch.sharding.protocol.shard_events import ShardLost as ShardLost
    from listwatch.sharding.protocol.shard_events import ShardReady as ShardReady
    from listwatch.sharding.protocol.shard_space import ShardSpace as ShardSpace
    from listwatch.sharding.protocol.timing import ShardTiming as ShardTiming
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
