"""What a replica reports in the Lease of its session: the sizes of its shards, and the keys that wait there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Self

__all__ = ["ReplicaLoad", "ShardLoad"]


class ShardLoad(NamedTuple):
    """The cached objects of a shard, and the keys that wait in the queues."""

    objects: int = 0
    bytes: int = 0
    """The size of the objects as they were received."""
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class ReplicaLoad:
    """The load of one replica when it was last measured.

    It is written with the renewals of the session, so it costs no request. Its size depends on the number of the
    replica's shards: about 20 bytes for each of them.
    """

    shards: Mapping[int, ShardLoad] = field(default_factory=dict[int, ShardLoad])
    oldest_waiting: float = 0.0
    """For how many seconds the key has waited that has waited longest."""
    at: datetime | None = None

    @property
    def total(self) -> ShardLoad:
        """The sum over all shards."""
        loads = [*self.shards.values()]
        return ShardLoad(
            sum(each.objects for each in loads), sum(each.bytes for each in loads), sum(each.waiting for each in loads)
        )

    def of(self, shards: Iterable[int]) -> ReplicaLoad:
        """The load of some shards: it was measured before others moved."""
        return replace(self, shards={shard: self.shards[shard] for shard in shards if shard in self.shards})

    @property
    def text(self) -> str:
        """The JSON text that is written."""
        value = {
            "at": None if self.at is None else self.at.isoformat(timespec="seconds"),
            "oldestWaiting": round(self.oldest_waiting, 1),
            "shards": {str(shard): [*load] for shard, load in sorted(self.shards.items())},
        }
        return json.dumps(value, separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The load in such a text; None if it is damaged: it is only for display."""
        try:
            value = json.loads(text)
            shards = {_count(int(shard)): ShardLoad(*map(_count, load)) for shard, load in value["shards"].items()}
            at = None if value["at"] is None else datetime.fromisoformat(value["at"])
            oldest = float(value["oldestWaiting"])
            return cls(shards, oldest, at) if 0 <= oldest < math.inf else None
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
            return None  # any program that can write Leases may have written it


def _count(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{value!r} is not a count")
    return value
