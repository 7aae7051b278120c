"""The records of a shard group, each kept in one Lease; `lease_records.py` reads and writes the Leases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Literal

from listwatch.api.shard_selector import ShardField, fnv1a64
from listwatch.sharding.protocol.replica_load import ReplicaLoad
from listwatch.sharding.protocol.shard_space import HashName, ShardSpace

__all__ = [
    "ConfigRecord",
    "GroupConfig",
    "Record",
    "RecordKey",
    "SessionRecord",
    "SessionState",
    "ShardRecord",
    "config_name",
    "key_of",
    "session_name",
    "shard_name",
]

FORMAT = 1
"""The version of this protocol, part of the configuration: replicas of another version do not work beside it."""

SessionState = Literal["joining", "active", "leaving", "ended"]


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """What all replicas of a group must agree on."""

    shards: int
    by: ShardField = "uid"
    hash_name: HashName = "fnv1a64"
    format: int = FORMAT

    @property
    def text(self) -> str:
        """The canonical JSON text."""
        value = {"by": self.by, "format": self.format, "hash": self.hash_name, "shards": self.shards}
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """A short hash of the configuration, which every session names."""
        return _digest(self)

    @property
    def space(self) -> ShardSpace:
        return ShardSpace(self.shards, by=self.by, hash_name=self.hash_name)

    def __str__(self) -> str:
        mixed = "" if self.hash_name == "fnv1a64" else f" with {self.hash_name}"
        return f"{self.shards} shards by {self.by}{mixed}"


@cache
def _digest(config: GroupConfig) -> str:
    return f"{fnv1a64(config.text):016x}"


@dataclass(frozen=True, slots=True)
class _Stored:
    """Identifies the state of a Lease: a write needs the version that it replaces, and the uid of the Lease.

    The uid matters: a server creates a Lease that is missing when it gets a PUT for it, unless that names a uid.
    """

    version: int = 0
    uid: str = ""


@dataclass(frozen=True, slots=True)
class ConfigRecord(_Stored):
    """The configuration of the group, and its generation, which is part of the names of the shards' Leases."""

    text: str = ""
    digest: str = ""
    generation: int = 1
    token_floor: int = 0
    """The largest token of earlier generations: tokens also rise when the configuration changes."""
    is_complete: bool = False
    """Whether the Leases of all shards were created: from then on, a missing one was deleted."""
    written_by: str = ""
    written_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SessionRecord(_Stored):
    """One uninterrupted life of a replica in the group. A session that has ended never comes back."""

    session: str = ""
    identity: str = ""
    state: SessionState = "joining"
    duration: float = 0.0
    digest: str = ""
    generation: int = 1
    weight: float = 1.0
    begun: datetime | None = None
    renewed: datetime | None = None
    ended_by: str = ""
    load: ReplicaLoad | None = field(default=None, compare=False)
    """What the replica holds, and what waits there, for display."""

    def is_renewal_of(self, other: SessionRecord) -> bool:
        """Whether only its version and the time of its renewal differ."""
        return (self.state, self.weight, self.digest, self.generation, self.identity) == (
            other.state,
            other.weight,
            other.digest,
            other.generation,
            other.identity,
        )


@dataclass(frozen=True, slots=True)
class ShardRecord(_Stored):
    """The owner of one shard."""

    generation: int = 1
    shard: int = 0
    holder: str = ""
    """The session that owns it; empty if none does."""
    identity: str = ""
    """The identity of the holder, or of the last one if it has none; for display."""
    previous: str = ""
    """The identity of the holder before that, for display."""
    reason: str = ""
    """Why the holder claimed it, for display."""
    token: int = 0
    duration: float = 0.0
    """The lease duration of the holder's session: how long to wait if that session was deleted."""
    acquired: datetime | None = None
    released_versions: Mapping[str, str] | None = field(default=None, hash=False)
    is_recreated: bool = False
    """Whether the Lease was created again after a deletion: the deleted one may have had a holder."""


Record = ConfigRecord | SessionRecord | ShardRecord


RecordKey = str | tuple[int, int]
"""Identifies a record in its group: a session, a generation and a shard, or "" for the configuration."""


def key_of(record: Record) -> RecordKey:
    match record:
        case SessionRecord(session=session):
            return session
        case ShardRecord(generation=generation, shard=shard):
            return generation, shard
    return ""


def config_name(group: str) -> str:
    return group


def session_name(group: str, session: str) -> str:
    return f"{group}-m-{session}"


def shard_name(group: str, generation: int, shard: int) -> str:
    return f"{group}-{generation}-s-{shard:04}"
