"""The state and counters of a sharded replica, also as samples for metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from listwatch.metrics.samples import Sample

__all__ = ["ShardStatistics"]


@dataclass(frozen=True, slots=True)
class ShardStatistics:
    """What one replica of a shard group owns, and what happened to it so far."""

    group: str
    phase: str
    states: Mapping[str, int]
    """Own shards by state: owned, catching_up, draining."""
    wanted: int
    gains: Mapping[str, int]
    """Claims that succeeded, by reason."""
    sessions_lost: int
    fences: Mapping[str, int]
    """Attempts to declare a silent replica dead, by result."""
    claim_conflicts: int
    writes_refused: int
    """Writes that were not sent, because their shard was lost."""
    unowned_seconds: float
    """For how long the shard that was gained last had no owner."""

    def samples(self) -> Iterator[Sample]:
        """The same as samples for metrics."""
        group = ("group", self.group)
        for state, count in self.states.items():
            yield Sample("listwatch_shards", "Shards of this replica, by state.", (group, ("state", state)), count)
        yield Sample("listwatch_shards_wanted", "Shards that this replica should own.", (group,), self.wanted)
        for reason, count in self.gains.items():
            labels = (group, ("reason", reason))
            yield Sample("listwatch_shards_moves_total", "Shards that this replica gained, by reason.", labels, count)
        for result, count in self.fences.items():
            labels = (group, ("result", result))
            yield Sample("listwatch_shards_fences_total", "Silent replicas declared dead, by result.", labels, count)
        counters = {
            "sessions_lost_total": ("Sessions that were not renewed in time.", self.sessions_lost),
            "claim_conflicts_total": ("Claims that another replica won.", self.claim_conflicts),
            "guarded_writes_refused_total": (
                "Writes that were not sent, as their shard was lost.",
                self.writes_refused,
            ),
        }
        for name, (help_text, count) in counters.items():
            yield Sample(f"listwatch_shards_{name}", help_text, (group,), count)
        gap = "Seconds without an owner of the shard that was gained last."
        yield Sample("listwatch_shards_unowned_seconds", gap, (group,), self.unowned_seconds)
