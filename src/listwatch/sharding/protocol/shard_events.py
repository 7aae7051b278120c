"""What a replica learns about its shards, as values, in this order for each shard:

gained ──▶ ready ──▶ draining ──▶ lost          lost may follow any of them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["GainReason", "LossReason", "ShardDraining", "ShardEvent", "ShardGained", "ShardLost", "ShardReady"]

GainReason = Literal["free", "released", "fenced", "reclaimed"]
"""It had no holder yet; its holder released it; its holder was declared dead; this session claims it once more."""

LossReason = Literal["released", "session", "taken"]
"""It was released; the session is over; its Lease was deleted or has another holder."""


@dataclass(frozen=True, slots=True)
class ShardGained:
    """This replica owns the shard: its caches have to catch up before the shard is reconciled."""

    shard: int
    token: int
    """The fencing token of this ownership, larger than those of all earlier ones."""
    reason: GainReason = "free"
    released_versions: Mapping[str, str] | None = field(default=None, hash=False)
    """By resource, the versions that contain all writes of the previous owner, if that released it and they are known.

    None means that a consistent list is needed to know them.
    """


@dataclass(frozen=True, slots=True)
class ShardReady:
    """The caches have caught up: the objects of the shard are reconciled from now on."""

    shard: int
    token: int


@dataclass(frozen=True, slots=True)
class ShardDraining:
    """No further reconcile of the shard starts; those that run are cancelled at `until`, by the replica's clock."""

    shard: int
    token: int
    until: float


@dataclass(frozen=True, slots=True)
class ShardLost:
    """This replica does not own the shard any more: its objects can leave the caches."""

    shard: int
    token: int
    reason: LossReason


ShardEvent = ShardGained | ShardReady | ShardDraining | ShardLost
"""What happened to one shard of this replica."""
