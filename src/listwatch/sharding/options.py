"""The options of a sharded manager."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass, field
from typing import Literal, get_args

from listwatch.api.shard_selector import ShardField
from listwatch.errors import UsageError
from listwatch.sharding.protocol.assignment import MAX_WEIGHT, MIN_WEIGHT
from listwatch.sharding.protocol.group_records import GroupConfig
from listwatch.sharding.protocol.replica_state import OnConfigChange
from listwatch.sharding.protocol.shard_space import HashName, ShardSpace
from listwatch.sharding.protocol.timing import ShardTiming

__all__ = ["ReadPathOption", "ShardingOptions"]

ReadPathOption = Literal["auto", "selector", "metadata", "filter"]
"""How a replica reads the objects of its shards."""

_MAX_IDENTITY = 200
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingOptions:
    """How a manager shares its objects with the other replicas of its shard group.

    All replicas of a `group` must agree on `shards`, `by` and `hash_name`. `weight` is the share of this replica
    relative to the others. With `on_config_change="wait"`, a replica with another configuration waits until the
    replicas of the old one are gone, instead of failing. The Leases are in `namespace`; the default is that of the
    client's configuration.
    """

    group: str
    shards: int = 64
    by: ShardField = "uid"
    hash_name: HashName = "fnv1a64"
    weight: float = 1.0
    on_config_change: OnConfigChange = "refuse"
    identity: str = ""
    namespace: str = ""
    read_path: ReadPathOption = "auto"
    timing: ShardTiming = field(default_factory=ShardTiming)

    def __post_init__(self) -> None:
        ShardSpace(self.shards, by=self.by, hash_name=self.hash_name)
        if not _NAME.fullmatch(self.group):
            raise UsageError(f"shard_group={self.group!r}: expected a name of at most 62 characters, as of a Lease")
        weight: object = self.weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
            raise UsageError(f"shard_weight={weight!r}: expected a number from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}")
        if self.on_config_change not in ("refuse", "wait"):
            raise UsageError(f"on_config_change={self.on_config_change!r}: expected 'refuse' or 'wait'")
        if self.read_path not in get_args(ReadPathOption):
            raise UsageError(f"read_path={self.read_path!r}: expected one of {', '.join(get_args(ReadPathOption))}")
        if "/" in self.identity or not self.identity.isprintable() or len(self.identity) > _MAX_IDENTITY:
            raise UsageError(
                f"identity={self.identity[:_MAX_IDENTITY]!r}: expected at most {_MAX_IDENTITY} printable characters "
                "without '/'"
            )

    @property
    def config(self) -> GroupConfig:
        """What all replicas of the group must agree on."""
        return GroupConfig(self.shards, self.by, self.hash_name)

    @property
    def replica(self) -> str:
        """The identity, by default the host name, which is the name of the pod in a cluster."""
        return self.identity or socket.gethostname()
