"""What a sharded manager needs of its caches; `controller` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from listwatch.sharding.shard_events import ShardGained

__all__ = ["ShardCaches"]


class ShardCaches(Protocol):
    """The caches of all resources that the controllers of one replica watch."""

    async def prefetch(self, shards: frozenset[int]) -> None:
        """Load the objects of shards that this replica will claim, before it owns them; as far as that is possible."""

    async def catch_up(self, gained: Sequence[ShardGained]) -> Mapping[str, str]:
        """Return when the caches contain every write that completed before this call, for the objects of these shards.

        Returns by resource the versions that were waited for: they are released with the shard. It is called after the
        claims were confirmed, and cancelled if the shards are lost.
        """

    def evict(self, shards: frozenset[int]) -> None:
        """Remove the objects of shards that were lost; their handlers are not notified of deletions."""
