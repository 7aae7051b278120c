"""The state and counters of a sharded replica, also as samples for metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from listwatch.metrics.samples import Sample
from listwatch.sharding.protocol.replica_load import ReplicaLoad

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
    view_age: float = 0.0
    """Seconds since the Leases of the group were last received."""
    read_paths: Mapping[str, str] = field(default_factory=dict)
    """By resource, whether the server selects the objects of the shards, or this replica filters all objects."""
    foreign_events: int = 0
    """Events of other shards that were received and dropped."""
    objects: tuple[int, ...] = ()
    """The number of cached objects of each own shard."""
    load: ReplicaLoad = field(default_factory=ReplicaLoad)
    """The sizes of the own shards and the keys that wait, when they were last measured."""

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
        for resource, path in self.read_paths.items():
            read = (group, ("resource", resource), ("path", path))
            yield Sample("listwatch_shards_read_path", "How the objects of the shards are selected.", read, 1)
        dropped = "Events of other shards that were received and dropped."
        yield Sample("listwatch_shards_foreign_events_dropped_total", dropped, (group,), self.foreign_events)
        age = "Seconds since the Leases of the group were last received."
        yield Sample("listwatch_shards_view_age_seconds", age, (group,), self.view_age)
        yield Sample("listwatch_shards_objects", "Cached objects of own shards.", (group,), sum(self.objects))
        largest = "Cached objects of the largest own shard."
        yield Sample("listwatch_shards_largest_shard_objects", largest, (group,), max(self.objects, default=0))
        size, waiting = self.load.total.bytes, self.load.total.waiting
        yield Sample("listwatch_shards_bytes", "Bytes of the cached objects of own shards.", (group,), size)
        yield Sample("listwatch_shards_waiting", "Keys of own shards that wait in queues.", (group,), waiting)
        oldest = "Seconds for which the key of own shards has waited that has waited longest."
        yield Sample("listwatch_shards_oldest_waiting_seconds", oldest, (group,), self.load.oldest_waiting)
        gap = "Seconds without an owner of the shard that was gained last."
        yield Sample("listwatch_shards_unowned_seconds", gap, (group,), self.unowned_seconds)
